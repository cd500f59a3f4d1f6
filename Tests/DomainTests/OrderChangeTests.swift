import Domain
import Testing

@Suite("Changes of an order")
struct OrderChangeTests {
    private typealias Case = DeciderCase<Order>

    /// 10 % of service and 20 % of tax in prices, 2 % of tax on drinks, and delivery that is free from 12.50.
    private static let pricing = PricingTerms(
        taxIncluded: true,
        taxes: [
            .init(id: "vat", name: "VAT", rate: .sample(20_000)), .init(id: "low", name: "Low", rate: .sample(2_000)),
        ],
        service: .init(rate: .sample(10_000), tax: "vat"), delivery: .init(300, freeFrom: 1_250, tax: "vat"))
    private static let pie = CartLine(id: "pie", item: "pie", name: "Pie", quantity: 2, unitPrice: 500, note: "hot")
    private static let tea = CartLine(id: "tea", item: "tea", name: "Tea", quantity: 3, unitPrice: 100)
    private static let terms = Order.Terms(placedAt: 0, acceptBy: 690_000, acceptWithin: 690)

    private static func placement(
        _ missing: Order.Missing = .ask, _ terms: Order.Terms = terms, pricing: PricingTerms = pricing
    ) -> Order.Placement {
        let bill = try! Bill(for: [.init(1_000), .init(300, tax: "low")], on: Self.pricing, tip: 50)
        return Order.Placement(
            cart: "c", outlet: "o", currency: .inr, lines: [pie, tea], charges: bill.charges, total: bill.total,
            terms: terms, missing: missing, pricing: pricing)
    }

    /// The change that edits come to, by the bill of these lines.
    private static func change(
        _ lines: [Order.LineChange], by party: Order.Party = .merchant, ordered: [CartLine],
        of placement: Order.Placement = placement()
    ) -> Order.Change {
        let bill = try! Bill(
            for: ordered.map { try! .init($0.total(), tax: $0.item == "tea" ? "low" : nil) }, on: pricing, tip: 50)
        let ordered = ordered.map { line in
            var line = line
            line.note = nil
            return line
        }
        var after = placement
        (after.lines, after.charges, after.total) = (ordered, bill.charges, bill.total)
        return Order.Change(
            by: party, lines, before: placement.digest, after: after.digest, ordered: ordered,
            price: Order.Price(bill.total, bill.charges))
    }

    private static func line(_ line: CartLine, _ quantity: Int, at price: Amount? = nil, id: Text? = nil) -> CartLine {
        var line = line
        (line.quantity, line.unitPrice, line.id) = (quantity, price ?? line.unitPrice, id ?? line.id)
        if id != nil { line.note = nil }
        return line
    }

    private static func offer(_ price: Amount, tax: Identifier? = nil, maximum: Int = 99) -> Offer {
        .available(.init(name: "Cake", unitPrice: price, currency: .inr, maxQuantity: maximum, tax: tax))
    }
    private static let cake = CartLine(id: "cake", item: "cake", name: "Cake", quantity: 1, unitPrice: 450)

    /// An order of an outlet that charges nothing, with a promotion.
    private static func discounted(_ shares: [Int64], _ lines: CartLine...) -> Order.Placement {
        let discount = Bill.Discount("ten", "Ten", by: .outlet, shares.reduce(0, +), shares: shares)
        let bill = try! Bill(for: lines.map { try! .init($0.total()) }, on: .none, discounts: [discount], tip: .zero)
        return Order.Placement(
            cart: "c", outlet: "o", currency: .inr, lines: lines, charges: bill.charges, total: bill.total, terms: terms
        )
    }

    private static let lessDiscounted: Order.Change = {
        let (before, after) = (discounted([100, 30], pie, tea), discounted([50, 30], line(pie, 1), tea))
        var ordered = after.lines
        ordered[0].note = nil
        return Order.Change(
            by: .merchant, [.init(line: "pie", name: "Pie", from: 2, to: 1)], before: before.digest,
            after: after.digest, ordered: ordered, price: after.price)
    }()

    private static let fewer = change(
        [.init(line: "pie", name: "Pie", from: 2, to: 1)], ordered: [line(pie, 1), tea])
    private static let lessPie: [Order.LineEdit] = [.reduce(line: "pie", to: 1)]
    private static let swapped = change(
        [
            .init(line: "pie", name: "Pie", from: 2, to: 1),
            .init(line: "cake", name: "Cake", from: 0, to: 1, replaces: "pie"),
        ],
        ordered: [line(pie, 1), tea, cake])
    private static let cakeForPie: [Order.LineEdit] = [
        .replace(line: "pie", to: 1, by: .init("cake", quantity: 1, offer: offer(450)))
    ]
    private static let more = change(
        [.init(line: "tea~2", name: "Tea", from: 0, to: 2)], by: .customer,
        ordered: [pie, tea, line(tea, 2, at: 110, id: "tea~2")])

