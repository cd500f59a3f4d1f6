import Domain
import Testing

@Suite struct CartTests {
    private typealias Specification = DeciderSpecification<Cart>
    typealias Case = DeciderCase<Cart>

    private static func add(
        _ item: Identifier, _ quantity: Int = 1, options: [Identifier] = [], note: PersonalText? = nil,
        customer: Identifier? = nil, outlet: Identifier = "o", offer: Offer = .sample()
    ) -> Cart.Command {
        .add(
            Cart.Addition(
                outlet: outlet, item: item, quantity: quantity, note: note, customer: customer,
                offer: offer.with(options)))
    }

    private static func line(
        _ id: Text, _ item: Identifier, _ quantity: Int = 1, price: Amount = 250, options: [Identifier] = [],
        note: PersonalText? = nil
    ) -> CartLine {
        CartLine(
            id: id, item: item, name: "Tea", quantity: quantity, unitPrice: price,
            options: options.map { LineOption($0, name: Text($0.rawValue)) }, note: note)
    }

    private static func added(_ line: CartLine, of customer: Identifier? = nil) -> Cart.Event {
        .itemAdded(line, outlet: "o", currency: .inr, customer: customer)
    }

    private static func checkOut(
        _ total: Amount, _ offers: [Text: Offer] = ["tea": .sample()], minimumOrder: Amount? = nil,
        customer: Identifier? = nil, name: SealedText? = nil
    ) -> Cart.Command {
        .checkOut(
            Cart.CheckOut(
                order: "order-1", agreement: .total(total), offers: offers, minimumOrder: minimumOrder,
                customer: customer, name: name))
    }

    private static let twoTeas = [added(line("tea", "tea", 2))]
    private static let ordered =
        twoTeas + [.checkedOut(order: "order-1", lines: [line("tea", "tea", 2)], total: 500)]
    private static let emptied = twoTeas + [.cleared(count: 2)]

    // MARK: Every state and command

