internal import Domain
internal import EventLog
import SeededRandom
internal import Synchronization
internal import Testing

extension Clause {
    static let withoutCarts = [
        Clause("A reader that passes over carts gets every other event, in whole batches, and goes on from its end") {
            log in
            var random = SeededGenerator(seed: 5)
            try await fill(log, &random)
            let commits = try await log.commits(partition: 0, after: 0, limit: .max)
            let points = [LogPoint.start] + commits.map { LogPoint(position: $0.lastPosition, digest: $0.chainDigest) }
            let all = try await log.read(partition: 0, after: 0, limit: .max)
            for limit in [1, 2, 7, 1_000] {
                for start in [points[0], points[1], random.pick(points), points[points.count - 2], points.last!] {
                    var point = start
                    var others: [RecordedEvent] = []
                    while true {
                        let following = try await log.followWithoutCarts(partition: 0, after: point, limit: limit)
                        #expect(points.contains(following.end))
                        check(following, after: point, limit, commits, all)
                        others += following.events.filter { !$0.isOfCart }
                        point = following.end
                        if following.events.isEmpty { break }
                    }
                    #expect(point == points.last)
                    #expect(others == all.filter { $0.position > start.position && !$0.isOfCart })
                }
            }
        },

        Clause("A reader that passes over carts, in the middle of a batch, goes on from there") { log in
            var writer = LogWriter(log)
            let order = StreamName(.order, Identifier("o")!)
            let first = try await writer.append([[.cart("a"), .cart("a"), order, .cart("a")]])
            try await writer.catchUp()
            let second = try await writer.append([[order]], marks: [1])
            let middle = LogPoint(position: 3, digest: nil)
            let rest = try await log.followWithoutCarts(partition: 0, after: middle, limit: 1)
            #expect(rest.events.map(\.position) == [4])
            #expect(rest.end == first.end)
            let both = try await log.followWithoutCarts(partition: 0, after: middle, limit: 2)
            #expect(both.events.map(\.position) == [4, 5])
            #expect(both.end == second.end)
        },

        Clause("A reader that passes over carts while several write misses no other event") { log in
            let streams = ["a", "b", "c"].flatMap { [.cart($0), StreamName(.order, Identifier($0)!)] }
            let isWritten = Flag()
            async let read = {
                var random = SeededGenerator(seed: 6)
                var (point, others): (LogPoint, [RecordedEvent]) = (.start, [])
                while true {
                    // Before the look: what was written by then is seen.
                    let isLast = isWritten.value.load(ordering: .acquiring)
                    let following = try await log.followWithoutCarts(
                        partition: 0, after: point, limit: random.number(1...20))
                    others += following.events.filter { !$0.isOfCart }
                    point = following.end
                    if isLast, following.events.isEmpty { return (point, others) }
                    await Task.yield()
                }
            }()
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for writer in 0..<3 {
                    tasks.addTask {
                        for round in 0..<12 {
                            let first = (writer * 12 + round) * 4
                            _ = try await write(
                                Array(first..<first + 4), among: streams, to: log, seed: UInt64(first))
                        }
                    }
                }
                defer { isWritten.value.store(true, ordering: .releasing) }
                try await tasks.waitForAll()
            }
            let (end, others) = try await read
            #expect(end == (try await log.end(of: 0)))
            #expect(others == (try await log.read(partition: 0, after: 0, limit: .max)).filter { !$0.isOfCart })
        },
    ]

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    /// Fills a log with batches of carts, of orders and of both, some of them refused in part.
    private static func fill(_ log: any EventLog, _ random: inout SeededGenerator) async throws {
        var writer = LogWriter(log)
        for number in 0..<40 {
            let late = writer
            for (turn, writer) in [writer, late].prefix(random.number(1...2)).enumerated() {
                let carts = random.pick([0, 100, 100, 50])
                let groups = (0..<random.number(1...4)).map { _ in
                    (0..<random.number(1...3)).map { _ in
                        let id = Identifier("s\(random.below(5))")!
                        return StreamName(random.chance(carts) ? .cart : .order, id)
                    }
                }
                _ = try await writer.append(groups, marks: groups.indices.map { (number * 2 + turn) * 10 + $0 })
            }
            try await writer.catchUp()
        }
    }

    /// Checks that events are those of whole batches, that no batch of others is left out before the end, and that the
    /// limit was kept.
    private static func check(
        _ following: FollowingEvents, after point: LogPoint, _ limit: Int, _ commits: [Commit], _ all: [RecordedEvent]
    ) {
        let positions = Set(following.events.map(\.position))
        var expected: [RecordedEvent] = []
        var before = 0
        for commit in commits where commit.lastPosition > point.position {
            let events = all[Int(max(commit.firstPosition - 1, point.position))..<Int(commit.lastPosition)]
            let isThere = positions.contains(commit.lastPosition)
            #expect(isThere || commit.lastPosition > following.end.position || events.allSatisfy(\.isOfCart))
            guard isThere else { continue }
            before = expected.count
            expected += events
        }
        #expect(following.events == expected)
        #expect(before < limit)
    }
}

extension RecordedEvent {
    fileprivate var isOfCart: Bool { stream.hasPrefix("cart-") }
}
