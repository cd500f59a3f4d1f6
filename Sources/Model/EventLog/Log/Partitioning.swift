public import Domain

/// Which partition a stream belongs to.
///
/// It follows from the stream's id: of an order, from that of its cart, which the order's own id leads to. So a command
/// touches one partition, unless it is about a cart and its outlet.
public struct Partitioning: Equatable, Sendable {
    /// How the partition follows from an id. A log keeps the rule that it began with.
    public enum Rule: String, CaseIterable, Sendable {
        /// The first four bytes of the SHA-256, modulo the number of partitions. An order's id begins with those of its
        /// cart. So it was in the first logs.
        case sha256
        /// Each partition has a range of the slots of Redis Cluster. An order's id has the slot of its cart.
        case slots
    }

    /// The number of partitions.
    public let count: Int
    /// How a partition follows from an id.
    public let rule: Rule

    /// A partitioning into this many.
    public init(count: Int, by rule: Rule = .slots) {
        precondition(count > 0)
        self.count = count
        self.rule = rule
    }

    /// The partition of a stream.
    public func partition(of stream: StreamName) -> Int {
        guard count > 1 else { return 0 }
        switch (rule, stream.category) {
        case (.slots, _): return HashSlot(of: stream.id).number * count / HashSlot.count
        case (.sha256, .order): return Int(Partitioning.hash(ofOrder: stream.id)) % count
        case (.sha256, .outlet), (.sha256, .menu), (.sha256, .cart), (.sha256, .customer), (.sha256, .user),
            (.sha256, .relay), (.sha256, .supply), (.sha256, .promotions):
            return Int(Partitioning.hash(stream.id)) % count
        }
    }

    /// The slots of a partition.
    public func slots(of partition: Int) -> ClosedRange<Int> {
        func first(_ partition: Int) -> Int { (partition * HashSlot.count + count - 1) / count }
        return first(partition)...first(partition + 1) - 1
    }

    /// The id of the order that is placed from a cart at that version. A cart is checked out once, so no two orders
    /// share an id.
    public func orderID(cart: Identifier, version: Int64) -> Identifier {
        // Twelve bytes keep accidental collisions out of reach: 2⁴⁸ orders for an even chance of one.
        let digits = Digest.of(Array("\(cart.rawValue)@\(version)".utf8)).bytes.prefix(12).hexadecimal
        let text =
            switch rule {
            case .sha256: "\(Partitioning.hashBytes(cart).hexadecimal)-\(digits)"
            case .slots: digits + HashSlot(of: cart).suffix(for: digits)
            }
        guard let id = Identifier(text) else { preconditionFailure("an order id that is not an identifier") }
        return id
    }

    private static func hashBytes(_ key: Identifier) -> ArraySlice<UInt8> {
        Digest.of(Array(key.rawValue.utf8)).bytes.prefix(4)
    }

    private static func hash(_ key: Identifier) -> UInt32 { hashBytes(key).reduce(0) { $0 << 8 | UInt32($1) } }

    /// An id that did not come from a cart gets a hash of its own: there is no such order, in any partition.
    private static func hash(ofOrder id: Identifier) -> UInt32 {
        UInt32(id.rawValue.prefix(8), radix: 16) ?? hash(id)
    }
}
