/// What the catalogue says of an item at the moment somebody wants it.
public enum Offer: Equatable, Sendable {
    /// There is no such outlet.
    case noOutlet
    /// The outlet takes no orders now.
    case outletClosed(Outlet.Status)
    /// The outlet has no such item.
    case noItem
    /// The item is shown, and has no price.
    case notForSale
    /// The item is sold out, until a moment or until further notice.
    case soldOut(until: Timestamp?)
    /// The item can be had.
    case available(Item)

    /// An item that can be had.
    public struct Item: Equatable, Sendable {
        /// What it is called.
        public var name: Text
        /// What one costs.
        public var unitPrice: Amount
        /// The currency of the price.
        public var currency: Currency
        /// The most of it that a line takes.
        public var maxQuantity: Int

        /// An item with its price and limit.
        public init(name: Text, unitPrice: Amount, currency: Currency, maxQuantity: Int) {
            self.name = name
            self.unitPrice = unitPrice
            self.currency = currency
            self.maxQuantity = maxQuantity
        }
    }

    /// The item, or the rejection that says why it cannot be had.
    func item(_ id: Identifier, of outlet: Identifier) throws(Rejection) -> Item {
        switch self {
        case .available(let item): return item
        case .noOutlet: throw Rejection(.notFound, "no outlet '\(outlet)'")
        case .outletClosed(.paused(_, let reason?)):
            throw Rejection(.closed, "outlet '\(outlet)' takes no orders for now: \(reason)")
        case .outletClosed: throw Rejection(.closed, "outlet '\(outlet)' takes no orders now")
        case .noItem: throw Rejection(.notFound, "outlet '\(outlet)' has no item '\(id)'")
        case .notForSale: throw Rejection(.invalid, "item '\(id)' has no price and cannot be ordered")
        case .soldOut: throw Rejection(.soldOut, "item '\(id)' is sold out")
        }
    }
}
