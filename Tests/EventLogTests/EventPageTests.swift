import Domain
import SeededRandom
import Testing

@testable import EventLog

@Suite struct `Pages of events` {
    private static func randomText(_ random: inout SeededGenerator) -> String {
        random.pick([
            "", "{}", "cart-c1", "cart.cleared", #"{"count":5}"#, "日本 – naïve 🍛", String(repeating: "x", count: 300),
        ])
    }

    /// Positions rise, and some are missing.
    private static func randomEvents(_ random: inout SeededGenerator) -> [RecordedEvent] {
        var position: Int64 = 0
        return (0..<random.number(0..<20)).map { _ in
            position += Int64(random.number(1..<4))
            return RecordedEvent(
                partition: 3, position: position, stream: randomText(&random), version: Int64(random.number(0..<9)),
                kind: EventKind(name: randomText(&random), schemaVersion: random.number(0..<4)),
                payload: Array(randomText(&random).utf8), metadata: Array(randomText(&random).utf8),
                recordedAt: Timestamp(millisecondsSinceEpoch: Int64(random.number(0..<9_999))))
        }
    }

    private static func events(of page: EventPage) -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        page.forEach { events.append($0.recorded) }
        return events
    }

    @Test(arguments: SeededGenerator.seeds)
    func `A page returns the events that were added, and removes those after a position`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let events = Self.randomEvents(&random)
        var page = EventPage(partition: 3, events)
        #expect(page.count == events.count)
        #expect(page.lastPosition == events.last?.position)
        #expect(Self.events(of: page) == events)

        let end = Int64(random.number(0..<60))
        page.removeEvents(after: end)
        #expect(Self.events(of: page) == events.filter { $0.position <= end })
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Leaves made one after the other equal those made singly`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let events = Self.randomEvents(&random)
        var made: [Digest] = []
        var leaves = LeafMaker()
        EventPage(partition: 3, events).forEach { made.append(leaves.leaf(of: $0)) }
        #expect(made == events.map { MerkleTree.leaf($0.canonicalBytes) })
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Events of a page are decoded as each is by itself, however many say the same`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let texts = GoldenEvent.all.map { Array($0.text.utf8) } + [Array("{}".utf8), Array("{".utf8), []]
        let events = (1...random.number(1...600)).map { position in
            RecordedEvent(
                partition: 3, position: Int64(position),
                stream: random.pick(["cart-c1", "menu-m", "outlet-o", "order-o", ""]), version: 1,
                kind: random.chance(90)
                    ? random.pick(GoldenEvent.all).kind : EventKind(name: "cart.cleared", schemaVersion: 2),
                payload: random.pick(texts), metadata: Array("{}".utf8),
                recordedAt: Timestamp(millisecondsSinceEpoch: 0))
        }
        var decoded: [Result<DecodedEvent, CorruptEvent>] = []
        EventPage(partition: 3, events).forEachDecoded { decoded.append($1) }
        let expected = events.map { event in Result { () throws(CorruptEvent) in try event.decoded() } }
        #expect(decoded.map { "\($0)" } == expected.map { "\($0)" })
    }
}
