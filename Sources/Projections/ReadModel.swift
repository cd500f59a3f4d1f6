// Projections: what the screens read, as pure folds over the log.
//
// The promise: the same events in the same order give the same rows and the same digest, wherever and whenever
// they are folded. A stream whose history cannot have happened is quarantined; nothing else suffers.

internal import Domain
public import EventLog

/// Every projection of one partition, at one position.
public struct ReadModel: Sendable {
    /// The partition.
    public let partition: Int
    /// The position of the last event folded in.
    public internal(set) var position: Int64 = 0
    /// What outlets show.
    public internal(set) var outletHome: OutletHome
    /// How much is in each cart.
    public internal(set) var cartCounts: CartCounts

    /// An empty read model.
    ///
    /// - Parameter notesChanges: whether it is to be saved: without, it has no checkpoints and takes less.
    public init(partition: Int, notesChanges: Bool = true) {
        self.partition = partition
        outletHome = OutletHome(notesChanges: notesChanges)
        cartCounts = CartCounts(notesChanges: notesChanges)
    }

    /// Folds in the next events, in the order of their positions. Gives those that are corrupt: they cannot be
    /// understood, or are the first of their stream that cannot have happened.
    @discardableResult
    public mutating func apply(_ events: [Result<DecodedEvent, CorruptEvent>]) -> [CorruptEvent] {
        events.compactMap { apply($0) }
    }

    /// Folds in the next event. Gives it where it is corrupt: it cannot be understood, or is the first of its stream
    /// that cannot have happened.
    @discardableResult
    public mutating func apply(_ event: Result<DecodedEvent, CorruptEvent>) -> CorruptEvent? {
        do throws(CorruptEvent) {
            let event = try event.get()
            precondition(event.position == position + 1, "events are folded in the order of positions")
            position = event.position
            try apply(event)
            return nil
        } catch {
            position = error.position
            quarantine(error)
            return error
        }
    }

    /// Goes past positions at which the log has no event.
    public mutating func pass(missing positions: ClosedRange<Int64>) {
        precondition(positions.lowerBound == position + 1, "events are folded in the order of positions")
        position = positions.upperBound
    }

    #if DEBUG
        /// Goes past the next event without what it says: a mistake, for tests of those who should notice.
        public mutating func skip(_ event: DecodedEvent) {
            precondition(event.position == position + 1, "events are folded in the order of positions")
            position = event.position
            switch event.stream.category {
            case .outlet, .menu: outletHome.skip(event)
            case .cart: cartCounts.skip(event)
            case .order: break
            }
        }
    #endif

    private mutating func apply(_ event: DecodedEvent) throws(CorruptEvent) {
        do throws(ImpossibleEvent) {
            switch event.event {
            case .outlet, .menu: try outletHome.apply(event)
            case .cart(let cart): try cartCounts.apply(cart, event.version, of: event.stream.id)
            case .order: break
            }
        } catch {
            throw CorruptEvent(event, reason: error.description)
        }
    }

    private mutating func quarantine(_ corruption: CorruptEvent) {
        switch StreamName(corruption.stream)?.category {
        case .outlet, .menu: outletHome.quarantine.insert(corruption)
        case .cart: cartCounts.quarantine.insert(corruption)
        // What is no stream of ours is shown by no projection.
        case .order, nil: break
        }
    }

    /// Whether the log may hold the stream as of ``position``: false only where it certainly does not.
    public func mayExist(_ stream: StreamName) -> Bool {
        switch stream.category {
        case .outlet, .menu: outletHome.knows(stream)
        case .cart: cartCounts.knows(stream.id)
        case .order: true
        }
    }
}

/// The streams that a projection shows to nobody, each with its first corrupt event.
public struct Quarantine: Equatable, Sendable {
    /// By the stream's name.
    public private(set) var streams: [String: CorruptEvent] = [:]
    private var unsaved: [CorruptEvent] = []

    /// The corrupt event of the stream, if it is quarantined.
    public subscript(stream: StreamName) -> CorruptEvent? {
        streams.isEmpty ? nil : streams[stream.description]
    }

    mutating func insert(_ event: CorruptEvent) {
        guard streams[event.stream] == nil else { return }
        streams[event.stream] = event
        unsaved.append(event)
    }

    mutating func restore(_ event: CorruptEvent) { streams[event.stream] = event }

    mutating func takeUnsaved() -> [CorruptEvent] {
        defer { unsaved = [] }
        return unsaved
    }

    mutating func putBack(_ events: [CorruptEvent]) { unsaved = events + unsaved }
}
