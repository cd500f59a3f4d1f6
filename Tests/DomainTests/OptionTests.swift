import Domain
import Testing

@Suite struct OptionTests {
    private typealias Specification = DeciderSpecification<Menu>
    typealias Case = DeciderCase<Menu>

    // MARK: A menu with options

    private static let size = OptionGroup(
        id: "size", title: "Size", minimum: 1, maximum: 1, setsPrice: true,
        options: [
            MenuOption(id: "small", name: "Small", price: 500), MenuOption(id: "large", name: "Large", price: 800),
        ])
    private static let extras = OptionGroup(
        id: "extras", title: "Extras", maximum: 3,
        options: [
            MenuOption(id: "cheese", name: "Cheese", price: 100, sizePrices: [.init("large", 150)], maximum: 2),
            MenuOption(id: "bacon", name: "Bacon", price: 200),
            MenuOption(id: "onion", name: "Onion", price: 0),
        ])
    private static let sides = OptionGroup(
        id: "sides", title: "Side", minimum: 1, maximum: 2, free: 1,
        options: [
            MenuOption(id: "fries", name: "Fries", price: 400, item: "chips", groups: ["dips"]),
            MenuOption(id: "salad", name: "Salad", price: 300),
        ])
    private static let dips = OptionGroup(
        id: "dips", title: "Dip", minimum: 1, maximum: 1,
        options: [MenuOption(id: "ketchup", name: "Ketchup", price: 20)])

    private static let items: [MenuItem] = [
        .sample("chips"),
        .sample("burger").with(\.price, nil).with(\.options, ["size", "extras"]),
        .sample("meal", price: 1_000).with(\.options, ["sides"]),
    ]
    private static let groups = [dips, extras, sides, size]

    private static func document(
        items: [MenuItem] = items, groups: [OptionGroup] = groups
    ) -> MenuDocument {
        MenuDocument(sections: [MenuSection(header: .sample("all"), items: items)], groups: groups)
    }

    private static func menu(after events: [Menu.Event] = []) throws -> MenuState {
        let put = try Menu.decide(.put(document()), in: Menu.initial)
        return try Menu.state(after: put + events)
    }

    private static func offer(
        _ item: Identifier, _ chosen: [ChosenOption] = [], after events: [Menu.Event] = [], now: Timestamp = 0
    ) throws -> Offer {
        try menu(after: events).offer(of: item, with: chosen.normalized, in: .inr, now: now)
    }

    // MARK: Prices

    @Test(
        arguments: [
            ("burger", [ChosenOption("small")], 500),
            ("burger", [ChosenOption("large")], 800),
            ("burger", [ChosenOption("cheese"), ChosenOption("small")], 600),
            ("burger", [ChosenOption("large"), ChosenOption("cheese", units: 2)], 1_100),
            ("burger", [ChosenOption("cheese"), ChosenOption("large"), ChosenOption("cheese")], 1_100),
            ("meal", [ChosenOption("salad")], 1_000),
            ("meal", [ChosenOption("salad"), ChosenOption("fries"), ChosenOption("ketchup")], 1_420),
            ("chips", [], 250),
        ] as [(Identifier, [ChosenOption], Amount)])
    func `a price is the base and the options, less the cheapest that are free`(
        item: Identifier, chosen: [ChosenOption], price: Amount
    ) throws {
        guard case .available(let offer) = try Self.offer(item, chosen) else {
            Issue.record("cannot be had")
            return
        }
        #expect(offer.unitPrice == price)
        #expect(offer.options.map(\.chosen) == chosen.normalized)
    }

    @Test func `whichever group of an item has an option, it opens the groups that the option names`() throws {
        let feast = MenuItem.sample("feast", price: 1_000).with(\.options, ["extras", "sides"])
        let put = try Menu.decide(.put(Self.document(items: Self.items + [feast])), in: Menu.initial)
        let chosen = [ChosenOption("fries"), ChosenOption("ketchup")]
        guard
            case .available(let offer) = try Menu.state(after: put)
                .offer(of: "feast", with: chosen.normalized, in: .inr, now: 0)
        else {
            Issue.record("cannot be had")
            return
        }
        #expect(offer.unitPrice == 1_020)
    }

