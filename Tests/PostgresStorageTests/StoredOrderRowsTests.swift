import Domain
import EventLog
import EventLoop
import Postgres
import Projections
import Testing

@testable import PostgresStorage

/// Rows of orders, of which a server holds the newest and those that are open.
@Suite(.timeLimit(.minutes(1))) struct StoredOrderRowsTests {
    init() { LoopActor.startInBackground() }

    private static let placedAt: Int64 = 1_700_000_000_000
    private static let day: Int64 = 86_400_000
    private static let price = Amount(minorUnits: 100)

    private static func id(_ name: String) -> Identifier { Identifier(name)! }

    /// A store with the orders 1 to 6, each placed a day and a position after the one before. Odd ones are of the outlet
    /// `grill`, the others of `bar`; every third one is Asha's; the second waits to be accepted.
    @LoopActor
    private static func with(_ body: @LoopActor (TestLog, PostgresReadModelStore) async throws -> Void) async throws {
        try await TestLog.with { test in
            let store = PostgresReadModelStore(test.database)
            defer { store.close() }
            for number in 1...6 {
                let time = Timestamp(millisecondsSinceEpoch: placedAt + Int64(number) * day)
                var placement = Order.Placement(
                    cart: Self.id("cart"), outlet: Self.id(number.isMultiple(of: 2) ? "bar" : "grill"),
                    currency: Currency("GBP")!,
                    lines: [CartLine(id: "tea", item: Self.id("tea"), name: "Tea", quantity: 1, unitPrice: price)],
                    total: price,
                    customer: number.isMultiple(of: 3) ? Self.id("asha") : nil)
                if number == 2 {
                    var details = OutletDetails(name: "Bar", currency: Currency("GBP")!, timeZone: "UTC")
                    details.acceptWithin = 600
                    placement.terms = Order.Terms(of: details, at: time)
                }
                let (kind, payload) = EventCodec.encode(.order(.placed(placement)))
                let event = NewEvent(
                    stream: StreamName(.order, Self.id("\(number)")), version: 1, kind: kind, payload: payload,
                    metadata: Array("{}".utf8))
                let batch = EventBatch(partition: 0, events: [event], groups: [0], recordedAt: time)
                _ = try await test.log.append(batch, seen: try await test.log.end(of: 0))
            }
            _ = try await store.rebuild([], of: 0, from: test.log) { _, _ in }
            try await body(test, store)
        }
    }

    @LoopActor
    private static func ids(_ store: PostgresReadModelStore, _ filter: OrderFilter, before position: Int64) async throws
        -> [String]
    {
        let found = try await store.orders(filter, before: position, in: 0)
        #expect(found.position == 6 && found.generation > 0)
        return try (0..<found.rows.count).map { try Orders.row($0, of: found.rows).order.rawValue }
    }

    @Test @LoopActor func `Orders of a list are read from a position on, the newest first`() async throws {
        let time = { Timestamp(millisecondsSinceEpoch: Self.placedAt + $0 * Self.day) }
        // A day more at both ends of some days: clocks of servers differ.
        let some = OrderFilter(outlet: Self.id("bar"), placed: time(4)..<time(5))
        let questions: [(OrderFilter, before: Int64, [String])] = [
            (OrderFilter(), 7, ["6", "5", "4", "3", "2", "1"]), (OrderFilter(), 3, ["2", "1"]),
            (OrderFilter(outlet: Self.id("grill")), 5, ["3", "1"]),
            (OrderFilter(customer: Self.id("asha")), 7, ["6", "3"]),
            (OrderFilter(customer: Self.id("nobody")), 7, []), (some, 7, ["4"]), (some, 4, []),
        ]
        try await Self.with { _, store in
            for (filter, position, expected) in questions {
                let found = try await Self.ids(store, filter, before: position)
                #expect(found == expected, "\(filter)")
            }
        }
    }

    @Test(arguments: [(0, ["2"]), (1, ["2", "6"]), (3, ["2", "4", "5", "6"]), (9, ["1", "2", "3", "4", "5", "6"])])
    @LoopActor func `A start holds the newest orders and those that are open`(limit: Int, held: [String]) async throws {
        try await Self.with { test, store in
            let restored = try await store.restore(
                ReadModel(partition: 0, cartLimit: 0, orderLimit: limit), log: test.log)
            #expect(restored.note == nil && restored.model.position == 6)
            let rows = ReadModel.orders.rows(in: restored.model)
            #expect(rows.map { $0.key.rawValue } == held)
        }
    }

    @Test(arguments: [1, 9])
    @LoopActor func `Rows that are not those that were saved are found at the start or soon after it`(limit: Int)
        async throws
    {
        try await Self.with { test, store in
            try await test.owner.runScript("UPDATE tiffin.order_rows SET total = 7 WHERE order_id = '3'")
            let restored = try await store.restore(
                ReadModel(partition: 0, cartLimit: 0, orderLimit: limit), log: test.log)
            #expect(restored.isRejected == (limit == 9))
            guard case .damaged = try await store.survey(restored.model.emptied) else {
                Issue.record("the damage is not found")
                return
            }
        }
    }
}
