// The log: what an event is once it is recorded, how its payload is written and read, and what any log must do.
//
// The promise of every log: positions of a partition are dense and visible in commit order, versions of a
// stream are dense, a batch is durable when `append` returns, and what conflicts fails alone.

/// The only place where events are kept.
public protocol EventLog: Sendable {
    /// Which partitions there are, and what belongs to them: chosen once.
    var partitioning: Partitioning { get }

    /// Appends the groups of a batch, except those in conflict: a group is in conflict if a stream that it writes, or
    /// that it was decided on, has been written since `seen`.
    ///
    /// If a stream that begins with the batch existed when the streams were last indexed, nothing is appended: the
    /// receipt refuses every group and names those streams as stale. Any other version has to come from the log.
    ///
    /// - Parameter seen: the point up to which the writer knows the partition.
    /// - Throws: ``EventLogError/outcomeUnknown(_:)`` if the batch may or may not be in the log: ask
    ///   ``outcome(of:since:)``. ``EventLogError/forked(_:)`` if the log does not have the point. After any error but
    ///   the first, nothing of the batch is in the log.
    func append(_ batch: EventBatch, seen: LogPoint) async throws(EventLogError) -> AppendReceipt

    /// Appends a batch if the partition ends at the point. Calls are carried out in their order, after that of an
    /// ``append(_:seen:)`` before them, and need not wait for each other.
    ///
    /// - Returns: the end of the batch; nil if it was not appended, and by this call never will be. ``append(_:seen:)``
    ///   tells why.
    /// - Throws: as ``append(_:seen:)``, except for a fork.
    func appendNext(_ batch: EventBatch, after point: LogPoint) async throws(EventLogError) -> LogPoint?

    /// The outcome of a batch whose `append` ended in ``EventLogError/outcomeUnknown(_:)``; nil if it is not in the
    /// log and never will be.
    func outcome(of batch: EventBatch, since seen: LogPoint) async throws(EventLogError) -> AppendReceipt?

