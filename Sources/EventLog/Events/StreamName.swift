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
        var text = text
        let parts = text.withUTF8 { bytes -> (Category, Identifier)? in
            guard let dash = bytes.firstIndex(of: UInt8(ascii: "-")),
                let category = Category.allCases.first(where: { $0.rawValue.utf8.elementsEqual(bytes[..<dash]) }),
                let id = Identifier(
                    utf8: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[(dash + 1)...]))
            else { return nil }
            return (category, id)
        }
        guard let (category, id) = parts else { return nil }
        self.init(category, id)
    }

    /// The name as text.
    public var description: String { "\(category.rawValue)-\(id.rawValue)" }
}
