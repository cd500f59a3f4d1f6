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
        Order.Ending(by: by, reason, price: price)
    }

    private static let price = Order.Price(500, [])
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
            then: .rejected(
                .state, allowed: [.prepareOrder, .readyOrder, .completeOrder, .delayOrder, .cancelOrder, .refundOrder])),
        Case(
            "a time that has passed is none", given: [placed()], when: .accept(readyBy: 5, now: 5),
            then: .rejected(.invalid, about: .readyBy)),
        Case(
            "nobody is promised anything for next year", given: [placed()],
            when: .accept(readyBy: Timestamp(millisecondsSinceEpoch: 31 * day + 1), now: 0),
            then: .rejected(.invalid, naming: ["31 days"], about: .readyBy)),
        Case(
            "a kitchen may say nothing but that it is done", given: [placed()], when: .complete,
            then: .events([.completed(by: .merchant)])),
        Case("nothing goes back", given: [placed(), .readied], when: .prepare, then: .rejected(.state)),
        Case(
            "a delay moves the promise", given: accepted, when: .delay(readyBy: 1_200_000, now: 0),
            then: .events([.delayed(readyBy: 1_200_000)])),
        Case("the same delay is none", given: accepted, when: .delay(readyBy: 900_000, now: 0), then: .events([])),
        Case(
            "a delay may say why", given: accepted, when: .delay(readyBy: 1_200_000, text: "no gas", now: 0),
            then: .events([.delayed(readyBy: 1_200_000, text: "no gas")])),
        Case(
            "the same delay for the same reason is none",
            given: accepted + [.delayed(readyBy: 1_200_000, text: "no gas")],
            when: .delay(readyBy: 1_200_000, text: "no gas", now: 0), then: .events([])),
        Case(
            "a reason may come later", given: accepted + [.delayed(readyBy: 1_200_000)],
            when: .delay(readyBy: 1_200_000, text: "no gas", now: 0),
            then: .events([.delayed(readyBy: 1_200_000, text: "no gas")])),
        Case(
            "a reason for nobody is not sealed", given: accepted,
            when: .delay(readyBy: 1_200_000, text: .sealed("x"), now: 0), then: .rejected(.invalid, about: .reason)),
        Case(
            "what is ready is not delayed", given: [placed(), .readied], when: .delay(readyBy: 9, now: 0),
            then: .rejected(.state)),
        Case(
            "an order is rejected", given: [placed()], when: .reject(.items, text: "no fish"),
            then: .events([.rejected(Order.Ending(by: .merchant, .items, text: "no fish", price: price))])),
        Case(
            "what is accepted is cancelled, not rejected", given: accepted, when: .reject(.items, text: nil),
            then: .rejected(
                .state, allowed: [.prepareOrder, .readyOrder, .completeOrder, .delayOrder, .cancelOrder, .refundOrder])),
        Case(
            "a reason is one line of text", given: [placed()], when: .reject(.items, text: "a\nb"),
            then: .rejected(.invalid, about: .reason)),
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
            "what costs nothing is placed at once, though its outlet is paid first",
            when: .place(
                Order.Placement(terms: Order.Terms(placedAt: 0, payBy: 60_000, acceptWithin: 690))),
            then: .events([
                .placed(Order.Placement(terms: Order.Terms(placedAt: 0, acceptBy: 690_000, acceptWithin: 690)))
            ])),
        Case(
            "what costs nothing is accepted at once where everything is",
            when: .place(Order.Placement(terms: Order.Terms(placedAt: 0, payBy: 60_000, acceptWithin: 0))),
            then: .events([
                .placed(Order.Placement(terms: Order.Terms(placedAt: 0, acceptWithin: 0))),
                .accepted(readyBy: nil, by: .system),
            ])),
        Case(
            "what costs nothing and was recorded as waiting to be paid still does",
            given: [.placed(Order.Placement(terms: Order.Terms(placedAt: 0, payBy: 60_000)))], when: .prepare,
            then: .rejected(.state, naming: ["awaiting payment"])),
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
            then: .rejected(.state, naming: ["scheduled"], allowed: [.cancelOrder])),
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
            var placement = Order.Placement(terms: terms)
            placement.total = 1
            var state = try Order.state(after: try Order.decide(.place(placement), in: .unplaced))
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
                let isTimed = name == "time"
                let isRepeated = book.status == .cancelled && command.cancels(as: book.ending)
                let next = isRepeated ? .cancelled : Self.table[book.status]?[name]
                guard isTimed || next != nil else {
                    let rejection = #expect(throws: Rejection.self) { try Order.decide(command, in: state) }
                    #expect(rejection?.code == .state, "\(name) when \(book.status)")
                    continue
                }
                let events = try Order.decide(command, in: state)
                let after = try Order.state(after: events, from: state)
                if isTimed {
                    let isDue = book.deadline.map { $0 <= time } ?? false
                    #expect(!events.isEmpty == isDue)
                    #expect(try Order.decide(command, in: after).isEmpty || after.book?.status == .placed)
                } else {
                    #expect(after.book?.status == next, "\(name) when \(book.status)")
                    #expect(!events.isEmpty || after == state)
                }
                state = after
            }
        }
        #expect(seen.count >= 7)
    }
}

