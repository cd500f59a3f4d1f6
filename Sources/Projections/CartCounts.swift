public import Domain
public import EventLog

/// The projection `cart_counts`: the sum of quantities of every cart.
public struct CartCounts: Sendable {
    /// The name it has in the database.
    public static let name = "cart_counts"
    /// Rises when its rows mean something else: they are then folded anew.
    public static let version = 1

    /// Counts of no carts.
    public init() {}

    /// Carts that are shown to nobody.
    public internal(set) var quarantine = Quarantine()

    private var counts: [Identifier: Int32] = [:]
    /// Since rows were last taken for saving: what the row was then, and is now.
    private var changes: [Identifier: Change] = [:]

    struct Change: Sendable {
        var before: Int32?
        var after: Int32
    }

    /// The sum of quantities; 0 for an unknown cart.
    public func count(of cart: Identifier) -> Int { Int(counts[cart] ?? 0) }

    /// The number of carts.
    public var cartCount: Int { counts.count }

    /// Every cart with its count, in no order.
    public var all: some Sequence<CartCountRow> { counts.lazy.map { CartCountRow(cart: $0.key, count: $0.value) } }

    func knows(_ cart: Identifier) -> Bool {
        counts[cart] != nil || quarantine[StreamName(.cart, cart)] != nil
    }

    /// Folds in one event of a cart, for whoever follows a single stream.
    public mutating func fold(_ event: Cart.Event, of cart: Identifier) throws(ImpossibleEvent) {
        try apply(event, of: cart)
    }

    mutating func apply(_ event: Cart.Event, of cart: Identifier) throws(ImpossibleEvent) {
        guard quarantine[StreamName(.cart, cart)] == nil else { return }
        let (added, removed) =
            switch event {
            case .itemAdded(let line, _, _): (line.quantity, 0)
            case .quantityChanged(_, let from, let to): (to, from)
            case .lineRemoved(_, let quantity): (0, quantity)
            case .cleared(let count): (0, count)
            case .checkedOut: (0, 0)
            }
        // A damaged log may hold any number: none is added before it is known to be small.
        guard let added = Int32(exactly: added), let removed = Int32(exactly: removed) else {
            throw CartCounts.impossible
        }
        // One look for the count and one for the change: a fold of the whole log spends its time in these two.
        var before: Int32?
        let after = try CartCounts.update(
            &counts[cart, default: CartCounts.unknown], by: Int(added) - Int(removed), before: &before)
        changes[cart, default: Change(before: before, after: 0)].after = after
    }

    private static let impossible = ImpossibleEvent("a cart with a count that cannot be")
    /// Stands for no count in the moment between a look and its update.
    private static let unknown: Int32 = -1

    private static func update(
        _ count: inout Int32, by change: Int, before: inout Int32?
    ) throws(ImpossibleEvent) -> Int32 {
        before = count == unknown ? nil : count
        guard let after = Int32(exactly: Int(before ?? 0) + change), after >= 0 else {
            count = before ?? 0
            throw impossible
        }
        count = after
        return after
    }

    // MARK: Saving

    /// Restores a saved row.
    public mutating func restore(_ row: CartCountRow) { counts[row.cart] = row.count }

    /// Makes room for so many carts.
    public mutating func reserveCapacity(_ count: Int) { counts.reserveCapacity(count) }

    mutating func takeChanges() -> [Identifier: Change] {
        defer { changes = [:] }
        return changes
    }

    /// Changes that were taken and could not be saved are due again.
    mutating func putBack(_ taken: [Identifier: Change]) {
        changes.merge(taken) { newer, older in Change(before: older.before, after: newer.after) }
    }
}

/// A row of `cart_counts`.
public struct CartCountRow: Equatable, Sendable {
    /// The cart.
    public var cart: Identifier
    /// The sum of its quantities.
    public var count: Int32

    /// A row.
    public init(cart: Identifier, count: Int32) {
        self.cart = cart
        self.count = count
    }

    /// The row's digest: over the cart, a zero byte and the count in decimal.
    public var digest: Digest { Digest.of(Array("\(cart.rawValue)\0\(count)".utf8)) }
}
