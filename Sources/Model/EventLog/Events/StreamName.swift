public import Domain
internal import TextFormats

/// The name of a stream: the kind of aggregate whose history it is, and which one. As text, `cart-c1`.
public struct StreamName: Sendable, CustomStringConvertible {
    /// The kinds of aggregate. A stream's name begins with the raw value.
    public enum Category: String, CaseIterable, Sendable {
        case outlet, menu, cart, order, supply, promotions
        /// What was done beside the log.
        case customer, user, relay

        /// What the names of its streams begin with.
        fileprivate var prefix: StaticString {
            switch self {
            case .outlet: "outlet-"
            case .menu: "menu-"
            case .cart: "cart-"
            case .order: "order-"
            case .supply: "supply-"
            case .promotions: "promotions-"
            case .customer: "customer-"
            case .user: "user-"
            case .relay: "relay-"
            }
        }

        /// From 0: for tables and sets of categories.
        public var number: Int {
            switch self {
            case .outlet: 0
            case .menu: 1
            case .cart: 2
            case .order: 3
            case .customer: 4
            case .user: 5
            case .relay: 6
            case .supply: 7
            case .promotions: 8
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

    /// The stream with this name; nil if the text is not the name of a stream.
    public init?(_ text: String) {
        var text = text
        let name = text.withUTF8 { StreamName(utf8: UnsafeRawBufferPointer($0)) }
        guard let name else { return nil }
        self = name
    }

    /// The stream with a name in UTF-8; nil if that is not the name of a stream.
    public init?(utf8 name: UnsafeRawBufferPointer) {
        guard let category = Category.allCases.first(where: { name.hasTextPrefix($0.prefix) }),
            let id = Identifier(
                utf8: UnsafeRawBufferPointer(rebasing: name[category.prefix.utf8CodeUnitCount...]))
        else { return nil }
        self.init(category, id)
    }

    /// The length of the name in UTF-8.
    var byteCount: Int { category.prefix.utf8CodeUnitCount + id.rawValue.utf8.count }

    /// Appends the name in UTF-8.
    public func append(to bytes: inout [UInt8]) {
        withParts { prefix, id in
            bytes.append(contentsOf: prefix)
            bytes.append(contentsOf: id)
        }
    }

    /// Writes the name in UTF-8 where there is room for it.
    func write(to room: inout UnsafeMutableRawPointer) {
        withParts { prefix, id in
            room.write(prefix)
            room.write(id)
        }
    }

    @inline(__always)
    private func withParts(_ body: (_ prefix: UnsafeRawBufferPointer, _ id: UnsafeRawBufferPointer) -> Void) {
        var id = id.rawValue
        id.withUTF8 { id in
            category.prefix.withUTF8Buffer { body(UnsafeRawBufferPointer($0), UnsafeRawBufferPointer(id)) }
        }
    }

    /// The name as text.
    public var description: String { "\(category.prefix)\(id.rawValue)" }
}

extension StreamName: Hashable {
    /// Whether kind and id are the same.
    public static func == (a: StreamName, b: StreamName) -> Bool { a.category == b.category && a.id == b.id }

    /// Feeds both.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(category)
        hasher.combine(id)
    }

    /// The hash of the id, with another seed for each kind.
    public func _rawHashValue(seed: Int) -> Int { id._rawHashValue(seed: seed &+ category.number) }
}
