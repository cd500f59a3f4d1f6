import CommandHandling
import Domain
import EventLog
import EventLoop
import Projections
import SeededRandom
import Testing

@testable import Application
@testable import LoadOracle
@testable import Serving

@Suite(.timeLimit(.minutes(1))) struct HomesTests {
    init() { LoopActor.startInBackground() }

    @LoopActor
    private static func update(_ homes: Homes, since revision: Int64) async throws -> HomeUpdate? {
        try await withCheckedContinuation { continuation in
            homes.update(of: "o", since: revision, for: .server) { continuation.resume(returning: $0) }
        }.get()
    }

    /// Where an update leads from a document.
    private static func result(of update: HomeUpdate?, from old: JSON) throws -> (revision: Int64, document: JSON?) {
        switch update {
        case .patch(_, let to, let patch)?:
            guard case .array(let operations)? = JSON(patch) else { return (to, nil) }
            return (to, try old.patched(by: operations))
        case .whole(let home)?: return (home.revision, JSON(home.document))
        case nil: return (0, nil)
        }
    }

    @Test(arguments: SeededGenerator.seeds.prefix(10)) @LoopActor
    func `whoever has a home is led from it to today's, whether it is kept or folded again`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await Rooms.with { rooms in
            await rooms.open("o", items: 3)
            await rooms.open("other")
            var known: [Int64: JSON] = [:]
            for step in 0..<15 {
                switch random.below(4) {
                case 0: await rooms.send(.menu("o"), .menu(.put(.items(random.number(1...6), named: "Tea \(step)"))))
                case 1: await rooms.send(.outlet("o"), .outlet(random.pick([.open, .close])))
                case 2: await rooms.send(.outlet("o"), .outlet(.put(.named(Text("Named \(step)")))))
                default: await rooms.send(.outlet("other"), .outlet(.put(.named(Text("Named \(step)")))))
                }
                let home = try #require(try rooms.homes.home(of: "o"))
                let record = try #require(try rooms.partitions.outlet("o"))
                #expect(home.document == HomeDocument.bytes(of: record) && home.revision == record.revision)
                known[home.revision] = JSON(home.document)
                // One that has kept nothing yet has the log.
                let fresh = Homes(rooms.partitions, rooms.archive, ChangeFeed())
                for homes in [rooms.homes, fresh] {
                    let (revision, old) = random.pick(known.sorted { $0.key < $1.key })
                    let update = try await Self.update(homes, since: revision)
                    if case .whole? = update { Issue.record("the home of revision \(revision) is not known any more") }
                    let (to, document) = try Self.result(of: update, from: old)
                    #expect(to == home.revision && document == known[home.revision])
                }
            }
        }
    }

    @Test @LoopActor func `a revision that never was gets the whole home`() async throws {
        let log = StagedLog()
        try await Rooms.with(on: log) { rooms in
            await rooms.open("o")
            await rooms.open("other")
            await rooms.send(.outlet("o"), .outlet(.close))
            // Position 6 is the other outlet's: only the log tells.
            for revision in [0, 6, 9, 10, .max] as [Int64] {
                let calls = log.calls.count
                let update = try await Self.update(rooms.homes, since: revision)
                let isWhole = if case .whole? = update { true } else { false }
                #expect(isWhole == (revision != 9) && (log.calls.count > calls) == (revision == 6))
            }
            let update = try await Self.update(rooms.homes, since: 9)
            guard case .patch(9, 9, let patch)? = update else {
                Issue.record("the revision of today has changed")
                return
            }
            #expect(String(decoding: patch, as: UTF8.self) == "[]")
        }
    }

    @Test @LoopActor func `where there is no outlet there is no home`() async throws {
        try await Rooms.with { rooms in
            await rooms.open("o")
            _ = try rooms.homes.home(of: "o")
            await rooms.send(.outlet("o"), .outlet(.remove))
            let (removed, unknown) = (try rooms.homes.home(of: "o"), try rooms.homes.home(of: "x"))
            #expect(removed == nil && unknown == nil)
            let update = try await Self.update(rooms.homes, since: 3)
            #expect(update == nil)
        }
    }

    @Test @LoopActor func `a home that is too large is refused, until it is smaller`() async throws {
        try await Rooms.with { rooms in
            await rooms.open("o", items: 2)
            rooms.homes.documentLimit = try #require(try rooms.homes.home(of: "o")).document.count
            _ = try rooms.homes.home(of: "o")
            await rooms.send(.menu("o"), .menu(.put(.items(3))))
            for _ in 0..<2 {
                let failure = #expect(throws: Failure.self) { _ = try rooms.homes.home(of: "o") }
                #expect(failure?.code == .limit)
            }
            await rooms.send(.menu("o"), .menu(.put(.items(2))))
            _ = try rooms.homes.home(of: "o")
        }
    }

    // MARK: The cache

    @Test @LoopActor func `current homes are dropped when they are too many bytes, and an old one stays known`() throws
    {
        var configuration = Configuration()
        configuration.homeCacheBytes = 100
        let changes = ChangeFeed()
        let cache = HomeCache(configuration, changes)
        func home(_ revision: Int64, _ count: Int) -> Home {
            Home(revision: revision, document: Array("\"\(String(repeating: "x", count: count - 2))\"".utf8))
        }
        cache.keep(home(1, 60), of: "a")
        cache.keep(home(2, 40), of: "b")
        #expect(cache["a"] != nil && cache["b"] != nil)
        // What has changed makes room.
        changes.publish(["a"])
        #expect(cache["a"] == nil)
        cache.keep(home(3, 60), of: "a")
        #expect(cache["a"]?.revision == 3 && cache["b"]?.revision == 2)
        cache.keep(home(4, 10), of: "c")
        #expect(cache["a"] == nil && cache["b"] == nil && cache["c"] != nil)
        #expect(cache.patch(from: 1, to: home(3, 60), of: "a") != nil)
        #expect(cache.patch(from: 1, to: home(3, 60), of: "b") == nil)
        cache.dropAll()
        #expect(cache["c"] == nil && cache.patch(from: 1, to: home(3, 60), of: "a") == nil)
    }
}
