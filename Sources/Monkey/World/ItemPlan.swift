/// An item of the monkey's own menus, as it is put there at the beginning.
struct ItemPlan: Sendable {
    var index: Int
    /// The section it stands in.
    var section: Int
    var kind: String
    var name: String
    var tags: [String]
    var price: Int64
    /// The most of it in a line.
    var maximum: Int
    /// Comes and goes while customers shop.
    var isExtra: Bool

    var id: String { ItemPlan.id(index) }

    static func id(_ index: Int) -> String { "i\(index)" }

    /// The index that an id stands for; nil where it is none of ours.
    static func index(of id: some StringProtocol) -> Int? {
        id.first == "i" ? Int(id.dropFirst()) : nil
    }

    /// The item as `MENU.PUT` and `MENU.ITEM.PUT` take it.
    var json: String {
        let tags = tags.map { "\"\($0)\"" }.joined(separator: ",")
        return """
            {"id":"\(id)","kind":"\(kind)","name":"\(name)",\
            "description":"\(name), made to order and brought while it is hot.",\
            "price":\(price),"cuisine":"Monkey","tags":[\(tags)],\
            "imageSmall":"https://example.com/\(id)-small.jpg","imageLarge":"https://example.com/\(id)-large.jpg",\
            "maxQuantity":\(maximum)}
            """
    }
}
