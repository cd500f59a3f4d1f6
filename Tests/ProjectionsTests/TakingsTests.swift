import Domain
import EventLog
import SeededRandom
import Testing

@testable import Projections

@Suite("What outlets took")
struct TakingsTests {
    private static let minute: Int64 = 60_000
    private static let vat = Charge(
        .tax, id: "vat", name: "VAT", rate: Rate(thousandths: 20_000), 100, isIncluded: true, shares: [100],
        bases: [600])

    private static func placed(_ outlet: Identifier = "o", _ service: ServiceKind? = nil) -> Order.Event {
        .placed(
            Order.Placement(
                cart: "c", outlet: outlet, currency: Currency("GBP")!,
                lines: [CartLine(id: "pie", item: "pie", name: "Pie", quantity: 2, unitPrice: 300)],
                charges: [Charge(.delivery, 50), vat, Charge(.tip, 20)], total: 670,
                handover: Handover(service)))
    }

    /// Orders with their events, each a number of minutes after 1970 began.
    private static func model(_ histories: [(order: Identifier, events: [(at: Int64, event: Order.Event)])])
        -> ReadModel
    {
        var events: [(time: Int64, order: Identifier, version: Int64, event: Order.Event)] = []
        for (order, list) in histories {
            for (index, entry) in list.enumerated() {
                events.append((entry.at * minute, order, Int64(index + 1), entry.event))
            }
        }
        var model = ReadModel(partition: 0)
        for (index, entry) in events.sorted(by: { $0.time < $1.time }).enumerated() {
            let event = DecodedEvent(
                partition: 0, position: Int64(index + 1), stream: StreamName(.order, entry.order),
                version: entry.version, event: .order(entry.event), metadata: .none,
                recordedAt: Timestamp(millisecondsSinceEpoch: entry.time))
            #expect(model.apply(.success(event)) == nil)
        }
        return model
    }

    private static func sums(_ model: ReadModel, _ minutes: [Int64]) -> [[String: Int64]] {
        let moments = minutes.map { Timestamp(millisecondsSinceEpoch: $0 * minute) }
        return model.takings.sums(of: "o", between: moments).map { sums in
            sums.entries.reduce(into: [:]) { result, entry in
                let (subject, sum) = entry
                let service = subject.service.map { " \($0.rawValue)" } ?? ""
                let tax = subject.tax.map { " \($0) \(subject.rate ?? -1)" } ?? ""
                result["\(subject.movement.rawValue) \(subject.kind.name)\(service)\(tax)"] = sum.amount
                if sum.base != 0 { result["base of \(subject.movement.rawValue)\(tax)"] = sum.base }
            }
        }
    }

