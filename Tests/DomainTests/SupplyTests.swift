import Domain
import Testing

@Suite struct SupplyTests {
    private typealias Case = DeciderCase<Supply>

    private static let pie = Claim.Key.item("pie")
    private static let cheese = Claim.Key.option("cheese")
    private static let two: [Supply.Event] = [.stocked(pie, left: 2)]
    private static let both = [Claim(pie, 2)]
    private static let held = two + [.held(both, order: "a", at: 10)]
    private static let soldOut = Supply.Refusal(.soldOut, "item 'pie' is sold out")
    private static let returned = held + [.returned(both, order: "a")]
    private static let noon = Timestamp(millisecondsSinceEpoch: 43_200_000)
    private static let slot = [Claim(.slot(noon), 1, limit: 1)]
    private static let ten = Claim.Key.promotion("ten")
    private static let used = [Claim(Claim.Key(.customer, "ten/asha"), 1, limit: 1), Claim(ten, 1, limit: 1)]
    private static let redeemed: [Supply.Event] = [.held(used, order: "a", at: 10)]
    private static let ordered: [Supply.Event] = [.held(slot, order: "a", at: 10)]

    private static let cases: [Case] = [
        Case("count", when: .stock(pie, .left(2)), then: .events(two)),
        Case("the same count", given: two, when: .stock(pie, .left(2)), then: .events([])),
        Case("nothing left", given: two, when: .stock(pie, .left(0)), then: .events([.stocked(pie, left: 0)])),
        Case("add", given: two, when: .stock(pie, .more(3)), then: .events([.stocked(pie, left: 5)])),
        Case("add nothing", given: two, when: .stock(pie, .more(0)), then: .events([])),
        Case("add to what is held", given: held, when: .stock(pie, .more(3)), then: .events([.stocked(pie, left: 3)])),
        Case(
            "add to what is not counted", when: .stock(pie, .more(3)), then: .rejected(.state, naming: ["item 'pie'"])),
        Case(
            "the most", when: .stock(pie, .left(1_000_000)), then: .events([.stocked(pie, left: 1_000_000)])),
        Case("too many", when: .stock(pie, .left(1_000_001)), then: .rejected(.limit)),
        Case("too many together", given: two, when: .stock(pie, .more(999_999)), then: .rejected(.limit)),
        Case("no longer", given: two, when: .stock(pie, .uncounted), then: .events([.stocked(pie, left: nil)])),
        Case("no longer what is not", when: .stock(pie, .uncounted), then: .events([])),

        Case(
            "enough", given: two, when: .hold(both, order: "a", now: 10),
            then: .events([.held(both, order: "a", at: 10)])),
        Case(
            "one missing", given: two, when: .hold([Claim(pie, 3)], order: "a", now: 10),
            then: .events([
                .refused(Supply.Refusal(.soldOut, "there is not enough left of item 'pie'"), order: "a", at: 10)
            ])),
        Case(
            "one of two things missing", given: two + [.stocked(cheese, left: 0)],
            when: .hold(both + [Claim(cheese, 1)], order: "a", now: 10),
            then: .events([
                .refused(Supply.Refusal(.soldOut, "option 'cheese' is sold out"), order: "a", at: 10)
            ])),
        Case(
            "the second order", given: held, when: .hold(both, order: "b", now: 11),
            then: .events([.refused(soldOut, order: "b", at: 11)])),
        Case("the same again", given: held, when: .hold(both, order: "a", now: 11), then: .events([])),
        Case(
            "refused for good", given: held + [.refused(soldOut, order: "b", at: 11), .stocked(pie, left: 9)],
            when: .hold(both, order: "b", now: 12), then: .events([])),
        Case(
            "what is counted no longer", given: two + [.stocked(pie, left: nil)],
            when: .hold(both, order: "a", now: 10), then: .events([.held(both, order: "a", at: 10)])),
        Case(
            "in no order", when: .hold([Claim(cheese, 1), Claim(pie, 1)], order: "a", now: 1), then: .rejected(.invalid)
        ),

        Case(
            "a slot", when: .hold(slot, order: "a", now: 10), then: .events([.held(slot, order: "a", at: 10)])),
        Case(
            "a slot that is full", given: ordered, when: .hold(slot, order: "b", now: 11),
            then: .events([
                .refused(
                    Supply.Refusal(.noSlot, "the slot at 1970-01-01T12:00:00Z is full"), order: "b", at: 11)
            ])),
        Case(
            "a slot that takes more now", given: ordered,
            when: .hold([Claim(.slot(noon), 1, limit: 2)], order: "b", now: 11),
            then: .events([.held([Claim(.slot(noon), 1, limit: 2)], order: "b", at: 11)])),
        Case(
            "a slot that was given back", given: ordered + [.returned(slot, order: "a")],
            when: .hold(slot, order: "b", now: 11), then: .events([.held(slot, order: "b", at: 11)])),

        Case(
            "a promotion", when: .hold(used, order: "a", now: 10), then: .events([.held(used, order: "a", at: 10)])),
        Case(
            "a promotion that is used up", given: redeemed, when: .hold([Claim(ten, 1, limit: 1)], order: "b", now: 11),
            then: .events([
                .refused(
                    Supply.Refusal(.promo, "promotion 'ten' has been used as often as it can be"), order: "b", at: 11)
            ])),
        Case(
            "a customer who has had it", given: redeemed,
            when: .hold([used[0], Claim(ten, 1, limit: 2)], order: "b", now: 11),
            then: .events([
                .refused(
                    Supply.Refusal(.promo, "the customer has used a promotion as often as one customer can"),
                    order: "b", at: 11)
            ])),
        Case(
            "a promotion that was given back", given: redeemed + [.returned(used, order: "a")],
            when: .hold(used, order: "b", now: 12), then: .events([.held(used, order: "b", at: 12)])),

        Case(
            "give back", given: held, when: .takeBack(both, order: "a"), then: .events([.returned(both, order: "a")])),
        Case("give back twice", given: returned, when: .takeBack(both, order: "a"), then: .events([])),
        Case("give back nothing", given: two, when: .takeBack(both, order: "a"), then: .events([])),
        Case(
            "after a return", given: returned, when: .hold(both, order: "b", now: 12),
            then: .events([.held(both, order: "b", at: 12)])),
        Case(
            "the returned order stays answered", given: returned, when: .hold(both, order: "a", now: 12),
            then: .events([])),
    ]

