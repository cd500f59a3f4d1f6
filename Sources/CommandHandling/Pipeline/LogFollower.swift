public import EventLog

/// Follows one partition of the log: passes each of its events on once, in the order of positions, and reports the
/// positions that have none.
public final class LogFollower {
    /// The most events that are read from the log at once.
    public static let readLimit = 5_000

    /// The partition.
    public let partition: Int
    /// The position up to which the partition is known here.
    public private(set) var position: Int64
    /// The last position that the log is known to have; more than ``position`` while the events up to it are read.
    public private(set) var head: Int64
    /// Whether the log was found to end before the position from which it was to be read: then what was folded up to
    /// there does not follow from this log.
    public private(set) var isAheadOfLog = false

    private let project: ([Result<DecodedEvent, CorruptEvent>]) -> Void
    private let miss: (MissingEvents) -> Void

    /// - Parameters:
    ///   - position: the position up to which `project` has been given events before.
    ///   - miss: receives positions without an event, before the events that follow them are projected.
    ///   - project: receives every event of the partition once, in the order of positions.
    public init(
        partition: Int, position: Int64, miss: @escaping (MissingEvents) -> Void,
        project: @escaping ([Result<DecodedEvent, CorruptEvent>]) -> Void
    ) {
        self.partition = partition
        self.position = position
        head = position
        self.project = project
        self.miss = miss
    }

    /// Notes that the log has events up to a position.
    func learn(head: Int64) { self.head = max(self.head, head) }

    /// Passes on events that follow ``position``, and reports those that are missing before them and up to `end`.
    func pass(_ events: [Result<DecodedEvent, CorruptEvent>], upTo end: Int64 = 0) {
        var first = 0
        while first < events.count {
            skip(to: events[first].position - 1)
            var next = first
            while next < events.count, events[next].position == position + 1 {
                position += 1
                next += 1
            }
            learn(head: position)
            project(next - first == events.count ? events : Array(events[first..<next]))
            first = next
        }
        skip(to: end)
    }

    /// Goes past positions that have no event.
    private func skip(to last: Int64) {
        guard last > position else { return }
        let missing = MissingEvents(partition: partition, positions: position + 1...last)
        position = last
        learn(head: position)
        miss(missing)
    }
}

extension Result<DecodedEvent, CorruptEvent> {
    /// The event's position, whether or not it can be understood.
    var position: Int64 {
        switch self {
        case .success(let event): event.position
        case .failure(let corruption): corruption.position
        }
    }
}

extension RecordedEvent {
    /// The event, or why it cannot be understood.
    var decodedResult: Result<DecodedEvent, CorruptEvent> {
        Result { () throws(CorruptEvent) in try decoded() }
    }
}

// MARK: Reading at start

extension LogFollower {
    /// Reads the log to its end before any command is handled. While one page is folded, the next ones are decoded
    /// and those after them are read.
    ///
    /// - Parameter progress: receives the position after every page.
    public func readToEnd(
        of log: any EventLog, progress: (Int64) -> Void, isolation: isolated (any Actor)? = #isolation
    ) async throws(EventLogError) {
        typealias Events = [Result<DecodedEvent, CorruptEvent>]
        let (partition, start) = (partition, position)
        let pages = ReadAhead<Events, EventLogError> { position, limit throws(EventLogError) in
            try await log.page(partition: partition, after: position, limit: limit)
        } prepare: { page in
            await LogFollower.decode(page)
        }
        while true {
            let head = try await log.heads().first { $0.partition == partition }?.position ?? position
            let end = head <= LogHead.maximumPosition ? head : position
            try await pages.forEachPage(after: position, upTo: end) { events throws(EventLogError) in
                pass(events)
                progress(position)
            }
            // Events removed from the end leave no gap before a later one: only the head shows them.
            pass([], upTo: end)
            let rest = try await log.page(partition: partition, after: position, limit: LogFollower.readLimit)
            if rest.isEmpty {
                isAheadOfLog = head < start && position == start
                return
            }
            pass(await LogFollower.decode(rest))
            progress(position)
        }
    }

    @concurrent
    private static func decode(_ page: EventPage) async -> [Result<DecodedEvent, CorruptEvent>] {
        var events: [Result<DecodedEvent, CorruptEvent>] = []
        events.reserveCapacity(page.count)
        page.forEachDecoded { _, event in events.append(event) }
        return events
    }
}
