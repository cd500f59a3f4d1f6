public import Domain

/// Changes of carts' counts: what each was when it was last saved, and what it is now. A cart whose row was not read has
/// its count from there on, which the row is added to once it is.
public struct CartChanges: ProjectionChanges {
    struct Change: Sendable {
        /// As it was last saved; nil if it was not. Of a row that was not read, only the version that it must have.
        var before: CartCounts.Standing?
        var after: CartCounts.Standing
        /// Whether ``before`` is known to be what is stored.
        var isRead = true
        /// Whether ``after`` has the count, and not only what is to be added to that of the row.
        var isCounted = true

        /// Takes the count as it is now.
        mutating func count(_ standing: CartCounts.Standing) { (after, isCounted) = (standing, true) }

        /// Takes what is stored. Returns false if that contradicts the log.
        mutating func read(_ row: CartCounts.Standing?) -> Bool {
            guard !isRead else { return true }
            guard row?.version == before?.version else { return false }
            let count = isCounted ? Int(after.count) : Int(after.count) + Int(row?.count ?? 0)
            guard let count = Int32(exactly: count), count >= 0 else { return false }
            after.count = count
            (before, isRead, isCounted) = (row, true, true)
            return true
        }
    }

    private(set) var all: [Identifier: Change] = [:]
    private var nextIndex: Dictionary<Identifier, Change>.Index?

    subscript(cart: Identifier) -> Change? {
        get { all[cart] }
        set { all[cart] = newValue }
    }

    /// Notes a change of a cart whose count is known. `before` is used only if it has not changed yet.
    mutating func note(
        _ cart: Identifier, before: CartCounts.Standing?, after: CartCounts.Standing, isRead: Bool = true
    ) {
        all[cart, default: Change(before: before, after: after, isRead: isRead)].count(after)
    }

    /// Notes a change of a cart whose row was not read.
    mutating func note(_ cart: Identifier, unread row: CartCounts.Standing, after: CartCounts.Standing, isCounted: Bool)
    {
        let first = Change(before: row, after: after, isRead: false, isCounted: isCounted)
        guard var change = all.updateValue(first, forKey: cart) else { return }
        (change.after, change.isCounted) = (after, isCounted)
        all[cart] = change
    }

    /// Adds older changes, which have not been saved.
    mutating func merge(older: CartChanges) {
        all.merge(older.all) { newer, older in
            var merged = Change(before: older.before, after: newer.after, isRead: older.isRead)
            guard !newer.isCounted else { return merged }
            merged.after.count = Int32(clamping: Int(older.after.count) + Int(newer.after.count))
            merged.isCounted = older.isCounted
            return merged
        }
    }

    public var unread: [Identifier] { all.compactMap { $0.value.isRead ? nil : $0.key } }

    public mutating func read(_ rows: [CartCountRow], of keys: [Identifier]) {
        let found = Dictionary(rows.map { ($0.cart, $0.standing) }) { $1 }
        for cart in keys { _ = all[cart]?.read(found[cart]) }
    }

    public mutating func next() -> ChangedRow<CartCountRow>? {
        let index = nextIndex ?? all.startIndex
        guard index != all.endIndex else { return nil }
        nextIndex = all.index(after: index)
        let (cart, change) = all[index]
        precondition(change.isRead, "what is not read cannot be saved")
        return ChangedRow(
            before: change.before.map { CartCountRow(key: cart, value: $0).digest },
            after: CartCountRow(key: cart, value: change.after))
    }
}