    @Test(arguments: cases)
    private func `counts, holds and returns`(_ row: Case) { row.check() }

    @Test(arguments: [
        two + [.held([Claim(pie, 3)], order: "a", at: 1)], held + [.held([], order: "a", at: 1)],
        held + [.refused(soldOut, order: "a", at: 1)], held + [.returned([Claim(pie, 1)], order: "a")],
        returned + [.returned(both, order: "a")], [.stocked(pie, left: -1)],
        two + [.held([Claim(pie, 1), Claim(pie, 1)], order: "a", at: 1)],
        ordered + [.held(slot, order: "b", at: 1)], [.held([Claim(.slot(noon), 1)], order: "a", at: 1)],
        [.stocked(.slot(noon), left: 1)],
    ])
    func `what cannot have happened is refused`(_ history: [Supply.Event]) throws {
        let before = try Supply.state(after: history.dropLast())
        var state = before
        #expect(throws: ImpossibleEvent.self) { try Supply.evolve(&state, history.last!) }
        #expect(state == before)
    }

    @Test func `an order is forgotten after thirty days`() throws {
        let later = Timestamp(millisecondsSinceEpoch: 10 + 1_000 * Int64(Supply.rememberedSeconds) + 1)
        let state = try Supply.state(after: Self.held + [.refused(Self.soldOut, order: "b", at: later)])
        #expect(state.answers["a"] == nil)
        #expect(state.answers["b"] == .refused(Self.soldOut))
        #expect(try Supply.decide(.takeBack(Self.both, order: "a"), in: state).isEmpty)
    }