    @Test(
        arguments: [
            Case("empty: add", when: add("tea", 2), then: .events(twoTeas)),
            Case("empty: set", when: .set(line: "tea", quantity: 1), then: .rejected(.notFound)),
            Case("empty: remove", when: .remove(line: "tea"), then: .rejected(.notFound)),
            Case("empty: clear", when: .clear, then: .events([])),
            Case(
                "empty: check out", when: checkOut(0), then: .rejected(.state, naming: ["empty"], allowed: [.addToCart])
            ),
            Case(
                "empty: edit", when: .edit(Cart.Edit(line: "tea", note: "hot", offer: .sample())),
                then: .rejected(.notFound)),
            Case("empty: tip", when: .tip(50), then: .rejected(.state, naming: ["empty"], allowed: [.addToCart])),
            Case("emptied: tip", given: emptied, when: .tip(50), then: .rejected(.state, naming: ["empty"])),
            Case("emptied: clear", given: emptied, when: .clear, then: .events([])),
            Case(
                "emptied: another outlet", given: emptied, when: add("tea", outlet: "p"),
                then: .events([.itemAdded(line("tea", "tea"), outlet: "p", currency: .inr)])),

            Case(
                "filled: add more", given: twoTeas, when: add("tea", 3), then: .events([added(line("tea", "tea", 3))])),
            Case(
                "filled: from elsewhere", given: twoTeas, when: add("tea", outlet: "p"),
                then: .rejected(.wrongOutlet, naming: ["'o'"])),
            Case(
                "filled: in another currency", given: twoTeas, when: add("tea", offer: .sample(currency: .usd)),
                then: .rejected(.state, naming: ["INR", "USD"])),
            Case(
                "filled: set", given: twoTeas, when: .set(line: "tea", quantity: 5),
                then: .events([.quantityChanged(line: "tea", from: 2, to: 5)])),
            Case(
                "filled: set over what the item says", given: twoTeas,
                when: .set(line: "tea", quantity: 5, maximum: 4), then: .rejected(.limit)),
            Case(
                "filled: set to less, still over what the item says now", given: twoTeas,
                when: .set(line: "tea", quantity: 1, maximum: 0),
                then: .events([.quantityChanged(line: "tea", from: 2, to: 1)])),
            Case("filled: set as it is", given: twoTeas, when: .set(line: "tea", quantity: 2), then: .events([])),
            Case(
                "filled: set to none", given: twoTeas, when: .set(line: "tea", quantity: 0),
                then: .events([.lineRemoved(line: "tea", quantity: 2)])),
            Case(
                "filled: set an unknown line", given: twoTeas, when: .set(line: "soup", quantity: 0),
                then: .rejected(.notFound)),
            Case(
                "filled: remove", given: twoTeas, when: .remove(line: "tea"),
                then: .events([.lineRemoved(line: "tea", quantity: 2)])),
            Case(
                "filled: remove an unknown line", given: twoTeas, when: .remove(line: "soup"),
                then: .rejected(.notFound)),
            Case(
                "filled: edit", given: twoTeas,
                when: .edit(Cart.Edit(line: "tea", note: "hot", offer: .sample(price: 300))),
                then: .events([.lineEdited(line: "tea", to: line("tea", "tea", 2, price: 300, note: "hot"))])),
            Case(
                "filled: edit an unknown line", given: twoTeas, when: .edit(Cart.Edit(line: "soup", offer: .sample())),
                then: .rejected(.notFound)),
            Case("filled: tip", given: twoTeas, when: .tip(50), then: .events([.tipSet(50)])),
            Case("filled: tip as it is", given: twoTeas + [.tipSet(50)], when: .tip(50), then: .events([])),
            Case("filled: tip less than nothing", given: twoTeas, when: .tip(-1), then: .rejected(.invalid)),
            Case("filled: clear", given: twoTeas, when: .clear, then: .events([.cleared(count: 2)])),
            Case(
                "filled: check out", given: twoTeas, when: checkOut(500),
                then: .events([.checkedOut(order: "order-1", lines: [line("tea", "tea", 2)], total: 500)])),

            Case("ordered: add", given: ordered, when: add("tea"), then: .rejected(.state, naming: ["order-1"])),
            Case("ordered: set", given: ordered, when: .set(line: "tea", quantity: 2), then: .rejected(.state)),
            Case("ordered: remove", given: ordered, when: .remove(line: "tea"), then: .rejected(.state)),
            Case(
                "ordered: edit", given: ordered, when: .edit(Cart.Edit(line: "tea", note: "hot", offer: .sample())),
                then: .rejected(.state)),
            Case("ordered: tip", given: ordered, when: .tip(50), then: .rejected(.state, naming: ["order-1"])),
            Case("ordered: clear", given: ordered, when: .clear, then: .rejected(.state)),
            Case("ordered: check out", given: ordered, when: checkOut(500), then: .rejected(.state)),
        ] as [Case])
    func `every state answers every command`(_ row: Case) { row.check() }

    // MARK: Quantities

    @Test(arguments: [1, 99])
    func `a quantity from 1 to 99 is accepted`(_ quantity: Int) {
        Specification.given().when(Self.add("tea", quantity)).then([
            Self.added(Self.line("tea", "tea", quantity))
        ])
    }

    @Test(arguments: [.min, -1, 100, .max])
    func `a quantity out of range is over a limit`(_ quantity: Int) {
        Specification.given().when(Self.add("tea", quantity)).thenRejected(.limit)
        Specification.given(Self.twoTeas).when(.set(line: "tea", quantity: quantity)).thenRejected(.limit)
    }

