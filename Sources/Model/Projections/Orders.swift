public import Domain
public import EventLog

/// The projection `orders`: every order with how far it has come, and what is in those that a kitchen still has to do
/// with.
///
/// An order that has ended, or that needs neither acceptance nor payment, is a few numbers. Only orders that are open
/// and whose life is followed (`Terms.placedAt`) keep what was ordered.
///
/// A replay holds every order. A server holds the newest (``limit``), those that are open, and those whose changes are
/// not saved; all others are in the database. Before an event of one of these is folded, it is made from its stream
/// (``hold(_:_:upTo:)``): stored rows are shown, and nothing follows from them.
public struct Orders: Projection {
    public static let name = "orders"
    public static let version = 3
    public static let table = "order_rows"
    public static let isReadByKey = true

    @inlinable
    public static func follows(_ category: StreamName.Category) -> Bool { category == .order }

    public static func streams(of key: Identifier) -> [StreamName] { [StreamName(.order, key)] }

    /// What is known of every order.
    struct Standing: BitwiseCopyable, Equatable, Sendable {
        /// The position of its first event, and that of its last one; 0 if that is long saved.
        var position: Int64
        var last: Int64
        /// When its first event and its last one were recorded, in milliseconds since the Unix epoch.
        var placedAt: Int64
        var changedAt: Int64
        /// What it costs and how much of that is tax, in minor units.
        var total: Int64
        var tax: Int64
        /// What was given back and how much of that is tax, in minor units.
        var refunded: Int64
        var refundedTax: Int64
        /// What was paid and not given back, in minor units.
        var paid: Int64
        var version: Int32
        /// The sum of its quantities.
        var count: Int32
        /// Numbers of ``Names``; 0 for no customer.
        var outlet: UInt32
        var customer: UInt32
        var currency: Currency
        /// Its status by its place among all.
        var status: UInt8
        /// How it is had, by its place among all ways from 1; 0 where there was nothing to choose.
        var service: UInt8
        /// Whether something that was reported of its payment cannot be.
        var isInDoubt: Bool

        static func == (one: Standing, other: Standing) -> Bool {
            (one.position, one.placedAt, one.changedAt, one.total, one.version, one.count)
                == (other.position, other.placedAt, other.changedAt, other.total, other.version, other.count)
                && (one.tax, one.refunded, one.refundedTax) == (other.tax, other.refunded, other.refundedTax)
                && (one.outlet, one.customer, one.status) == (other.outlet, other.customer, other.status)
                && (one.paid, one.isInDoubt) == (other.paid, other.isInDoubt)
                && one.service == other.service && one.currency == other.currency
        }
    }

    /// An order that is open.
    public struct Open: Sendable {
        /// The order without its lines, its name and how it is handed over.
        public fileprivate(set) var book: Order.Book
        /// Its first event as it is written now, with the bill as it is by now: what is ordered.
        public fileprivate(set) var placed: [UInt8]
        /// The version of that event's schema.
        let schemaVersion: Int

        init(book: Order.Book, placed: [UInt8], schemaVersion: Int) {
            self.book = book
            self.placed = placed
            self.schemaVersion = schemaVersion
        }
    }

    private let notesChanges: Bool
    /// About the most orders that are held and neither open nor to be saved; nil to hold all.
    let limit: Int?

    /// No orders, of which all will be held.
    ///
    /// - Parameter notesChanges: whether the orders are to be saved.
    public init(notesChanges: Bool = false) { self.init(notesChanges: notesChanges, limit: nil) }

    /// No orders.
    ///
    /// - Parameter limit: about the most that are held and neither open nor to be saved; nil to hold all.
    init(notesChanges: Bool, limit: Int?) {
        self.notesChanges = notesChanges
        self.limit = limit
    }

    /// Orders that are not shown.
    public var quarantine = Quarantine()

    var orders = IdentifierTable<Standing>()
    var outlets = Names()
    var customers = Names()
    var open: [Identifier: Open] = [:]
    /// The open orders that the kitchen of each outlet sees.
    private(set) var kitchens: [Identifier: Set<Identifier>] = [:]
    /// Every order is held that was placed after this position.
    var floor: Int64 = 0
    /// Rows saved up to there, or further, are as of the last event of every order that is not held.
    public internal(set) var storedPosition: Int64 = 0
    /// How many orders placed up to a position are in each slot, where not all are held.
    var slots = (upTo: Int64(0), counts: [Int: Int]())
    /// The places of all orders after ``floor``, and of those of each outlet and customer, as they were placed.
    var all: [TablePlace] = []
    var ofOutlet: [UInt32: [TablePlace]] = [:]
    var ofCustomer: [UInt32: [TablePlace]] = [:]
    private var changes = ValueChanges<OrderRow>()

    // MARK: Questions

    /// When something happens to an order by itself; nil where nothing does.
    public func deadline(of order: Identifier) -> Timestamp? {
        quarantine[StreamName(.order, order)] == nil ? open[order]?.book.deadline : nil
    }

    /// Whether every order is held that there is.
    var holdsAll: Bool { floor == 0 }