@Suite struct PaymentTests {
    private typealias Case = DeciderCase<Order>

    private static func placed(_ terms: Order.Terms) -> Order.Event {
        .placed(Order.Placement(cart: "c", outlet: "o", currency: .inr, lines: [], total: 500, terms: terms))
    }

    private static func report(
        _ kind: Order.PaymentKind, _ amount: Amount = 500, _ reference: Text = "pay_1", of parent: Text? = nil
    ) -> Order.Command {
        .reportPayment(
            Order.Payment(reference: reference, kind, amount, of: parent.map { .report($0) } ?? .own), now: 1_000)
    }

    private static func reported(
        _ kind: Order.PaymentKind, _ amount: Amount = 500, _ reference: Text = "pay_1",
        of parent: Order.Payment.Parent = .own, isInDoubt: Bool = false
    ) -> Order.Event {
        .paymentReported(Order.Payment(reference: reference, kind, amount, of: parent), isInDoubt: isInDoubt)
    }

    /// As it was recorded when reports had no parents.
    private static func once(
        _ kind: Order.PaymentKind, _ amount: Amount = 500, _ reference: Text = "pay_1"
    ) -> Order.Event {
        reported(kind, amount, reference, of: .report(reference))
    }

    private static let released = Order.Event.released(acceptBy: 691_000)
    private static let unpaid = placed(Order.Terms(placedAt: 0, payBy: 60_000, acceptWithin: 690))
    private static let cancelled = Order.Event.cancelled(
        Order.Ending(by: .system, .unpaid, price: Order.Price(500, [])))