    private static func propose(
        _ edits: [Order.LineEdit], by party: Order.Party = .merchant, now: Timestamp = 0
    ) -> Order.Command {
        .propose(edits, by: party, wait: 600, now: now)
    }

    private static let placed = Order.Event.placed(placement())
    private static let open = [placed, .changeProposed(fewer, until: 600_000)]
    private static let changed = open + [.changed(fewer)]

    private static let cases = [
        Case(
            "fewer of a line are proposed, and what stays keeps its price", given: [placed], when: propose(lessPie),
            then: .events([.changeProposed(fewer, until: 600_000)])),
        Case(
            "the same again is no event", given: open, when: propose(lessPie, now: 5), then: .events([])),
        Case(
            "one proposal is open at a time", given: open, when: propose([.reduce(line: "tea", to: 0)]),
            then: .rejected(.state, allowed: [.agreeChange, .declineChange])),
        Case(
            "something else comes at the price of today, as a line of its own", given: [placed],
            when: propose(
                [
                    .add(
                        .init(
                            "tea", quantity: 2,
                            offer: .available(
                                .init(name: "Tea", unitPrice: 110, currency: .inr, maxQuantity: 9, tax: "low"))))
                ],
                by: .customer), then: .events([.changeProposed(more, until: 600_000)])),
        Case(
            "the other party agrees", given: open, when: .agree(fewer.after, as: [.customer]),
            then: .events([.changed(fewer)])),
        Case(
            "agreed twice is one event", given: changed, when: .agree(fewer.after, as: [.customer]), then: .events([])),
        Case(
            "nobody agrees to their own", given: open, when: .agree(fewer.after, as: [.merchant]),
            then: .rejected(.state, naming: ["the customer agrees"])),
        Case(
            "who agrees has seen the bill", given: open, when: .agree(fewer.before, as: [.customer]),
            then: .rejected(.totalChanged, naming: ["12.30 INR"])),
        Case(
            "the other party declines", given: open, when: .decline(as: [.customer]),
            then: .events([.changeDeclined(by: .customer)])),
        Case(
            "the proposer withdraws", given: open, when: .decline(as: [.merchant]),
            then: .events([.changeDeclined(by: .merchant)])),
        Case(
            "declined twice is one event", given: open + [.changeDeclined(by: .customer)],
            when: .decline(as: [.customer]), then: .events([])),
        Case(
            "nothing is declined that was not proposed", given: [placed], when: .decline(as: [.customer]),
            then: .rejected(.state)),
        Case(
            "a proposal expires", given: open, when: .meetDeadline(now: 600_000), then: .events([.changeExpired])),
        Case("and not before", given: open, when: .meetDeadline(now: 599_999), then: .events([])),
        Case(
            "what is recorded before the end holds", given: open, when: .agree(fewer.after, as: [.customer]),
            then: .events([.changed(fewer)])),
        Case(
            "an order is accepted while a change is proposed", given: open, when: .accept(readyBy: nil, now: 0),
            then: .events([.accepted(readyBy: nil, by: .merchant)])),
        Case(
            "and goes no further", given: open + [.accepted(readyBy: nil, by: .merchant)], when: .prepare,
            then: .rejected(.state, allowed: [.agreeChange, .declineChange])),
        Case("nor is it handed over", given: open, when: .complete, then: .rejected(.state)),
        Case(
            "nor by itself", given: open + [.accepted(readyBy: nil, by: .merchant)],
            when: .meetDeadline(now: Timestamp(millisecondsSinceEpoch: .max)), then: .events([.changeExpired])),
        Case(
            "once it is declined it goes on", given: open + [.changeDeclined(by: .customer)], when: .prepare,
            then: .events([.preparationStarted])),
        Case(
            "what is ready is not changed", given: [placed, .readied], when: propose(lessPie), then: .rejected(.state)),
        Case(
            "an order that nobody follows is not changed", given: [.placed(placement(.ask, .none))],
            when: propose(lessPie), then: .rejected(.state, naming: ["acceptWithin"])),
        Case(
            "an order from before its terms were recorded is not changed",
            given: [.placed(placement(pricing: .none))], when: propose(lessPie), then: .rejected(.state)),
        Case(
            "an order of an outlet that charges nothing keeps its discounts",
            given: [.placed(discounted([100, 30], pie, tea))], when: propose(lessPie),
            then: .events([.changeProposed(lessDiscounted, until: 600_000)])),
        Case(
            "something is left", given: [placed],
            when: propose([.reduce(line: "pie", to: 0), .reduce(line: "tea", to: 0)]),
            then: .rejected(.state, allowed: [.cancelOrder])),
        Case(
            "more of a line is another line", given: [placed], when: propose([.reduce(line: "pie", to: 3)]),
            then: .rejected(.invalid)),
        Case(
            "a line is there", given: [placed], when: propose([.reduce(line: "soup", to: 0)]),
            then: .rejected(.notFound)),
        Case(
            "what comes can be had", given: [placed],
            when: propose([.add(.init("cake", quantity: 1, offer: .soldOut(until: nil)))]), then: .rejected(.soldOut)),
        Case(
            "as many as there are", given: [placed],
            when: propose([.add(.init("cake", quantity: 2, offer: offer(450, maximum: 1)))]), then: .rejected(.limit)),
        Case(
            "and has a tax that there was", given: [placed],
            when: propose([.add(.init("cake", quantity: 1, offer: offer(450, tax: "new")))]), then: .rejected(.state)),

        Case(
            "who said so beforehand has agreed that something is left out", given: [.placed(placement(.remove))],
            when: propose(lessPie), then: .events([.changed(fewer)])),
        Case(
            "and is asked for something else", given: [.placed(placement(.remove))], when: propose(cakeForPie),
            then: .events([.changeProposed(swapped, until: 600_000)])),
        Case(
            "unless that was said", given: [.placed(placement(.replace))], when: propose(cakeForPie),
            then: .events([.changed(swapped)])),
        Case(
            "a total that rises is asked for", given: [.placed(placement(.remove))],
            when: propose([.reduce(line: "tea", to: 2)]),
            then: .events([
                .changeProposed(
                    change([.init(line: "tea", name: "Tea", from: 3, to: 2)], ordered: [pie, line(tea, 2)]),
                    until: 600_000)
            ])),
        Case(
            "what comes beside is asked for", given: [.placed(placement(.replace))],
            when: propose(lessPie + [.add(.init("cake", quantity: 1, offer: offer(450)))]),
            then: .events([
                .changeProposed(
                    change(
                        [
                            .init(line: "pie", name: "Pie", from: 2, to: 1),
                            .init(line: "cake", name: "Cake", from: 0, to: 1),
                        ],
                        ordered: [line(pie, 1), tea, cake]), until: 600_000)
            ])),
        Case(
            "a customer is not asked by themselves", given: [.placed(placement(.remove))],
            when: propose(lessPie, by: .customer),
            then: .events([
                .changeProposed(
                    change(
                        [.init(line: "pie", name: "Pie", from: 2, to: 1)], by: .customer, ordered: [line(pie, 1), tea]),
                    until: 600_000)
            ])),
        Case(
            "or wants no order then", given: [.placed(placement(.cancel))], when: propose(lessPie),
            then: .events([.cancelled(.init(by: .merchant, .items, price: placement().price))])),

        Case(
            "what was given back stays",
            given: [placed, .refunded(.init(500, .items, units: .init(line: "pie", quantity: 2)))],
            when: propose(lessPie), then: .rejected(.limit, naming: ["line 'pie'"])),
        Case(
            "what is charged is at least what was given back", given: [placed, .refunded(.init(1_300, .other))],
            when: propose(lessPie), then: .rejected(.limit, naming: ["the total"])),
        Case(
            "also when it was given back meanwhile", given: open + [.refunded(.init(1_300, .other))],
            when: .agree(fewer.after, as: [.customer]), then: .rejected(.limit)),
        Case("the kitchen takes note", given: changed, when: .noteChanges, then: .events([.changesNoted])),
        Case(
            "not of what has ended", given: changed + [.completed(by: .merchant)], when: .noteChanges,
            then: .events([])),
        Case("once", given: changed + [.changesNoted], when: .noteChanges, then: .events([])),
        Case(
            "a change of what was changed", given: changed, when: propose([.reduce(line: "pie", to: 0)]),
            then: .events([
                .changeProposed(
                    change(
                        [.init(line: "pie", name: "Pie", from: 1, to: 0)], ordered: [tea],
                        of: try! placement().after(fewer)), until: 600_000)
            ])),
    ]