    /// The version of an order's stream; nil where no such order is held.
    public func version(of order: Identifier) -> Int64? { orders.place(of: order).map { Int64(orders[$0].version) } }

    /// Every order to which something will happen by itself.
    public var deadlines: some Sequence<(order: Identifier, deadline: Timestamp)> {
        open.lazy.compactMap { order, open in open.book.deadline.map { (order, $0) } }
    }

    /// What is known of an order beside its events.
    public struct Sale: Sendable {
        /// The outlet that cooks it.
        var outlet: Identifier
        /// How it is had; nil where there was nothing to choose.
        var service: ServiceKind?
        /// What it costs. Where the order is no longer followed, all taxes are one, whose rate is not known.
        var price: Order.Price
    }

    /// What is known of an order; nil where no such order is held, or its history cannot have happened.
    func sale(of order: Identifier) -> Sale? {
        guard quarantine[StreamName(.order, order)] == nil, let standing = orders[order] else { return nil }
        let tax = Charge(.tax, Amount(minorUnits: standing.tax), isIncluded: true)
        return Sale(
            outlet: outlets[standing.outlet], service: ServiceKind(number: standing.service),
            price: open[order]?.book.placement.price
                ?? Order.Price(Amount(minorUnits: standing.total), standing.tax > 0 ? [tax] : []))
    }

    /// How many orders are open.
    public var openCount: Int { open.count }

    // MARK: Folding

    public mutating func apply(_ event: DecodedEvent) throws(ImpossibleEvent) {
        guard case .order(let change) = event.event, quarantine[event.stream] == nil else { return }
        let order = event.stream.id
        guard let place = orders.place(of: order) else {
            guard case .placed(let placement) = change, event.version == 1 else {
                throw ImpossibleEvent("version \(event.version) of an order that was not placed")
            }
            return try place(order, placement, event)
        }
        var standing = orders[place]
        guard event.version == Int64(standing.version) + 1, let version = Int32(exactly: event.version) else {
            throw ImpossibleEvent("version \(event.version) after \(standing.version)")
        }
        let before = notesChanges ? row(order, standing) : nil
        var state = Order.State.placed(open[order]?.book ?? book(standing))
        try Order.evolve(&state, change)
        guard var book = state.book else { return }
        if case .changed(let change) = change {
            standing.total = change.price.total.minorUnits
            standing.tax = book.placement.tax.minorUnits
            standing.count = Int32(clamping: change.ordered.reduce(0) { $0 + $1.quantity })
            try open[order]?.take(change)
        } else if case .changeProposed(let change, _) = change, let last = book.changes.indices.last {
            book.changes[last].change = change.summary
        }
        // Nothing that is asked of a projection says how a promise changed.
        book.promiseChanges = []
        standing.version = version
        standing.last = event.position
        standing.changedAt = event.recordedAt.millisecondsSinceEpoch
        standing.status = book.status.number
        if case .paymentReported(let payment, let isInDoubt) = change {
            standing.paid = payment.paid(after: standing.paid)
            standing.isInDoubt = isInDoubt
        }
        (standing.refunded, standing.refundedTax) = (book.refunds.amount, book.refunds.tax)
        orders[place] = standing
        follow(order, book)
        if notesChanges { changes.note(order, before: before, after: row(order, standing)) }
    }

    private mutating func place(
        _ order: Identifier, _ placement: Order.Placement, _ event: DecodedEvent
    ) throws(ImpossibleEvent) {
        var state = Order.initial
        try Order.evolve(&state, .placed(placement))
        guard var book = state.book else { return }
        let time = event.recordedAt.millisecondsSinceEpoch
        let standing = Standing(
            position: event.position, last: event.position, placedAt: time, changedAt: time,
            total: placement.total.minorUnits, tax: placement.tax.minorUnits, refunded: 0, refundedTax: 0, paid: 0,
            version: 1,
            count: Int32(clamping: placement.count), outlet: outlets.number(of: placement.outlet),
            customer: placement.customer.map { customers.number(of: $0) } ?? 0, currency: placement.currency,
            status: book.status.number, service: placement.handover.service.number, isInDoubt: false)
        list(orders.insert(order, standing), standing)
        if placement.terms.placedAt != nil {
            book.placement.lines = []
            book.placement.name = nil
            book.placement.handover = .none
            book.placement.pricing = .none
            let (kind, placed) = EventCodec.encode(.order(.placed(placement)))
            open[order] = Open(book: book, placed: placed, schemaVersion: kind.schemaVersion)
            follow(order, book)
        }
        if notesChanges { changes.note(order, before: nil, after: row(order, standing)) }
    }

    mutating func list(_ place: TablePlace, _ standing: Standing) {
        all.append(place)
        ofOutlet[standing.outlet, default: []].append(place)
        if standing.customer > 0 { ofCustomer[standing.customer, default: []].append(place) }
    }

