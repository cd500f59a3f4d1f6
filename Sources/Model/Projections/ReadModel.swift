// Projections: what screens show, as pure folds over the log.
//
// The promise: the same events in the same order give the same rows and the same digest, wherever and whenever they
// are folded. A stream whose history cannot have happened is quarantined; nothing else is affected.

internal import Domain
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
    /// Whether the read model is to be saved.
    let notesChanges: Bool

    /// Whether ``cartCounts`` has every cart. If not, it has none, as where another server decides them: then nothing
    /// follows from what it lacks.
    public private(set) var knowsCarts = true

    /// An empty read model.
    ///
    /// - Parameter notesChanges: whether the read model is to be saved. If not, it has no checkpoints and takes less
    ///   memory.
    public init(partition: Int, notesChanges: Bool = true) {
        self.partition = partition
        self.notesChanges = notesChanges
        outletHome = OutletHome(notesChanges: notesChanges)
        cartCounts = CartCounts(notesChanges: notesChanges)
        orders = Orders(notesChanges: notesChanges)
    }

    /// Every projection.
    public static let projections = [
        RegisteredProjection(\.outletHome),
        RegisteredProjection(\.cartCounts),
        RegisteredProjection(\.orders),
    ]

    private mutating func fold(
        _ event: Result<DecodedEvent, CorruptEvent>, of category: StreamName.Category
    ) -> CorruptEvent? {
        var corruption: CorruptEvent?
        if OutletHome.follows(category) { corruption = outletHome.fold(event) ?? corruption }
        if CartCounts.follows(category), knowsCarts { corruption = cartCounts.fold(event) ?? corruption }
        if Orders.follows(category) { corruption = orders.fold(event) ?? corruption }
        return corruption
    }

    /// Whether the log may hold the stream as of ``position``: false only if it certainly does not. An order may always
    /// be there: clients ask only for orders that were placed.
    @inlinable
    public func mayExist(_ stream: StreamName) -> Bool {
        if OutletHome.follows(stream.category), !outletHome.mayExist(stream) { return false }
        if CartCounts.follows(stream.category), knowsCarts, !cartCounts.mayExist(stream) { return false }
        return true
    }

    /// Whether a projection shows nothing more of a stream, because of a corrupt event.
    public func isQuarantined(_ stream: StreamName) -> Bool {
        switch stream.category {
        case .cart: cartCounts.quarantine[stream] != nil
        case .order: orders.quarantine[stream] != nil
        case .outlet, .menu: outletHome.quarantine[stream] != nil
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
            case .outlet, .menu: outletHome.version(of: stream)
            case .customer, .user, .relay: Int64(0)
            }
        return isQuarantined(stream) ? version + 1 : version
    }

    /// Lets go of every cart. Events of carts may be passed over from then on.
    public mutating func forgetCarts() {
        knowsCarts = false
        cartCounts = CartCounts(notesChanges: notesChanges)
    }

    /// Lets go of what has changed since the last checkpoint: another server saves it.
    public mutating func forgetChanges() {
        for projection in ReadModel.projections { projection.member.forgetChanges(in: &self) }
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
        guard let stream = StreamName(event.stream), streams[stream] == nil else { return }
        streams[stream] = event
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
