import Domain
import SeededRandom
import Testing

@Suite struct OrderLifeTests {
    private typealias Case = DeciderCase<Order>

    private static func placed(
        _ terms: Order.Terms = Order.Terms(placedAt: 0, acceptBy: 690_000, acceptWithin: 690)
    ) -> Order.Event {
        .placed(
            Order.Placement(
                cart: "cart-1", outlet: "o", currency: .inr,
                lines: [CartLine(id: "tea", item: "tea", name: "Tea", quantity: 2, unitPrice: 250)], total: 500,
                terms: terms))
    }

    private static func ended(_ by: Order.Party, _ reason: Order.Reason) -> Order.Ending {
        Order.Ending(by: by, reason)
    }

    private static let accepted = [placed(), .accepted(readyBy: 900_000, by: .merchant)]
    private static let cancelled = [placed(), .cancelled(ended(.customer, .customer))]
    private static let unpaid = placed(Order.Terms(placedAt: 0, payBy: 60_000, acceptWithin: 690))
    private static let scheduled = placed(
        Order.Terms(placedAt: 0, promisedFor: 7_200_000, releaseAt: 3_600_000, acceptWithin: 690))
    private static let day: Int64 = 86_400_000

    private static let cases = [
        Case(
            "a placed order is accepted", given: [placed()], when: .accept(readyBy: 900_000, now: 0),
            then: .events([.accepted(readyBy: 900_000, by: .merchant)])),
        Case(
            "accepted again, it is as it was", given: accepted, when: .accept(readyBy: 900_000, now: 950_000),
            then: .events([])),
        Case(
            "accepted again without a time, too", given: accepted, when: .accept(readyBy: nil, now: 0),
            then: .events([])),
        Case(
            "another time is a delay", given: accepted, when: .accept(readyBy: 1_000_000, now: 0),
            then: .rejected(.state, naming: ["ORDER.DELAY"])),
        Case(
            "a time that has passed is none", given: [placed()], when: .accept(readyBy: 5, now: 5),
            then: .rejected(.invalid, naming: ["READY"])),
        Case(
            "nobody is promised anything for next year", given: [placed()],
            when: .accept(readyBy: Timestamp(millisecondsSinceEpoch: 31 * day + 1), now: 0),
            then: .rejected(.invalid, naming: ["READY", "31 days"])),
        Case(
            "a kitchen may say nothing but that it is done", given: [placed()], when: .complete,
            then: .events([.completed(by: .merchant)])),
        Case("nothing goes back", given: [placed(), .readied], when: .prepare, then: .rejected(.state)),
        Case(
            "a delay moves the promise", given: accepted, when: .delay(readyBy: 1_200_000, now: 0),
            then: .events([.delayed(readyBy: 1_200_000)])),
        Case("the same delay is none", given: accepted, when: .delay(readyBy: 900_000, now: 0), then: .events([])),
        Case(
            "what is ready is not delayed", given: [placed(), .readied], when: .delay(readyBy: 9, now: 0),
            then: .rejected(.state)),
        Case(
            "an order is rejected", given: [placed()], when: .reject(.items, text: "no fish"),
            then: .events([.rejected(Order.Ending(by: .merchant, .items, text: "no fish"))])),
        Case(
            "what is accepted is cancelled, not rejected", given: accepted, when: .reject(.items, text: nil),
            then: .rejected(.state, naming: ["ORDER.CANCEL"])),
        Case(
            "a reason is one line of text", given: [placed()], when: .reject(.items, text: "a\nb"),
            then: .rejected(.invalid, naming: ["REASON"])),
        Case(
            "a customer cancels what is not accepted", given: [placed()],
            when: .cancel(by: .customer, .customer, text: nil), then: .events([.cancelled(ended(.customer, .customer))])
        ),
        Case(
            "the same again is no event", given: cancelled, when: .cancel(by: .customer, .customer, text: nil),
            then: .events([])),
        Case(
            "another reason comes too late", given: cancelled, when: .cancel(by: .customer, .other, text: nil),
            then: .rejected(.state, naming: ["cancelled by the customer, CUSTOMER"])),
        Case(
            "a customer does not cancel what is accepted", given: accepted,
            when: .cancel(by: .customer, .customer, text: nil), then: .rejected(.state, naming: ["only its outlet"])),
        Case(
            "a merchant does", given: accepted, when: .cancel(by: .merchant, .items, text: nil),
            then: .events([.cancelled(ended(.merchant, .items))])),
        Case(
            "what was handed over is not cancelled", given: [placed(), .completed(by: .merchant)],
            when: .cancel(by: .merchant, .items, text: nil), then: .rejected(.state)),
        Case("there is no order to prepare", when: .prepare, then: .rejected(.notFound)),

        Case(
            "a kitchen that accepts everything does so at once",
            when: .place(Order.Placement(terms: Order.Terms(placedAt: 0, acceptWithin: 0))),
            then: .events([
                .placed(Order.Placement(terms: Order.Terms(placedAt: 0, acceptWithin: 0))),
                .accepted(readyBy: nil, by: .system),
            ])),
        Case(
            "nobody accepts in time", given: [placed()], when: .meetDeadline(now: 690_000),
            then: .events([.cancelled(ended(.system, .timeout))])),
        Case("the time is not over", given: [placed()], when: .meetDeadline(now: 689_999), then: .events([])),
        Case(
            "what was accepted late holds", given: [placed(), .accepted(readyBy: nil, by: .merchant)],
            when: .meetDeadline(now: 700_000), then: .events([])),
        Case(
            "nobody pays in time", given: [unpaid], when: .meetDeadline(now: 60_000),
            then: .events([.cancelled(ended(.system, .unpaid))])),
        Case(
            "what is not paid is not cooked", given: [unpaid], when: .accept(readyBy: nil, now: 0),
            then: .rejected(.state)),
        Case(
            "the kitchen sees a scheduled order later, and has its time then", given: [scheduled],
            when: .meetDeadline(now: 4_000_000), then: .events([.released(acceptBy: 4_690_000)])),
        Case(
            "a scheduled order is not cooked yet", given: [scheduled], when: .prepare,
            then: .rejected(.state, naming: ["scheduled", "ORDER.CANCEL"])),
        Case(
            "a scheduled order can be cancelled", given: [scheduled],
            when: .cancel(by: .customer, .customer, text: nil), then: .events([.cancelled(ended(.customer, .customer))])
        ),
        Case(
            "what nobody hands over is taken for handed over a day after its promise", given: accepted,
            when: .meetDeadline(now: Timestamp(millisecondsSinceEpoch: 900_000 + day)),
            then: .events([.completed(by: .system)])),
        Case(
            "an order of an outlet that asks for nothing waits for nothing", given: [placed(.none)],
            when: .meetDeadline(now: Timestamp(millisecondsSinceEpoch: .max)), then: .events([])),
    ]