    @Test func `what was recorded counts in the quarter of an hour in which it was`() {
        let refund = Order.Refund(
            300, taxes: [.init(id: "vat", rate: Rate(thousandths: 20_000), base: 300, 50)], .items,
            units: .init(line: "pie", quantity: 1))
        let model = Self.model([
            ("a", [(0, Self.placed()), (20, .refunded(refund))]),
            ("b", [(14, Self.placed("other")), (15, .cancelled(.init(by: .customer, .customer)))]),
            (
                "c",
                [
                    (29, Self.placed()),
                    (44, .paymentReported(.init(reference: "p", .captured, 670, of: .own), isInDoubt: false)),
                ]
            ),
        ])
        let sold: [String: Int64] = [
            "sold total": 670, "sold lines": 600, "sold delivery": 50, "sold tax vat 20000": 100,
            "base of sold vat 20000": 600,
            "sold tip": 20,
        ]
        #expect(
            Self.sums(model, [0, 15, 30, 45, 60]) == [
                sold,
                sold.merging(
                    ["refunded total": 300, "refunded tax vat 20000": 50, "base of refunded vat 20000": 300]) { $1 },
                ["paid captured": 670], [:],
            ])
    }

    @Test func `what is cancelled had cost what the event says, and in old events what the order cost`() {
        let price = Order.Price(670, [Charge(.delivery, 50), Self.vat, Charge(.tip, 20)])
        let old = Self.model([("a", [(0, Self.placed("o", .table)), (16, .rejected(.init(by: .merchant, .busy)))])])
        let new = Self.model([
            ("a", [(0, Self.placed("o", .table)), (16, .rejected(.init(by: .merchant, .busy, price: price)))])
        ])
        #expect(
            Self.sums(new, [15, 30]) == [
                [
                    "cancelled total table": 670, "cancelled lines table": 600, "cancelled delivery table": 50,
                    "cancelled tax table vat 20000": 100, "base of cancelled vat 20000": 600, "cancelled tip table": 20,
                ]
            ])
        // Nobody waited for anything of this order, so only its total and all of its taxes are known.
        #expect(
            Self.sums(old, [15, 30]) == [
                ["cancelled total table": 670, "cancelled lines table": 670, "cancelled tax table": 100]
            ])
    }

    @Test func `a change counts when it is recorded, as the difference that it makes`() throws {
        let placement = Order.Placement(
            cart: "c", outlet: "o", currency: Currency("GBP")!,
            lines: [CartLine(id: "pie", item: "pie", name: "Pie", quantity: 2, unitPrice: 300)],
            charges: [Charge(.delivery, 50), Self.vat, Charge(.tip, 20)], total: 670,
            terms: Order.Terms(placedAt: 0, acceptWithin: 600), missing: .remove,
            pricing: PricingTerms(
                taxIncluded: true, taxes: [.init(id: "vat", name: "VAT", rate: Rate(thousandths: 20_000)!)],
                delivery: .init(50)))
        let events = try Order.decide(
            .propose([.reduce(line: "pie", to: 1)], by: .merchant, wait: 600, now: 0),
            in: .placed(Order.Book(placement)))
        let change = try #require(events.first)
        var state = Order.State.placed(Order.Book(placement))
        try Order.evolve(&state, change)
        let cancelled = try Order.decide(.cancel(by: .merchant, .items, text: nil), in: state)
        let model = Self.model([("a", [(0, .placed(placement)), (16, change), (31, try #require(cancelled.first))])])
        #expect(
            Self.sums(model, [15, 30, 45]) == [
                [
                    "changed total": -300, "changed lines": -300, "changed tax vat 20000": -50,
                    "base of changed vat 20000": -300,
                ],
                [
                    "cancelled total": 370, "cancelled lines": 300, "cancelled delivery": 50, "cancelled tip": 20,
                    "cancelled tax vat 20000": 50, "base of cancelled vat 20000": 300,
                ],
            ])
    }

    @Test func `a period is part of what begins before it does not`() {
        let model = Self.model([("a", [(16, Self.placed())])])
        #expect(Self.sums(model, [0, 15, 30]).map(\.isEmpty) == [true, false])
        #expect(Self.sums(model, [0, 10, 20]).map(\.isEmpty) == [true, false])
        #expect(Self.sums(model, [16, 30]).map(\.isEmpty) == [true])
    }

    @Test(arguments: SeededGenerator.seeds)
    func `sums are the same in any order, and as rows`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let entries = (0..<60).map { _ in
            let place = Int.random(in: 0..<4 * TakingsSums.Kind.all.count * 4, using: &random)
            return (
                TakingsSums.Subject(
                    place: place, tax: random.pick([nil, "a", "b"]), rate: random.pick([nil, 0, 100_000]))!,
                TakingsSums.Sum(
                    count: 1, base: .random(in: 0...9, using: &random),
                    amount: random.pick([0, 5, .max, .random(in: 0...(1 << 50), using: &random)]))
            )
        }
        var (one, other) = (TakingsSums(), TakingsSums())
        for (subject, sum) in entries { one.add(subject, sum) }
        for (subject, sum) in entries.shuffled(using: &random) { other.add(subject, sum) }
        #expect(one == other)
        #expect(one.entries.map(\.subject) == one.entries.map(\.subject).sorted())
        #expect(
            one.entries.allSatisfy {
                TakingsSums.Subject(place: $0.subject.place, tax: $0.subject.tax, rate: $0.subject.rate) == $0.subject
            })
    }
}
