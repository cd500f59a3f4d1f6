import Domain
import EventLog
import EventLoop
import Projections
import SeededRandom
import Testing

@testable import Application
@testable import Serving

/// A log of orders, with what each read model was at its end.
private struct OrderLog {
    static let start: Int64 = 1_700_000_000_000
    /// In milliseconds.
    static let day = 86_400_000

    let log: InMemoryEventLog
    private let partitioning: Partitioning
    private(set) var events: [[RecordedEvent]]
    private var time = OrderLog.start
    private var books: [(id: Identifier, state: Order.State, version: Int64)] = []
    private var random: SeededGenerator

    init(seed: UInt64, partitions: Int) async throws {
        log = InMemoryEventLog(partitionCount: partitions)
        partitioning = Partitioning(count: partitions)
        events = Array(repeating: [], count: partitions)
        random = SeededGenerator(seed: seed)
        for _ in 0..<60 { try await grow() }
    }

    /// Places an order, or has something happen to one; now and then something that cannot be understood.
    private mutating func grow() async throws {
        // Now and then a night passes.
        time += Int64(random.chance(10) ? random.below(2 * OrderLog.day) : random.below(3))
        guard !books.isEmpty, random.chance(60) else { return try await place() }
        let index = random.below(books.count)
        if random.chance(4) { return try await append("order.unknown", Array("{}".utf8), toOrderAt: index) }
        let command = random.pick([
            Order.Command.accept(readyBy: nil, now: Timestamp(millisecondsSinceEpoch: time)), .prepare, .ready,
            .complete, .reject(.other, text: nil), .cancel(by: .merchant, .other, text: nil),
        ])
        guard let happened = try? Order.decide(command, in: books[index].state) else { return }
        for event in happened { try await append(event, toOrderAt: index) }
    }

    private mutating func place() async throws {
        let (cart, price) = (Identifier("cart-\(books.count)")!, Amount(minorUnits: 100))
        let placement = Order.Placement(
            cart: cart, outlet: Identifier("outlet-\(random.below(2))")!, currency: Currency("GBP")!,
            lines: [CartLine(id: "tea", item: cart, name: "Tea", quantity: 2, unitPrice: price)], total: price,
            customer: random.maybe { Identifier("customer-\($0.below(2))")! })
        books.append((partitioning.orderID(cart: cart, version: 1), Order.initial, 0))
        try await append(.placed(placement), toOrderAt: books.count - 1)
    }

    private mutating func append(_ event: Order.Event, toOrderAt index: Int) async throws {
        let (kind, payload) = EventCodec.encode(.order(event))
        try Order.evolve(&books[index].state, event)
        try await append(kind.name, payload, version: kind.schemaVersion, toOrderAt: index)
    }

    private mutating func append(
        _ name: String, _ payload: [UInt8], version: Int = 1, toOrderAt index: Int
    ) async throws {
        books[index].version += 1
        let stream = StreamName(.order, books[index].id)
        let partition = partitioning.partition(of: stream)
        let event = NewEvent(
            stream: stream, version: books[index].version, kind: EventKind(name: name, schemaVersion: version),
            payload: payload, metadata: Array("{}".utf8))
        let batch = EventBatch(
            partition: partition, events: [event], groups: [0],
            recordedAt: Timestamp(millisecondsSinceEpoch: time))
        _ = try await log.append(batch, seen: await log.end(of: partition))
        events[partition] = try await log.read(partition: partition, after: 0, limit: .max)
    }

    /// What the read models were up to these positions.
    func models(upTo ends: [Int64]) -> [Orders] {
        zip(events, ends).map { events, end in
            Orders(
                folding: events.filter { $0.position <= end }.map { event in
                    Result { () throws(CorruptEvent) in try event.decoded() }
                })
        }
    }

    /// Where the partitions ended, after each event and before the first.
    var moments: [(moment: Moment, ends: [Int64])] {
        if events.count == 1 { return (0...Int64(events[0].count)).map { (.position($0), [$0]) } }
        let times = Set(events.joined().map(\.recordedAt)).sorted()
        return times.map { time in (.time(time), events.map { Int64($0.count { $0.recordedAt <= time }) }) }
    }
}

@Suite struct PastOrdersTests {
    init() { LoopActor.startInBackground() }

    private static let filters = {
        let (outlet, customer) = (Identifier("outlet-0"), Identifier("customer-1"))
        return [
            OrderFilter(), OrderFilter(outlet: outlet), OrderFilter(customer: customer),
            OrderFilter(outlet: outlet, customer: customer), OrderFilter(outlet: Identifier("nowhere")),
            OrderFilter(statuses: [.accepted, .preparing]), OrderFilter(outlet: outlet, statuses: [.placed]),
            OrderFilter(outlet: outlet, placed: days(1..<3)),
        ]
    }()