    private static let cases = [
        Case(
            "what is set aside in full is shown to the kitchen", given: [unpaid], when: report(.authorised),
            then: .events([reported(.authorised), .released(acceptBy: 691_000)])),
        Case(
            "a part is not enough", given: [unpaid], when: report(.captured, 499),
            then: .events([reported(.captured, 499)])),
        Case(
            "two parts are", given: [unpaid, reported(.captured, 499)], when: report(.authorised, 1, "pay_2"),
            then: .events([reported(.authorised, 1, "pay_2"), .released(acceptBy: 691_000)])),
        Case("what failed moved nothing", given: [unpaid], when: report(.failed), then: .events([reported(.failed)])),
        Case(
            "what is set aside and captured counts once", given: [unpaid, reported(.authorised, 300)],
            when: report(.captured, 300), then: .events([reported(.captured, 300)])),
        Case(
            "a kitchen that accepts everything accepts it when it is paid",
            given: [placed(Order.Terms(placedAt: 0, payBy: 60_000, acceptWithin: 0))], when: report(.captured),
            then: .events([reported(.captured), .released(acceptBy: nil), .accepted(readyBy: nil, by: .system)])),
        Case(
            "what is for later is scheduled when it is paid",
            given: [placed(Order.Terms(placedAt: 0, releaseAt: 3_600_000, payBy: 60_000))], when: report(.captured),
            then: .events([reported(.captured), .scheduled])),
        Case(
            "the same report again is none", given: [unpaid, reported(.authorised)], when: report(.authorised),
            then: .events([])),
        Case(
            "the same report with another amount is another", given: [unpaid, reported(.authorised)],
            when: report(.authorised, 1), then: .rejected(.idMismatch, naming: ["pay_1"])),
        Case(
            "money that moves after the end is recorded", given: [unpaid, cancelled], when: report(.captured),
            then: .events([reported(.captured)])),
        Case(
            "the number of a card is refused", given: [unpaid],
            when: report(.captured, 500, "card 4111-1111 1111 1111"),
            then: .rejected(.invalid, naming: ["card"])),
        Case(
            "a number that no card has is taken", given: [unpaid], when: report(.captured, 1, "4111111111111112"),
            then: .events([reported(.captured, 1, "4111111111111112")])),
        Case("no money is less than none", given: [unpaid], when: report(.captured, -1), then: .rejected(.invalid)),
        Case("there is nothing to pay for", when: report(.captured), then: .rejected(.notFound)),
        Case(
            "money that went back does not pay",
            given: [unpaid, reported(.captured, 300), reported(.refunded, 300, "r", of: .report("pay_1"))],
            when: report(.captured, 200, "pay_2"), then: .events([reported(.captured, 200, "pay_2")])),
        Case(
            "a capture under a reference of its own is of the authorisation that is open",
            given: [unpaid, reported(.authorised, 250)], when: report(.captured, 250, "c"),
            then: .events([reported(.captured, 250, "c", of: .report("pay_1"))])),
        Case(
            "one that says that it is its own is not", given: [unpaid, reported(.authorised, 250)],
            when: report(.captured, 250, "c", of: "c"), then: .events([reported(.captured, 250, "c"), released])),
        Case(
            "once the authorisation is used up, a capture is a payment of its own",
            given: [unpaid, reported(.authorised, 250), reported(.captured, 250)], when: report(.captured, 250, "c"),
            then: .events([reported(.captured, 250, "c"), released])),
        Case(
            "of one of two authorisations, nobody knows of which",
            given: [unpaid, reported(.authorised, 250), reported(.authorised, 200, "pay_2")],
            when: report(.captured, 50, "c"),
            then: .events([reported(.captured, 50, "c", of: .unclear, isInDoubt: true)])),
        Case(
            "a parent that comes later ends the doubt",
            given: [unpaid, reported(.captured, 50, "c", of: .report("pay_1"), isInDoubt: true)],
            when: report(.authorised, 50), then: .events([reported(.authorised, 50)])),
        Case(
            "more refunded than captured is recorded in doubt", given: [unpaid, reported(.captured, 100)],
            when: report(.refunded, 101, "r"),
            then: .events([reported(.refunded, 101, "r", of: .report("pay_1"), isInDoubt: true)])),
        Case(
            "the same report with another parent is another",
            given: [unpaid, reported(.authorised, 50), reported(.captured, 50, "c", of: .report("pay_1"))],
            when: report(.captured, 50, "c", of: "pay_2"), then: .rejected(.idMismatch, naming: ["another report"])),
        Case(
            "an authorisation is of nothing", given: [unpaid], when: report(.authorised, 500, "a", of: "pay_1"),
            then: .rejected(.invalid, about: .partOf)),
        Case(
            "an order that loses its cover waits again for as long as before",
            given: [unpaid, reported(.authorised), released], when: report(.voided, 1, "v"),
            then: .events([reported(.voided, 1, "v", of: .report("pay_1")), .coverLost(payBy: 61_000)])),
        Case(
            "an accepted one, too",
            given: [unpaid, reported(.captured), released, .accepted(readyBy: nil, by: .merchant)],
            when: report(.chargedBack, 1, "d"),
            then: .events([reported(.chargedBack, 1, "d", of: .report("pay_1")), .coverLost(payBy: 61_000)])),
        Case(
            "one that is being cooked does not", given: [unpaid, reported(.captured), released, .preparationStarted],
            when: report(.chargedBack, 1, "d"),
            then: .events([reported(.chargedBack, 1, "d", of: .report("pay_1"))])),
        Case(
            "one that is not paid first does not", given: [placed(Order.Terms(placedAt: 0)), reported(.captured)],
            when: report(.refunded, 500, "r"),
            then: .events([reported(.refunded, 500, "r", of: .report("pay_1"))])),
        Case(
            "what was given back needs no cover",
            given: [unpaid, reported(.captured), released, .refunded(Order.Refund(200, .other))],
            when: report(.refunded, 200, "r"), then: .events([reported(.refunded, 200, "r", of: .report("pay_1"))])),
        Case(
            "the new deadline counts",
            given: [unpaid, reported(.authorised), released, reported(.voided), .coverLost(payBy: 90_000)],
            when: .meetDeadline(now: 89_999), then: .events([])),
        Case(
            "and ends it",
            given: [unpaid, reported(.authorised), released, reported(.voided), .coverLost(payBy: 90_000)],
            when: .meetDeadline(now: 90_000), then: .events([cancelled])),
        Case(
            "a scheduled order waits again, and is scheduled again",
            given: [
                placed(Order.Terms(placedAt: 0, releaseAt: 3_600_000, payBy: 60_000)), reported(.captured), .scheduled,
                reported(.refunded), .coverLost(payBy: 61_000),
            ], when: report(.captured, 500, "c"), then: .events([reported(.captured, 500, "c"), .scheduled])),
    ]

