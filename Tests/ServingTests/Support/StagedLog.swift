import EventLog
import EventLoop

/// A log in memory that does what a test says: it fails, keeps its answers back, and has an index that lacks rows.
@LoopActor
final class StagedLog: EventLog {
    enum Operation { case append, appendNext, lookUp, follow, load, read, mend, heads }

    nonisolated let partitioning: Partitioning
    let inner: InMemoryEventLog
    /// What was asked for.
    private(set) var calls: [Operation] = []
    /// How the next calls fail.
    var failures: [Operation: [EventLogError]] = [:]
    /// Whose answers are kept back.
    var held: Set<Operation> = []
    /// The streams that are not loaded meanwhile.
    var heldStreams: Set<StreamName> = []
    /// The versions of streams to which the index does not lead.
    var unindexed: [StreamName: Set<Int64>] = [:]
    /// What it says of its heads, if that is not what is so.
    var claimedHeads: [LogHead]?
    private var waiting: [(operation: Operation, continuation: CheckedContinuation<Void, Never>)] = []

    init(_ inner: InMemoryEventLog = InMemoryEventLog()) {
        self.inner = inner
        partitioning = inner.partitioning
    }

    /// How many answers are kept back.
    var waitingCount: Int { waiting.count }

    /// Keeps no answers back any more.
    func release() {
        (held, heldStreams) = ([], [])
        for (_, continuation) in waiting { continuation.resume() }
        waiting = []
    }

    private func begin(_ operation: Operation) throws(EventLogError) {
        calls.append(operation)
        guard let error = failures[operation]?.first else { return }
        failures[operation]?.removeFirst()
        throw error
    }

    private func end(_ operation: Operation, _ stream: StreamName? = nil) async {
        guard held.contains(operation) || stream.map(heldStreams.contains) ?? false else { return }
        await withCheckedContinuation { waiting.append((operation, $0)) }
    }

    private func answer<Value: Sendable>(
        _ operation: Operation, _ stream: StreamName? = nil, _ body: () async throws(EventLogError) -> Value
    ) async throws(EventLogError) -> Value {
        try begin(operation)
        let value = try await body()
        await end(operation, stream)
        return value
    }

    @LoopActor func append(_ batch: EventBatch, seen: LogPoint) async throws(EventLogError) -> AppendReceipt {
        try await answer(.append) { () throws(EventLogError) in try await inner.append(batch, seen: seen) }
    }

    @LoopActor func appendNext(_ batch: EventBatch, after point: LogPoint) async throws(EventLogError) -> LogPoint? {
        try await answer(.appendNext) { () throws(EventLogError) in try await inner.appendNext(batch, after: point) }
    }

    @LoopActor func outcome(of batch: EventBatch, since seen: LogPoint) async throws(EventLogError) -> AppendReceipt? {
        try await answer(.lookUp) { () throws(EventLogError) in try await inner.outcome(of: batch, since: seen) }
    }

    @LoopActor func follow(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        try await answer(.follow) { () throws(EventLogError) in
            try await inner.follow(partition: partition, after: point, limit: limit)
        }
    }

    /// Leaves out every event of a cart that only its decider needs.
    @LoopActor func followWithoutCarts(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        var following = try await follow(partition: partition, after: point, limit: limit)
        following.events.removeAll { $0.isOfCart && !$0.kind.isOfProcess }
        return following
    }

    @LoopActor func read(partition: Int, after position: Int64, limit: Int) async throws(EventLogError)
        -> [RecordedEvent]
    {
        try await answer(.read) { () throws(EventLogError) in
            try await inner.read(partition: partition, after: position, limit: limit)
        }
    }

    @LoopActor func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int, seen: LogPoint
    ) async throws(EventLogError) -> [RecordedEvent] {
        try await answer(.load, stream) { () throws(EventLogError) in
            let all = try await inner.read(
                stream: stream, partition: partition, afterVersion: version, limit: .max, seen: seen)
            let unseen = unindexed[stream] ?? []
            return Array(all.filter { !unseen.contains($0.version) }.prefix(limit))
        }
    }

    @LoopActor func mendIndex(
        of partition: Int, _ part: IndexPart
    ) async throws(EventLogError) -> (missing: Int64, next: Int64?) {
        try begin(.mend)
        guard case .stream(let stream) = part else { return (0, nil) }
        return (Int64(unindexed.removeValue(forKey: stream)?.count ?? 0), nil)
    }

    @LoopActor func commits(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [Commit] {
        try await inner.commits(partition: partition, after: position, limit: limit)
    }

    @LoopActor func heads() async throws(EventLogError) -> [LogHead] {
        try await answer(.heads) { () throws(EventLogError) in
            if let claimedHeads { return claimedHeads }
            return try await inner.heads()
        }
    }
}
