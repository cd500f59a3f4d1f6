import SeededRandom
import Testing

@testable import Domain

@Suite("Promotions")
struct PromotionTests {
    private typealias Case = DeciderCase<Promotions>

    private static func line(_ item: Identifier, _ price: Amount, _ quantity: Int = 1) -> CartLine {
        CartLine(id: Text(item.rawValue), item: item, name: "x", quantity: quantity, unitPrice: price)
    }

    /// What promotions take off lines, each about the items of its scope.
    private static func discounts(
        _ promotions: [Promotion], off lines: [CartLine], delivery: Amount = 0, codes: [Text] = [],
        service: ServiceKind? = nil, at now: Timestamp = 0
    ) throws -> Discounts {
        let candidates = promotions.sorted { $0.id < $1.id }.map { promotion in
            Promotion.Candidate(
                promotion,
                lines: lines.map { promotion.scope == .all || promotion.scope.items.contains($0.item) })
        }
        return Discounts(
            candidates,
            off: .init(
                lines, subtotal: try lines.total(), delivery: delivery, codes: codes, service: service, at: now))
    }

    private static func items(
        _ id: Identifier, _ gift: Promotion.Gift = .percent(.sample(100_000)), of items: [Identifier] = [],
        buy: Int = 0, get: Int = 1, cap: Amount? = nil, isAlone: Bool = false
    ) -> Promotion {
        Promotion(
            id: id, title: "x", on: .items, gift, of: .init(items: items), buy: buy, get: get, cap: cap,
            isAlone: isAlone)
    }
    private static func order(
        _ id: Identifier, _ gift: Promotion.Gift, buy: Int = 0, get: Int = 1, isAlone: Bool = false
    ) -> Promotion {
        Promotion(id: id, title: "x", on: .order, gift, buy: buy, get: get, isAlone: isAlone)
    }

    @Test func `of seven units at buy two get one, the two cheapest are free`() throws {
        let lines = [Self.line("a", 500, 3), Self.line("b", 300, 2), Self.line("c", 900, 2)]
        let result = try Self.discounts([Self.items("p", buy: 2)], off: lines)
        #expect(result.list.map(\.shares) == [[0, 600, 0]])
    }

    @Test func `a discount can be recorded from the smallest amount to the largest`() {
        let most = Amount.maximum.minorUnits
        for (amount, isRecordable) in [(0, false), (1, true), (most, true), (most + 1, false)] {
            #expect(Bill.Discount("p", "x", by: .outlet, amount).isRecordable == isRecordable, "\(amount)")
            #expect(Bill.Discount("p", "x", by: .outlet, amount, shares: [amount, 0]).isRecordable == isRecordable)
        }
    }

    @Test func `a unit is used by one promotion only, bought or given, and the largest saving comes first`() throws {
        let lines = [Self.line("a", 500, 2), Self.line("b", 400)]
        // Together they would take 400 and then half of what is left.
        let result = try Self.discounts(
            [
                Self.items("free", of: ["a", "b"], buy: 2),
                Self.items("half", .percent(.sample(50_000)), of: ["a", "b"]),
            ], off: lines)
        #expect(result.list.map(\.promotion) == ["half"])
        #expect(result.list.map(\.amount) == [700])
        let equal = try Self.discounts(
            [Self.items("q", .amount(400), of: ["b"]), Self.items("p", .amount(400), of: ["b"])], off: lines)
        #expect(equal.list.map(\.promotion) == ["p"])
    }

