public import Domain
internal import EventLog

/// Which orders are asked for.
public struct OrderFilter: Sendable {
    /// Those of an outlet.
    public var outlet: Identifier?
    /// Those of a customer.
    public var customer: Identifier?
    /// Those with one of these statuses; of any, if there is none.
    public var statuses: Set<Order.Status>
    /// Those that were placed at these times; nil for any.
    public var placed: Range<Timestamp>?

    /// Orders that meet all conditions.
    public init(
        outlet: Identifier? = nil, customer: Identifier? = nil, statuses: Set<Order.Status> = [],
        placed: Range<Timestamp>? = nil
    ) {
        self.outlet = outlet
        self.customer = customer
        self.statuses = statuses
        self.placed = placed
    }

    /// Whether orders of that time can meet all conditions.
    fileprivate func takes(placedAt time: Int64) -> Bool {
        placed?.contains(Timestamp(millisecondsSinceEpoch: time)) ?? true
    }
}

/// An order that a kitchen has to do with.
public struct KitchenOrder: Sendable {
    /// The order.
    public var id: Identifier
    /// The version of its stream.
    public var version: Int64
    /// When it was placed.
    public var placedAt: Timestamp
    /// How far it has come, without its lines, its name and how it is handed over until ``whole``.
    public fileprivate(set) var book: Order.Book
    /// Its first event, with the bill as it is by now.
    fileprivate let placed: [UInt8]

    /// The order with what was ordered. Few of a long list are shown, so only these are decoded.
    public var whole: KitchenOrder {
        guard case .order(.placed(let placement))? = try? EventCodec.decode(Orders.placed, placed) else { return self }
        var order = self
        order.book.placement = placement
        return order
    }

    /// When it is wanted: what was promised, or as soon as it can be.
    public var dueAt: Timestamp { book.promise ?? placedAt }

    /// Whether it should be ready by now.
    public func isLate(at now: Timestamp) -> Bool {
        guard let promise = book.promise, book.status != .ready else { return false }
        return promise < now
    }
}

/// Orders as they were placed, the newest first.
public struct PlacedOrders: Sendable {
    /// The orders.
    public var orders: [Identifier] = []
    /// Before this position there may be more; 0 if there are none.
    public var rest: Int64 = 0

    /// No orders.
    public init() {}
}

extension Orders {
    /// The next order of a list.
    public enum Next: Sendable {
        case order(OrderRow)
        /// None up to a position; there may be more before it.
        case none(from: Int64)
        case end
    }

    /// The newest order that meets the conditions, of those whose first event comes before a position.
    ///
    /// - Parameter patience: how many orders may be looked at; less by those that were.
    public func newest(_ filter: OrderFilter, before position: Int64, patience: inout Int) -> Next {
        let number = filter.outlet.flatMap { outlets.find($0) }
        for place in candidates(filter, before: position).reversed() {
            let standing = orders[place]
            guard patience > 0 else { return .none(from: standing.position + 1) }
            patience -= 1
            guard number == nil || standing.outlet == number, filter.takes(placedAt: standing.placedAt),
                filter.statuses.isEmpty || filter.statuses.contains(Order.Status(standing.status))
            else { continue }
            let order = orders.key(at: place)
            if quarantine[StreamName(.order, order)] == nil { return .order(row(order, standing)) }
        }
        return .end
    }

    /// The newest orders of an outlet, a customer and a time, in any state, among the orders whose first event comes before a
    /// position.
    ///
    /// - Parameters:
    ///   - limit: the most orders.
    ///   - patience: how many may be looked at.
    public func placed(
        _ filter: OrderFilter, before position: Int64, limit: Int, patience: Int
    ) -> PlacedOrders {
        var result = PlacedOrders()
        let number = filter.outlet.flatMap { outlets.find($0) }
        for (seen, place) in candidates(filter, before: position).reversed().enumerated() {
            let standing = orders[place]
            guard seen < patience, result.orders.count < limit else {
                result.rest = standing.position + 1
                break
            }
            guard filter.takes(placedAt: standing.placedAt) else { continue }
            if number == nil || standing.outlet == number { result.orders.append(orders.key(at: place)) }
        }
        return result
    }

    /// How far the clocks of two servers are taken to be apart, in milliseconds: times of a list rise but for that.
    private static let leeway: Int64 = 86_400_000

    /// Every order before a position that can meet the conditions, the oldest first, and others.
    private func candidates(_ filter: OrderFilter, before position: Int64) -> ArraySlice<TablePlace> {
        guard let list = list(filter) else { return [] }
        let end = count(in: list) { $0.position < position }
        guard let placed = filter.placed else { return list[..<end] }
        let (first, last) = (placed.lowerBound.millisecondsSinceEpoch, placed.upperBound.millisecondsSinceEpoch)
        let start = count(in: list) { $0.placedAt < first - Orders.leeway }
        return list[..<min(end, count(in: list) { $0.placedAt < last + Orders.leeway })].dropFirst(start)
    }

    /// How many orders of a list come before all others.
    private func count(in list: [TablePlace], isBefore: (Standing) -> Bool) -> Int {
        var (low, high) = (0, list.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(orders[list[middle]]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The shortest list that has every order that meets the conditions; nil if there can be none.
    private func list(_ filter: OrderFilter) -> [TablePlace]? {
        let ofOutlet = filter.outlet.map { outlets.find($0).flatMap { self.ofOutlet[$0] } }
        let ofCustomer = filter.customer.map { customers.find($0).flatMap { self.ofCustomer[$0] } }
        if let ofCustomer { return ofOutlet.map { $0 == nil } ?? false ? nil : ofCustomer }
        return ofOutlet ?? all
    }

    /// The orders that an outlet's kitchen has to do with, in no order.
    public func kitchen(of outlet: Identifier) -> [KitchenOrder] {
        (kitchens[outlet] ?? []).compactMap { order in
            guard quarantine[StreamName(.order, order)] == nil, let standing = orders[order], let open = open[order]
            else { return nil }
            return KitchenOrder(
                id: order, version: Int64(standing.version),
                placedAt: Timestamp(millisecondsSinceEpoch: standing.placedAt), book: open.book, placed: open.placed)
        }
    }

    static let placed = EventKind(
        name: "order.placed", schemaVersion: EventCodec.currentVersion(of: "order.placed"))

    /// The outlet of an order; nil if there is no such order.
    public func outlet(of order: Identifier) -> Identifier? { orders[order].map { outlets[$0.outlet] } }
}
