import Domain
import Testing

@Suite struct MenuTests {
    private typealias Specification = DeciderSpecification<Menu>
    typealias Case = DeciderCase<Menu>

    private static let tea = MenuItem.sample("tea")
    private static let lunch = SectionHeader.sample("lunch")
    private static let dinner = SectionHeader.sample("dinner")
    /// Lunch of tea and soup, dinner of rice; soup is sold out until 500.
    private static let history: [Menu.Event] = [
        .sectionAdded(lunch, before: nil), .sectionAdded(dinner, before: nil),
        .itemAdded(tea, section: "lunch", before: nil),
        .itemAdded(.sample("soup"), section: "lunch", before: nil),
        .itemAdded(.sample("rice"), section: "dinner", before: nil),
        .itemSuspended("soup", until: 500),
    ]

    // MARK: Every command, on existing and missing things

    @Test(
        arguments: [
            Case("none: empty", when: .put(MenuDocument([:])), then: .events([])),
            Case(
                "none: new", when: .put(MenuDocument(["lunch": ["tea"]])),
                then: .events([.sectionAdded(lunch, before: nil), .itemAdded(tea, section: "lunch", before: nil)])),
            Case(
                "the same", given: history, when: .put(MenuDocument(["lunch": ["tea", "soup"], "dinner": ["rice"]])),
                then: .events([])),
            Case(
                "an item leaves a section that goes", given: history,
                when: .put(MenuDocument(["dinner": ["rice", "soup"]])),
                then: .events([.itemMoved("soup", section: "dinner", before: nil), .sectionRemoved("lunch")])),
            Case(
                "nothing stays", given: history, when: .put(MenuDocument([:])),
                then: .events([.sectionRemoved("lunch"), .sectionRemoved("dinner")])),
            Case(
                "a section used twice",
                when: .put(MenuDocument(["lunch": [], "lunch": []])),
                then: .rejected(.invalid, naming: ["sections[1].id"])),
            Case(
                "an item used twice", when: .put(MenuDocument(["lunch": ["tea"], "dinner": ["rice", "tea"]])),
                then: .rejected(.invalid, naming: ["sections[1].items[1].id", "tea"])),
        ] as [Case])
    func `putting a menu`(_ row: Case) { row.check() }

    @Test(
        arguments: [
            Case(
                "new, last", given: history, when: .putSection(.sample("sweets"), before: nil),
                then: .events([.sectionAdded(.sample("sweets"), before: nil)])),
            Case(
                "new, in front", given: history, when: .putSection(.sample("sweets"), before: "lunch"),
                then: .events([.sectionAdded(.sample("sweets"), before: "lunch")])),
            Case("the same", given: history, when: .putSection(lunch, before: nil), then: .events([])),
            Case("in place", given: history, when: .putSection(lunch, before: "dinner"), then: .events([])),
            Case(
                "another title", given: history, when: .putSection(.sample("lunch", title: "Noon"), before: nil),
                then: .events([.sectionChanged(.sample("lunch", title: "Noon"))])),
            Case(
                "moved and changed", given: history,
                when: .putSection(.sample("dinner", title: "Night"), before: "lunch"),
                then: .events([
                    .sectionChanged(.sample("dinner", title: "Night")), .sectionMoved("dinner", before: "lunch"),
                ])),
            Case(
                "before itself", given: history, when: .putSection(lunch, before: "lunch"),
                then: .rejected(.invalid, about: .before)),
            Case(
                "before an unknown one", given: history, when: .putSection(lunch, before: "brunch"),
                then: .rejected(.notFound, naming: ["brunch"])),
            Case(
                "removed", given: history, when: .removeSection("lunch"), then: .events([.sectionRemoved("lunch")])),
            Case(
                "an unknown one removed", given: history, when: .removeSection("brunch"),
                then: .rejected(.notFound, naming: ["brunch"])),
        ] as [Case])
    func `putting and removing a section`(_ row: Case) { row.check() }