    @Test func `a promotion that every order has given back is forgotten`() throws {
        let state = try Supply.state(after: Self.redeemed + [.returned(Self.used, order: "a")])
        #expect(state.counts == Supply.Counts())
    }

    @Test func `a slot is forgotten a day after it has passed`() throws {
        let late = Self.noon.adding(seconds: 86_401)
        let next = [Claim(.slot(late.adding(seconds: 60)), 1, limit: 1)]
        let state = try Supply.state(after: Self.ordered + [.held(next, order: "b", at: late)])
        #expect(state.counts.taken == [next[0].key: 1])
        #expect(try Supply.decide(.takeBack(Self.slot, order: "a"), in: state) == [.returned(Self.slot, order: "a")])
        let all = Supply.Counts(state.counts.all)
        #expect(all == state.counts)
    }

    @Test(arguments: [
        ([], two, []), ([], [.stocked(pie, left: 0)], [StockChange(pie, isSoldOut: true)]),
        (two, [.held(both, order: "a", at: 1)], [StockChange(pie, isSoldOut: true)]),
        (two, [.held([Claim(pie, 1)], order: "a", at: 1)], []),
        (held, [.returned(both, order: "a")], [StockChange(pie, isSoldOut: false)]),
        (held, [.stocked(pie, left: nil)], [StockChange(pie, isSoldOut: false)]),
        (held, [.refused(soldOut, order: "b", at: 1)], []),
        ([], redeemed, [StockChange(ten, isSoldOut: true)]),
        ([], [.held([Claim(ten, 1, limit: 2)], order: "a", at: 1)], []),
        (redeemed, [.returned(used, order: "a")], [StockChange(ten, isSoldOut: false)]),
        ([], ordered, []),
    ])
    func `what is sold out follows`(_ before: [Supply.Event], _ events: [Supply.Event], _ changes: [StockChange]) throws
    {
        #expect(Supply.changes(by: events, in: try Supply.state(after: before)) == changes)
    }

    // MARK: The menu

    @Test func `a menu takes back only what the stock has said`() throws {
        let out = Menu.Command.followStock([StockChange(.item("tea"), isSoldOut: true)])
        let back = Menu.Command.followStock([StockChange(.item("tea"), isSoldOut: false)])
        let section = SectionHeader.sample("s")
        let menu: [Menu.Event] = [
            .sectionAdded(section, before: nil), .itemAdded(.sample("tea"), section: "s", before: nil),
        ]
        let used = menu + [.itemSuspended("tea", until: nil, by: .stock)]
        typealias Specification = DeciderSpecification<Menu>
        Specification.given(menu).when(out).then([.itemSuspended("tea", until: nil, by: .stock)])
        Specification.given(used).when(out).then([])
        Specification.given(used).when(back).then([.itemResumed("tea", by: .stock)])
        Specification.given(used).when(.resume("tea")).then([])
        Specification.given(used).when(.suspend("tea", until: 9, now: 1)).then([.itemSuspended("tea", until: 9)])
        Specification.given(menu + [.itemSuspended("tea", until: nil)]).when(back).then([])
        Specification.given().when(out).then([])
        let both = try Menu.state(after: used + [.itemSuspended("tea", until: 9)])
        #expect(both.entries["tea"]?.suspension == MenuState.Suspension(until: nil))
        #expect(both.entries["tea"]?.ownSuspension == MenuState.Suspension(until: 9))
        let merchants = try Menu.state(
            after: used + [.itemSuspended("tea", until: 9), .itemResumed("tea", by: .stock)])
        #expect(merchants.entries["tea"]?.suspension == MenuState.Suspension(until: 9))
        #expect(try Menu.state(after: used + [.itemRemoved("tea")]).usedUp.isEmpty)
    }

    private static let sides = OptionGroup(
        id: "sides", title: "Sides", minimum: 0, maximum: 9,
        options: [
            MenuOption(id: "of-tea", name: "Tea", item: "tea", maximum: 3),
            MenuOption(id: "honey", name: "Honey", maximum: 3),
        ])

