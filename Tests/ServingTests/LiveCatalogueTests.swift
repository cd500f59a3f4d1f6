import Catalogue
import Domain
import EventLog
import EventLoop
import Projections
import SeededRandom
import Testing

@testable import Application
@testable import Serving

@Suite(.timeLimit(.minutes(1))) struct LiveCatalogueTests {
    init() { LoopActor.startInBackground() }

    /// A read model and the catalogue that follows it.
    @LoopActor
    private struct Market {
        var model = ReadModel(partition: 0)
        var live: LiveCatalogue
        private var versions: [StreamName: Int64] = [:]
        private var menus: [Identifier: Menu.State] = [:]

        init(_ outlets: Identifier..., items: Int, maximumLeft: Int = 20_000) throws {
            live = LiveCatalogue(maximumLeft: maximumLeft) { Rooms.Clock().now }
            for outlet in outlets {
                happens(to: .outlet(outlet), [.outlet(.registered(.named("O")))])
                try put(.items(items), at: outlet)
            }
        }

        private mutating func happens(to stream: StreamName, _ events: [DomainEvent]) {
            let decoded = events.map { event in
                versions[stream, default: 0] += 1
                return Result<DecodedEvent, CorruptEvent>.success(
                    DecodedEvent(
                        partition: 0, position: versions.values.reduce(0, +), stream: stream,
                        version: versions[stream]!, event: event, metadata: .none, recordedAt: Rooms.Clock().now))
            }
            model.apply(decoded)
            live.follow(decoded, model)
        }

        mutating func menu(of outlet: Identifier, _ command: Menu.Command) throws {
            var state = menus[outlet, default: Menu.initial]
            let events = try Menu.decide(command, in: state)
            for event in events { try Menu.evolve(&state, event) }
            menus[outlet] = state
            happens(to: .menu(outlet), events.map(DomainEvent.menu))
        }

        mutating func put(_ menu: MenuDocument, at outlet: Identifier) throws {
            try self.menu(of: outlet, .put(menu))
        }

        mutating func outlet(_ outlet: Identifier, _ event: Outlet.Event) {
            happens(to: .outlet(outlet), [.outlet(event)])
        }

        /// How many items are found without asking for all of them.
        var itemCount: Int { live.size.split(separator: " ").first.flatMap { Int($0) } ?? -1 }
    }

    /// The names of everything, in pages.
    private static func names(in catalogue: Catalogue) throws -> String {
        let query = try catalogue.query(["SORT", "NAME", "LIMIT", "100"], of: .items, options: [.sort, .limit])
        return "\(catalogue.itemCount) " + String(decoding: catalogue.page(query).content, as: UTF8.self)
    }

    @Test @LoopActor func `a large change is taken in by slices, and a timer goes on with it`() async throws {
        var market = try Market("o", items: 1)
        try market.put(.items(1_000), at: "o")
        #expect(market.itemCount == 1)
        var before = 1
        for _ in 0..<2 {
            market.live.work()
            #expect(market.itemCount > before && market.itemCount - before <= LiveCatalogue.slice)
            before = market.itemCount
        }
        await turns { market.itemCount == 1_000 }
    }

    @Test @LoopActor func `whoever asks has the rest done first`() throws {
        var market = try Market("o", items: 1)
        try market.put(.items(1_000), at: "o")
        market.live.work()
        #expect(market.live.whole?.itemCount == 1_000)
        // Nothing of it is left.
        market.live.work()
        #expect(market.itemCount == 1_000)
    }

    @Test @LoopActor func `those who follow a query hear of a change when all of it is there`() throws {
        var market = try Market("o", items: 1)
        let catalogue = try market.live.current
        let name = SavedName("all", of: 1)
        #expect(catalogue.save(try catalogue.query([], of: .items, options: []), as: name, for: 1))
        _ = (catalogue.answer(toSaved: name), market.live.takeTouched())
        try market.put(.items(2 + LiveCatalogue.slice), at: "o")
        #expect(market.live.takeTouched() == [])
        market.live.work()
        #expect(market.live.takeTouched() == [])
        market.live.work()
        #expect(market.live.takeTouched() == [name])
    }

    @Test @LoopActor func `a small change is there at once`() throws {
        var market = try Market("o", items: 10)
        try market.put(.items(10 + LiveCatalogue.slice), at: "o")
        #expect(market.itemCount == 10 + LiveCatalogue.slice)
    }

    @Test(arguments: SeededGenerator.seeds) @LoopActor
    func `what changes while it is built is taken in afterwards, and a question is answered LOADING`(
        seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: seed)
        var market = try Market("a", "b", "c", items: 3)
        let revision = try market.live.current.revision
        market.live = LiveCatalogue(builtAtOnce: 0) { Rooms.Clock().now }
        var isBuilt = false
        market.live.load([market.model]) { isBuilt = true }
        for number in 1...6 {
            let outlet: Identifier = random.pick(["a", "b", "c"])
            switch random.below(4) {
            case 0: try market.put(.items(random.pick([1, 600]), named: "Tea \(number)"), at: outlet)
            case 1: try market.menu(of: outlet, .reprice("item-0", Amount(minorUnits: Int64(number))))
            case 2: market.outlet(outlet, .hidden)
            default: market.outlet(outlet, .registered(.named("New \(number)")))
            }
        }
        let refusal = #expect(throws: Failure.self) { try market.live.current }
        #expect(refusal?.code == .loading && !isBuilt)
        await turns { isBuilt }
        let fresh = LiveCatalogue { Rooms.Clock().now }
        fresh.load([market.model])
        let (built, expected) = (try market.live.current, try fresh.current)
        let (known, names) = (try Self.names(in: built), try Self.names(in: expected))
        #expect(known == names)
        #expect(built.revision == expected.revision && built.revision > revision)
    }

    @Test(arguments: SeededGenerator.seeds) @LoopActor
    func `the answers are those of a catalogue that was made of the same outlets`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let outlets: [Identifier] = ["a", "b", "c"]
        var market = try Market("a", "b", "c", items: 3, maximumLeft: random.pick([300, 20_000]))
        for _ in 0..<20 {
            let outlet = random.pick(outlets)
            switch random.below(7) {
            case 0, 1:
                let count = random.pick([1, 50, 250, 600])
                let names = random.pick(["Tea", "Soup"])
                let price = Amount(minorUnits: Int64(random.number(1...9)))
                try market.put(.items(count, named: names, price: price), at: outlet)
            case 2: try market.menu(of: outlet, .reprice("item-0", Amount(minorUnits: Int64(random.number(10...99)))))
            case 3: try market.menu(of: outlet, .suspend("item-0", until: nil, now: Rooms.Clock().now))
            case 4: market.outlet(outlet, random.pick([.hidden, .shown, .opened]))
            default: market.live.work()
            }
            guard random.chance(30) else { continue }
            let fresh = LiveCatalogue { Rooms.Clock().now }
            fresh.load([market.model])
            let (known, expected) = (try Self.names(in: try market.live.current), try Self.names(in: try fresh.current))
            #expect(known == expected)
        }
    }
}