    @Test func `of free units the cheapest cost nothing, in whatever order they are chosen`() throws {
        guard
            case .available(let offer) = try Self.offer(
                "meal", [ChosenOption("fries"), ChosenOption("ketchup"), ChosenOption("salad")])
        else {
            Issue.record("cannot be had")
            return
        }
        #expect(
            offer.options == [
                LineOption("fries", name: "Fries", price: 400), LineOption("ketchup", name: "Ketchup", price: 20),
                LineOption("salad", name: "Salad", price: 300, free: 1),
            ])
    }

    @Test(
        arguments: [
            ("burger", [], .units(ofGroup: size, chosen: 0)),
            ("burger", [ChosenOption("small"), ChosenOption("large")], .units(ofGroup: size, chosen: 2)),
            ("burger", [ChosenOption("small"), ChosenOption("cheese", units: 3)], .tooMany("cheese", maximum: 2)),
            ("burger", [ChosenOption("small"), ChosenOption("cheese", units: 0)], .tooMany("cheese", maximum: 2)),
            ("burger", [ChosenOption("small"), ChosenOption("fries")], .gone("fries")),
            ("burger", [ChosenOption("none")], .gone("none")),
            ("meal", [ChosenOption("salad"), ChosenOption("ketchup")], .gone("ketchup")),
            ("meal", [ChosenOption("fries")], .units(ofGroup: dips, chosen: 0)),
            ("chips", [ChosenOption("cheese")], .gone("cheese")),
        ] as [(Identifier, [ChosenOption], Choice)])
    func `a choice outside the bounds of its groups cannot be had`(
        item: Identifier, chosen: [ChosenOption], expected: Choice
    ) throws {
        #expect(try Self.offer(item, chosen) == .wrongChoice(expected))
    }

    @Test func `an option opens its groups whichever group it is in`() throws {
        let feast = MenuItem.sample("feast", price: 1_000).with(\.options, ["extras", "sides"])
        let menu: [Menu.Event] = [.itemAdded(feast, section: "all", before: nil)]
        let fries = ChosenOption("fries")
        #expect(
            try Self.offer("feast", [fries], after: menu)
                == .wrongChoice(.units(ofGroup: Self.dips, chosen: 0)))
        guard case .available = try Self.offer("feast", [fries, ChosenOption("ketchup")], after: menu) else {
            Issue.record("the dip cannot be had")
            return
        }
    }

    // MARK: Taxes

    /// A glass of wine costs 300 alone, and has the tax `drink`.
    private static let lunch = document(
        items: items + [
            .sample("wine", price: 300).with(\.tax, "drink"),
            .sample("lunch", price: 900).with(\.options, ["dish", "glass", "cup"]).with(\.tax, "food")
                .with(\.isCombo, true),
        ],
        groups: groups + [
            OptionGroup(
                id: "dish", title: "Dish", options: [MenuOption(id: "chips-dish", name: "Chips", item: "chips")]),
            OptionGroup(
                id: "glass", title: "Glass", maximum: 2, free: 2,
                options: [
                    MenuOption(id: "glass-wine", name: "Wine", item: "wine", maximum: 2),
                    MenuOption(id: "lemonade", name: "Lemonade", price: 150, tax: "sugar"),
                ]),
            OptionGroup(
                id: "cup", title: "Cup", setsPrice: false,
                options: [MenuOption(id: "mug", name: "Mug", price: 50)]),
        ])

    @Test(
        arguments: [
            // Chips are 250 alone, with the outlet's first tax.
            ("lunch", ["chips-dish", "glass-wine"], "food", [Bill.Part(250, tax: nil), Bill.Part(300, tax: "drink")]),
            ("lunch", ["lemonade", "mug"], "food", [Bill.Part(150, tax: "sugar"), Bill.Part(50, tax: "food")]),
            ("lunch", ["mug"], "food", []),
            ("lunch", [], "food", []),
            // What is free costs nothing in an ordinary item.
            ("meal", ["salad"], nil, []),
        ] as [(Identifier, [Identifier], Identifier?, [Bill.Part])])
    func `a combo is divided by what its parts cost alone, where their taxes differ`(
        item: Identifier, chosen: [Identifier], tax: Identifier?, parts: [Bill.Part]
    ) throws {
        let menu = try Menu.state(after: Menu.decide(.put(Self.lunch), in: Menu.initial))
        guard
            case .available(let offer) = menu.offer(
                of: item, with: chosen.map { ChosenOption($0) }.normalized, in: .inr, now: 0)
        else {
            Issue.record("cannot be had")
            return
        }
        #expect(offer.tax == tax)
        #expect(offer.parts == parts)
    }

    @Test func `a group allows up to 99 units, and an option of it as well`() {
        func rejection(_ units: Int) -> Rejection.Code? {
            let group = OptionGroup(
                id: "dip", title: "Dip", maximum: units,
                options: [MenuOption(id: "aioli", name: "Aioli", price: 50, maximum: units)])
            let document = Self.document(items: [MenuItem.sample("wrap").with(\.options, ["dip"])], groups: [group])
            do throws(Rejection) { _ = try Menu.decide(.put(document), in: Menu.initial) } catch { return error.code }
            return nil
        }
        #expect([0, 1, 99, 100].map(rejection) == [.invalid, nil, nil, .invalid])
    }

    @Test func `an option and a size bring their own tax to an ordinary item`() throws {
        let groups = [
            OptionGroup(
                id: "size", title: "Size", minimum: 1, setsPrice: true,
                options: [MenuOption(id: "iced", name: "Iced", price: 400, tax: "cold")]),
            OptionGroup(
                id: "shot", title: "Shot", maximum: 3, free: 1,
                options: [MenuOption(id: "rum", name: "Rum", price: 200, maximum: 3, tax: "spirits")]),
        ]
        let coffee = MenuItem.sample("coffee").with(\.price, nil).with(\.options, ["size", "shot"])
        let menu = try Menu.state(
            after: Menu.decide(.put(Self.document(items: [coffee], groups: groups)), in: Menu.initial))
        func offer(_ chosen: ChosenOption...) -> Offer {
            menu.offer(of: "coffee", with: chosen.normalized, in: .inr, now: 0)
        }
        guard case .available(let plain) = offer(ChosenOption("iced"), ChosenOption("rum")),
            case .available(let strong) = offer(ChosenOption("iced"), ChosenOption("rum", units: 3))
        else {
            Issue.record("cannot be had")
            return
        }
        #expect((plain.tax, plain.parts) == ("cold", []))
        #expect(strong.parts == [Bill.Part(400, tax: "cold"), Bill.Part(400, tax: "spirits")])
        let cold = PricingTerms.Tax(id: "cold", name: "Cold food", rate: .sample(50))
        let spirits = PricingTerms.Tax(id: "spirits", name: "Spirits", rate: .sample(200))
        #expect([[], [cold], [cold, spirits]].map(strong.tax) == ["cold", "spirits", nil])
    }

    @Test func `an option names a tax that the outlet has`() {
        let group = OptionGroup(
            id: "extras", title: "Extras", options: [MenuOption(id: "rum", name: "Rum", tax: "spirits")])
        Specification.given().when(.putGroup(group, taxes: ["vat"])).thenRejected(.invalid, naming: ["options[0].tax"])
        Specification.given().when(.putGroup(group, taxes: ["spirits"])).then([.groupPut(group)])
        #expect(Menu.Command.putGroup(group).restsOnOutlet)
        Specification.given().when(.put(Self.document(items: [], groups: [group]), taxes: [])).thenRejected(
            .invalid, naming: ["groups[0].options[0].tax"])
        Specification.given().when(
            .put(Self.document(items: [.sample("tea").with(\.isCombo, true)], groups: []))
        ).thenRejected(.invalid, naming: ["combo"])
    }

    // MARK: What is sold out

    @Test func `an option is sold out while it or the item that it is is suspended`() throws {
        let fries = [ChosenOption("fries"), ChosenOption("ketchup")]
        #expect(
            try Self.offer("meal", fries, after: [.itemSuspended("chips", until: nil)])
                == .wrongChoice(.soldOut("fries")))
        #expect(
            try Self.offer("meal", fries, after: [.optionSuspended("ketchup", until: 10)], now: 9)
                == .wrongChoice(.soldOut("fries")))
        guard case .available = try Self.offer("meal", fries, after: [.optionSuspended("ketchup", until: 10)], now: 10)
        else {
            Issue.record("still sold out")
            return
        }
    }

    @Test func `an item is sold out while a group that it needs cannot be filled, until the first that can be had`()
        throws
    {
        let events: [Menu.Event] = [.optionSuspended("salad", until: 20), .itemSuspended("chips", until: 10)]
        #expect(try Self.offer("meal", [ChosenOption("salad")], after: events, now: 5) == .soldOut(until: 10))
        #expect(try Self.menu(after: events + [.itemResumed("chips")]).entries["meal"]?.suspension == nil)
        let both = try Self.menu(after: events + [.itemSuspended("meal", until: 15)]).entries["meal"]
        #expect(both?.suspension?.until == 15)
        #expect(both?.ownSuspension?.until == 15)
    }

    @Test func `an item with sizes shows the lowest of their prices`() throws {
        let entry = try Self.menu(after: [.optionRepriced("small", 450, size: nil)]).entries["burger"]
        #expect(entry?.price == 450)
        #expect(entry?.isPriceFrom == true)
        #expect(entry?.item.price == nil)
    }

    @Test func `what follows from the groups is the same in whatever order the events come`() throws {
        let menu = try Self.menu(after: [.optionSuspended("salad", until: nil), .itemSuspended("chips", until: nil)])
        var other = Menu.initial
        try Menu.evolve(&other, .sectionAdded(.sample("all"), before: nil))
        for item in Self.items { try Menu.evolve(&other, .itemAdded(item, section: "all", before: nil)) }
        try Menu.evolve(&other, .itemSuspended("chips", until: nil))
        for group in Self.groups { try Menu.evolve(&other, .groupPut(group)) }
        try Menu.evolve(&other, .optionSuspended("salad", until: nil))
        #expect(menu == other)
        #expect(other.entries["meal"]?.suspension == MenuState.Suspension(until: nil))
    }

    @Test func `a group that can be reached on many ways is looked at once`() throws {
        // Every option of a level opens as many groups of the next as it may: on millions of ways to the last level.
        func level(_ number: Int, opening next: [Identifier]) -> [OptionGroup] {
            (0..<10).map { group in
                OptionGroup(
                    id: Identifier("g\(number)-\(group)")!, title: "Group", minimum: 1, maximum: 1,
                    options: (0..<20).map { option in
                        MenuOption(
                            id: Identifier("o\(number)-\(group)-\(option)")!, name: "Option", groups: next)
                    })
            }
        }
        let third = level(3, opening: [])
        let second = level(2, opening: third.map(\.id))
        let first = level(1, opening: second.map(\.id))
        let item = MenuItem.sample("tea").with(\.options, first.map(\.id))
        let document = Self.document(items: [item], groups: first + second + third)
        var menu = try Menu.state(after: Menu.decide(.put(document), in: Menu.initial))
        #expect(menu.entries["tea"]?.suspension == nil)
        for option in third[0].options { try Menu.evolve(&menu, .optionSuspended(option.id, until: 5)) }
        #expect(menu.entries["tea"]?.suspension?.until == 5)
    }

    // MARK: Rules

    @Test func `an option opens at most twenty groups`() throws {
        func menu(opening count: Int) -> [OptionGroup] {
            let opened = (0..<count).map { number in
                OptionGroup(
                    id: Identifier("g\(number)")!, title: "Group", maximum: 1,
                    options: [MenuOption(id: Identifier("o\(number)")!, name: "Option")])
            }
            return opened + [
                OptionGroup(
                    id: "first", title: "First", maximum: 1,
                    options: [MenuOption(id: "opens", name: "Opens", groups: opened.map(\.id))])
            ]
        }
        let item = MenuItem.sample("tea").with(\.options, ["first"])
        _ = try Menu.decide(.put(Self.document(items: [item], groups: menu(opening: 20))), in: Menu.initial)
        let rejection = try #require(throws: Rejection.self) {
            try Menu.decide(.put(Self.document(items: [item], groups: menu(opening: 21))), in: Menu.initial)
        }
        #expect(rejection.message.contains("groups: must have at most 20 entries"))
    }

    @Test(
        arguments: [
            (document(groups: [size, extras, sides]), "groups[2].options[0].groups[0]"),
            (document(groups: [size, extras, dips]), "items[2].options[0]"),
            (document(groups: groups + [size]), "groups[4].id"),
            (document(groups: groups.map { $0.with(\.minimum, 9) }), "groups[0].min"),
            (
                document(groups: [dips, sides, size, extras.with(\.minimum, 3).with(\.options, [extras.options[1]])]),
                "groups[3].min"
            ),
            (document(groups: [dips, extras, sides, size.with(\.minimum, 0)]), "groups[3].setsPrice"),
            (document(items: items.map { $0.with(\.price, 1) }), "items[1].price"),
            (document(items: [items[0], items[1], items[2].with(\.price, nil)]), "items[2].options"),
            (document(items: Array(items.dropFirst())), "groups[2].options[0].item"),
            (
                document(groups: [dips, extras, sides, size].map { $0.nesting("dips", under: "ketchup") }),
                "groups[0].options"
            ),
            (document(groups: groups.map { $0.nesting("size", under: "bacon") }), "options[1].groups[0]"),
            (
                document(items: [items[0], items[1].with(\.options, ["size", "size"]), items[2]]),
                "items[1].options[1]"
            ),
        ] as [(MenuDocument, String)])
    func `a menu whose options are not in order is refused by the field`(document: MenuDocument, field: String) {
        Specification.given().when(.put(document)).thenRejected(.invalid, naming: [field])
    }

    private static let put = try! Menu.decide(.put(document()), in: Menu.initial)

    @Test(
        arguments: [
            Case("as it is", given: put, when: .put(document()), then: .events([])),
            Case("a group as it is", given: put, when: .putGroup(extras), then: .events([])),
            Case(
                "another title", given: put, when: .putGroup(extras.with(\.title, "More")),
                then: .events([.groupPut(extras.with(\.title, "More"))])),
            Case(
                "a size that is no longer one", given: put, when: .putGroup(size.with(\.setsPrice, false)),
                then: .rejected(.invalid, naming: ["groups.extras.options[0].prices.large"])),
            Case("a group that is named", given: put, when: .removeGroup("dips"), then: .rejected(.state)),
            Case("no such group", given: put, when: .removeGroup("none"), then: .rejected(.notFound)),
            Case(
                "an item that is an option", given: put, when: .removeItem("chips"),
                then: .rejected(.state, naming: ["sides"])),
            Case("its section", given: put, when: .removeSection("all"), then: .rejected(.state, naming: ["sides"])),
            Case(
                "reprice", given: put, when: .repriceOption("bacon", 250, size: nil),
                then: .events([.optionRepriced("bacon", 250, size: nil)])),
            Case(
                "reprice with a size", given: put, when: .repriceOption("bacon", 250, size: "large"),
                then: .events([.optionRepriced("bacon", 250, size: "large")])),
            Case(
                "the price with a size as it is", given: put, when: .repriceOption("cheese", 150, size: "large"),
                then: .events([])),
            Case(
                "reprice with no size", given: put, when: .repriceOption("bacon", 250, size: "cheese"),
                then: .rejected(.invalid, about: .size)),
            Case(
                "reprice a size itself", given: put, when: .repriceOption("small", 1, size: "large"),
                then: .rejected(.invalid)),
            Case(
                "reprice an item with sizes", given: put, when: .reprice("burger", 1),
                then: .rejected(.state, allowed: [.priceOption])),
            Case("below nothing", given: put, when: .repriceOption("bacon", -1, size: nil), then: .rejected(.invalid)),
            Case(
                "suspend", given: put, when: .suspendOption("bacon", until: 5, now: 1),
                then: .events([.optionSuspended("bacon", until: 5)])),
            Case(
                "suspend again", given: put + [.optionSuspended("bacon", until: 5)],
                when: .suspendOption("bacon", until: 5, now: 1), then: .events([])),
            Case(
                "suspend until before", given: put, when: .suspendOption("bacon", until: 1, now: 1),
                then: .rejected(.invalid)),
            Case("resume what can be had", given: put, when: .resumeOption("bacon"), then: .events([])),
            Case(
                "put keeps what is sold out", given: put + [.optionSuspended("bacon", until: nil)],
                when: .putGroup(extras), then: .events([])),
        ] as [Case])
    func `groups change as their commands say`(_ row: Case) { row.check() }
}

extension OptionGroup {
    fileprivate func with<Value>(_ path: WritableKeyPath<OptionGroup, Value>, _ value: Value) -> OptionGroup {
        var copy = self
        copy[keyPath: path] = value
        return copy
    }

    /// The same group, whose option opens another.
    fileprivate func nesting(_ group: Identifier, under option: Identifier) -> OptionGroup {
        var copy = self
        for index in copy.options.indices where copy.options[index].id == option {
            copy.options[index].groups = [group]
        }
        return copy
    }
}