    @Test(arguments: cases)
    func `payments are recorded`(_ example: DeciderCase<Order>) { example.check() }

    @Test func `what is due and owed follows from what was reported`() throws {
        func balance(_ events: [Order.Event]) throws -> [Int64] {
            let book = try #require(try Order.state(after: [Self.unpaid] + events).book)
            return [book.payments.paid, book.payments.secured, book.balance.due, book.balance.owed]
        }
        #expect(try balance([]) == [0, 0, 500, 0])
        #expect(try balance([Self.reported(.authorised)]) == [0, 500, 0, 0])
        #expect(try balance([Self.reported(.authorised, 200)]) == [0, 200, 300, 0])
        #expect(try balance([Self.reported(.captured)]) == [500, 500, 0, 0])
        #expect(try balance([Self.reported(.captured, 700)]) == [700, 700, 0, 200])
        #expect(try balance([Self.cancelled, Self.reported(.captured)]) == [500, 500, 0, 500])
        #expect(
            try balance([Self.cancelled, Self.reported(.captured), Self.reported(.refunded, 500)]) == [0, 0, 0, 0])
        #expect(
            try balance([Self.reported(.captured), Self.reported(.refunded, 200), Self.reported(.chargedBack, 300)])
                == [0, 0, 500, 0])
        #expect(try balance([Self.reported(.captured, 100), Self.reported(.refunded, 900)]) == [-800, -800, 1_300, 0])
    }

    /// Reports of several parts, and each doubt with its reason.
    @Test func `parts are counted against their parents`() throws {
        var payments = Order.Payments()
        func take(_ kind: Order.PaymentKind, _ amount: Amount, _ reference: Text, of parent: Text? = nil) {
            payments.take(
                Order.Payment(reference: reference, kind, amount, of: parent.map { .report($0) } ?? .own))
        }
        take(.authorised, 500, "a")
        take(.captured, 200, "c1", of: "a")
        take(.captured, 200, "c2", of: "a")
        #expect([payments.authorised, payments.paid, payments.secured] == [100, 400, 500])
        take(.voided, 100, "v", of: "a")
        take(.refunded, 50, "r1", of: "c1")
        take(.refunded, 50, "r2", of: "c1")
        #expect([payments.authorised, payments.refunded, payments.paid] == [0, 100, 300])
        #expect(payments.doubts == [])
        take(.refunded, 101, "r3", of: "c1")
        take(.captured, 1, "c3", of: "a")
        take(.voided, 1, "v2", of: "b")
        take(.refunded, 1, "r4")
        #expect(payments.doubts.map(\.report.reference) == ["r3", "c3", "v2", "r4"])
        #expect(payments.doubts.map(\.reason) == [.excess, .excess, .parent, .parent])
    }

    /// A capture of a reference took from the authorisation of the same reference, and nothing was doubted.
    @Test func `reports from before there were parents mean what they meant`() throws {
        var state = try Order.state(after: [
            Self.unpaid, Self.once(.authorised, 300, "a"), Self.once(.captured, 200, "a"),
            Self.once(.captured, 100, "b"), Self.once(.voided, 50, "x"), Self.once(.refunded, 900, "r"),
        ])
        let before = try #require(state.book?.payments)
        #expect([before.authorised, before.captured, before.refunded] == [100, 300, 900])
        #expect(before.doubts == [])
        // A part that is reported now counts against what was reported then.
        let events = try Order.decide(Self.report(.captured, 101, "c"), in: state)
        #expect(events == [Self.reported(.captured, 101, "c", of: .report("a"), isInDoubt: true)])
        state = try Order.state(after: events, from: state)
        #expect(state.book?.payments.authorised == 0)
    }

    @Test func `what is cooked without cover is uncovered, and waits for nothing`() throws {
        var events = [Self.unpaid, Self.reported(.authorised), Self.released, .preparationStarted]
        #expect(try Order.state(after: events).book?.isUncovered == false)
        events.append(Self.reported(.voided, 1, "v", of: .report("pay_1")))
        #expect(try Order.state(after: events).book?.isUncovered == true)
        #expect(try Order.state(after: events + [.readied]).book?.isUncovered == true)
        #expect(try Order.state(after: events + [.refunded(Order.Refund(1, .other))]).book?.isUncovered == false)
        #expect(try Order.state(after: events + [.completed(by: .merchant)]).book?.isUncovered == false)
        #expect(throws: ImpossibleEvent.self) { try Order.state(after: events + [.coverLost(payBy: 0)]) }
    }
}

