// Projections: what screens show, as pure folds over the log.
//
// The promise: the same events in the same order give the same rows and the same digest, wherever and whenever they
// are folded. A stream whose history cannot have happened is quarantined; nothing else is affected.

public import Domain
public import EventLog

/// Every projection of one partition, at one position.
///
/// A projection is registered here, by one line each in: the members, `init`, ``projections``, `fold` and
/// ``mayExist(_:)``. The members are concrete and named, not a collection, because they are called for every event.
public struct ReadModel: Sendable {
    /// The partition.
    public let partition: Int
    /// The position of the last event folded in.
    public internal(set) var position: Int64 = 0
    /// What outlets show.
    public internal(set) var outletHome: OutletHome
    /// How much is in each cart.
    public internal(set) var cartCounts: CartCounts
    /// How far orders have come.
    public internal(set) var orders: Orders
    /// What outlets took.
    public internal(set) var takings: Takings
    /// What is left of what outlets have counted.
    public internal(set) var supplies: Supplies
    /// What is under way over several streams.
    public internal(set) var processes: Processes
    /// Whether the read model is to be saved.
    let notesChanges: Bool

    /// Whether ``cartCounts`` follows the log. If not, it has no carts, as where another server decides them.
    public private(set) var followsCarts = true

    /// Whether ``cartCounts`` knows which carts there are. If not, nothing follows from what it lacks.
    public var knowsCarts: Bool { followsCarts && cartCounts.knowsAll }

    /// An empty read model.
    ///
    /// - Parameters:
    ///   - notesChanges: whether the read model is to be saved. If not, it has no checkpoints and takes less memory.
    ///   - cartLimit: about the most carts that are held, beside those that are not saved; nil to hold all.
    ///   - orderLimit: about the most orders that are held, beside those that are open or not saved; nil to hold all.
    public init(partition: Int, notesChanges: Bool = true, cartLimit: Int? = nil, orderLimit: Int? = nil) {
        self.partition = partition
        self.notesChanges = notesChanges
        outletHome = OutletHome(notesChanges: notesChanges)
        cartCounts = CartCounts(notesChanges: notesChanges, limit: cartLimit)
        orders = Orders(notesChanges: notesChanges, limit: orderLimit)
        takings = Takings(notesChanges: notesChanges)
        supplies = Supplies(notesChanges: notesChanges)
        processes = Processes(notesChanges: notesChanges)
    }

    /// Every projection.
    public static let projections = [
        RegisteredProjection(\.outletHome),
        RegisteredProjection(\.cartCounts),
        RegisteredProjection(\.orders),
        RegisteredProjection(\.takings),
        RegisteredProjection(\.supplies),
        RegisteredProjection(\.processes),
    ]

    private mutating func fold(
        _ event: Result<DecodedEvent, CorruptEvent>, of category: StreamName.Category
    ) -> CorruptEvent? {
        var corruption: CorruptEvent?
        if OutletHome.follows(category) { corruption = outletHome.fold(event) ?? corruption }
        if CartCounts.follows(category) {
            if followsCarts { corruption = cartCounts.fold(event) ?? corruption }
            if case .success(let event) = event { processes.fold(event) }
        }
        if Supplies.follows(category) { corruption = supplies.fold(event) ?? corruption }
        if Orders.follows(category) {
            let before = try? orders.sale(of: event.get().stream.id)
            corruption = orders.fold(event) ?? corruption
            // What an order costs is known until it ends, and from its first event on.
            if corruption == nil, case .success(let event) = event,
                let sale = before ?? orders.sale(of: event.stream.id)
            {
                takings.fold(event, of: sale)
                processes.fold(event, of: sale)
            }
        }
        return corruption
    }

    /// Whether the log may hold the stream as of ``position``: false only if it certainly does not. An order may always
    /// be there: clients ask only for orders that were placed.
    @inlinable
    public func mayExist(_ stream: StreamName) -> Bool {
        if OutletHome.follows(stream.category), !outletHome.mayExist(stream) { return false }
        if CartCounts.follows(stream.category), knowsCarts, !cartCounts.mayExist(stream) { return false }
        if Supplies.follows(stream.category), !supplies.mayExist(stream) { return false }
        return true
    }

    /// Whether the stored rows may have one of a cart or an order that is not held.
    public func mayHaveRow(_ stream: StreamName) -> Bool {
        switch stream.category {
        case .cart: followsCarts && mayExist(stream)
        case .order: !orders.holdsAll
        case .outlet, .menu, .promotions, .supply, .customer, .user, .relay: false
        }
    }

