import Domain
import EventLog
import Testing

@Suite struct EventFilterTests {
    private static func events(after position: Int64, payloadBytes: Int) -> [RecordedEvent] {
        (position + 1...position + 4).map { position in
            RecordedEvent(
                partition: 0, position: position, stream: "cart-c", version: position,
                kind: EventKind(name: position % 2 == 0 ? "cart.cleared" : "cart.itemAdded", schemaVersion: 1),
                payload: [UInt8](repeating: 0x20, count: payloadBytes), metadata: Array("{}".utf8),
                recordedAt: Timestamp(millisecondsSinceEpoch: position))
        }
    }

    private static func find(
        _ filter: EventFilter = EventFilter(), limit: Int = 1_000, payloadBytes: Int, last: Int64 = .max
    ) async throws -> FilteredEvents {
        try await InMemoryEventLog().find(filter, after: 0, limit: limit, numbered: \.position) { position, _ in
            position < last ? events(after: position, payloadBytes: payloadBytes) : []
        }
    }

    @Test func `what is found ends at the limit, at so many bytes, and with the log`() async throws {
        let three = try await Self.find(limit: 3, payloadBytes: 10)
        #expect((three.events.map(\.position), three.end, three.isAtEnd) == ([1, 2, 3], 3, false))

        let large = try await Self.find(payloadBytes: FilteredEvents.maximumBytes / 2)
        #expect((large.events.count, large.end, large.isAtEnd) == (2, 2, false))

        let all = try await Self.find(payloadBytes: 10, last: 8)
        #expect((all.events.count, all.end, all.isAtEnd) == (8, 8, true))
    }

    @Test func `no more is looked at than one has patience for, however little is found`() async throws {
        let nothing = try await Self.find(EventFilter(kinds: EventFilter.Kinds("order")), payloadBytes: 10)
        #expect((nothing.events.count, nothing.end, nothing.isAtEnd) == (0, 10_000, false))
        #expect(FilteredEvents.patience == 10_000)

        let every = try await Self.find(
            EventFilter(kinds: EventFilter.Kinds("cart.cleared")), payloadBytes: 10, last: 8)
        #expect((every.events.map(\.position), every.end) == ([2, 4, 6, 8], 8))
    }
}