    private static let meal: [Menu.Event] = [
        .groupPut(sides), .sectionAdded(.sample("s"), before: nil),
        .itemAdded(.sample("tea"), section: "s", before: nil),
        .itemAdded(.sample("meal").with(\.options, ["sides"]), section: "s", before: nil),
    ]

    @Test func `claims are summed over lines and options, and an option is its item, too`() throws {
        let menu = try Menu.state(after: Self.meal)
        func line(_ item: Identifier, _ quantity: Int, _ options: [(Identifier, Int)] = []) -> CartLine {
            CartLine(
                id: Text(item.rawValue), item: item, name: "x", quantity: quantity, unitPrice: 1,
                options: options.map { LineOption($0.0, name: "x", units: $0.1) })
        }
        let lines = [line("tea", 1), line("tea", 2, [("honey", 1)]), line("meal", 2, [("of-tea", 3), ("honey", 2)])]
        let all = menu.claims(of: lines) { _ in true }
        #expect(
            all == [
                Claim(.item("meal"), 2), Claim(.item("tea"), 9), Claim(.option("honey"), 6),
                Claim(.option("of-tea"), 6),
            ])
        #expect(menu.claims(of: lines) { $0 == .item("tea") } == [Claim(.item("tea"), 9)])
        #expect(menu.claims(of: lines) { _ in false }.isEmpty)
    }

    @Test func `an option is sold out with its item, and by itself`() throws {
        func choice(_ option: Identifier, after events: [Menu.Event]) throws -> Offer {
            try Menu.state(after: Self.meal + events).offer(of: "meal", with: [ChosenOption(option)], in: .inr, now: 0)
        }
        let tea = Menu.Event.itemSuspended("tea", until: nil, by: .stock)
        #expect(try choice("of-tea", after: [tea]) == .wrongChoice(.soldOut("of-tea")))
        #expect(
            try choice("honey", after: [.optionSuspended("honey", until: nil, by: .stock)])
                == .wrongChoice(.soldOut("honey")))
        for events in [[tea, .itemResumed("tea", by: .stock)], []] as [[Menu.Event]] {
            guard case .available = try choice("of-tea", after: events) else {
                Issue.record("sold out")
                continue
            }
        }
    }
}

@Suite struct ClaimedCheckoutTests {
    private typealias Case = DeciderCase<Cart>

    private static let line = CartLine(id: "pie", item: "pie", name: "Pie", quantity: 2, unitPrice: 250)
    private static let filled: [Cart.Event] = [.itemAdded(line, outlet: "o", currency: .inr)]
    private static let claims = [Claim(.item("pie"), 2)]
    private static let checkout = Cart.Checkout(
        order: "a", outlet: "o", claims: claims, at: 10, lines: [line], total: 500,
        terms: Order.Terms(placedAt: 10, acceptBy: 60_010))
    private static let begun = filled + [.checkoutBegun(checkout)]
    private static let refusal = Supply.Refusal(.soldOut, "item 'pie' is sold out")
    private static let refused = begun + [.checkoutRefused(order: "a", refusal)]

    private static func checkOut(_ order: Identifier, claiming claims: [Claim] = claims) -> Cart.Command {
        var checkOut = Cart.CheckOut(order: order, agreement: .total(500), offers: ["pie": .sample()])
        checkOut.claims = claims
        checkOut.time = 10
        checkOut.terms = checkout.terms
        return .checkOut(checkOut)
    }

    private static func again(_ order: Identifier) -> Cart.Checkout {
        var again = checkout
        again.order = order
        return again
    }

