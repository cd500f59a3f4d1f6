public import Domain

/// The name of a stream: what kind of aggregate it is the history of, and which one. As text, `cart-c1`.
public struct StreamName: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of aggregate, in the form they begin a stream's name with.
    public enum Category: String, CaseIterable, Sendable {
        case outlet, menu, cart, order
    }

    /// The kind of aggregate.
    public let category: Category
    /// Which one.
    public let id: Identifier

    /// The stream of one aggregate.
    public init(_ category: Category, _ id: Identifier) {
        self.category = category
        self.id = id
    }

    /// The stream of that name, or nil where it is none.
    public init?(_ text: String) {
        guard let dash = text.utf8.firstIndex(of: UInt8(ascii: "-")),
            let category = Category(rawValue: String(text[..<dash])),
            let id = Identifier(String(text[text.utf8.index(after: dash)...]))
        else { return nil }
        self.init(category, id)
    }

    /// The name as text.
    public var description: String { "\(category.rawValue)-\(id.rawValue)" }
}