    @Test(
        arguments: [
            Case(
                "new, last", given: history, when: .putItem(.sample("dal"), section: "lunch", before: nil),
                then: .events([.itemAdded(.sample("dal"), section: "lunch", before: nil)])),
            Case(
                "new, in front", given: history, when: .putItem(.sample("dal"), section: "lunch", before: "tea"),
                then: .events([.itemAdded(.sample("dal"), section: "lunch", before: "tea")])),
            Case("the same", given: history, when: .putItem(tea, section: "lunch", before: nil), then: .events([])),
            Case(
                "in place", given: history, when: .putItem(tea, section: "lunch", before: "soup"), then: .events([])),
            Case(
                "another price", given: history,
                when: .putItem(.sample("tea", price: 1), section: "lunch", before: nil),
                then: .events([.itemRepriced("tea", 1)])),
            Case(
                "another name and price", given: history,
                when: .putItem(tea.with(\.name, "Chai").with(\.price, 1), section: "lunch", before: nil),
                then: .events([.itemChanged(tea.with(\.name, "Chai").with(\.price, 1))])),
            Case(
                "no price any more", given: history,
                when: .putItem(tea.with(\.kind, "promo").with(\.price, nil), section: "lunch", before: nil),
                then: .events([.itemChanged(tea.with(\.kind, "promo").with(\.price, nil))])),
            Case(
                "to another section", given: history, when: .putItem(tea, section: "dinner", before: nil),
                then: .events([.itemMoved("tea", section: "dinner", before: nil)])),
            Case(
                "in its section", given: history, when: .putItem(.sample("soup"), section: "lunch", before: "tea"),
                then: .events([.itemMoved("soup", section: "lunch", before: "tea")])),
            Case(
                "before itself", given: history, when: .putItem(tea, section: "lunch", before: "tea"),
                then: .rejected(.invalid, about: .before)),
            Case(
                "before one of another section", given: history, when: .putItem(tea, section: "lunch", before: "rice"),
                then: .rejected(.notFound, naming: ["rice", "lunch"])),
            Case(
                "into an unknown section", given: history, when: .putItem(tea, section: "brunch", before: nil),
                then: .rejected(.notFound, naming: ["brunch"])),
            Case("removed", given: history, when: .removeItem("tea"), then: .events([.itemRemoved("tea")])),
            Case(
                "an unknown one removed", given: history, when: .removeItem("dal"),
                then: .rejected(.notFound, naming: ["dal"])),
            Case(
                "gone with its section", given: history + [.sectionRemoved("lunch")], when: .removeItem("tea"),
                then: .rejected(.notFound, naming: ["tea"])),
        ] as [Case])
    func `putting and removing an item`(_ row: Case) { row.check() }

    @Test func `an item names one of the outlet's taxes, or none`() {
        let taxed = MenuItem.sample("dal").with(\.tax, "food")
        let given = Specification.given(Self.history)
        given.when(.putItem(taxed, section: "lunch", before: nil, taxes: ["vat"]))
            .thenRejected(.invalid, naming: ["tax:", "'food'"])
        given.when(.putItem(taxed, section: "lunch", before: nil, taxes: ["vat", "food"]))
            .then([.itemAdded(taxed, section: "lunch", before: nil)])
        var document = MenuDocument(["lunch": ["tea", "dal"]])
        document.sections[0].items[1].tax = "food"
        given.when(.put(document, taxes: [])).thenRejected(.invalid, naming: ["sections[0].items[1].tax:", "'food'"])
        #expect(Menu.Command.put(document).restsOnOutlet)
        #expect(!Menu.Command.put(MenuDocument(["lunch": ["tea"]])).restsOnOutlet)
        #expect(!Menu.Command.reprice("tea", 1).restsOnOutlet)
    }

