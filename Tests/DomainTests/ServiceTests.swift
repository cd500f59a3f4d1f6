import Domain
import Testing

@Suite("How an order is had")
struct ServiceTests {
    typealias Case = DeciderCase<Cart>

    private static func by<Value>(
        pickup: Value? = nil, delivery: Value? = nil, table: Value? = nil
    ) -> ByService<Value> {
        var values = ByService<Value>()
        (values[.pickup], values[.delivery], values[.table]) = (pickup, delivery, table)
        return values
    }

    private static let vat = PricingTerms.Tax(
        id: "vat", name: "VAT", rate: .sample(7_000), rates: by(table: .sample(19_000)))

    private static let details = OutletDetails(
        name: "O", currency: .inr, timeZone: "UTC", minimumOrder: 100, prepMinutes: 20,
        pricing: PricingTerms(taxIncluded: true, taxes: [vat], delivery: .init(50)),
        services: by(
            pickup: OfferedService(charges: PricingTerms.Charges.none),
            delivery: OfferedService(minimumOrder: 2_000, prepMinutes: 40, requirements: [.address, .phone, .phone]),
            table: OfferedService(charges: .init(service: .init(rate: .sample(10_000))), requirements: [.table])))

    // MARK: What an outlet says

    @Test func `what a service does not say is the outlet's own`() throws {
        let details = Self.details
        #expect(details.services.kinds == [.pickup, .delivery, .table])
        #expect(details.pricing(for: .pickup).delivery == nil)
        #expect(details.pricing(for: .delivery).delivery == .init(50))
        #expect(details.pricing(for: .table).charges == .init(service: .init(rate: .sample(10_000))))
        #expect(details.pricing(for: .table).taxes[0].rate == .sample(19_000))
        #expect(details.pricing(for: .delivery).taxes[0].rate == .sample(7_000))
        #expect(details.minimumOrder(for: .delivery) == 2_000)
        #expect(details.minimumOrder(for: .table) == 100)
        #expect(details.requirements(for: .delivery) == [.phone, .address])
        #expect(Order.Terms(of: details, for: .delivery, at: 1_000).promisedFor == 2_401_000)
        #expect(Order.Terms(of: details, for: .table, at: 1_000).promisedFor == 1_201_000)
    }

    @Test func `a cart has the first service until somebody chooses, and none where there are none`() throws {
        #expect(try Self.details.service(nil) == .pickup)
        #expect(try Self.details.service(.table) == .table)
        #expect(try Self.details.with(\.services, ByService()).service(nil) == nil)
        #expect(try Self.details.with(\.services, Self.by(table: OfferedService())).service(nil) == .table)
    }

