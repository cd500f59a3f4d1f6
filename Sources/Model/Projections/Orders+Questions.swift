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

    /// Whether an order meets those about its time and status.
    fileprivate func takes(_ standing: Orders.Standing) -> Bool {
        placed?.contains(Timestamp(millisecondsSinceEpoch: standing.placedAt)) ?? true
            && (statuses.isEmpty || statuses.contains(Order.Status(standing.status)))
    }

    /// Between which times, in milliseconds since the Unix epoch, to look for orders: positions and times rise together,
    /// but for the clocks of two servers.
    public var window: (first: Int64, end: Int64)? {
        placed.map {
            ($0.lowerBound.millisecondsSinceEpoch - Orders.leeway, $0.upperBound.millisecondsSinceEpoch + Orders.leeway)
        }
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
    /// The position before which stored orders have to be read first; nil if that is not so.
    public var missing: Int64?

    /// No orders.
    public init() {}
}

/// Orders of a list as the database has them, the newest first.
public struct StoredOrders: Sendable {
    /// The most that are read at once.
    public static let readAtOnce = 200

    /// Those before this position were read.
    private(set) var before: Int64 = 0
    private(set) var rows: [OrderRow] = []
    /// Those before this position were not; 0 if there are none.
    private(set) var rest: Int64 = 0

    /// Up to where the rows were saved.
    private(set) var savedPosition: Int64 = 0

    /// None was read.
    public init() {}

    /// Takes those before a position: all that there are, or as many as are read at once.
    ///
    /// - Parameter saved: up to where the rows were saved.
    public mutating func take(_ rows: [OrderRow], before position: Int64, savedUpTo saved: Int64) {
        if position != rest { (before, savedPosition, self.rows) = (position, saved, []) }
        savedPosition = min(savedPosition, saved)
        self.rows += rows
        rest = rows.count < StoredOrders.readAtOnce ? 0 : rows.last?.position ?? 0
    }
}

extension Orders {
    /// The next order of a list.
    public enum Next: Sendable {
        case order(OrderRow)
        /// None up to a position; there may be more before it.
        case none(from: Int64)
        /// None of those that are held: stored ones before a position have to be read first.
        case stored(before: Int64)
        case end
    }

    /// The newest order that meets the conditions, of those whose first event comes before a position.
    ///
    /// - Parameters:
    ///   - stored: what was read of orders that are not held.
    ///   - patience: how many orders may be looked at; less by those that were.
    public func newest(
        _ filter: OrderFilter, before position: Int64, _ stored: StoredOrders = StoredOrders(), patience: inout Int
    ) -> Next {
        newest(filter, before: position, stored, patience: &patience) { quarantine[StreamName(.order, $0)] == nil }
    }

    private func newest(
        _ filter: OrderFilter, before position: Int64, _ stored: StoredOrders, patience: inout Int,
        where isShown: (Identifier) -> Bool
    ) -> Next {
        let number = filter.outlet.flatMap { outlets.find($0) }
        for place in candidates(filter, before: position).reversed() {
            let standing = orders[place]
            guard patience > 0 else { return .none(from: standing.position + 1) }
            patience -= 1
            guard number == nil || standing.outlet == number, filter.takes(standing) else { continue }
            let order = orders.key(at: place)
            if isShown(order) { return .order(row(order, standing)) }
        }
        let position = min(position, floor + 1)
        guard position > 1 else { return .end }
        // Where others were let go of meanwhile, it is read again.
        guard position <= stored.before, stored.savedPosition >= storedPosition else {
            return .stored(before: position)
        }
        for row in stored.rows.drop(while: { $0.position >= position }) {
            guard patience > 0 else { return .none(from: row.position + 1) }
            patience -= 1
            // What happened since it was saved is known here.
            let row = self.row(of: row.order) ?? row
            guard filter.outlet.map({ $0 == row.outlet }) ?? true, filter.customer.map({ $0 == row.customer }) ?? true,
                filter.takes(row.standing), isShown(row.order)
            else { continue }
            return .order(row)
        }
        return stored.rest > 0 ? .stored(before: stored.rest) : .end
    }

    /// The newest orders of an outlet, a customer and a time, in any state, among the orders whose first event comes before a
    /// position.
    ///
    /// - Parameters:
    ///   - stored: what was read of orders that are not held.
    ///   - limit: the most orders.
    ///   - patience: how many may be looked at.
    public func placed(
        _ filter: OrderFilter, before position: Int64, _ stored: StoredOrders = StoredOrders(), limit: Int,
        patience: Int
    ) -> PlacedOrders {
        var (filter, position, patience) = (filter, position, patience)
        filter.statuses = []
        var result = PlacedOrders()
        while true {
            switch newest(filter, before: position, stored, patience: &patience, where: { _ in true }) {
            case .order(let row):
                guard result.orders.count < limit else {
                    result.rest = row.position + 1
                    return result
                }
                result.orders.append(row.order)
                position = row.position
            case .none(let rest):
                result.rest = rest
                return result
            case .stored(let before):
                result.missing = before
                return result
            case .end: return result
            }
        }
    }

    /// How far the clocks of two servers are taken to be apart, in milliseconds: times of a list rise but for that.
    fileprivate static let leeway: Int64 = 86_400_000

    /// Every order before a position that can meet the conditions, the oldest first, and others.
    private func candidates(_ filter: OrderFilter, before position: Int64) -> ArraySlice<TablePlace> {
        guard let list = list(filter) else { return [] }
        let end = count(in: list) { $0.position < position }
        guard let window = filter.window else { return list[..<end] }
        let start = count(in: list) { $0.placedAt < window.first }
        return list[..<min(end, count(in: list) { $0.placedAt < window.end })].dropFirst(start)
    }

    /// How many orders of a list come before all others.
    func count(in list: [TablePlace], isBefore: (Standing) -> Bool) -> Int {
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