    /// Whether a projection shows nothing more of a stream, because of a corrupt event.
    public func isQuarantined(_ stream: StreamName) -> Bool {
        switch stream.category {
        case .cart: cartCounts.quarantine[stream] != nil
        case .order: orders.quarantine[stream] != nil
        case .outlet, .menu, .promotions: outletHome.quarantine[stream] != nil
        case .supply: supplies.quarantine[stream] != nil
        // No projection follows what is done beside the log.
        case .customer, .user, .relay: false
        }
    }

    /// How many events a stream has at least as of ``position``: the folded ones, and the one that put it into
    /// quarantine.
    public func leastVersion(of stream: StreamName) -> Int64 {
        let version =
            switch stream.category {
            case .cart: cartCounts.version(of: stream.id)
            case .order: orders.version(of: stream.id) ?? 0
            case .outlet, .menu, .promotions: outletHome.version(of: stream)
            case .supply: supplies.version(of: stream.id)
            case .customer, .user, .relay: Int64(0)
            }
        return isQuarantined(stream) ? version + 1 : version
    }

    /// Lets go of every cart. Events of carts may be passed over from then on.
    public mutating func forgetCarts() {
        followsCarts = false
        cartCounts = CartCounts(notesChanges: notesChanges, limit: cartCounts.limit)
    }

    // MARK: Carts whose rows are stored

    /// The carts' rows up to ``position`` are in the database. They are read one by one.
    public mutating func leaveCartsStored() { cartCounts.leaveRowsStored() }

    /// Learns which carts and orders exist, from a read model that all their stored rows were gone through for. They are
    /// as of the position up to which rows are saved.
    public mutating func learnRows(from restored: ReadModel) {
        cartCounts.learn(from: restored.cartCounts)
        orders.learn(from: restored.orders, upTo: restored.position)
    }

    /// Takes what is stored of a cart, as of the position up to which rows are saved; nil if there is no row. Returns
    /// the count; nil if only the cart's stream tells it.
    public mutating func read(_ row: CartCountRow?, of cart: Identifier) -> Int? { cartCounts.read(row, of: cart) }

    /// Carts whose rows contradict the log, with the last version that was seen of each. Nothing can be saved meanwhile.
    public var doubtedCarts: [Identifier: Int64] { cartCounts.doubts }

    /// What is stored of a cart contradicts the log.
    public mutating func doubt(_ cart: Identifier) { if followsCarts { cartCounts.doubt(cart) } }

    /// Ends the doubt about a cart. Returns the event that puts it into quarantine, if there is one.
    ///
    /// - Parameters:
    ///   - history: the cart's stream from its beginning.
    ///   - saved: up to where rows are saved.
    public mutating func settle(
        _ cart: Identifier, with history: [RecordedEvent], savedUpTo saved: Int64
    ) -> CorruptEvent? {
        cartCounts.settle(cart, with: history, upTo: position, savedUpTo: saved)
    }

    // MARK: Orders whose rows are stored

    /// About the most orders that are held, beside those that are open or not saved; nil where all are.
    public var orderLimit: Int? { orders.limit }

    /// Leaves orders that were placed up to a position in the database, but for those that are open. Nothing may be
    /// restored or folded before.
    public mutating func leaveOrdersStored(upTo position: Int64) { orders.floor = position }

    /// How far an order has come; nil before it is placed. One that is not held has ended, or nobody follows it: it counts as
    /// completed.
    public func status(ofOrder order: Identifier) -> Order.Status? {
        if let row = orders.row(of: order) { return row.status }
        return orders.holdsAll || processes.open[order] != nil ? nil : .completed
    }

    /// Whether orders are held that may be let go of once they are saved.
    public var hasManyOrders: Bool { orders.isFull }

    /// Lets go of orders that are saved, if there are many; see ``Orders``.
    ///
    /// - Parameters:
    ///   - saved: up to where rows are saved.
    ///   - needed: streams of which events will be folded.
    public mutating func letGoOfOrders(savedUpTo saved: Int64, except needed: Set<StreamName>) {
        orders.letGo(savedUpTo: saved, except: needed)
    }

    /// Orders that have to be held before these events are folded, each with the version before its first one.
    public func missingOrders(before events: some Sequence<StreamVersion>) -> [Identifier: Int64] {
        orders.missing(before: events)
    }

    /// Holds an order, if it is not held.
    ///
    /// - Parameter history: its stream from its beginning.
    public mutating func hold(_ order: Identifier, _ history: [RecordedEvent]) {
        orders.hold(order, history, upTo: position)
    }