    private static func days(_ days: Range<Int>) -> Range<Timestamp> {
        let moments = [days.lowerBound, days.upperBound].map {
            Timestamp(millisecondsSinceEpoch: OrderLog.start + Int64($0 * OrderLog.day))
        }
        return moments[0]..<moments[1]
    }

    private static func rows(_ orders: Orders, _ filter: OrderFilter, patience: Int = .max) -> [OrderRow] {
        var (rows, patience, position) = ([OrderRow](), patience, Int64.max)
        while case .order(let row) = orders.newest(filter, before: position, patience: &patience) {
            rows.append(row)
            position = row.position
        }
        return rows
    }

    @Test(arguments: SeededGenerator.seeds)
    func `orders of some days are all that were placed then, and others are not looked at`(seed: UInt64) async throws {
        let history = try await OrderLog(seed: seed, partitions: 1)
        let orders = try #require(history.models(upTo: [.max]).first)
        let all = PastOrdersTests.rows(orders, OrderFilter())
        for first in 0..<8 {
            let (days, near) = (PastOrdersTests.days(first..<first + 2), PastOrdersTests.days(first - 1..<first + 3))
            let expected = all.filter { days.contains($0.placedAt) }.map(\.order)
            let patience = all.count { near.contains($0.placedAt) } + orders.quarantine.streams.count
            #expect(
                PastOrdersTests.rows(orders, OrderFilter(placed: days), patience: patience).map(\.order) == expected)
        }
    }

    /// Every page, one after the other.
    private func pages(
        _ filter: OrderFilter, _ count: Int, _ page: (OrderQuestion) async throws -> [UInt8]
    ) async throws -> [String] {
        var pages: [String] = []
        var question = OrderQuestion(filter: filter, count: count)
        // Each page leads further back, so there are no more pages than positions.
        for _ in 0..<200 {
            let text = String(decoding: try await page(question), as: UTF8.self)
            pages.append(text)
            guard let next = text.firstMatch(of: /"next":"([0-9-]+)"/) else { return pages }
            let cursor = String(next.1)
            question.cursor = OrderCursor(cursor, partitions: cursor.split(separator: "-").count)
        }
        Issue.record("a list without an end")
        return pages
    }

    @Test(arguments: SeededGenerator.seeds, [1, 3])
    func `pages of the past are those that a replay up to then gives`(seed: UInt64, partitions: Int) async throws {
        let history = try await OrderLog(seed: seed, partitions: partitions)
        let now = history.models(upTo: history.events.map { Int64($0.count) })
        var random = SeededGenerator(seed: seed)
        for (moment, ends) in history.moments where random.chance(10) {
            let then = history.models(upTo: ends)
            for filter in PastOrdersTests.filters {
                let count = random.pick([1, 3, 100])
                let expected = try await pages(filter, count) { question in
                    question.page(before: question.cursor?.positions ?? ends.map { $0 + 1 }) { partition, position in
                        var patience = OrderQuestion.patience
                        return then[partition].newest(filter, before: position, patience: &patience)
                    }
                }
                let found = try await pages(filter, count) { question in
                    try await PastState.page(of: question, at: moment, in: history.log) { range throws(Failure) in
                        now[range.partition].placed(
                            filter, before: range.before, limit: range.limit, patience: OrderQuestion.patience)
                    }.get()
                }
                #expect(orders(in: found) == orders(in: expected), "\(filter) at \(moment)")
                // Unless orders are damaged, pages end where they ended then.
                if now.allSatisfy(\.quarantine.streams.isEmpty) { #expect(found == expected) }
            }
        }
    }

    private func orders(in pages: [String]) -> [Substring] {
        pages.flatMap { $0.matches(of: /\{"order":[^}]*\}/).map(\.0) }
    }

    @Test func `a page of the past looks at a bounded number of orders, however few of them it shows`() {
        let all = OrderQuestion(filter: OrderFilter(), count: 100)
        let some = OrderQuestion(filter: OrderFilter(statuses: [.placed]), count: 1)
        #expect([1, 4, 1_000].map(all.maximumOfPast) == [100, 50, 1])
        #expect([1, 4, 1_000].map(some.maximumOfPast) == [200, 50, 1])
    }

    @Test func `in several partitions a position says nothing`() async throws {
        let log = InMemoryEventLog(partitionCount: 2)
        let question = OrderQuestion(filter: OrderFilter(), count: 1)
        let page = await PastState.page(of: question, at: .position(0), in: log) { _ in PlacedOrders() }
        let failure = #expect(throws: Failure.self) { try page.get() }
        #expect(failure?.code == .invalid)
    }
}