    @Test(
        arguments: [
            Case("none", when: add("tea", 0), then: .rejected(.limit)),
            Case(
                "up to 99 together", given: twoTeas, when: add("tea", 97),
                then: .events([added(line("tea", "tea", 97))])),
            Case(
                "over 99 together", given: twoTeas, when: add("tea", 98),
                then: .rejected(.limit, naming: ["99", "tea"])),
            Case(
                "up to what the item says", given: twoTeas, when: add("tea", 3, offer: .sample(maxQuantity: 5)),
                then: .events([added(line("tea", "tea", 3))])),
            Case(
                "over what the item says", given: twoTeas, when: add("tea", 4, offer: .sample(maxQuantity: 5)),
                then: .rejected(.limit, naming: ["5", "tea"])),
        ] as [Case])
    func `quantities of a line are added up`(_ row: Case) { row.check() }

    @Test func `a cart has at most 100 lines`() {
        let full = (0..<100).map { Self.added(Self.line("i\($0)", Identifier("i\($0)")!)) }
        Specification.given(Array(full.prefix(99))).when(Self.add("i99")).then([full[99]])
        Specification.given(full).when(Self.add("i100")).thenRejected(.limit, naming: ["100"])
        Specification.given(full).when(Self.add("i0")).then([full[0]])
    }

    // MARK: Lines

    @Test(
        arguments: [
            Case(
                "options", when: add("tea", options: ["a", "b"]),
                then: .events([added(line("tea+a+b", "tea", options: ["a", "b"]))])),
            Case(
                "the same options", given: [added(line("tea+a+b", "tea", options: ["a", "b"]))],
                when: add("tea", options: ["a", "b"]),
                then: .events([added(line("tea+a+b", "tea", options: ["a", "b"]))])),
            Case(
                "a note", given: twoTeas, when: add("tea", note: "hot"),
                then: .events([added(line("tea~2", "tea", note: "hot"))])),
            Case(
                "another note", given: twoTeas + [added(line("tea~2", "tea", note: "hot"))],
                when: add("tea", note: "cold"),
                then: .events([added(line("tea~3", "tea", note: "cold"))])),
            Case(
                "the same note", given: twoTeas + [added(line("tea~2", "tea", note: "hot"))],
                when: add("tea", note: "hot"),
                then: .events([added(line("tea~2", "tea", note: "hot"))])),
            Case(
                "a number that has become free",
                given: twoTeas + [
                    added(line("tea~2", "tea", note: "hot")), added(line("tea~3", "tea", note: "cold")),
                    .lineRemoved(line: "tea~2", quantity: 1),
                ],
                when: add("tea", note: "iced"), then: .events([added(line("tea~2", "tea", note: "iced"))])),
            Case(
                "options and a note", given: [added(line("tea+a", "tea", options: ["a"]))],
                when: add("tea", options: ["a"], note: "hot"),
                then: .events([added(line("tea+a~2", "tea", options: ["a"], note: "hot"))])),
            Case(
                "an item whose note came first", given: [added(line("tea", "tea", note: "hot"))], when: add("tea"),
                then: .events([added(line("tea~2", "tea"))])),
            Case(
                "a new price for all of it", given: twoTeas, when: add("tea", offer: .sample(price: 300)),
                then: .events([added(line("tea", "tea", price: 300))])),
        ] as [Case])
    func `item, options and note identify a line`(_ row: Case) { row.check() }

    @Test func `a line has the latest name and price of its item`() throws {
        var renamed = Self.line("tea", "tea", price: 300)
        renamed.name = "Chai"
        guard case .filled(let contents) = try Cart.state(after: Self.twoTeas + [Self.added(renamed)]) else {
            Issue.record("empty")
            return
        }
        #expect(contents.lines.map(\.name) == ["Chai"])
        #expect(try contents.total() == 900)
        #expect(contents.count == 3)
    }

