/// An item of the load generator's own menus, as it is at first.
package struct ItemPlan: Sendable {
    package var index: Int
    /// The section that it is in.
    package var section: Int
    package var kind: String
    package var name: String
    package var tags: [String]
    /// Of an item with sizes, that of the cheapest one.
    package var price: Int64
    /// The largest quantity in a line.
    package var maximum: Int
    /// Whether it comes and goes while customers shop.
    package var isExtra: Bool
    /// The groups of options that it offers.
    package var groups: [String]
    /// What its attributes follow from.
    var attributeSeed: UInt64

    /// What else it says of itself.
    package var attributes: [AttributePlan] { AttributePlan.any(seed: attributeSeed, of: index) }

    package var id: String { ItemPlan.id(index) }

    package static func id(_ index: Int) -> String { "i\(index)" }

    /// The index that an id stands for; nil if it is not one of ours.
    package static func index(of id: some StringProtocol) -> Int? {
        guard id.first == "i", let index = Int(id.dropFirst()), isSame(ItemPlan.id(index), String(id)) else {
            return nil
        }
        return index
    }

    package var description: String { "\(name), made to order and brought while it is hot." }
    package var imageSmall: String { "https://example.com/\(id)-small.jpg" }
    package var imageLarge: String { "https://example.com/\(id)-large.jpg" }

    /// Whether its price is that of the chosen size.
    package var hasSizes: Bool { groups.contains(GroupPlan.sizes) }

    /// Whether its price is divided among its options.
    package var isCombo: Bool { groups.contains(GroupPlan.sides) }

    /// The item as `MENU.PUT` and `MENU.ITEM.PUT` take it.
    package var json: String {
        let tags = tags.map { "\"\($0)\"" }.joined(separator: ",")
        let groups = groups.map { "\"\($0)\"" }.joined(separator: ",")
        let attributes = attributes.map(\.json).joined(separator: ",")
        return """
            {"id":"\(id)","kind":"\(kind)","name":"\(name)",\
            "description":"\(description)",\
            \(hasSizes ? "" : "\"price\":\(price),")"cuisine":"Monkey","tags":[\(tags)],\
            "imageSmall":"\(imageSmall)","imageLarge":"\(imageLarge)",\
            "maxQuantity":\(maximum),\(isCombo ? "\"combo\":true," : "")"options":[\(groups)],"attributes":{\(attributes)}}
            """
    }
}