    /// Lets go of what has changed since the last checkpoint: another server saves it.
    public mutating func forgetChanges() {
        for projection in ReadModel.projections { projection.member.forgetChanges(in: &self) }
    }

    /// The projections of carts and of orders.
    public static let carts = RegisteredProjection(\.cartCounts)
    public static let orders = RegisteredProjection(\.orders)

    /// An empty one that is like this one otherwise.
    public var emptied: ReadModel {
        ReadModel(
            partition: partition, notesChanges: notesChanges, cartLimit: cartCounts.limit, orderLimit: orders.limit)
    }

    // MARK: Folding

    /// Folds in the next events, in the order of their positions. Returns those that are corrupt: they cannot be
    /// understood, or are the first of their stream that cannot have happened.
    @discardableResult
    public mutating func apply(_ events: [Result<DecodedEvent, CorruptEvent>]) -> [CorruptEvent] {
        var corrupt: [CorruptEvent] = []
        for index in events.indices {
            if let corruption = apply(events[index]) { corrupt.append(corruption) }
        }
        return corrupt
    }

    /// Folds in the next event. Returns it if it is corrupt: it cannot be understood, or is the first of its stream
    /// that cannot have happened.
    @discardableResult
    public mutating func apply(_ event: Result<DecodedEvent, CorruptEvent>) -> CorruptEvent? {
        switch event {
        case .success(let decoded):
            precondition(decoded.position == position + 1, "events are folded in the order of positions")
            position = decoded.position
            return fold(event, of: decoded.stream.category)
        case .failure(let corruption):
            position = corruption.position
            // No projection shows a stream whose name is not one of ours.
            if let stream = StreamName(corruption.stream) { _ = fold(event, of: stream.category) }
            return corruption
        }
    }

    /// Skips positions at which the log has no event, or none that is wanted here.
    public mutating func pass(missing positions: ClosedRange<Int64>) {
        precondition(positions.lowerBound == position + 1, "events are folded in the order of positions")
        position = positions.upperBound
    }

    #if DEBUG
        /// Skips the next event, ignoring what it says: a mistake, for tests of whatever should notice it.
        public mutating func skip(_ event: DecodedEvent) {
            precondition(event.position == position + 1, "events are folded in the order of positions")
            position = event.position
            for projection in ReadModel.projections { projection.member.skip(event, in: &self) }
        }
    #endif
}

/// Where an event stands in its stream.
public typealias StreamVersion = (stream: StreamName, version: Int64)

extension Sequence<Result<DecodedEvent, CorruptEvent>> {
    /// Where those stand in their streams that are not corrupt.
    public var streamVersions: some Sequence<StreamVersion> {
        lazy.compactMap { event in (try? event.get()).map { (stream: $0.stream, version: $0.version) } }
    }
}

extension ProjectionMember {
    fileprivate func forgetChanges(in model: inout ReadModel) {
        change(in: &model) { projection in
            _ = projection.takeChanges()
            _ = projection.quarantine.takeUnsaved()
        }
    }
}

#if DEBUG
    extension ProjectionMember {
        fileprivate func skip(_ event: DecodedEvent, in model: inout ReadModel) {
            guard Member.follows(event.stream.category) else { return }
            change(in: &model) { $0.skip(event) }
        }
    }
#endif

/// The streams that a projection does not show, each with its first corrupt event.
public struct Quarantine: Equatable, Sendable {
    /// By the stream.
    public private(set) var streams: [StreamName: CorruptEvent] = [:]
    private var unsaved: [CorruptEvent] = []

    /// The corrupt event of the stream, if it is quarantined.
    @inlinable @inline(__always)
    public subscript(stream: StreamName) -> CorruptEvent? {
        streams.isEmpty ? nil : streams[stream]
    }

    mutating func insert(_ event: CorruptEvent) {
        guard let stream = StreamName(event.stream), streams[stream].map({ event.position < $0.position }) ?? true
        else { return }
        if streams.updateValue(event, forKey: stream) != nil { unsaved.removeAll { $0.stream == event.stream } }
        unsaved.append(event)
    }

    mutating func restore(_ event: CorruptEvent) {
        guard let stream = StreamName(event.stream) else { return }
        streams[stream] = event
    }

    mutating func takeUnsaved() -> [CorruptEvent] {
        defer { unsaved = [] }
        return unsaved
    }

    mutating func putBack(_ events: [CorruptEvent]) { unsaved = events + unsaved }
}