    @Test func `a service that is not offered any more is not replaced by another`() {
        #expect {
            try Self.details.with(\.services, Self.by(pickup: OfferedService(), table: OfferedService())).service(
                .delivery)
        } throws: { error in
            let rejection = error as? Rejection
            return rejection?.code == .required && rejection?.subject == .service
                && rejection?.message.contains("choose pickup or table") == true
        }
        #expect(throws: Rejection.self) { try Self.details.with(\.services, ByService()).service(.delivery) }
    }

    @Test(
        arguments: [
            (OfferedService(minimumOrder: -1), "services.table.minimumOrder"),
            (OfferedService(minimumOrder: 1_000_000_000_001), "services.table.minimumOrder"),
            (OfferedService(prepMinutes: 1_441), "services.table.prepMinutes"),
            (OfferedService(prepMinutes: .min), "services.table.prepMinutes"),
            (
                OfferedService(charges: .init(service: .init(rate: .sample(1), tax: "x"))),
                "services.table.charges.service.tax"
            ),
            (OfferedService(charges: .init(delivery: .init(-1))), "services.table.charges.delivery.fee"),
            (
                OfferedService(charges: .init(smallOrder: .init(1, freeFrom: -1))),
                "services.table.charges.smallOrder.freeFrom"
            ),
            (
                OfferedService(hours: .init(repeating: OpeningHours(day: .monday, opens: 0, closes: 1)!, count: 51)),
                "services.table.hours"
            ),
        ] as [(OfferedService, String)])
    func `a value out of range is refused by its field`(_ service: OfferedService, _ field: String) {
        DeciderSpecification<Outlet>.given()
            .when(.put(Self.details.with(\.services, Self.by(table: service))))
            .thenRejected(.invalid, naming: [field])
    }

    @Test func `only orders at a table can need a table`() {
        DeciderSpecification<Outlet>.given()
            .when(.put(Self.details.with(\.services, Self.by(pickup: OfferedService(requirements: [.table])))))
            .thenRejected(.invalid, naming: ["services.pickup.requires"])
    }

    @Test func `services are a detail like others`() {
        let plain = Self.details.with(\.services, ByService())
        DeciderSpecification<Outlet>.given([.registered(plain)])
            .when(.put(Self.details)).then([.detailsChanged([.services(Self.details.services)])])
        DeciderSpecification<Outlet>.given([.registered(Self.details)])
            .when(.put(plain)).then([.detailsChanged([.services(ByService())])])
    }

    // MARK: Prices

    private static func menu(_ items: [MenuItem], _ groups: [OptionGroup] = []) throws -> MenuState {
        let document = MenuDocument(
            sections: [MenuSection(header: .sample("all"), items: items)], groups: groups)
        return try Menu.state(after: try Menu.decide(.put(document), in: Menu.initial))
    }

    private static func price(
        _ item: Identifier, _ chosen: [ChosenOption] = [], for service: ServiceKind?, in menu: MenuState
    ) throws -> Amount? {
        let offer = menu.offer(of: item, with: chosen.normalized, for: service, in: .inr, now: 0)
        guard case .available(let item) = offer else { return nil }
        return item.unitPrice
    }

    @Test func `items, sizes and options have prices by service`() throws {
        let size = OptionGroup(
            id: "size", title: "Size", minimum: 1, setsPrice: true,
            options: [
                MenuOption(id: "small", name: "Small", price: 500, servicePrices: Self.by(delivery: 550)),
                MenuOption(id: "large", name: "Large", price: 800),
            ])
        let extras = OptionGroup(
            id: "extras", title: "Extras", maximum: 2,
            options: [
                MenuOption(
                    id: "cheese", name: "Cheese", price: 100, sizePrices: [.init("large", 150)],
                    servicePrices: Self.by(delivery: 120)),
                MenuOption(id: "bacon", name: "Bacon", price: 110, servicePrices: Self.by(table: 90)),
            ])
        let menu = try Self.menu(
            [
                .sample("tea", price: 250).with(\.servicePrices, Self.by(delivery: 300, table: 0)),
                .sample("pizza").with(\.price, nil).with(\.options, ["size", "extras"]),
            ], [size, extras])
        #expect(try Self.price("tea", for: nil, in: menu) == 250)
        #expect(try Self.price("tea", for: .pickup, in: menu) == 250)
        #expect(try Self.price("tea", for: .delivery, in: menu) == 300)
        #expect(try Self.price("tea", for: .table, in: menu) == 0)
        #expect(try Self.price("pizza", [.init("small"), .init("cheese")], for: .pickup, in: menu) == 600)
        #expect(try Self.price("pizza", [.init("small"), .init("cheese")], for: .delivery, in: menu) == 670)
        // The price with the size goes before that of the service.
        #expect(try Self.price("pizza", [.init("large"), .init("cheese")], for: .delivery, in: menu) == 950)
        #expect(menu.entries["tea"]?.item.servicePrices == Self.by(delivery: 300, table: 0))
    }

    @Test func `what is free is what costs least in that service`() throws {
        let extras = OptionGroup(
            id: "extras", title: "Extras", maximum: 2, free: 1,
            options: [
                MenuOption(id: "cheese", name: "Cheese", price: 100, servicePrices: Self.by(delivery: 120)),
                MenuOption(id: "bacon", name: "Bacon", price: 110),
            ])
        let menu = try Self.menu([.sample("tea", price: 1_000).with(\.options, ["extras"])], [extras])
        #expect(try Self.price("tea", [.init("cheese"), .init("bacon")], for: nil, in: menu) == 1_110)
        #expect(try Self.price("tea", [.init("cheese"), .init("bacon")], for: .delivery, in: menu) == 1_120)
    }

    @Test func `a size that is called as a service is a size`() throws {
        let size = OptionGroup(
            id: "size", title: "Size", minimum: 1, setsPrice: true,
            options: [MenuOption(id: "table", name: "For the table", price: 900)])
        let extras = OptionGroup(
            id: "extras", title: "Extras",
            options: [MenuOption(id: "cheese", name: "Cheese", price: 100, servicePrices: Self.by(table: 150))])
        let pizza = MenuItem.sample("pizza").with(\.price, nil).with(\.options, ["size", "extras"])
        let menu = try Self.menu([pizza], [size, extras])
        #expect(menu.groups["extras"]?.options[0].sizePrices == [.init("table", 150)])
        #expect(menu.groups["extras"]?.options[0].servicePrices.isEmpty == true)
        #expect(try Self.price("pizza", [.init("table"), .init("cheese")], for: .pickup, in: menu) == 1_050)
        // By itself, too.
        let again = try Menu.state(after: try Menu.decide(.putGroup(extras), in: menu), from: menu)
        #expect(again == menu)
    }

    @Test func `a size cannot take the name of a service that options have a price for`() throws {
        let extras = OptionGroup(
            id: "extras", title: "Extras",
            options: [MenuOption(id: "cheese", name: "Cheese", price: 100, servicePrices: Self.by(table: 150))])
        let menu = try Self.menu([.sample("tea").with(\.options, ["extras"])], [extras])
        let size = OptionGroup(
            id: "size", title: "Size", minimum: 1, setsPrice: true,
            options: [MenuOption(id: "table", name: "For the table", price: 900)])
        #expect {
            try Menu.decide(.putGroup(size), in: menu)
        } throws: {
            ($0 as? Rejection)?.message.contains("groups.extras.options[0].prices.table") == true
        }
    }

    @Test(
        arguments: [
            (.sample("tea").with(\.servicePrices, by(table: -1)), "prices.table"),
            (.sample("tea").with(\.servicePrices, by(table: 1_000_000_000_001)), "prices.table"),
            (MenuItem(id: "tea", kind: "promo", name: "Tea").with(\.servicePrices, by(table: 1)), "prices"),
        ] as [(MenuItem, String)])
    func `a price out of range, or without one beside it, is refused`(_ item: MenuItem, _ field: String) throws {
        let menu = try Self.menu([])
        #expect {
            try Menu.decide(.putItem(item, section: "all", before: nil), in: menu)
        } throws: {
            ($0 as? Rejection)?.code == .invalid && ($0 as? Rejection)?.message.hasPrefix(field) == true
        }
    }

    // MARK: Carts

    private static let line = CartLine(id: "tea", item: "tea", name: "Tea", quantity: 2, unitPrice: 250)
    private static let twoTeas = [Cart.Event.itemAdded(line, outlet: "o", currency: .inr)]
    private static let all = ServiceKind.allCases

    private static func choose(
        _ service: ServiceKind, table: Text? = nil, of offered: [ServiceKind] = all
    ) -> Cart.Command {
        .chooseService(Cart.ServiceChoice(service, table: table, offered: offered))
    }

    @Test(
        arguments: [
            Case("empty", when: choose(.table), then: .rejected(.state, naming: ["empty"], allowed: [.addToCart])),
            Case(
                "a choice", given: twoTeas, when: choose(.delivery),
                then: .events([.serviceChosen(.delivery, table: nil)])),
            Case(
                "at a table", given: twoTeas, when: choose(.table, table: "4"),
                then: .events([.serviceChosen(.table, table: "4")])),
            Case(
                "the same again", given: twoTeas + [.serviceChosen(.table, table: "4")],
                when: choose(.table, table: "4"), then: .events([])),
            Case(
                "another table", given: twoTeas + [.serviceChosen(.table, table: "4")],
                when: choose(.table), then: .events([.serviceChosen(.table, table: nil)])),
            Case(
                "not offered", given: twoTeas, when: choose(.delivery, of: [.pickup, .table]),
                then: .rejected(.invalid, naming: ["'o'", "pickup, table", "'delivery'"], about: .service)),
            Case(
                "nothing offered", given: twoTeas, when: choose(.delivery, of: []),
                then: .rejected(.invalid, about: .service)),
            Case(
                "a table for a delivery", given: twoTeas, when: choose(.delivery, table: "4"),
                then: .rejected(.invalid, about: .table)),
            Case(
                "no name of a table", given: twoTeas, when: choose(.table, table: ""),
                then: .rejected(.invalid, about: .table)),
            Case(
                "a long name of a table", given: twoTeas,
                when: choose(.table, table: Text(String(repeating: "x", count: 41))),
                then: .rejected(.invalid, about: .table)),
            Case(
                "checked out", given: twoTeas + [.checkedOut(order: "order-1", lines: [line], total: 500)],
                when: choose(.pickup), then: .rejected(.state, naming: ["order-1"])),
        ] as [Case])
    func `a cart takes what its outlet offers`(_ row: Case) { row.check() }

    /// A checkout as an outlet's details make it.
    private static func checkOut(
        _ total: Amount, after events: [Cart.Event], details: OutletDetails = details, offer: Offer = .sample(),
        customer: Identifier? = nil, phone: SealedText? = nil, address: SealedText? = nil
    ) throws -> Cart.Command {
        var checkOut = Cart.CheckOut(
            order: "order-1", agreement: .total(total), of: try Cart.state(after: events),
            offers: { lines, _ in lines.map { _ in offer } }, details: { _ in details }, now: 1_000)
        checkOut.customer = customer
        checkOut.handover.phone = phone
        checkOut.handover.address = address
        return .checkOut(checkOut)
    }

    private static func check(_ events: [Cart.Event], _ command: Cart.Command, _ expected: Case.Outcome) {
        Case("", given: events, when: command, then: expected).check()
    }

    @Test func `an order says how it is had, and costs what that costs`() throws {
        func tax(_ rate: Int, _ amount: Amount, _ bases: [Amount]) -> Charge {
            Charge(
                .tax, id: "vat", name: "VAT", rate: .sample(rate), amount, isIncluded: true,
                shares: [amount] + bases.dropFirst().map { _ in 0 }, bases: bases)
        }
        Self.check(
            Self.twoTeas, try Self.checkOut(500, after: Self.twoTeas),
            .events([
                .checkedOut(
                    order: "order-1", lines: [Self.line], charges: [tax(7_000, 33, [500])], total: 500,
                    handover: Handover(.pickup))
            ]))
        let table = Self.twoTeas + [.serviceChosen(.table, table: "4")]
        Self.check(
            table, try Self.checkOut(550, after: table),
            .events([
                .checkedOut(
                    order: "order-1", lines: [Self.line],
                    charges: [Charge(.service, 50, shares: [50]), tax(19_000, 80, [500, 0])], total: 550,
                    handover: Handover(.table, table: "4"))
            ]))
    }

    @Test func `what a service needs is refused by its name`() throws {
        let delivery = Self.twoTeas + [.serviceChosen(.delivery, table: nil)]
        let offer = Offer.sample(price: 1_000)
        Self.check(
            delivery, try Self.checkOut(2_050, after: delivery, offer: offer, customer: "asha", address: "y"),
            .rejected(.required, naming: ["phone"], about: .phone))
        Self.check(
            delivery, try Self.checkOut(2_050, after: delivery, offer: offer, customer: "asha", phone: "y"),
            .rejected(.required, naming: ["address"], about: .address))
        Self.check(
            delivery, try Self.checkOut(2_050, after: delivery, offer: offer, phone: "y", address: "y"),
            .rejected(.invalid, about: .phone))
        let table = Self.twoTeas + [.serviceChosen(.table, table: nil)]
        Self.check(
            table, try Self.checkOut(550, after: table),
            .rejected(.required, naming: ["table"], about: .table))
        // The minimum is that of the service, and comes first.
        Self.check(delivery, try Self.checkOut(550, after: delivery), .rejected(.limit, naming: ["20.00 INR"]))
    }

    @Test func `an order is not had otherwise than was chosen`() throws {
        let delivery = Self.twoTeas + [.serviceChosen(.delivery, table: nil)]
        let details = Self.details.with(\.services, Self.by(pickup: OfferedService()))
        Self.check(
            delivery, try Self.checkOut(500, after: delivery, details: details),
            .rejected(.required, naming: ["'delivery'", "choose pickup"], about: .service))
    }

    @Test func `a service changes the quote's digest, and not the lines`() throws {
        let state = try Cart.state(after: Self.twoTeas)
        guard case .filled(let contents) = state else { return }
        let terms = PricingTerms.none
        let quotes = try ([nil] + ServiceKind.allCases).map {
            try Quote(of: contents, offers: [.sample()], terms: terms, for: $0)
        }
        #expect(Set(quotes.map(\.digest)).count == 4)
        #expect(quotes.allSatisfy { $0.lines == [Self.line] && $0.bill == quotes[0].bill })
    }

    @Test(
        arguments: [
            [.serviceChosen(.pickup, table: nil)], twoTeas + [.serviceChosen(.pickup, table: "4")],
            twoTeas + [
                .serviceChosen(.pickup, table: nil), .checkedOut(order: "order-1", lines: [line], total: 500),
            ],
            twoTeas + [
                .serviceChosen(.pickup, table: nil),
                .checkedOut(order: "order-1", lines: [line], total: 500, handover: Handover(.delivery)),
            ],
            twoTeas + [
                .serviceChosen(.table, table: "4"),
                .checkedOut(order: "order-1", lines: [line], total: 500, handover: Handover(.table)),
            ],
            twoTeas + [
                .checkedOut(order: "order-1", lines: [line], total: 500, handover: Handover(.pickup, phone: "y"))
            ],
            twoTeas + [
                .checkedOut(order: "order-1", lines: [line], total: 500, handover: Handover(.pickup, address: "y"))
            ],
        ] as [[Cart.Event]])
    func `an impossible event throws, and leaves the cart as it was`(_ history: [Cart.Event]) throws {
        try Cart.expectImpossible(history)
    }
}
