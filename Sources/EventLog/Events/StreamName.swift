public import Domain
internal import JSONText

/// The name of a stream: what kind of aggregate it is the history of, and which one. As text, `cart-c1`.
public struct StreamName: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of aggregate, in the form they begin a stream's name with.
    public enum Category: String, CaseIterable, Sendable {
        case outlet, menu, cart, order

        /// What the names of its streams begin with.
        fileprivate var prefix: StaticString {
            switch self {
            case .outlet: "outlet-"
            case .menu: "menu-"
            case .cart: "cart-"
            case .order: "order-"
            }
        }
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
        var text = text
        let name = text.withUTF8 { StreamName(utf8: UnsafeRawBufferPointer($0)) }
        guard let name else { return nil }
        self = name
    }

    /// The stream of a name in UTF-8, or nil where it is none.
    public init?(utf8 name: UnsafeRawBufferPointer) {
        guard let category = Category.allCases.first(where: { name.hasTextPrefix($0.prefix) }),
            let id = Identifier(
                utf8: UnsafeRawBufferPointer(rebasing: name[category.prefix.utf8CodeUnitCount...]))
        else { return nil }
        self.init(category, id)
    }

    /// The name as text.
    public var description: String { "\(category.prefix)\(id.rawValue)" }
}