    @Test(
        arguments: [
            Case("no note", when: add("tea", note: ""), then: .rejected(.invalid, about: .note)),
            Case(
                "a long note", when: add("tea", note: .plain(Text(String(repeating: "x", count: 501)))),
                then: .rejected(.invalid, about: .note)),
            Case(
                "the longest note", when: add("tea", note: .plain(Text(String(repeating: "x", count: 500)))),
                then: .events([added(line("tea", "tea", note: .plain(Text(String(repeating: "x", count: 500)))))])),
        ] as [Case])
    func `notes have bounds`(_ row: Case) { row.check() }

    // MARK: Customers

    private static let ofAsha = [added(line("tea", "tea", 2), of: "asha")]
    private static let sealed = [added(line("tea", "tea", note: .sealed("x")), of: "asha")]

    @Test(
        arguments: [
            Case(
                "a cart that nobody has", given: twoTeas, when: add("tea", customer: "asha"),
                then: .events([added(line("tea", "tea"), of: "asha")])),
            Case(
                "one's own", given: ofAsha, when: add("tea", customer: "asha"),
                then: .events([
                    added(line("tea", "tea"), of: "asha")
                ])),
            Case(
                "without a word of the customer", given: ofAsha, when: add("tea"),
                then: .events([added(line("tea", "tea"), of: "asha")])),
            Case(
                "another's", given: ofAsha, when: add("tea", customer: "ben"),
                then: .rejected(.state, naming: ["clear"])),
            Case(
                "another's, at checkout", given: ofAsha, when: checkOut(500, customer: "ben"),
                then: .rejected(.state, naming: ["clear"])),
            Case(
                "another's, once it is empty", given: ofAsha + [.cleared(count: 2)],
                when: add("tea", customer: "ben"), then: .events([added(line("tea", "tea"), of: "ben")])),
            Case(
                "nobody's, once it is empty", given: ofAsha + [.lineRemoved(line: "tea", quantity: 2)],
                when: add("tea", note: "hot"), then: .events([added(line("tea", "tea", note: "hot"))])),
            Case(
                "a cart with a readable note", given: [added(line("tea", "tea", note: "hot"))],
                when: add("tea", customer: "asha"), then: .rejected(.state, naming: ["no customer", "forgotten"])),
            Case(
                "one whose readable note was removed",
                given: twoTeas + [
                    added(line("tea~2", "tea", note: "hot")), .lineRemoved(line: "tea~2", quantity: 1),
                ], when: add("tea", customer: "asha"), then: .events([added(line("tea", "tea"), of: "asha")])),
            Case(
                "a checkout that names the customer", given: twoTeas,
                when: checkOut(500, customer: "asha", name: "y"),
                then: .events([
                    .checkedOut(
                        order: "order-1", lines: [line("tea", "tea", 2)], total: 500, customer: "asha", name: "y")
                ])),
            Case(
                "a checkout that need not", given: sealed, when: checkOut(250),
                then: .events([
                    .checkedOut(
                        order: "order-1", lines: [line("tea", "tea", note: .sealed("x"))], total: 250, customer: "asha")
                ])),
        ] as [Case])
    func `a cart belongs to the customer who is named first, until it is empty`(_ row: Case) { row.check() }

    @Test(
        arguments: [
            Case(
                "a sealed note", when: add("tea", note: .sealed("x"), customer: "asha"), then: .events(sealed)),
            Case(
                "the same again", given: sealed, when: add("tea", note: .sealed("x"), customer: "asha"),
                then: .events(sealed)),
            Case(
                "another", given: sealed, when: add("tea", note: .sealed("y"), customer: "asha"),
                then: .events([added(line("tea~2", "tea", note: .sealed("y")), of: "asha")])),
            Case(
                "a readable note in a customer's cart", given: ofAsha, when: add("tea", note: "hot"),
                then: .rejected(.invalid, naming: ["customer"], about: .note)),
            Case(
                "a readable note of a customer", when: add("tea", note: "hot", customer: "asha"),
                then: .rejected(.invalid, about: .note)),
            Case(
                "a sealed note of nobody", when: add("tea", note: .sealed("x")),
                then: .rejected(.invalid, about: .note)),
            Case(
                "a name of nobody", given: twoTeas, when: checkOut(500, name: "y"),
                then: .rejected(.invalid, about: .name)),
        ] as [Case])
    func `texts are sealed if there is a customer, and only then`(_ row: Case) { row.check() }