    @Test(
        arguments: [
            Case(
                "a new price", given: history, when: .reprice("tea", 0), then: .events([.itemRepriced("tea", 0)])),
            Case("the same price", given: history, when: .reprice("tea", 250), then: .events([])),
            Case(
                "the highest price", given: history, when: .reprice("tea", .maximum),
                then: .events([.itemRepriced("tea", .maximum)])),
            Case("too high", given: history, when: .reprice("tea", 1_000_000_000_001), then: .rejected(.invalid)),
            Case("negative", given: history, when: .reprice("tea", -1), then: .rejected(.invalid)),
            Case("no item to price", given: history, when: .reprice("dal", 1), then: .rejected(.notFound)),

            Case(
                "sold out", given: history, when: .suspend("tea", until: nil, now: 1),
                then: .events([.itemSuspended("tea", until: nil)])),
            Case(
                "sold out for longer", given: history, when: .suspend("soup", until: 501, now: 1),
                then: .events([.itemSuspended("soup", until: 501)])),
            Case(
                "sold out until further notice", given: history, when: .suspend("soup", until: nil, now: 1),
                then: .events([.itemSuspended("soup", until: nil)])),
            Case("sold out already", given: history, when: .suspend("soup", until: 500, now: 1), then: .events([])),
            Case(
                "sold out until now", given: history, when: .suspend("soup", until: 500, now: 500),
                then: .rejected(.invalid, about: .until)),
            Case(
                "no item to suspend", given: history, when: .suspend("dal", until: nil, now: 1),
                then: .rejected(.notFound)),

            Case("resumed", given: history, when: .resume("soup"), then: .events([.itemResumed("soup")])),
            Case("never suspended", given: history, when: .resume("tea"), then: .events([])),
            Case("no item to resume", given: history, when: .resume("dal"), then: .rejected(.notFound)),
        ] as [Case])
    func `prices and suspensions`(_ row: Case) { row.check() }

    // MARK: Bounds

    @Test(arguments: [
        tea.with(\.name, Text(String(repeating: "x", count: 200))), tea.with(\.description, ""),
        tea.with(\.description, Text(String(repeating: "x", count: 2_000))), tea.with(\.price, 0),
        tea.with(\.price, .maximum),
        tea.with(\.tags, Array(repeating: "x", count: 50)),
        tea.with(\.imageLarge, Text("/" + String(repeating: "x", count: 1_999))),
        tea.with(\.images, Array(repeating: ItemImage(url: "/a", alternative: "A"), count: 20)),
        tea.with(
            \.links,
            Array(
                repeating: ItemLink(rel: "video", url: "https://a", title: Text(String(repeating: "x", count: 200))),
                count: 20)
        ),
        tea.with(\.maxQuantity, 1), tea.with(\.maxQuantity, 99),
    ])
    func `an item at a bound is accepted`(_ item: MenuItem) {
        Specification.given([.sectionAdded(Self.lunch, before: nil)])
            .when(.putItem(item, section: "lunch", before: nil))
            .then([.itemAdded(item, section: "lunch", before: nil)])
    }