    @Test func `an amount is allotted by largest remainder, and a percentage is rounded once`() throws {
        let lines = [Self.line("a", 1_000), Self.line("b", 1_000), Self.line("c", 1_000)]
        #expect(try Self.discounts([Self.order("p", .amount(1_000))], off: lines).list[0].shares == [334, 333, 333])
        let small = [Self.line("a", 5), Self.line("b", 5), Self.line("c", 5)]
        // 1.5, and not three times 0.5
        #expect(
            try Self.discounts([Self.order("p", .percent(.sample(10_000)))], off: small).list[0].shares == [1, 1, 0])
        let dear = [Self.line("a", 1_000_000_000_000)]
        #expect(
            try Self.discounts([Self.order("p", .percent(.sample(99_999)))], off: dear).list[0].amount
                == 999_990_000_000)
    }

    @Test func `what is given together can have a price, and what costs no less is not given`() throws {
        let lines = [Self.line("a", 300, 2), Self.line("b", 1_200, 2)]
        let two = Self.items("two", .price(1_000), get: 2)
        #expect(try Self.discounts([two], off: lines).list.map(\.shares) == [[0, 1_400]])
        #expect(try Self.discounts([two], off: [Self.line("a", 300, 3)]).list.isEmpty)
    }

    @Test func `nothing costs less than nothing`() throws {
        let lines = [Self.line("a", 200), Self.line("free", 0, 3)]
        let all = [Self.items("i", .amount(900)), Self.order("o", .amount(900))]
        let result = try Self.discounts(all, off: lines, delivery: 100)
        #expect(result.list.map(\.shares) == [[200, 0]])
        let bill = try Bill(
            for: lines.map { Bill.Line(try! $0.total()) }, on: PricingTerms(delivery: .init(100)),
            discounts: result.list + [Bill.Discount("d", "x", by: .outlet, 500)])
        #expect(bill.total == 0)
        #expect(bill.charges.map(\.amount) == [-200, 100, -100])
    }

    @Test
    func `one of the order and one of the delivery apply, each the best, and one alone only if it takes off more`()
        throws
    {
        let lines = [Self.line("a", 1_000)]
        let others = [
            Self.items("i", .amount(100)), Self.order("o1", .amount(50)), Self.order("o2", .percent(.sample(10_000))),
            Promotion(id: "d1", title: "x", on: .delivery, .price(100)),
            Promotion(id: "d2", title: "x", on: .delivery, .amount(120), cap: 60),
        ]
        let together = try Self.discounts(others, off: lines, delivery: 200)
        #expect(together.list.map(\.promotion) == ["i", "o2", "d1"])
        #expect(together.list.map(\.amount) == [100, 90, 100])
        let equal = try Self.discounts(
            others + [Self.order("alone", .amount(290), isAlone: true)], off: lines, delivery: 200)
        #expect(equal == together)
        let more = try Self.discounts(
            others + [Self.order("alone", .amount(291), isAlone: true)], off: lines, delivery: 200)
        #expect(more.list.map(\.promotion) == ["alone"])
    }

    @Test func `a code says what has become of it`() throws {
        let lines = [Self.line("a", 1_000)]
        func state(_ change: (inout Promotion) -> Void, service: ServiceKind? = nil) throws -> String {
            var promotion = Self.order("o", .amount(100))
            promotion.code = "TEN"
            change(&promotion)
            let result = try Self.discounts([promotion], off: lines, codes: ["TEN"], service: service, at: 50)
            #expect(result.list.isEmpty == (result.codes[0].state != .applied))
            return result.codes[0].state.rawValue
        }
        #expect(try state { _ in } == "applied")
        #expect(try state { $0.minimum = 1_000 } == "applied")
        #expect(try state { $0.minimum = 1_001 } == "minimum")
        #expect(try state { $0.from = 51 } == "later")
        #expect(try state { $0.until = 50 } == "ended")
        #expect(try state { $0.service = .table } == "nothing")
        #expect(try state({ $0.service = .table }, service: .table) == "applied")
        #expect(try state { $0.target = .delivery } == "nothing")
        #expect(try state { $0.code = "OTHER" } == "ended")
        #expect(try Self.discounts([], off: lines).list.isEmpty)
    }

    @Test func `a code is known while there is a promotion of it`() throws {
        func state(_ codes: [Text?]) throws -> Promotions.State {
            try Promotions.state(
                after: codes.enumerated().map { number, code in
                    var promotion = Self.order(Identifier("p\(number)")!, .amount(100))
                    promotion.code = code
                    return .put(promotion)
                })
        }
        #expect(try !state([]).knows(code: "TEN"))
        #expect(try !state([nil, "ONE"]).knows(code: "TEN"))
        #expect(try state([nil, "ONE", "TEN"]).knows(code: "TEN"))
        #expect(try state(["TEN"]).knows(code: "TEN"))
    }

    @Test func `discounts differ by what they take off, and by what became of a code`() throws {
        let lines = [Self.line("a", 1_000)]
        let ten = Self.order("o", .amount(100))
        let plain = try Self.discounts([ten], off: lines)
        #expect(try plain == Self.discounts([ten], off: lines))
        #expect(try plain != Self.discounts([ten], off: lines, codes: ["GONE"]))
        #expect(try plain != Self.discounts([Self.order("o", .amount(101))], off: lines))
    }

    @Test func `service, taxes and shares are of what is left, and limits look at what was there before`() throws {
        let terms = PricingTerms(
            taxIncluded: false, taxes: [.init(id: "t", name: "T", rate: .sample(10_000))],
            service: .init(rate: .sample(10_000), tax: "t"), smallOrder: .init(50, freeFrom: 1_000),
            delivery: .init(300, tax: "t"))
        let bill = try Bill(
            for: [Bill.Line(600), Bill.Line(400)], on: terms,
            discounts: [
                Bill.Discount("p", "P", by: .platform, 400, shares: [0, 400]),
                Bill.Discount("d", "D", by: .outlet, 100),
            ])
        #expect(bill.subtotal == 1_000)
        #expect(bill.charges.map(\.kind) == [.discount, .service, .delivery, .discount, .tax])
        #expect(bill.charges.map(\.amount) == [-400, 60, 300, -100, 86])
        #expect(bill.charges[1].shares == [60, 0])
        #expect(bill.charges[4].bases == [600, 0, 0, 60, 200, 0])
        #expect(bill.total == 946)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `random promotions take off what they may, whatever the order of lines`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let ids: [Identifier] = ["a", "b", "c", "d", "e"]
        for _ in 0..<200 {
            let lines = ids.shuffled(using: &random).prefix(.random(in: 1...5, using: &random)).map {
                Self.line(
                    $0, .init(minorUnits: random.pick([0, 1, 99, 500, 500, 1_333])), .random(in: 1...9, using: &random))
            }
            let promotions = (0..<Int.random(in: 1...5, using: &random)).map {
                Promotion.random(Identifier("p\($0)")!, ids, &random)
            }
            let result = try Self.discounts(promotions, off: lines, delivery: 300)
            var left = try lines.map { try $0.total().minorUnits }
            for discount in result.list {
                #expect(discount.amount > 0)
                if discount.shares.isEmpty {
                    #expect(discount.amount <= 300)
                } else {
                    #expect(discount.shares.reduce(0, +) == discount.amount)
                }
                for (index, share) in discount.shares.enumerated() {
                    #expect(share >= 0)
                    left[index] -= share
                }
                let cap = promotions.first { $0.id == discount.promotion }?.cap
                #expect(cap.map { discount.amount <= $0.minorUnits } ?? true)
            }
            #expect(left.allSatisfy { $0 >= 0 })
            let shuffled = lines.shuffled(using: &random)
            let other = try Self.discounts(promotions, off: shuffled, delivery: 300)
            #expect(other.list.map(\.promotion) == result.list.map(\.promotion))
            #expect(other.list.map(\.amount) == result.list.map(\.amount))
        }
    }

    // MARK: The aggregate

    @Test(arguments: [
        Case("a new one", when: .put(items("p")), then: .events([.put(items("p"))])),
        Case("the same again", given: [.put(items("p"))], when: .put(items("p")), then: .events([])),
        Case(
            "another of its id", given: [.put(items("p"))], when: .put(order("p", .amount(1))),
            then: .events([.put(order("p", .amount(1)))])),
        Case("the end", given: [.put(items("p"))], when: .end("p"), then: .events([.ended("p")])),
        Case("the end of one that there is not", when: .end("p"), then: .rejected(.notFound)),
        Case(
            "the end of one that has ended", given: [.put(items("p")), .ended("p")], when: .end("p"),
            then: .rejected(.notFound)),
        Case("a code that another has", given: [.put(coded("p"))], when: .put(coded("q")), then: .rejected(.invalid)),
        Case(
            "units to buy, of an order", when: .put(order("p", .amount(1), buy: 1)),
            then: .rejected(.invalid, naming: ["buy"])),
        Case(
            "units to get, of an order", when: .put(order("p", .amount(1), get: 2)),
            then: .rejected(.invalid, naming: ["buy"])),
        Case("nothing off", when: .put(order("p", .amount(0))), then: .rejected(.invalid)),
        Case("a price of the order", when: .put(order("p", .price(1))), then: .rejected(.invalid)),
        Case("a limit of 0", when: .put(limited("p", 0)), then: .rejected(.invalid, naming: ["limit"])),
        Case(
            "spent", given: [.put(limited("p"))], when: .followStock([StockChange(.promotion("p"), isSoldOut: true)]),
            then: .events([.spent("p")])),
        Case(
            "spent already", given: [.put(limited("p")), .spent("p")],
            when: .followStock([StockChange(.promotion("p"), isSoldOut: true)]), then: .events([])),
        Case(
            "to be had again", given: [.put(limited("p")), .spent("p")],
            when: .followStock([StockChange(.promotion("p"), isSoldOut: false)]), then: .events([.resumed("p")])),
        Case(
            "spent under another limit", given: [.put(limited("p")), .spent("p"), .put(limited("p", 2))],
            when: .followStock([StockChange(.promotion("p"), isSoldOut: false)]), then: .events([])),
        Case(
            "spent without a limit, and unknown", given: [.put(items("p"))],
            when: .followStock([
                StockChange(.promotion("p"), isSoldOut: true), StockChange(.promotion("q"), isSoldOut: true),
                StockChange(.item("p"), isSoldOut: true),
            ]), then: .events([])),
        Case(
            "more than there may be", given: (10..<60).map { .put(items(Identifier("p\($0)")!)) },
            when: .put(items("q")), then: .rejected(.limit)),
    ])
    private func decides(_ example: DeciderCase<Promotions>) { example.check() }

    private static func coded(_ id: Identifier) -> Promotion {
        var promotion = order(id, .amount(1))
        promotion.code = "TEN"
        return promotion
    }

    private static func limited(_ id: Identifier, _ limit: Int64 = 1) -> Promotion {
        var promotion = order(id, .amount(1))
        promotion.limit = limit
        return promotion
    }

    private static let impossible: [[Promotions.Event]] = [
        [.spent("p")], [.put(items("p")), .spent("p")], [.put(limited("p")), .spent("p"), .spent("p")],
        [.put(limited("p")), .resumed("p")], [.put(limited("p")), .spent("p"), .put(limited("p", 2)), .resumed("p")],
    ]

    @Test(arguments: impossible)
    private func `what cannot have happened to a limit is refused`(_ history: [Promotions.Event]) throws {
        var state = try Promotions.state(after: history.dropLast())
        #expect(throws: ImpossibleEvent.self) { try Promotions.evolve(&state, history.last!) }
    }

    // MARK: How often one is used

    @Test func `a customer uses a promotion as often as one may, and who is nobody not at all`() throws {
        var promotion = Self.order("p", .amount(100))
        (promotion.code, promotion.perCustomer) = ("TEN", 2)
        func state(of customer: Identifier?, having taken: Int64) throws -> Discounts.CodeState {
            var candidate = Promotion.Candidate(promotion, lines: [true])
            candidate.note(customer) { $0.id == "p/asha" ? taken : 0 }
            let basket = Discounts.Basket([Self.line("a", 1_000)], subtotal: 1_000, codes: ["TEN"], at: 0)
            return Discounts([candidate], off: basket).codes[0].state
        }
        #expect(try state(of: "asha", having: 1) == .applied)
        #expect(try state(of: "asha", having: 2) == .customer)
        #expect(try state(of: "ben", having: 2) == .applied)
        #expect(try state(of: nil, having: 0) == .customer)
    }

    @Test func `a checkout claims the promotions that take something off, and no others`() throws {
        var (limited, unused) = (Self.limited("p"), Self.limited("q"))
        (limited.perCustomer, unused.code) = (3, "NO")
        let candidates = [limited, unused].map { Promotion.Candidate($0, lines: [true]) }
        let cart: [Cart.Event] = [
            .itemAdded(
                CartLine(id: "a", item: "a", name: "x", quantity: 1, unitPrice: 500), outlet: "o", currency: .inr,
                customer: "asha")
        ]
        var checkOut = Cart.CheckOut(order: "order-1", agreement: .total(499), offers: ["a": .sample(price: 500)])
        checkOut.promotions = candidates
        let events = try Cart.decide(.checkOut(checkOut), in: try Cart.state(after: cart))
        guard case .checkoutBegun(let checkout)? = events.first else {
            Issue.record("no checkout with claims: \(events)")
            return
        }
        #expect(
            checkout.claims == [
                Claim(Claim.Key(.customer, "p/asha"), 1, limit: 3), Claim(.promotion("p"), 1, limit: 1),
            ])
        for claims in [
            [Claim(Claim.Key(.customer, "p/ben"), 1, limit: 3)], [Claim(.promotion("q"), 1, limit: 1)],
            [Claim(.promotion("p"), 2, limit: 2)],
        ] {
            var other = checkout
            other.claims = claims
            var state = try Cart.state(after: cart)
            #expect(throws: ImpossibleEvent.self) { try Cart.evolve(&state, .checkoutBegun(other)) }
        }
    }

    // MARK: What is recorded of an order

    private static let priced = PricingTerms(
        taxIncluded: true, taxes: [.init(id: "vat", name: "VAT", rate: .sample(20_000))],
        service: .init(rate: .sample(12_500), tax: "vat"), delivery: .init(299, tax: "vat"))

    @Test(arguments: SeededGenerator.seeds)
    func `stacked refunds give back every minor unit once, and a change leaves each line its part`(seed: UInt64) throws
    {
        var random = SeededGenerator(seed: seed)
        let ids: [Identifier] = ["a", "b", "c"]
        for _ in 0..<50 {
            let lines = ids.map {
                Self.line(
                    $0, .init(minorUnits: .random(in: 1...999, using: &random)), .random(in: 1...5, using: &random))
            }
            let promotions = (0..<3).map { Promotion.random(Identifier("p\($0)")!, ids, &random) }
            let discounts = try Self.discounts(promotions, off: lines, delivery: 299)
            let bill = try Bill(
                for: lines.map { Bill.Line(try! $0.total()) }, on: Self.priced, discounts: discounts.list, tip: 50)
            var placement = Order.Placement(
                cart: "c", outlet: "o", currency: .inr, lines: lines, charges: bill.charges, total: bill.total,
                terms: Order.Terms(placedAt: 0, acceptWithin: 60), pricing: Self.priced)
            placement.missing = .remove
            var state = Order.initial
            try Order.evolve(&state, .placed(placement))
            var changed = state
            let (line, given) = (lines[0], Int64.random(in: 0..<Int64(lines[0].quantity), using: &random))
            for event in try Order.decide(
                .propose([.reduce(line: line.id, to: Int(given))], by: .merchant, wait: 60, now: 0), in: state)
            {
                try Order.evolve(&changed, event)
            }
            if let after = changed.book?.placement, changed.book?.proposal == nil, bill.total > 0 {
                #expect(after.lines.count == (given == 0 ? 2 : 3))
                #expect(after.charges.filter { $0.kind == .discount }.count <= discounts.list.count)
            }
            for line in lines.shuffled(using: &random) {
                for _ in 0..<line.quantity {
                    guard let events = try? Order.decide(.refund(.units(line: line.id, quantity: 1), .items), in: state)
                    else { continue }
                    for event in events { try Order.evolve(&state, event) }
                }
            }
            for event in (try? Order.decide(.refund(.rest, .items), in: state)) ?? [] {
                try Order.evolve(&state, event)
            }
            let refunds = try #require(state.book?.refunds)
            #expect(refunds.amount == bill.total.minorUnits)
            for tax in placement.taxes where tax.amount > .zero {
                #expect(refunds.taxes[tax.id!]?.amount == tax.amount)
            }
        }
    }

    @Test func `discounts that cannot be are impossible histories`() {
        func placement(_ charges: [Charge], total: Amount) -> Order.Placement {
            Order.Placement(
                cart: "c", outlet: "o", currency: .inr, lines: [Self.line("a", 500)], charges: charges, total: total)
        }
        let impossible = [
            placement([.init(.discount, id: "p", name: "P", by: .outlet, -501, shares: [-501])], total: -1),
            placement([.init(.discount, id: "p", name: "P", by: .outlet, -5, shares: [-4])], total: 495),
            placement([.init(.discount, id: "p", name: "P", -5, shares: [-5])], total: 495),
            placement([.init(.discount, id: "p", name: "P", by: .outlet, 5, shares: [5])], total: 505),
            placement([.init(.discount, id: "p", name: "P", by: .outlet, -5)], total: 495),
        ]
        for placement in impossible {
            var state = Order.initial
            #expect(throws: ImpossibleEvent.self) { try Order.evolve(&state, .placed(placement)) }
        }
    }
}

extension Promotion {
    /// Any promotion that can be put.
    static func random(_ id: Identifier, _ items: [Identifier], _ random: inout SeededGenerator) -> Promotion {
        let target = random.pick(Promotion.Target.allCases)
        let gift: Gift =
            switch Int.random(in: 0...2, using: &random) {
            case 0: .percent(.sample(.random(in: 1...100_000, using: &random)))
            case 1 where target != .order: .price(Amount(minorUnits: .random(in: 0...1_000, using: &random)))
            default: .amount(Amount(minorUnits: .random(in: 1...1_500, using: &random)))
            }
        var promotion = Promotion(id: id, title: "x", on: target, gift)
        if target == .items {
            promotion.buy = random.pick([0, 0, 1, 2])
            promotion.get = random.pick([1, 1, 2])
        }
        if target != .delivery, random.chance(50) {
            promotion.scope.items = [random.pick(items), random.pick(items)]
        }
        if random.chance(20) { promotion.cap = Amount(minorUnits: .random(in: 1...500, using: &random)) }
        promotion.isAlone = random.chance(20)
        promotion.payer = random.pick(Payer.allCases)
        return promotion
    }
}