    // MARK: Offers

    @Test(
        arguments: [
            (.noOutlet, .notFound, "'o'"), (.outletClosed(.closed), .closed, "'o'"),
            (.outletClosed(.paused(until: 1, reason: nil)), .closed, "'o'"),
            (.outletClosed(.paused(until: 1, reason: "rush")), .closed, "rush"), (.noItem, .notFound, "'tea'"),
            (.notForSale, .invalid, "'tea'"), (.soldOut(until: 5), .soldOut, "'tea'"),
            (.soldOut(until: nil), .soldOut, "'tea'"),
            (.taxGone("food"), .invalid, "item 'tea' names the tax 'food', which outlet 'o' does not have"),
        ] as [(Offer, Rejection.Code, String)])
    func `an unavailable item is neither added nor ordered`(_ offer: Offer, _ code: Rejection.Code, _ part: String) {
        Specification.given().when(Self.add("tea", offer: offer)).thenRejected(code, naming: [part])
        Specification.given(Self.twoTeas)
            .when(Self.checkOut(500, ["tea": offer])).thenRejected(code, naming: [part])
    }

    // MARK: Totals

    @Test(
        arguments: [
            Case(
                "the old total", given: twoTeas, when: checkOut(500, ["tea": .sample(price: 300)]),
                then: .rejected(.totalChanged, naming: ["6.00 INR", "not 5.00 INR"])),
            Case(
                "the new total", given: twoTeas, when: checkOut(600, ["tea": .sample(price: 300)]),
                then: .events([.checkedOut(order: "order-1", lines: [line("tea", "tea", 2, price: 300)], total: 600)])),
            Case(
                "two prices, the same total", given: twoTeas + [added(line("soup", "soup", 2, price: 100))],
                when: checkOut(700, ["tea": .sample(price: 100), "soup": .sample(price: 250)]),
                then: .events([
                    .checkedOut(
                        order: "order-1",
                        lines: [line("tea", "tea", 2, price: 100), line("soup", "soup", 2, price: 250)],
                        total: 700)
                ])),
            Case("an item without an offer", given: twoTeas, when: checkOut(500, [:]), then: .rejected(.notFound)),
            Case(
                "the minimum", given: twoTeas, when: checkOut(500, minimumOrder: 500),
                then: .events([.checkedOut(order: "order-1", lines: [line("tea", "tea", 2)], total: 500)])),
            Case(
                "below the minimum", given: twoTeas, when: checkOut(500, minimumOrder: 501),
                then: .rejected(.limit, naming: ["5.01 INR"])),
            Case(
                "more than the item now allows", given: twoTeas, when: checkOut(500, ["tea": .sample(maxQuantity: 1)]),
                then: .rejected(.limit, naming: ["1", "tea"])),
            Case(
                "another currency", given: twoTeas, when: checkOut(500, ["tea": .sample(currency: .usd)]),
                then: .rejected(.state, naming: ["USD"])),
            Case(
                "a total beyond the maximum", given: twoTeas, when: checkOut(500, ["tea": .sample(price: .maximum)]),
                then: .rejected(.limit)),
        ] as [Case])
    func `a checkout uses the current prices`(_ row: Case) { row.check() }