    @Test(arguments: cases)
    func `an order goes forward`(_ example: DeciderCase<Order>) { example.check() }

    @Test func `terms follow from the outlet's details`() {
        var details = OutletDetails(name: "O", currency: .inr, timeZone: "UTC")
        #expect(Order.Terms(of: details, at: 1_000) == .none)
        details.prepMinutes = 20
        #expect(Order.Terms(of: details, at: 1_000) == Order.Terms(promisedFor: 1_201_000))
        details.acceptWithin = 90
        #expect(
            Order.Terms(of: details, at: 1_000)
                == Order.Terms(placedAt: 1_000, promisedFor: 1_201_000, acceptBy: 91_000, acceptWithin: 90))
        details.payment = .first
        #expect(
            Order.Terms(of: details, at: 1_000)
                == Order.Terms(placedAt: 1_000, promisedFor: 1_201_000, payBy: 901_000, acceptWithin: 90))
        details.payWithin = 5
        #expect(Order.Terms(of: details, at: 1_000).payBy == 6_000)
    }

    @Test func `a reason is sealed where the order has a customer`() throws {
        var placement = Order.Placement(terms: .none)
        placement.customer = "asha"
        let state = try Order.state(after: [.placed(placement)])
        #expect(throws: Rejection.self) { try Order.decide(.reject(.note, text: "plain"), in: state) }
        let events = try Order.decide(.reject(.note, text: .sealed("x")), in: state)
        _ = try Order.state(after: events, from: state)
        #expect(throws: ImpossibleEvent.self) {
            try Order.state(after: [.rejected(Order.Ending(by: .merchant, .note, text: "plain"))], from: state)
        }
    }

    /// What may follow what, written down once more: the status that each command leads to from each status.
    private static let table: [Order.Status: [String: Order.Status]] = [
        .awaitingPayment: ["customer cancels": .cancelled, "merchant cancels": .cancelled],
        .scheduled: ["customer cancels": .cancelled, "merchant cancels": .cancelled],
        .placed: [
            "accept": .accepted, "reject": .rejected, "prepare": .preparing, "ready": .ready, "complete": .completed,
            "customer cancels": .cancelled, "merchant cancels": .cancelled,
        ],
        .accepted: [
            "accept": .accepted, "prepare": .preparing, "ready": .ready, "complete": .completed,
            "merchant cancels": .cancelled,
        ],
        .preparing: [
            "prepare": .preparing, "ready": .ready, "complete": .completed, "merchant cancels": .cancelled,
        ],
        .ready: ["ready": .ready, "complete": .completed, "merchant cancels": .cancelled],
        .completed: ["complete": .completed],
        .rejected: ["reject": .rejected],
        .cancelled: [:],
    ]

    @Test(arguments: SeededGenerator.seeds)
    func `random lives follow the table, and their deadlines come true once`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var seen: Set<Order.Status> = []
        for _ in 0..<40 {
            var now: Int64 = 0
            let terms = Order.Terms(
                placedAt: 0, releaseAt: random.maybe { _ in 50_000 }, acceptBy: 60_000,
                payBy: random.maybe { _ in 40_000 }, acceptWithin: random.maybe { $0.pick([0, 30]) })
            var state = try Order.state(after: try Order.decide(.place(Order.Placement(terms: terms)), in: .unplaced))
            for _ in 0..<12 {
                now += Int64(random.number(0..<30_000))
                let book = try #require(state.book)
                seen.insert(book.status)
                let time = Timestamp(millisecondsSinceEpoch: now)
                let (name, command): (String, Order.Command) = random.pick([
                    ("accept", .accept(readyBy: nil, now: time)), ("reject", .reject(.busy, text: nil)),
                    ("prepare", .prepare), ("ready", .ready), ("complete", .complete),
                    ("customer cancels", .cancel(by: .customer, .customer, text: nil)),
                    ("merchant cancels", .cancel(by: .merchant, .items, text: nil)),
                    ("time", .meetDeadline(now: time)),
                ])
                let events = try? Order.decide(command, in: state)
                let after = try Order.state(after: events ?? [], from: state)
                if name == "time" {
                    let isDue = book.deadline.map { $0 <= time } ?? false
                    #expect((events?.isEmpty == false) == isDue)
                    #expect(try Order.decide(command, in: after).isEmpty || after.book?.status == .placed)
                } else {
                    let isRepeated = book.status == .cancelled && events != nil
                    let expected = isRepeated ? .cancelled : Self.table[book.status]?[name]
                    #expect((events == nil ? nil : after.book?.status) == expected, "\(name) when \(book.status)")
                    #expect(events?.isEmpty != true || after == state)
                }
                state = after
            }
        }
        #expect(seen.count >= 7)
    }
}

extension Order.Placement {
    fileprivate init(terms: Order.Terms) {
        self.init(cart: "c", outlet: "o", currency: .inr, lines: [], total: 0, terms: terms)
    }
}