    @Test(arguments: cases) private func changes(_ specification: Case) { specification.check() }

    @Test func `no more of what is counted comes than the order holds, and what is missing is not given back`() throws {
        var placement = Self.placement(.cancel)
        let claims: ([CartLine]) -> [Claim] = { lines in
            lines.map { Claim(.item($0.item), Int64($0.quantity)) }.summed
        }
        placement.claims = [Claim(.item("cake"), 1), Claim(.item("pie"), 2), Claim(.slot(0), 1, limit: 4)]
        func propose(_ edits: [Order.LineEdit]) throws -> [Order.Event] {
            let counted = Order.Book(placement).counted(edits, claims: claims)
            return try Order.decide(
                .propose(edits, by: .merchant, wait: 600, now: 0, counted: counted),
                in: Order.state(after: [.placed(placement)]))
        }
        let cakes = try propose([.add(.init("cake", quantity: 1, offer: Self.offer(450)))])
        guard case .changeProposed = try #require(cakes.first) else { throw Rejection(.state, "\(cakes)") }
        #expect {
            _ = try propose([.replace(line: "tea", to: 0, by: .init("cake", quantity: 2, offer: Self.offer(450)))])
        } throws: {
            ($0 as? Rejection)?.code == .state && ($0 as? Rejection)?.message.contains("counts item 'cake'") == true
        }
        guard case .cancelled(let ending) = try #require(try propose(Self.lessPie).first) else {
            throw Rejection(.state, "not cancelled")
        }
        #expect(ending.claims == [Claim(.item("cake"), 1), Claim(.slot(0), 1, limit: 4)])
        // The same where the rest is still wanted.
        placement.missing = .remove
        let change = try propose(Self.lessPie)
        let state = try Order.state(after: [.placed(placement)] + change)
        let end = try Order.decide(.cancel(by: .merchant, .other, text: nil), in: state)
        #expect(
            end == [.cancelled(.init(by: .merchant, .other, price: state.book?.placement.price, claims: ending.claims))]
        )
        #expect(
            state.book?.counted([.add(.init("pie", quantity: 1, offer: Self.offer(450)))], claims: claims).lacking
                == .item("pie"))
    }

    @Test func `what stays keeps its note, and the difference is due or owed`() throws {
        let paid = Order.Event.paymentReported(.init(reference: "p", .captured, Self.placement().total))
        let book = try #require(try Order.state(after: [Self.placed, paid] + Self.changed.dropFirst()).book)
        #expect(book.placement.lines == [Self.line(Self.pie, 1), Self.tea])
        #expect(book.balance == (0, Self.placement().total.minorUnits - Self.fewer.price.total.minorUnits))
        #expect(book.changes.map(\.outcome) == [.agreed] && book.unnoted.count == 1)
        // Delivery was free from 12.50, and 8.00 are left.
        #expect(book.placement.charges.map(\.kind) == [.service, .delivery, .tax, .tax, .tip])
    }

    @Test(arguments: [
        // Nobody agreed.
        [placed, .changed(fewer)], [placed, .changed(more)], [.placed(placement(.remove)), .changed(swapped)],
        // Another one was proposed, or none.
        open + [.changed(swapped)], open + [.changeProposed(fewer, until: 0)], [placed, .changeExpired],
        [placed, .changeDeclined(by: .customer)], [placed, .changesNoted],
        changed + [.completed(by: .merchant), .changesNoted],
        // The order went on meanwhile, or had ended.
        open + [.preparationStarted], open + [.completed(by: .system)],
        [placed, .readied, .changeProposed(fewer, until: 0)],
        // The bill does not follow from what is different.
        [placed, .changeProposed(altered { $0.ordered[0].quantity = 2 }, until: 0)],
        [placed, .changeProposed(altered { $0.ordered[0].unitPrice = 1 }, until: 0)],
        [placed, .changeProposed(altered { $0.ordered.swapAt(0, 1) }, until: 0)],
        [placed, .changeProposed(altered { $0.lines[0].from = 3 }, until: 0)],
        [placed, .changeProposed(altered { $0.lines = [] }, until: 0)],
        [placed, .changeProposed(altered { $0.price.total = 1 }, until: 0)],
        [placed, .changeProposed(altered { $0.before = $0.after }, until: 0)],
        [placed, .changeProposed(altered { $0.by = .system }, until: 0)],
        // More was given back.
        open + [.refunded(.init(1_300, .other)), .changed(fewer)],
    ])
    private func `a change that nobody can have made is impossible`(_ history: [Order.Event]) {
        #expect(throws: ImpossibleEvent.self) { try Order.state(after: history) }
    }

    private static func altered(_ alter: (inout Order.Change) -> Void) -> Order.Change {
        var change = fewer
        alter(&change)
        return change
    }
}