    /// Keeps an order among the open ones, and in its kitchen, as long as it belongs there.
    mutating func follow(_ order: Identifier, _ book: Order.Book) {
        guard open[order] != nil else { return }
        let outlet = book.placement.outlet
        if book.status.isInKitchen {
            kitchens[outlet, default: []].insert(order)
        } else if kitchens[outlet]?.remove(order) != nil, kitchens[outlet]?.isEmpty ?? false {
            kitchens[outlet] = nil
        }
        if book.status.isEnd { open[order] = nil } else { open[order]?.book = book }
    }

    /// An order of which no more is kept.
    private func book(_ standing: Standing) -> Order.Book {
        var book = Order.Book(
            Order.Placement(
                cart: outlets[standing.outlet], outlet: outlets[standing.outlet], currency: standing.currency,
                lines: [], total: Amount(minorUnits: standing.total),
                customer: standing.customer > 0 ? customers[standing.customer] : nil))
        book.status = Order.Status(standing.status)
        book.refunds = standing.refunds
        return book
    }

    #if DEBUG
        public mutating func skip(_ event: DecodedEvent) {
            guard let place = orders.place(of: event.stream.id) else { return }
            orders[place].version = Int32(clamping: event.version)
        }
    #endif

    // MARK: Rows

    /// The number of orders that are held.
    public var rowCount: Int { orders.count }

    /// Every order, where all are held.
    public var rows: some Sequence<OrderRow> { orders.entries.lazy.map { row($0.key, $0.standing) } }

    public func row(of key: Identifier) -> OrderRow? { orders[key].map { row(key, $0) } }

    func row(_ order: Identifier, _ standing: Standing) -> OrderRow {
        OrderRow(
            order: order, standing: standing, outlet: outlets[standing.outlet],
            customer: standing.customer > 0 ? customers[standing.customer] : nil, open: open[order])
    }

    public mutating func restore(_ stored: StoredRow) throws(UnreadableValue) -> Digest {
        let row = try OrderRow(stored)
        // An order that is let go of is counted here.
        if row.position <= floor { slots.counts[HashSlot(of: row.order).number, default: 0] += 1 }
        guard row.position > floor || row.open != nil else { return row.digest }
        guard orders.load(stored.keyBytes, numbers(of: row)) else { throw StoredRow.keyIsNoIdentifier }
        keepOpen(row)
        return row.digest
    }

    /// The numbers of a row, with the names of this projection.
    mutating func numbers(of row: OrderRow) -> Standing {
        var standing = row.standing
        standing.outlet = outlets.number(of: row.outlet)
        standing.customer = row.customer.map { customers.number(of: $0) } ?? 0
        return standing
    }

    /// Keeps what was ordered, as long as the order is open.
    mutating func keepOpen(_ row: OrderRow) {
        guard var open = row.open else { return }
        open.book.refunds = row.standing.refunds
        self.open[row.order] = open
        follow(row.order, open.book)
    }

    public mutating func endRestoring() -> Identifier? {
        // Rows come in any order.
        let places = orders.places.map { (place: $0, position: orders[$0].position) }.filter { $0.position > floor }
        for (place, _) in places.sorted(by: { $0.position < $1.position }) { list(place, orders[place]) }
        return orders.index()
    }

    // MARK: Checkpoints

    public mutating func takeChanges() -> ValueChanges<OrderRow> {
        defer { changes = ValueChanges() }
        return changes
    }

    public mutating func putBack(_ taken: ValueChanges<OrderRow>) { changes.merge(older: taken) }
}

extension Orders.Open {
    /// Orders what is ordered after a change.
    fileprivate mutating func take(_ change: Order.Change) throws(ImpossibleEvent) {
        guard case .order(.placed(let placement))? = try? EventCodec.decode(Orders.placed, placed) else {
            throw ImpossibleEvent("a change of an order that cannot be read")
        }
        placed = EventCodec.encode(.order(.placed(try placement.after(change)))).payload
    }
}

extension Orders.Standing {
    /// What was given back so far, without which lines and taxes it was of.
    fileprivate var refunds: Order.Refunds { Order.Refunds(amount: refunded, tax: refundedTax) }
}

/// Identifiers that many orders share, by numbers from 1.
struct Names: Sendable {
    private var names: [Identifier] = []
    private var numbers: [Identifier: UInt32] = [:]

    subscript(number: UInt32) -> Identifier { names[Int(number) - 1] }

    /// The number of a name; nil if no order has it.
    func find(_ name: Identifier) -> UInt32? { numbers[name] }

    mutating func number(of name: Identifier) -> UInt32 {
        if let number = numbers[name] { return number }
        names.append(name)
        numbers[name] = UInt32(names.count)
        return UInt32(names.count)
    }
}

extension ServiceKind? {
    /// Its place among all ways from 1; 0 for none.
    var number: UInt8 { flatMap(ServiceKind.allCases.firstIndex).map { UInt8($0) + 1 } ?? 0 }
}

extension ServiceKind {
    init?(number: UInt8) {
        guard number > 0 else { return nil }
        self = ServiceKind.allCases[Int(number) - 1]
    }
}

extension Order.Status {
    /// Its place among all.
    var number: UInt8 { UInt8(Order.Status.allCases.firstIndex(of: self) ?? 0) }

    init(_ number: UInt8) { self = Order.Status.allCases[Int(number)] }
}
