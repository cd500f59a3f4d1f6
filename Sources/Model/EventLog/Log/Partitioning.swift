public import Domain

/// Which partition a stream belongs to.
///
/// A stable hash of the partition key: the first four bytes of its SHA-256. The key is the outlet's id for
/// outlets and menus, and the cart's for carts and the orders made from them, so that a command touches one
/// partition. An order's id therefore begins with the hash of its cart.
public struct Partitioning: Sendable {
    /// The number of partitions.
    public let count: Int

    /// A partitioning into this many.
    public init(count: Int) {
        precondition(count > 0)
        self.count = count
    }

    /// The partition of a stream.
    public func partition(of stream: StreamName) -> Int {
        guard count > 1 else { return 0 }
        switch stream.category {
        case .outlet, .menu, .cart, .customer, .user, .relay: return Int(Partitioning.hash(stream.id)) % count
        case .order: return Int(Partitioning.hash(ofOrder: stream.id)) % count
        }
    }

    /// The id of the order that is placed from a cart at that version. A cart is checked out once, so no two orders
    /// share an id.
    public static func orderID(cart: Identifier, version: Int64) -> Identifier {
        let digest = Digest.of(Array("\(cart.rawValue)@\(version)".utf8))
        // Twelve bytes keep accidental collisions out of reach: 2⁴⁸ orders for an even chance of one.
        guard let id = Identifier("\(hashText(cart))-\(digest.bytes.prefix(12).hexadecimal)") else {
            preconditionFailure("an order id that is not an identifier")
        }
        return id
    }

    private static func hash(_ key: Identifier) -> UInt32 {
        Digest.of(Array(key.rawValue.utf8)).bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func hashText(_ key: Identifier) -> String {
        Digest.of(Array(key.rawValue.utf8)).bytes.prefix(4).hexadecimal
    }

    /// An id that did not come from a cart gets a hash of its own: there is no such order, in any partition.
    private static func hash(ofOrder id: Identifier) -> UInt32 {
        UInt32(id.rawValue.prefix(8), radix: 16) ?? hash(id)
    }
}