    /// What follows a point, for a reader that goes on from there: whole batches, until there are `limit` events or
    /// more.
    ///
    /// - Throws: ``EventLogError/forked(_:)`` if the log does not have the point.
    func follow(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents

    /// As ``follow(partition:after:limit:)``, for a reader that passes over events of carts, except for those of
    /// processes (``EventKind/isOfProcess``): batches that hold nothing else may be left out, and the end is then behind
    /// them. Other batches come whole. Where no events come, the
    /// partition ends at the end.
    func followWithoutCarts(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents

    /// Where a partition ends.
    func end(of partition: Int) async throws(EventLogError) -> LogPoint

    /// The events of a partition after a position, in order, at most `limit`.
    func read(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [RecordedEvent]

    /// The same events as a page, which costs less for many events.
    func page(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> EventPage

    /// The events of a stream after a version, in order, at most `limit`.
    ///
    /// - Parameter seen: a point up to which the caller knows the partition.
    /// - Throws: ``EventLogError/forked(_:)`` if the log does not have the point.
    func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int, seen: LogPoint
    ) async throws(EventLogError) -> [RecordedEvent]

    /// The batches of a partition that end after a position, in order, at most `limit`. The next position belongs to
    /// the first of them.
    func commits(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [Commit]

    /// The head of each partition, in the order of partitions. A damaged log may lack the head of a partition.
    func heads() async throws(EventLogError) -> [LogHead]

    /// The heads that can be read now: where a log is in several databases, one of them may be away.
    func knownHeads() async -> [LogHead]

    /// Brings the index of streams, if there is one, up to the end of the partition. Streams are found without that,
    /// too, but the more slowly the more was written since.
    func indexStreams(of partition: Int) async throws(EventLogError)

    /// Gives the index of streams, if there is one, the batches that it should have and has not: those that hold events
    /// of the stream, or of any stream in batches after a position, up to a number of batches.
    ///
    /// - Returns: how many there were, and the position to go on from; nil at the end.
    func mendIndex(
        of partition: Int, _ part: IndexPart
    ) async throws(EventLogError) -> (missing: Int64, next: Int64?)

    /// The last node of level 1 that the log keeps and that ends at a position or before; nil if it keeps none.
    func treeNode(of partition: Int, upTo position: Int64) async throws(EventLogError) -> TreeNode?

    /// Nodes that the log keeps of a level, in the order of their numbers: as many of these as there are.
    func treeNodes(
        of partition: Int, level: Int, numbers: Range<Int64>
    ) async throws(EventLogError) -> [TreeNode]

    /// Brings the nodes that the log keeps, if any, up to the end of the partition. Proofs need no nodes, but take the
    /// longer the more was written since.
    ///
    /// - Parameter anew: whether to make all of them again.
    func growTree(of partition: Int, anew: Bool) async throws(EventLogError)

    /// The newest signed head of a partition that was published; nil if there is none. Only its signatures say whether
    /// it is one.
    func signedHead(of partition: Int) async throws(EventLogError) -> PublishedHead?
}

extension EventLog {
    /// For a log that keeps no nodes.
    public func treeNode(of partition: Int, upTo position: Int64) async throws(EventLogError) -> TreeNode? { nil }

    /// For a log that keeps no nodes.
    public func treeNodes(
        of partition: Int, level: Int, numbers: Range<Int64>
    ) async throws(EventLogError) -> [TreeNode] { [] }

    /// For a log that keeps no nodes.
    public func growTree(of partition: Int, anew: Bool) async throws(EventLogError) {}

    /// For a log that nobody signs.
    public func signedHead(of partition: Int) async throws(EventLogError) -> PublishedHead? { nil }
}

extension EventLog {
    /// The number of partitions.
    public var partitionCount: Int { partitioning.count }
}

/// What of an index of streams is compared with the batches.
public enum IndexPart: Equatable, Sendable {
    /// Everything about a stream.
    case stream(StreamName)
    /// Everything about some batches after a position.
    case batches(after: Int64, limit: Int)
}

extension EventLog {
    /// The head of a partition; fails if a damaged log lacks it.
    public func head(of partition: Int) async throws(EventLogError) -> LogHead {
        try await heads(of: [partition])[0]
    }

    /// The heads of these partitions, in their order; fails if a damaged log lacks one of them.
    public func heads(of partitions: some Sequence<Int>) async throws(EventLogError) -> [LogHead] {
        let heads = try await heads()
        var found: [LogHead] = []
        for partition in partitions {
            guard let head = heads.first(where: { $0.partition == partition }) else {
                throw .unavailable("the log is damaged: partition \(partition) has no head")
            }
            found.append(head)
        }
        return found
    }

    /// The newest of these points that the log has; nil if it has none of them.
    ///
    /// - Parameter points: points of one log, in the order of their positions.
    public func newest(of points: [LogPoint], partition: Int) async throws(EventLogError) -> LogPoint? {
        // A log that has one of them has all before it.
        var (known, rest) = (0, points.count)
        while known < rest {
            let middle = (known + rest) / 2
            do throws(EventLogError) {
                _ = try await follow(partition: partition, after: points[middle], limit: 1)
                known = middle + 1
            } catch {
                guard case .forked = error else { throw error }
                rest = middle
            }
        }
        return known > 0 ? points[known - 1] : nil
    }

    /// For a log that leaves nothing out.
    public func followWithoutCarts(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        try await follow(partition: partition, after: point, limit: limit)
    }

    /// For a log whose head cannot be wrong.
    public func end(of partition: Int) async throws(EventLogError) -> LogPoint {
        let head = try await head(of: partition)
        return LogPoint(position: head.position, digest: head.digest)
    }

    /// The events of a stream after a version, whatever log it is, in order, at most `limit`.
    public func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int
    ) async throws(EventLogError) -> [RecordedEvent] {
        try await read(stream: stream, partition: partition, afterVersion: version, limit: limit, seen: .start)
    }

    /// For a log whose heads can be read all or not at all.
    public func knownHeads() async -> [LogHead] { (try? await heads()) ?? [] }

    /// A stream from its beginning, as far as it is known that the log has it, and whether the index of streams was
    /// mended for that.
    ///
    /// - Parameter version: the last one that the stream has at least.
    public func history(
        of stream: StreamName, partition: Int, upTo version: Int64, seen: LogPoint
    ) async throws(EventLogError) -> (events: [RecordedEvent], isMended: Bool) {
        let history = try await all(of: stream, partition: partition, seen: seen)
        guard !history.continues(0, to: version, limit: .max),
            try await mendIndex(of: partition, .stream(stream)).missing > 0
        else { return (history, false) }
        return (try await all(of: stream, partition: partition, seen: seen), true)
    }

    private func all(
        of stream: StreamName, partition: Int, seen: LogPoint
    ) async throws(EventLogError) -> [RecordedEvent] {
        let limit = 1_000
        var history: [RecordedEvent] = []
        while true {
            let events = try await read(
                stream: stream, partition: partition, afterVersion: history.last?.version ?? 0, limit: limit, seen: seen
            )
            history += events
            guard events.count == limit else { return history }
        }
    }

    /// For a log that needs no index.
    public func indexStreams(of partition: Int) async throws(EventLogError) {}

    /// For a log that needs no index.
    public func mendIndex(
        of partition: Int, _ part: IndexPart
    ) async throws(EventLogError) -> (missing: Int64, next: Int64?) { (0, nil) }

    /// The same events as ``read(partition:after:limit:)``, as a page.
    public func page(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> EventPage {
        EventPage(partition: partition, try await read(partition: partition, after: position, limit: limit))
    }
}

extension Collection<RecordedEvent> {
    /// Whether these are the events of a stream after a version, without a gap, as many as a limit allows or up to a
    /// version that the stream has at least.
    public func continues(_ version: Int64, to known: Int64, limit: Int) -> Bool {
        guard count >= limit || version + Int64(count) >= known else { return false }
        return enumerated().allSatisfy { $1.version == version + 1 + Int64($0) }
    }
}

/// Where a partition ends.
public struct LogHead: Equatable, Sendable {
    /// The highest position that a partition can reach. No arithmetic on positions up to here overflows. No append
    /// writes anything beyond.
    public static let maximumPosition = Int64(1) << 62

    /// The partition.
    public var partition: Int
    /// The position of the last event; 0 if there is none.
    public var position: Int64
    /// The chain over every batch up to that position.
    public var digest: Digest

    /// The head of a partition.
    public init(partition: Int, position: Int64, digest: Digest) {
        self.partition = partition
        self.position = position
        self.digest = digest
    }
}

/// The outcome of a batch.
public struct AppendReceipt: Equatable, Sendable {
    /// Where the log ended before the batch.
    public var previous: LogPoint
    /// The groups that were not appended, because a stream that they write or rest on has been written since.
    public var conflicts: Set<Int32>
    /// Streams that the batch begins and the log has already. What the writer assumed about them did not come from the
    /// log: they have to be loaded from it.
    public var stale: Set<StreamName>
    /// The end of what was appended; where nothing was, the end of the log.
    public var end: LogPoint

    /// A receipt.
    public init(previous: LogPoint, conflicts: Set<Int32>, stale: Set<StreamName> = [], end: LogPoint) {
        self.previous = previous
        self.conflicts = conflicts
        self.stale = stale
        self.end = end
    }
}

/// Why the log did not do what it was asked.
public enum EventLogError: Error, Equatable, Sendable {
    /// The log cannot be reached. Nothing was accepted.
    case unavailable(String)
    /// The connection was lost after a batch had been sent.
    case outcomeUnknown(String)
    /// The log is not the one that was read: what was read is not in it any more, or something else is in its place.
    /// Nothing was accepted.
    case forked(String)
}

extension EventLogError: CustomStringConvertible {
    /// What went wrong, for an operator.
    public var description: String {
        switch self {
        case .unavailable(let reason), .outcomeUnknown(let reason), .forked(let reason): reason
        }
    }
}