    @Test(
        arguments: [
            Case(
                "the maximum", when: add("tea", offer: .sample(price: .maximum)),
                then: .events([added(line("tea", "tea", price: .maximum))])),
            Case(
                "more of a line, counted once", given: [added(line("tea", "tea", price: 400_000_000_000))],
                when: add("tea", offer: .sample(price: 400_000_000_000)),
                then: .events([added(line("tea", "tea", price: 400_000_000_000))])),
            Case("in one line", when: add("tea", 2, offer: .sample(price: .maximum)), then: .rejected(.limit)),
            Case(
                "with another line", given: [added(line("tea", "tea", price: .maximum))],
                when: add("soup", offer: .sample(price: 1)), then: .rejected(.limit)),
            Case(
                "by a new price", given: twoTeas, when: add("tea", offer: .sample(price: 500_000_000_000)),
                then: .rejected(.limit)),
            Case(
                "by a new quantity", given: [added(line("tea", "tea", price: .maximum))],
                when: .set(line: "tea", quantity: 2), then: .rejected(.limit)),
        ] as [Case])
    func `a cart costs at most the maximum`(_ row: Case) { row.check() }

    // MARK: History

    @Test(
        arguments: [
            [.cleared(count: 0)], [.lineRemoved(line: "tea", quantity: 1)],
            [.quantityChanged(line: "tea", from: 1, to: 2)],
            [.checkedOut(order: "order-1", lines: [], total: 0)], [added(line("tea", "tea", 0))],
            [added(line("tea", "tea", -1))], [added(line("tea", "tea", .max))], [added(line("tea", "tea", .min))],
            twoTeas + [added(line("tea", "tea", .max))], twoTeas + [added(line("tea", "soup"))],
            twoTeas + [added(line("tea", "tea", note: "hot"))], twoTeas + [added(line("tea", "tea", options: ["a"]))],
            twoTeas + [.itemAdded(line("tea", "tea"), outlet: "p", currency: .inr)],
            twoTeas + [.itemAdded(line("tea", "tea"), outlet: "o", currency: .usd)],
            twoTeas + [.lineRemoved(line: "tea", quantity: 1)], twoTeas + [.lineRemoved(line: "soup", quantity: 2)],
            twoTeas + [.quantityChanged(line: "tea", from: 1, to: 2)],
            twoTeas + [.quantityChanged(line: "tea", from: 2, to: 0)],
            twoTeas + [.quantityChanged(line: "tea", from: 2, to: .max)], twoTeas + [.cleared(count: 1)],
            twoTeas + [.checkedOut(order: "order-1", lines: [line("tea", "tea", 1)], total: 250)],
            twoTeas + [.checkedOut(order: "order-1", lines: [line("soup", "soup", 2)], total: 500)],
            ofAsha + [added(line("tea", "tea"))], ofAsha + [added(line("tea", "tea"), of: "ben")],
            ofAsha + [.checkedOut(order: "order-1", lines: [line("tea", "tea", 2)], total: 500)],
            ofAsha + [.checkedOut(order: "order-1", lines: [line("tea", "tea", 2)], total: 500, customer: "ben")],
            ofAsha + [
                .checkedOut(order: "order-1", lines: [line("tea", "tea", 2, note: "hot")], total: 500, customer: "asha")
            ],
            twoTeas + [.checkedOut(order: "order-1", lines: [line("tea", "tea", 2)], total: 500, name: "y")],
            twoTeas + [added(line("tea", "soup"), of: "asha")],
            [added(line("tea", "tea", note: "hot"))] + ofAsha, [added(line("tea", "tea", note: .sealed("x")))],
            [added(line("tea", "tea", note: "hot"), of: "asha")],
            ordered + [.cleared(count: 2)], ordered + [added(line("tea", "tea"))],
        ] as [[Cart.Event]])
    func `an impossible event throws, and leaves the cart as it was`(_ history: [Cart.Event]) throws {
        try Cart.expectImpossible(history)
    }
}

extension Cart {
    /// The last event cannot follow the others, and leaves the cart as it was.
    static func expectImpossible(_ history: [Event]) throws {
        let before = try state(after: history.dropLast())
        var state = before
        #expect(throws: ImpossibleEvent.self) { try evolve(&state, history.last!) }
        #expect(state == before)
    }
}
