public import EventLog

/// Follows one partition of the log: passes each of its events on once, in the order of positions, and reports the
/// positions that have none.
public final class LogFollower {
    /// The most events that are read from the log at once.
    public static let readLimit = 5_000
    /// How many points are remembered, to tell later what a log has lost.
    public static let pointsKept = 1_024

    /// The partition.
    public let partition: Int
    /// The position up to which the partition is known here.
    public private(set) var position: Int64
    /// The last position that the log is known to have; more than ``position`` while the events up to it are read.
    public private(set) var head: Int64
    /// The newest points that were passed, oldest first: ``pointsKept`` of them, or some more.
    public private(set) var points: [LogPoint]

    /// Whether positions that it is given no event for are passed over, and not missed: it is not given all of them.
    public var passesOver = false

    private let project: ([Result<DecodedEvent, CorruptEvent>]) -> Void
    private let miss: (MissingEvents) -> Void
    private let passOver: (ClosedRange<Int64>) -> Void

    /// - Parameters:
    ///   - point: the point up to which `project` has been given events before.
    ///   - miss: receives positions without an event, before the events that follow them are projected.
    ///   - passOver: receives positions that are passed over, likewise.
    ///   - project: receives every event of the partition once, in the order of positions.
    public init(
        partition: Int, after point: LogPoint, miss: @escaping (MissingEvents) -> Void,
        passOver: @escaping (ClosedRange<Int64>) -> Void = { _ in },
        project: @escaping ([Result<DecodedEvent, CorruptEvent>]) -> Void
    ) {
        self.partition = partition
        position = point.position
        head = point.position
        points = [point]
        self.project = project
        self.miss = miss
        self.passOver = passOver
    }

    /// The point up to which the partition is known here.
    public var point: LogPoint {
        if let last = points.last, last.position == position { return last }
        return LogPoint(position: position, digest: nil)
    }

    /// Notes that the log has events up to a position.
    func learn(head: Int64) { self.head = max(self.head, head) }

    /// Passes on events that follow ``position``, and reports those that are missing before them and up to `end`.
    func pass(_ events: [Result<DecodedEvent, CorruptEvent>], upTo end: LogPoint) {
        pass(events, upTo: end.position)
        guard end.position == position, end.digest != nil else { return }
        if points.count == 2 * LogFollower.pointsKept { points.removeFirst(LogFollower.pointsKept) }
        if points.last?.position == position { points.removeLast() }
        points.append(end)
    }

    /// The same, without a point to end at.
    func pass(_ events: [Result<DecodedEvent, CorruptEvent>], upTo end: Int64 = 0) {
        var first = events.firstIndex { $0.position > position } ?? events.count
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
        let positions = position + 1...last
        position = last
        learn(head: position)
        if passesOver { passOver(positions) } else { miss(MissingEvents(partition: partition, positions: positions)) }
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
    public typealias Events = [Result<DecodedEvent, CorruptEvent>]

    /// Reads the log to its end before any command is handled, and fails if it does not have the point to begin at.
    /// While one page is folded, the next ones are decoded and those after them are read.
    ///
    /// - Parameters:
    ///   - prepare: receives events before they are passed on.
    ///   - progress: receives the position after every page.
    public func readToEnd(
        of log: any EventLog, preparing prepare: (Events) async throws(EventLogError) -> Void = { _ in },
        progress: (Int64) -> Void, isolation: isolated (any Actor)? = #isolation
    ) async throws(EventLogError) {
        let partition = partition
        let pages = ReadAhead<Events, EventLogError> { position, limit throws(EventLogError) in
            try await log.page(partition: partition, after: position, limit: limit)
        } prepare: { page in
            await LogFollower.decode(page)
        }
        while true {
            let end = try await log.end(of: partition)
            // Only now: a log that has lost what was read before may have an end of its own, and pages that lead to it.
            _ = try await log.follow(partition: partition, after: point, limit: 1)
            try await pages.forEachPage(after: position, upTo: end.position) { events throws(EventLogError) in
                try await prepare(events)
                pass(events)
                progress(position)
            }
            // Events removed from the end leave no gap before a later one: only the head shows them.
            pass([], upTo: end)
            // Says as well whether the log is still the one that was read.
            let rest = try await log.follow(partition: partition, after: point, limit: LogFollower.readLimit)
            guard rest.end.position > position else { return }
            let events = rest.events.map(\.decodedResult)
            try await prepare(events)
            pass(events, upTo: rest.end)
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