    private static let cases: [Case] = [
        Case("with claims", given: filled, when: checkOut("a"), then: .events([.checkoutBegun(checkout)])),
        Case(
            "without", given: filled, when: checkOut("a", claiming: []),
            then: .events([.checkedOut(order: "a", lines: [line], total: 500)])),
        Case("again", given: begun, when: checkOut("b"), then: .rejected(.state, naming: ["'a'"])),
        Case("remove", given: begun, when: .remove(line: "pie"), then: .rejected(.state)),
        Case("clear", given: begun, when: .clear, then: .rejected(.state)),
        Case(
            "held", given: begun, when: .conclude(order: "a", .held, now: 20),
            then: .events([.checkedOut(order: "a", lines: [line], total: 500)])),
        Case(
            "refused", given: begun, when: .conclude(order: "a", .refused(refusal), now: 20),
            then: .events([.checkoutRefused(order: "a", refusal)])),
        Case("another order's", given: begun, when: .conclude(order: "b", .held, now: 20), then: .events([])),
        Case("too late", given: refused, when: .conclude(order: "a", .held, now: 20), then: .events([])),
        Case("nothing begun", given: filled, when: .conclude(order: "a", .held, now: 20), then: .events([])),
        Case(
            "open again", given: refused, when: .remove(line: "pie"),
            then: .events([.lineRemoved(line: "pie", quantity: 2)])),
        Case("tried again", given: refused, when: checkOut("b"), then: .events([.checkoutBegun(again("b"))])),
    ]

    @Test(arguments: cases)
    private func `a checkout waits for what it claims`(_ row: Case) { row.check() }

    @Test(arguments: [
        begun + [.lineRemoved(line: "pie", quantity: 2)], begun + [.checkedOut(order: "b", lines: [line], total: 500)],
        begun + [.checkedOut(order: "a", lines: [line], total: 501)], begun + [.checkoutBegun(checkout)],
        begun + [.checkoutRefused(order: "b", refusal)], filled + [.checkoutRefused(order: "a", refusal)],
        [.checkoutBegun(checkout)],
    ])
    func `what does not end a checkout is impossible`(_ history: [Cart.Event]) throws {
        let before = try Cart.state(after: history.dropLast())
        var state = before
        #expect(throws: ImpossibleEvent.self) { try Cart.evolve(&state, history.last!) }
        #expect(state == before)
    }

    @Test func `what the order waits for moves with it`() throws {
        #expect(Self.checkout.terms(at: 1_010) == Order.Terms(placedAt: 1_010, acceptBy: 61_010))
        #expect(Self.checkout.terms(at: 5) == Self.checkout.terms)
    }

    @Test(
        arguments: [
            (nil, Order.Command.reject(.items, text: nil), claims),
            (nil, .cancel(by: .customer, .customer, text: nil), claims),
            (.accepted(readyBy: nil, by: .merchant), .cancel(by: .merchant, .items, text: nil), claims),
            (.preparationStarted, .cancel(by: .merchant, .items, text: nil), []),
            (nil, .meetDeadline(now: 60_000), claims),
        ] as [(Order.Event?, Order.Command, [Claim])])
    func `an order gives back what was not cooked`(_ event: Order.Event?, _ command: Order.Command, _ back: [Claim])
        throws
    {
        var placement = Order.Placement(
            cart: "c", outlet: "o", currency: .inr, lines: [Self.line], total: 500, claims: Self.claims)
        placement.terms = Order.Terms(placedAt: 0, acceptBy: 60_000)
        let history = [.placed(placement)] + (event.map { [$0] } ?? [])
        let state = try Order.state(after: history)
        let events = try Order.decide(command, in: state)
        let ended = try Order.state(after: events, from: state)
        #expect(ended.book?.ending?.claims == back)
        let end = try Order.decide(.noteReturn, in: ended)
        #expect(end == (back.isEmpty ? [] : [.claimsReturned]))
        #expect(try Order.decide(.noteReturn, in: Order.state(after: end, from: ended)).isEmpty)
        #expect(throws: Rejection.self) { try Order.decide(.noteReturn, in: state) }
        for history in [history, history + events + [.claimsReturned]] {
            #expect(throws: ImpossibleEvent.self) { try Order.state(after: history + [.claimsReturned]) }
        }
    }
}
