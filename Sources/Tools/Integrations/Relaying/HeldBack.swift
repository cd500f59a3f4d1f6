/// What a relay could not deliver in a partition, and goes on without. A value that says what is posted next: it knows no
/// clock, receiver or database.
///
/// An event that is refused holds back the later ones of its stream, and no others.
struct HeldBack {
    /// How much is held back in a partition. Beyond it, the partition waits.
    struct Bounds {
        /// The most streams.
        var streams = 100
        /// The most events.
        var events = 1_000
        /// The most events that are set aside: a receiver that takes nothing any more does not empty the log.
        var setAside = 1_000
    }

    /// An event that is held back.
    struct Delivery: Equatable {
        let position: Int64
        let stream: String
        /// Which event it is, as ``RelayedEvent/mark``.
        let mark: String
        /// How often it was posted; not at all if it waits for an earlier one of its stream.
        var attempts = 0
        /// How many of these attempts the receiver refused.
        var refusals = 0
        /// When it was refused first, on the clock of ``due``.
        var refusedSince: Int64?
        /// How long after that it was refused last, in milliseconds.
        var refusedFor: Int64 = 0
        /// When it is posted again if its turn has come, in milliseconds of a clock that never goes back.
        var due: Int64 = 0

        /// Counts an attempt that failed.
        mutating func failed(isRefused: Bool, at now: Int64, wait: UInt64) {
            attempts += 1
            due = now + Int64(clamping: wait)
            guard isRefused else { return }
            refusals += 1
            let since = refusedSince ?? now
            refusedSince = since
            refusedFor = now - since
        }
    }

    /// When an event is set aside.
    struct Patience {
        /// After so many refusals; nil for never.
        var refusals: Int?
        /// Once it is refused for so long, in milliseconds; nil for never.
        var time: Int64?
    }

    /// What comes of an event that follows.
    enum Step: Equatable {
        case post
        /// It waits for an earlier one of its stream.
        case hold
        /// There is no room: the partition waits.
        case wait
    }

    /// What comes of an event that was refused.
    enum Refusal: Equatable {
        /// It is posted again later, and the partition goes on.
        case held
        case setAside
        /// There is no room: the partition waits.
        case noRoom
    }

    private let bounds: Bounds
    private let patience: Patience
    /// The events of each stream by their positions.
    private var streams: [String: [Delivery]] = [:]
    /// How many events are held back.
    private(set) var count = 0
    /// How many are set aside.
    private(set) var setAside = 0

    init(_ patience: Patience, bounds: Bounds = Bounds()) {
        self.patience = patience
        self.bounds = bounds
    }

    /// Whether there is anything that somebody could have sent again, or skip.
    var isEmpty: Bool { count == 0 && setAside == 0 }

    /// Takes what is kept in place of what is known.
    ///
    /// - Parameter deliveries: those that are held back, by their positions.
    mutating func replace(_ deliveries: [Delivery], setAside: Int) {
        streams = Dictionary(grouping: deliveries, by: \.stream)
        count = deliveries.count
        self.setAside = setAside
    }

    /// What comes of an event that follows all that were met.
    func step(for stream: String) -> Step {
        guard streams[stream] != nil else { return .post }
        return count < bounds.events ? .hold : .wait
    }

    /// Has an event wait, as ``Step/hold`` says.
    mutating func hold(_ delivery: Delivery) {
        streams[delivery.stream, default: []].append(delivery)
        count += 1
    }

    /// An event that follows was refused.
    ///
    /// - Parameter delivery: with this attempt, and when it is to be posted again.
    mutating func refused(_ delivery: Delivery) -> Refusal {
        if givesUp(delivery) {
            setAside += 1
            return .setAside
        }
        guard count < bounds.events, streams.count < bounds.streams else { return .noRoom }
        hold(delivery)
        return .held
    }

    /// The event whose turn it is: of all streams' first ones the one that has been due for longest.
    func due(at now: Int64) -> Delivery? {
        streams.values.lazy.compactMap(\.first).filter { $0.due <= now }.min {
            ($0.due, $0.position) < ($1.due, $1.position)
        }
    }

    /// How long it is until an event is due, in milliseconds; nil if none is held back.
    func wait(at now: Int64) -> Int64? {
        streams.values.lazy.compactMap(\.first).map { max(0, $0.due - now) }.min()
    }

    /// An event that was held back is taken.
    mutating func taken(_ delivery: Delivery) {
        guard var held = streams[delivery.stream],
            let index = held.firstIndex(where: { $0.position == delivery.position })
        else { return }
        held.remove(at: index)
        streams[delivery.stream] = held.isEmpty ? nil : held
        count -= 1
    }

    /// An event that was held back is not taken again.
    ///
    /// - Parameter delivery: with this attempt, and when it is to be posted again.
    /// - Returns: whether it is set aside.
    mutating func failed(_ delivery: Delivery) -> Bool {
        if givesUp(delivery) {
            taken(delivery)
            setAside += 1
            return true
        }
        if let index = streams[delivery.stream]?.firstIndex(where: { $0.position == delivery.position }) {
            streams[delivery.stream]?[index] = delivery
        }
        return false
    }

    private func givesUp(_ delivery: Delivery) -> Bool {
        guard setAside < bounds.setAside else { return false }
        return patience.refusals.map { delivery.refusals >= $0 } ?? false
            || patience.time.map { delivery.refusedFor >= $0 } ?? false
    }
}
