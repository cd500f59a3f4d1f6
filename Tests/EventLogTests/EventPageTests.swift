import Domain
import EventLog
import SeededRandom
import Testing

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
}
