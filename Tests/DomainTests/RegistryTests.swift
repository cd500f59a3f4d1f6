import Domain
import Testing

@Suite struct RegistryTests {
    private typealias Specification = DeciderSpecification<Menu>

    private static let lunch: [Menu.Event] = [.sectionAdded(.sample("lunch"), before: nil)]

    @Test(arguments: SectionKind.all.map(\.name))
    func `every registered kind of section is accepted in its own layout`(_ name: Text) throws {
        let kind = try #require(SectionKind.named(name))
        let header = SectionHeader(id: "s", title: "S", kind: name, layout: kind.defaultLayout)
        Specification.given().when(.putSection(header, before: nil))
            .then([.sectionAdded(header, before: nil)])
    }

    @Test(arguments: ItemKind.all.map(\.name))
    func `every registered kind of item is accepted, without a price if it needs none`(_ name: Text) throws {
        let kind = try #require(ItemKind.named(name))
        let item = MenuItem.sample("tea").with(\.kind, name).with(\.attributes, .sample(of: kind))
        let given = Specification.given(Self.lunch)
        given.when(.putItem(item, section: "lunch", before: nil)).then([.itemAdded(item, section: "lunch", before: nil)]
        )

        let free = item.with(\.price, nil)
        let putFree = given.when(.putItem(free, section: "lunch", before: nil))
        if kind.needsPrice {
            putFree.thenRejected(.invalid, naming: ["price:", name.string])
        } else {
            putFree.then([.itemAdded(free, section: "lunch", before: nil)])
        }
    }

    @Test(arguments: LayoutStyle.all.map(\.name))
    func `every registered layout is accepted, with exactly what its cards need`(_ name: Text) throws {
        let style = try #require(LayoutStyle.named(name))
        for size in [nil, Layout.CardSize(width: 150, height: 200)] {
            for width in [nil, 160] {
                var header = SectionHeader.sample("s")
                header.layout = Layout(style: name, cardSize: size, minimumWidth: width)
                let put = Specification.given().when(.putSection(header, before: nil))
                let fits =
                    switch style.cards {
                    case .none: size == nil && width == nil
                    case .size: size != nil && width == nil
                    case .minimumWidth: size == nil && width != nil
                    }
                if fits {
                    put.then([.sectionAdded(header, before: nil)])
                } else {
                    put.thenRejected(.invalid, naming: ["layout:", name.string])
                }
            }
        }
    }

    @Test(arguments: [(1, true), (10_000, true), (0, false), (10_001, false), (.min, false)])
    func `a card of a grid has a least width within bounds`(width: Int, isValid: Bool) {
        var header = SectionHeader.sample("s")
        header.layout = Layout(style: "grid", minimumWidth: width)
        let put = Specification.given().when(.putSection(header, before: nil))
        if isValid {
            put.then([.sectionAdded(header, before: nil)])
        } else {
            put.thenRejected(.invalid, naming: ["layout.minimumWidth:"])
        }
    }

    @Test func `an unregistered name is refused, with the registered ones`() {
        var header = SectionHeader.sample("s")
        header.kind = "carousel"
        Specification.given().when(.putSection(header, before: nil))
            .thenRejected(.invalid, naming: ["kind:", "'carousel'"] + SectionKind.all.map(\.name.string))

        header = .sample("s")
        header.layout = Layout(style: "spiral")
        Specification.given().when(.putSection(header, before: nil))
            .thenRejected(.invalid, naming: ["layout.style:", "'spiral'"] + LayoutStyle.all.map(\.name.string))

        let item = MenuItem.sample("tea").with(\.kind, "drink")
        Specification.given(Self.lunch).when(.putItem(item, section: "lunch", before: nil))
            .thenRejected(.invalid, naming: ["kind:", "'drink'"] + ItemKind.all.map(\.name.string))
    }

    @Test func `names that other programs rely on stay registered`() {
        #expect(SectionKind.named("promotions")?.defaultLayout == .horizontalCard(width: 150, height: 200))
        #expect(SectionKind.named("desserts")?.defaultLayout == .horizontalCard(width: 150, height: 300))
        #expect(SectionKind.named("promotions")?.accessibilityID == "promos_scroller")
        #expect(SectionKind.named("desserts")?.accessibilityID == "desserts_scroller")
        #expect(SectionKind.named("promotions")?.itemAccessibilityPrefix == "promo_card_")
        #expect(SectionKind.named("desserts")?.itemAccessibilityPrefix == "dessert_card_")
        #expect(ItemKind.named("dessert")?.addButtonID == "dessert_add_btn")
    }
}