    @Test(arguments: [
        ("name", tea.with(\.name, "")), ("name", tea.with(\.name, Text(String(repeating: "x", count: 201)))),
        ("name", tea.with(\.name, "a\tb")),
        ("description", tea.with(\.description, Text(String(repeating: "x", count: 2_001)))),
        ("price", tea.with(\.price, nil)), ("price", tea.with(\.price, -1)),
        ("price", tea.with(\.price, 1_000_000_000_001)),
        ("cuisine", tea.with(\.cuisine, "")), ("tags", tea.with(\.tags, Array(repeating: "x", count: 51))),
        ("tags[0]", tea.with(\.tags, [""])), ("imageSmall", tea.with(\.imageSmall, "")),
        ("imageLarge", tea.with(\.imageLarge, Text("/" + String(repeating: "x", count: 2_000)))),
        ("imageSmall", tea.with(\.imageSmall, "javascript:alert(1)")),
        ("images", tea.with(\.images, Array(repeating: ItemImage(url: "/a"), count: 21))),
        ("images[1].url", tea.with(\.images, [ItemImage(url: "/a"), ItemImage(url: "a b")])),
        ("images[0].alt", tea.with(\.images, [ItemImage(url: "/a", alternative: "")])),
        ("links", tea.with(\.links, Array(repeating: ItemLink(rel: "source", url: "/a"), count: 21))),
        ("links[1].url", tea.with(\.links, [ItemLink(rel: "source", url: "/a"), ItemLink(rel: "source", url: "//a")])),
        ("links[0].title", tea.with(\.links, [ItemLink(rel: "source", url: "/a", title: "a\tb")])),
        ("maxQuantity", tea.with(\.maxQuantity, 0)), ("maxQuantity", tea.with(\.maxQuantity, 100)),
        ("kind", tea.with(\.kind, "")), ("kind", tea.with(\.kind, "two\r\nlines")),
        ("kind", tea.with(\.kind, Text(String(repeating: "x", count: 201)))),
    ])
    func `an item out of bounds is refused by the name of its field`(_ field: String, _ item: MenuItem) {
        Specification.given([.sectionAdded(Self.lunch, before: nil)])
            .when(.putItem(item, section: "lunch", before: nil)).thenRejected(.invalid, naming: ["\(field):"])
        let document = MenuDocument(sections: [MenuSection(header: Self.lunch, items: [.sample("dal"), item])])
        Specification.given().when(.put(document))
            .thenRejected(.invalid, naming: ["sections[0].items[1].\(field):"])
    }

    @Test func `a menu has at most 100 sections`() throws {
        let sections = (0...100).map { MenuSection(header: .sample(Identifier("s\($0)")!), items: []) }
        let full = MenuDocument(sections: Array(sections.prefix(100)))
        Specification.given(try full.history).when(.put(full)).then([])
        Specification.given(try full.history)
            .when(.putSection(sections[100].header, before: nil)).thenRejected(.limit)
        Specification.given().when(.put(MenuDocument(sections: sections))).thenRejected(.limit)
    }

    @Test func `a menu has at most 5,000 items`() throws {
        let items = (0...5_000).map { MenuItem.sample(Identifier("i\($0)")!) }
        let full = MenuDocument(sections: [MenuSection(header: Self.lunch, items: Array(items.prefix(5_000)))])
        let history = try full.history
        Specification.given(history).when(.put(full)).then([])
        Specification.given(history)
            .when(.putItem(items[5_000], section: "lunch", before: nil)).thenRejected(.limit)
        Specification.given()
            .when(.put(MenuDocument(sections: [MenuSection(header: Self.lunch, items: items)]))).thenRejected(.limit)
    }

    /// A menu of one section whose texts have this many bytes.
    private static func menu(bytes: Int) throws -> [Menu.Event] {
        var items = (0..<4_500).map { number in
            MenuItem.sample(Identifier("i\(number + 10_000)")!).with(
                \.description, Text(String(repeating: "d", count: 1_800)))
        }
        let rest = bytes - (try Menu.state(after: MenuDocument(items).history).bytes)
        for index in items.indices.prefix(rest / 2_000) {
            items[index].imageSmall = Text("/" + String(repeating: "s", count: 1_999))
        }
        items[items.count - 1].imageLarge = Text("/" + String(repeating: "l", count: rest % 2_000 - 1))
        return try MenuDocument(items).history
    }

    @Test func `the texts of a menu have at most 8 MiB together`() throws {
        let item = MenuItem.sample("new").with(\.kind, "promo").with(\.name, "N")
        let size = 3 + 5 + 1
        let history = try Self.menu(bytes: Menu.maximumBytes - size)
        Specification.given(history)
            .when(.putItem(item, section: "lunch", before: nil))
            .then([.itemAdded(item, section: "lunch", before: nil)])
        Specification.given(history)
            .when(.putItem(item.with(\.name, "No"), section: "lunch", before: nil))
            .thenRejected(.limit, naming: ["8388608 bytes", "would have 8388609"])
        Specification.given(history)
            .when(.putSection(.sample("sweets"), before: nil)).thenRejected(.limit, naming: ["8388608 bytes"])
        Specification.given(history)
            .when(.putSection(.sample("lunch", title: Text(String(repeating: "t", count: 200))), before: nil))
            .thenRejected(.limit)
        var document = try Menu.state(after: history).document
        document.sections[0].items.append(item.with(\.name, "No"))
        Specification.given().when(.put(document)).thenRejected(.limit, naming: ["would have 8388609"])
    }

