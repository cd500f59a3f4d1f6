internal import SeededRandom

/// The first menu of an outlet of the load generator. Items are not stored: each follows from its index and the seed.
package struct MenuPlan: Sendable {
    package struct Section: Sendable {
        package var index: Int
        package var kind: String
        package var title: String
        package var items: Range<Int>

        package var id: String { "s\(index)" }
    }

    /// How many items are not there at first, and come and go.
    package static let extras = 2
    private static let sectionLength = 10
    private static let promos = 4
    private static let desserts = 6
    private static let adjectives = [
        "Smoky", "Golden", "Sour", "Hot", "Slow", "Crisp", "Tender", "Wild", "Sweet", "Bitter", "Fresh", "Black",
    ]
    private static let dishes = [
        "Pie", "Curry", "Salad", "Soup", "Dumplings", "Noodles", "Tart", "Hopper", "Taco", "Stew", "Roll", "Bowl",
    ]
    /// The tags of items.
    package static let tags = ["vegetarian", "spicy", "new", "sharing", "quick"]

    /// How many items it has at first.
    package let itemCount: Int
    package let sections: [Section]
    package let groups: [GroupPlan]
    private let seed: UInt64

    /// - Parameter taxOfOptions: that of some options; nil if the outlet has no such tax.
    package init(items: Int, seed: UInt64, taxOfOptions: String? = nil) {
        itemCount = items
        self.seed = seed
        groups = GroupPlan.all(seed: seed, taxOfOptions: taxOfOptions)
        let promos = min(MenuPlan.promos, items / 8)
        let desserts = min(MenuPlan.desserts, items / 6)
        // A menu has at most 100 sections.
        let length = max(MenuPlan.sectionLength, (items - promos - desserts + 96) / 97)
        var sections: [Section] = []
        func add(_ kind: String, _ title: String, _ items: Range<Int>) {
            guard !items.isEmpty else { return }
            sections.append(Section(index: sections.count, kind: kind, title: title, items: items))
        }
        add("promotions", "Offers", 0..<promos)
        for first in stride(from: promos, to: items - desserts, by: length) {
            add("menuItems", "Plates \(sections.count)", first..<min(first + length, items - desserts))
        }
        add("desserts", "Desserts", (items - desserts)..<items)
        self.sections = sections
    }

    /// Items that may be on the menu at some time.
    package var everyItem: Range<Int> { 0..<(itemCount + MenuPlan.extras) }

    /// The section that extras are added to: the last one of dishes, or the only one.
    private var sectionOfExtras: Int {
        sections.last { $0.kind == "menuItems" }?.index ?? 0
    }

    package func item(_ index: Int) -> ItemPlan {
        var chance = SeededGenerator(seed: seed, of: index)
        let isExtra = index >= itemCount
        let section = isExtra ? sectionOfExtras : sections.first { $0.items.contains(index) }?.index ?? 0
        let kind =
            switch sections[section].kind {
            case "promotions": "promo"
            case "desserts": "dessert"
            default: "menuItem"
            }
        let name = "\(chance.pick(MenuPlan.adjectives)) \(chance.pick(MenuPlan.dishes)) \(index)"
        let tags = MenuPlan.tags.filter { _ in chance.happens(permille: 300) }
        let own = Int64(chance.number(100...4_000))
        let offered = isExtra ? [] : GroupPlan.ofItem(index)
        let sizes = offered.contains(GroupPlan.sizes) ? group(GroupPlan.sizes)?.options.map(\.price) : nil
        return ItemPlan(
            index: index, section: section, kind: kind, name: name, tags: tags, price: sizes?.min() ?? own,
            maximum: index % 7 == 3 ? 12 : 99, isExtra: isExtra, groups: offered, attributeSeed: ~seed)
    }

    /// The menu as `MENU.PUT` takes it.
    package var json: String {
        let sections = sections.map { section in
            let items = section.items.map { item($0).json }.joined(separator: ",")
            return """
                {"id":"\(section.id)","title":"\(section.title)","kind":"\(section.kind)",\
                "sticky":\(section.kind == "menuItems"),"items":[\(items)]}
                """
        }
        let groups = groups.map(\.json).joined(separator: ",")
        return "{\"sections\":[\(sections.joined(separator: ","))],\"groups\":[\(groups)]}"
    }
}