@Suite struct RefundTests {
    private typealias Specification = DeciderSpecification<Order>

    private static let placed = Order.Event.placed(
        Order.Placement(
            cart: "c", outlet: "o", currency: .inr,
            lines: [
                CartLine(id: "tea", item: "tea", name: "Tea", quantity: 3, unitPrice: 100),
                CartLine(id: "pie", item: "pie", name: "Pie", quantity: 1, unitPrice: 150),
            ], total: 450))

    private static func refunded(_ amount: Amount, _ line: Text? = nil, _ quantity: Int = 1) -> Order.Event {
        .refunded(
            Order.Refund(amount, .items, units: line.map { Order.Refund.Units(line: $0, quantity: quantity) }))
    }

    @Test func `units, an amount and the rest are given back`() {
        let placed = Self.placed
        Specification.given([placed]).when(.refund(.units(line: "tea", quantity: 2), .items))
            .then([Self.refunded(200, "tea", 2)])
        Specification.given([placed, .completed(by: .merchant)]).when(.refund(.amount(50), .items))
            .then([Self.refunded(50)])
        Specification.given([placed, Self.refunded(50)]).when(.refund(.rest, .items)).then([Self.refunded(400)])
    }

    @Test func `no more is given back than was ordered or paid`() {
        let placed = Self.placed
        Specification.given([placed, Self.refunded(200, "tea", 2)])
            .when(.refund(.units(line: "tea", quantity: 2), .items)).thenRejected(.limit, naming: ["at most 1"])
        Specification.given([placed]).when(.refund(.amount(451), .items)).thenRejected(.limit, naming: ["4.50 INR"])
        Specification.given([placed, Self.refunded(400)])
            .when(.refund(.amount(51), .items)).thenRejected(.limit, naming: ["0.50 INR"])
        Specification.given([placed, Self.refunded(450)]).when(.refund(.rest, .items)).thenRejected(.limit)
        for part: Order.RefundPart in [.amount(0), .amount(-1), .units(line: "tea", quantity: 0)] {
            Specification.given([placed]).when(.refund(part, .items)).thenRejected(.invalid)
        }
        Specification.given([placed]).when(.refund(.units(line: "ale", quantity: 1), .items)).thenRejected(.notFound)
        Specification.given([placed, .rejected(Order.Ending(by: .merchant, .busy))]).when(.refund(.rest, .items))
            .thenRejected(.state)
        #expect(throws: ImpossibleEvent.self) {
            try Order.state(after: [placed, Self.refunded(400), Self.refunded(51)])
        }
    }

    /// Whatever is given back in whatever steps, nothing is lost and nothing is given twice.
    @Test(arguments: SeededGenerator.seeds)
    func `stacked refunds end at what the line costs`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let (quantity, price) = (random.number(1...99), Amount(minorUnits: Int64(random.number(0...1_000_000_000))))
            let line = CartLine(id: "a", item: "a", name: "A", quantity: quantity, unitPrice: price)
            let total = try line.total()
            var state = try Order.state(
                after: [.placed(Order.Placement(cart: "c", outlet: "o", currency: .inr, lines: [line], total: total))])
            var left = quantity
            while left > 0, total > .zero {
                let units = random.number(1...left)
                let events = try Order.decide(.refund(.units(line: "a", quantity: units), .items), in: state)
                state = try Order.state(after: events, from: state)
                left -= units
                let given = try #require(state.book?.refunds.amount)
                #expect(given == price.minorUnits * Int64(quantity - left))
            }
            #expect(state.book?.refunds.amount == total.minorUnits)
            #expect(state.book?.balance.due == 0)
        }
    }

    /// An order with charges and up to three taxes, in the prices or on top, of few minor units or many.
    private static func charged(_ random: inout SeededGenerator, tip: Amount) throws -> Order.Placement {
        let ids: [Identifier] = Array(["food", "drink", "city"].prefix(random.number(0...3)))
        // Rounding leaves most of small orders.
        let most = random.pick([3, 3, 3, 50, 5_000])
        func tax() -> Identifier? { ids.isEmpty ? nil : random.maybe { $0.pick(ids) } }
        func fee() -> PricingTerms.Fee {
            PricingTerms.Fee(Amount(minorUnits: Int64(random.number(0...most))), tax: tax())
        }
        let terms = PricingTerms(
            taxIncluded: random.chance(50),
            taxes: ids.map {
                PricingTerms.Tax(
                    id: $0, name: "Tax", rate: .sample(random.pick([0, 5_000, 8_875, 20_000, 33_333, 100_000])))
            },
            service: random.chance(50)
                ? PricingTerms.Service(rate: .sample(random.pick([1_000, 10_000, 12_500, 100_000])), tax: tax()) : nil,
            smallOrder: random.chance(30) ? fee() : nil, delivery: random.chance(50) ? fee() : nil)
        let lines = try (0..<random.number(1...4)).map { place in
            CartLine(
                id: Text("l\(place)"), item: try #require(Identifier("i\(place)")), name: "A",
                quantity: random.number(1...4), unitPrice: Amount(minorUnits: Int64(random.number(0...most))))
        }
        let bill = try Bill(for: lines.map { Bill.Line(try $0.total(), tax: tax()) }, on: terms, tip: tip)
        return Order.Placement(
            cart: "c", outlet: "o", currency: .inr, lines: lines, charges: bill.charges, total: bill.total)
    }

    /// The units of all lines in pieces, in any order.
    private static func pieces(
        of placement: Order.Placement, _ random: inout SeededGenerator
    ) -> [(line: Text, quantity: Int)] {
        var pieces: [(line: Text, quantity: Int)] = []
        for line in placement.lines {
            var left = line.quantity
            while left > 0 {
                let quantity = random.number(1...left)
                pieces.append((line.id, quantity))
                left -= quantity
            }
        }
        return pieces.shuffled(using: &random)
    }

    /// What was given back: the money, and each tax with its base.
    private struct Given: Equatable {
        var amount: Int64 = 0
        var taxes: [Identifier: [Int64]] = [:]

        mutating func add(_ amount: Amount, _ taxes: [(id: Identifier?, base: Amount?, amount: Amount)]) throws {
            self.amount += amount.minorUnits
            for tax in taxes where tax.amount > .zero || tax.base ?? .zero > .zero {
                let base = try #require(tax.base)
                let before = self.taxes[try #require(tax.id), default: [0, 0]]
                self.taxes[try #require(tax.id)] =
                    [before[0] + base.minorUnits, before[1] + tax.amount.minorUnits]
            }
        }
    }

    /// Gives a part back, and adds it up.
    private static func giveBack(
        _ part: Order.RefundPart, of state: inout Order.State, _ given: inout Given
    ) throws {
        let events = try Order.decide(.refund(part, .items), in: state)
        for case .refunded(let refund) in events {
            try given.add(refund.amount, refund.taxes.map { ($0.id, $0.base, $0.amount) })
        }
        state = try Order.state(after: events, from: state)
    }

    /// With the seeds of `make test`, twenty thousand.
    private static let ordersOfASeed = 2_000

    @Test(arguments: SeededGenerator.seeds)
    func `everything given back piece by piece is the order, with each of its taxes`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<Self.ordersOfASeed {
            let placement = try Self.charged(&random, tip: random.pick([0, 1, 100]))
            var whole = Given()
            try whole.add(placement.total, placement.taxes.map { ($0.id, $0.base, $0.amount) })
            var state = try Order.state(after: [.placed(placement)])
            var given = Given()
            let takesAmounts = random.chance(50)
            func isLeft() -> Int64 { placement.total.minorUnits - given.amount }
            for piece in Self.pieces(of: placement, &random) where isLeft() > 0 {
                if takesAmounts, random.chance(30) {
                    let most = random.chance(20) ? isLeft() : min(isLeft(), 200)
                    let amount = Amount(minorUnits: Int64(random.number(1...Int(most))))
                    try Self.giveBack(.amount(amount), of: &state, &given)
                }
                guard isLeft() > 0 else { break }
                try Self.giveBack(.units(line: piece.line, quantity: piece.quantity), of: &state, &given)
            }
            if isLeft() > 0 { try Self.giveBack(.rest, of: &state, &given) }
            let refunds = try #require(state.book?.refunds)
            guard given == whole, refunds.amount == whole.amount, refunds.tax == placement.tax.minorUnits else {
                Issue.record("\(placement): \(given) of \(whole)")
                return
            }
        }
    }

    /// A line's price, its share of service, and exactly the taxes that were allotted to both.
    private static func worth(of index: Int, in placement: Order.Placement) throws -> Given {
        let fees = placement.charges.prefix { $0.kind != .tax && $0.kind != .tip }
        let place = fees.firstIndex { $0.kind == .service }
        let service = place.map { fees[$0].shares.map(\.minorUnits) } ?? placement.lines.map { _ in 0 }
        var taxes: [(id: Identifier?, base: Amount?, amount: Amount)] = []
        var amount = try placement.lines[index].total().minorUnits + service[index]
        for tax in placement.taxes {
            let onService = place.map { tax.shares[placement.lines.count + $0].minorUnits } ?? 0
            let isOnService = place.map { tax.bases[placement.lines.count + $0] > .zero } ?? false
            // By largest remainder, of equals the first.
            let sum = service.reduce(0, +)
            var parts = service.map { sum == 0 ? 0 : onService * $0 / sum }
            let order = service.indices.sorted {
                (-(onService * service[$0] % max(sum, 1)), $0) < (-(onService * service[$1] % max(sum, 1)), $1)
            }
            if sum > 0 { for index in order.prefix(Int(onService - parts.reduce(0, +))) { parts[index] += 1 } }
            let share = tax.shares[index].minorUnits + parts[index]
            if !tax.isIncluded { amount += share }
            let base = tax.bases[index].minorUnits + (isOnService ? service[index] : 0)
            taxes.append((tax.id, Amount(minorUnits: base), Amount(minorUnits: share)))
        }
        var worth = Given()
        try worth.add(Amount(minorUnits: amount), taxes)
        return worth
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a line gives back what it cost, whatever the tip and amounts within what no line gives back`(
        _ seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let placement = try Self.charged(&random, tip: random.pick([0, 1, 100]))
            var state = try Order.state(after: [.placed(placement)])
            let worths = try placement.lines.indices.map { try Self.worth(of: $0, in: placement) }
            var beside = placement.total.minorUnits - worths.reduce(0) { $0 + $1.amount }
            var given: [Text: Given] = [:]
            var amounts = Given()
            for piece in Self.pieces(of: placement, &random) {
                if beside > 0, random.chance(30) {
                    let amount = Int64(random.number(1...Int(beside)))
                    beside -= amount
                    try Self.giveBack(.amount(Amount(minorUnits: amount)), of: &state, &amounts)
                }
                guard state.book?.refunds.amount != placement.total.minorUnits else { continue }
                try Self.giveBack(
                    .units(line: piece.line, quantity: piece.quantity), of: &state,
                    &given[piece.line, default: Given()])
            }
            for (line, worth) in zip(placement.lines, worths) {
                #expect(given[line.id, default: Given()] == worth)
            }
        }
    }

    /// Six orders of one burger for 10.00 with taxed service of 10 %, VAT of 20 % included or on top, and three tips.
    @Test(arguments: [true, false], [0, 10, 100] as [Amount])
    func `the tax on a line's service is given back with it`(isIncluded: Bool, tip: Amount) throws {
        let terms = PricingTerms(
            taxIncluded: isIncluded, taxes: [.init(id: "vat", name: "VAT", rate: .sample(20_000))],
            service: .init(rate: .sample(10_000), tax: "vat"))
        let bill = try Bill(for: [Bill.Line(1_000)], on: terms, tip: tip)
        let placement = Order.Placement(
            cart: "c", outlet: "o", currency: .inr,
            lines: [CartLine(id: "burger", item: "burger", name: "Burger", quantity: 1, unitPrice: 1_000)],
            charges: bill.charges, total: bill.total)
        let vat = Order.Refund.Tax(id: "vat", rate: .sample(20_000), base: 1_100, isIncluded ? 183 : 220)
        Specification.given([.placed(placement)]).when(.refund(.units(line: "burger", quantity: 1), .items))
            .then([
                .refunded(
                    Order.Refund(
                        isIncluded ? 1_100 : 1_320, taxes: [vat], .items,
                        units: Order.Refund.Units(line: "burger", quantity: 1)))
            ])
    }

    @Test func `units of a line have the tax that is on them`() throws {
        let placed = Order.Event.placed(
            Order.Placement(
                cart: "c", outlet: "o", currency: .inr,
                lines: [
                    CartLine(id: "tea", item: "tea", name: "Tea", quantity: 3, unitPrice: 100),
                    CartLine(id: "pie", item: "pie", name: "Pie", quantity: 1, unitPrice: 150),
                ],
                charges: [Charge(.tax, id: "vat", name: "VAT", 80, shares: [30, 50])], total: 530))
        func refunded(_ amount: Amount, tax: Amount, _ line: Text? = nil, _ quantity: Int = 1) -> Order.Event {
            .refunded(
                Order.Refund(
                    amount, taxes: [Order.Refund.Tax(id: "vat", tax)], .items,
                    units: line.map { Order.Refund.Units(line: $0, quantity: quantity) }))
        }
        Specification.given([placed]).when(.refund(.units(line: "tea", quantity: 2), .items))
            .then([refunded(220, tax: 20, "tea", 2)])
        Specification.given([placed]).when(.refund(.units(line: "pie", quantity: 1), .items))
            .then([refunded(200, tax: 50, "pie", 1)])
        Specification.given([placed]).when(.refund(.amount(53), .items)).then([refunded(53, tax: 8)])
        Specification.given([placed, refunded(220, tax: 20, "tea", 2)]).when(.refund(.rest, .items))
            .then([refunded(310, tax: 60)])
        // An amount lowers what all lines are worth; then each gives back its part of what is left.
        Specification.given([placed, refunded(53, tax: 8)]).when(.refund(.units(line: "pie", quantity: 1), .items))
            .then([refunded(180, tax: 45, "pie", 1)])
    }

    /// Recorded before refunds had each tax: what they say stands, and what is left is right.
    @Test func `refunds of older orders go on from what was recorded`() throws {
        // 10.00 and 5.00, service of 10 % with VAT of 20 % in it, and a tip of 1.00.
        let placed = Order.Event.placed(
            Order.Placement(
                cart: "c", outlet: "o", currency: .inr,
                lines: [
                    CartLine(id: "tea", item: "tea", name: "Tea", quantity: 1, unitPrice: 1_000),
                    CartLine(id: "pie", item: "pie", name: "Pie", quantity: 1, unitPrice: 500),
                ],
                charges: [
                    Charge(.service, 150, shares: [100, 50]),
                    Charge(.tax, id: "vat", name: "VAT", 275, isIncluded: true, shares: [167, 83, 25]),
                    Charge(.tip, 100),
                ], total: 1_750))
        let old = Order.Event.refunded(
            Order.Refund(
                1_100, taxes: [Order.Refund.Tax(166)], .items, units: Order.Refund.Units(line: "tea", quantity: 1)))
        func refunded(_ amount: Amount, tax: Amount, _ line: Text? = nil) -> Order.Event {
            .refunded(
                Order.Refund(
                    amount, taxes: [Order.Refund.Tax(id: "vat", tax)], .items,
                    units: line.map { Order.Refund.Units(line: $0, quantity: 1) }))
        }
        let pie = Order.Command.refund(.units(line: "pie", quantity: 1), .items)
        Specification.given([placed]).when(pie).then([refunded(550, tax: 91, "pie")])
        Specification.given([placed, old]).when(pie).then([refunded(550, tax: 91, "pie")])
        // What the old refund kept back comes with the rest.
        Specification.given([placed, old, refunded(550, tax: 91, "pie")]).when(.refund(.rest, .items))
            .then([refunded(100, tax: 18)])
        #expect(try Order.state(after: [placed, old]).book?.refunds.tax == 166)
    }

    @Test func `taxes that were recorded together are those of the line`() throws {
        let placed = Order.Event.placed(
            Order.Placement(
                cart: "c", outlet: "o", currency: .inr,
                lines: [
                    CartLine(id: "tea", item: "tea", name: "Tea", quantity: 1, unitPrice: 100),
                    CartLine(id: "ale", item: "ale", name: "Ale", quantity: 1, unitPrice: 100),
                ],
                charges: [
                    Charge(.tax, id: "food", name: "Food", 10, shares: [10, 0]),
                    Charge(.tax, id: "drink", name: "Drink", 20, shares: [0, 20]),
                ], total: 230))
        let old = Order.Event.refunded(
            Order.Refund(
                120, taxes: [Order.Refund.Tax(20)], .items, units: Order.Refund.Units(line: "ale", quantity: 1)))
        Specification.given([placed, old]).when(.refund(.rest, .items))
            .then([.refunded(Order.Refund(110, taxes: [Order.Refund.Tax(id: "food", 10)], .items))])
    }
}

extension Order.Placement {
    fileprivate init(terms: Order.Terms) {
        self.init(cart: "c", outlet: "o", currency: .inr, lines: [], total: 0, terms: terms)
    }
}

extension Order.Command {
    /// Whether it cancels an order just as it was.
    fileprivate func cancels(as ending: Order.Ending?) -> Bool {
        guard case .cancel(let party, let reason, let text) = self else { return false }
        return Order.Ending(by: party, reason, text: text, price: ending?.price) == ending
    }
}