    @Test func `a group of options counts once, however often it is put`() throws {
        func group(_ title: Text) -> OptionGroup {
            OptionGroup(id: "g", title: title, maximum: 1, options: [MenuOption(id: "o", name: "O", price: 1)])
        }
        let lone: [Menu.Event] = [.groupPut(group("G"))]
        let size = try Menu.state(after: lone).bytes
        let history = try Self.menu(bytes: Menu.maximumBytes - size) + lone
        Specification.given(history).when(.putGroup(group("H"))).then([.groupPut(group("H"))])
        Specification.given(history).when(.putGroup(group("Hi"))).thenRejected(.limit, naming: ["would have 8388609"])
    }

    @Test func `a menu from before the limit can become smaller, but not larger`() throws {
        let history =
            try Self.menu(bytes: Menu.maximumBytes) + [
                .itemAdded(.sample("tea"), section: "lunch", before: nil),
                .itemAdded(.sample("soup"), section: "lunch", before: nil),
            ]
        let shorter = MenuItem.sample("tea").with(\.name, "Tea")
        Specification.given(history)
            .when(.putItem(shorter, section: "lunch", before: nil)).then([.itemChanged(shorter)])
        Specification.given(history)
            .when(.putItem(.sample("tea", price: 1), section: "lunch", before: "soup")).then([.itemRepriced("tea", 1)])
        Specification.given(history).when(.removeItem("tea")).then([.itemRemoved("tea")])
        Specification.given(history).when(.suspend("tea", until: nil, now: 0)).then([.itemSuspended("tea", until: nil)])
        Specification.given(history)
            .when(.putItem(.sample("tea").with(\.name, "Item tea, and more"), section: "lunch", before: nil))
            .thenRejected(.limit)
        var document = try Menu.state(after: history).document
        document.sections[0].items.removeLast()
        Specification.given(history).when(.put(document)).then([.itemRemoved("soup")])
    }

    // MARK: History

    @Test(
        arguments: [
            .sectionAdded(lunch, before: nil), .sectionAdded(.sample("sweets"), before: "brunch"),
            .sectionChanged(.sample("brunch")), .sectionMoved("brunch", before: nil),
            .sectionMoved("lunch", before: "brunch"), .sectionMoved("lunch", before: "lunch"),
            .sectionRemoved("brunch"),
            .itemAdded(tea, section: "dinner", before: nil), .itemAdded(.sample("dal"), section: "brunch", before: nil),
            .itemAdded(.sample("dal"), section: "lunch", before: "rice"), .itemChanged(.sample("dal")),
            .itemMoved("dal", section: "lunch", before: nil), .itemMoved("tea", section: "brunch", before: nil),
            .itemMoved("tea", section: "dinner", before: "soup"), .itemMoved("tea", section: "lunch", before: "tea"),
            .itemRemoved("dal"), .itemRepriced("dal", 1), .itemSuspended("dal", until: nil), .itemResumed("dal"),
        ] as [Menu.Event])
    func `an impossible event throws, and leaves the menu as it was`(_ event: Menu.Event) throws {
        let before = try Menu.state(after: Self.history)
        var state = before
        #expect(throws: ImpossibleEvent.self) { try Menu.evolve(&state, event) }
        #expect(state == before)
    }
}

extension MenuDocument {
    /// A menu of one section with these items.
    init(_ items: [MenuItem]) {
        self.init(sections: [MenuSection(header: .sample("lunch"), items: items)])
    }
}
