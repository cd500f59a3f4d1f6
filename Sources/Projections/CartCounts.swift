public import Domain
public import EventLog

/// The projection `cart_counts`: how much of every cart is still to be ordered. That is the sum of its quantities, and 0
/// once it has been checked out.
public struct CartCounts: Sendable {
    /// The name it has in the database.
    public static let name = "cart_counts"
    /// Rises when its rows mean something else: they are then folded anew.
    public static let version = 2

    let notesChanges: Bool

    /// Counts of no carts.
    ///
    /// - Parameter notesChanges: whether they are to be saved.
    public init(notesChanges: Bool = false) {
        self.notesChanges = notesChanges
    }

    /// Carts that are shown to nobody.
    public internal(set) var quarantine = Quarantine()

    private var carts: [Identifier: Standing] = [:]
    /// Since rows were last taken for saving: what the row was then, and is now.
    private var changes: [Identifier: Change] = [:]

    private struct Standing: Sendable {
        var count: Int32
        /// The version of the cart's last event; nil in a row that was restored until the next one comes.
        var version: Int32? { lastVersion == Standing.unknown ? nil : lastVersion }
        var lastVersion: Int32

        /// Stands for no version, and for no cart in the moment between a look and its update.
        static let unknown: Int32 = -1
        static let none = Standing(count: unknown, lastVersion: 0)
    }

    struct Change: Sendable {
        var before: Int32?
        var after: Int32
    }

    /// The sum of quantities; 0 for an unknown cart, and for one that has been checked out.
    public func count(of cart: Identifier) -> Int { Int(carts[cart]?.count ?? 0) }

    /// The number of carts.
    public var cartCount: Int { carts.count }

    /// Every cart with its count, in no order.
    public var all: some Sequence<CartCountRow> { carts.lazy.map { CartCountRow(cart: $0.key, count: $0.value.count) } }

    func knows(_ cart: Identifier) -> Bool {
        carts[cart] != nil || quarantine[StreamName(.cart, cart)] != nil
    }

    /// Folds in one event of a cart, for whoever follows a single stream.
    public mutating func fold(_ event: Cart.Event, _ version: Int64, of cart: Identifier) throws(ImpossibleEvent) {
        try apply(event, version, of: cart)
    }

    mutating func apply(_ event: Cart.Event, _ version: Int64, of cart: Identifier) throws(ImpossibleEvent) {
        guard quarantine[StreamName(.cart, cart)] == nil else { return }
        let (added, removed, isPlaced) =
            switch event {
            case .itemAdded(let line, _, _, _): (line.quantity, 0, false)
            case .quantityChanged(_, let from, let to): (to, from, false)
            case .lineRemoved(_, let quantity): (0, quantity, false)
            case .cleared(let count): (0, count, false)
            case .checkedOut: (0, 0, true)
            }
        // A damaged log may hold any number: none is added before it is known to be small.
        guard let added = Int32(exactly: added), let removed = Int32(exactly: removed) else {
            throw ImpossibleEvent("a cart with a count that cannot be")
        }
        // One look for the count and one for the change: a fold of the whole log spends its time in these two.
        var before: Int32?
        do throws(ImpossibleEvent) {
            let after = try CartCounts.update(
                &carts[cart, default: .none], by: Int(added) - Int(removed), isPlaced: isPlaced, version,
                before: &before)
            if notesChanges { changes[cart, default: Change(before: before, after: 0)].after = after }
        } catch {
            // Of which nothing could be folded there is no row.
            if before == nil { carts[cart] = nil }
            throw error
        }
    }

    private static func update(
        _ standing: inout Standing, by change: Int, isPlaced: Bool, _ version: Int64, before: inout Int32?
    ) throws(ImpossibleEvent) -> Int32 {
        before = standing.count == Standing.unknown ? nil : standing.count
        standing.count = before ?? 0
        if let last = standing.version, version != Int64(last) + 1 {
            throw ImpossibleEvent("version \(version) after \(last)")
        }
        guard let version = Int32(exactly: version) else { throw ImpossibleEvent("a version that cannot be") }
        guard let after = Int32(exactly: isPlaced ? 0 : Int(standing.count) + change), after >= 0 else {
            throw ImpossibleEvent("a cart with a count that cannot be")
        }
        standing = Standing(count: after, lastVersion: version)
        return after
    }

    #if DEBUG
        /// Takes note that an event came, and nothing of what it says.
        mutating func skip(_ event: DecodedEvent) {
            carts[event.stream.id]?.lastVersion = Int32(clamping: event.version)
        }
    #endif

    // MARK: Saving

    /// Restores a saved row.
    public mutating func restore(_ row: CartCountRow) {
        carts[row.cart] = Standing(count: row.count, lastVersion: Standing.unknown)
    }

    /// Makes room for so many carts.
    public mutating func reserveCapacity(_ count: Int) { carts.reserveCapacity(count) }

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
