// The registries of section kinds, item kinds and layouts. A new kind is one entry in a table here: it is then
// accepted in menus, laid out, given accessibility ids and rendered, without a change anywhere else.

/// A kind of section.
public struct SectionKind: Sendable {
    /// The name in documents.
    public let name: Text
    /// The layout of a section that names none.
    public let defaultLayout: Layout
    /// The accessibility id of the section's scroller; nil to derive it from the section's id.
    public let accessibilityID: String?
    /// What the accessibility ids of its items begin with; the item's place in the section follows, from 0.
    public let itemAccessibilityPrefix: String

    /// Every kind of section.
    public static let all: [SectionKind] = [
        SectionKind(
            name: "menuItems", defaultLayout: .list, accessibilityID: nil, itemAccessibilityPrefix: "menu_item_"),
        SectionKind(
            name: "promotions", defaultLayout: .horizontalCard(width: 150, height: 200),
            accessibilityID: "promos_scroller", itemAccessibilityPrefix: "promo_card_"),
        SectionKind(
            name: "desserts", defaultLayout: .horizontalCard(width: 150, height: 300),
            accessibilityID: "desserts_scroller", itemAccessibilityPrefix: "dessert_card_"),
    ]

    /// The kind with that name, if it is registered.
    public static func named(_ name: Text) -> SectionKind? { byName[name] }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}

/// A kind of item.
public struct ItemKind: Sendable {
    /// The name in documents.
    public let name: Text
    /// Whether an item needs a price. One without a price is shown and cannot be ordered.
    public let needsPrice: Bool
    /// The accessibility id of the button that adds the item, for kinds whose cards carry one.
    public let addButtonID: String?
    /// The attributes that an item must have. Cards show them as fields of these names.
    public var attributes: [RequiredAttribute] = []

    /// Every kind of item.
    public static let all: [ItemKind] = [
        ItemKind(name: "menuItem", needsPrice: true, addButtonID: nil),
        ItemKind(name: "promo", needsPrice: false, addButtonID: nil),
        ItemKind(name: "dessert", needsPrice: true, addButtonID: "dessert_add_btn"),
        ItemKind(
            name: "badge", needsPrice: false, addButtonID: nil,
            attributes: [
                RequiredAttribute("label", .text(1...40)), RequiredAttribute("points", .number(0...10_000)),
            ]),
    ]

    /// The kind with that name, if it is registered.
    public static func named(_ name: Text) -> ItemKind? { byName[name] }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}

/// A way to lay out a section's items.
public struct LayoutStyle: Sendable {
    /// The name in documents.
    public let name: Text
    /// What has to be known of the cards that items are shown as.
    public enum Cards: Sendable {
        /// There are no cards.
        case none
        /// Their width and height.
        case size
        /// The least width of one: as many are side by side as there is room for, and they share it.
        case minimumWidth
    }

    /// What has to be known of its cards.
    public let cards: Cards

    /// Every style.
    public static let all: [LayoutStyle] = [
        LayoutStyle(name: "list", cards: .none),
        LayoutStyle(name: "horizontalCard", cards: .size),
        LayoutStyle(name: "grid", cards: .minimumWidth),
    ]

    /// The style with that name, if it is registered.
    public static func named(_ name: Text) -> LayoutStyle? { all.first { $0.name == name } }
}
