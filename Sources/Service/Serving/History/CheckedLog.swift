internal import EventLog
internal import EventLoop
internal import Projections

/// The log for those who read its history. A stream that is known to have more events than its index of streams leads to
/// is read again once the index is mended: what is derived does not decide.
@LoopActor
final class CheckedLog: EventLog {
    nonisolated let partitioning: Partitioning
    private let log: any EventLog
    private let partitions: Partitions

    init(_ log: any EventLog, _ partitions: Partitions) {
        self.log = log
        self.partitions = partitions
        partitioning = log.partitioning
    }

    /// How many events a stream has at least; nil if that cannot be told, and the highest number if a read is to look for
    /// the stream in all batches.
    private func leastVersion(of stream: StreamName, in partition: Int) async -> Int64? {
        guard partitions.workers.indices.contains(partition) else { return nil }
        let worker = partitions[partition]
        return await worker.leastVersion(of: stream, upTo: worker.position)
    }

    @LoopActor
    func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int, seen: LogPoint
    ) async throws(EventLogError) -> [RecordedEvent] {
        // Before the log is read: what the read model has later need not be there yet.
        let least = await leastVersion(of: stream, in: partition)
        let events = try await log.read(
            stream: stream, partition: partition, afterVersion: version, limit: limit, seen: seen)
        guard let least, !events.continues(version, to: least, limit: limit),
            try await log.mendIndex(of: partition, .stream(stream)).missing > 0
        else { return events }
        return try await log.read(
            stream: stream, partition: partition, afterVersion: version, limit: limit, seen: seen)
    }

    // MARK: Passed on

    func append(_ batch: EventBatch, seen: LogPoint) async throws(EventLogError) -> AppendReceipt {
        try await log.append(batch, seen: seen)
    }

    func appendNext(_ batch: EventBatch, after point: LogPoint) async throws(EventLogError) -> LogPoint? {
        try await log.appendNext(batch, after: point)
    }

    func outcome(of batch: EventBatch, since seen: LogPoint) async throws(EventLogError) -> AppendReceipt? {
        try await log.outcome(of: batch, since: seen)
    }

    func follow(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        try await log.follow(partition: partition, after: point, limit: limit)
    }

    func followWithoutCarts(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        try await log.followWithoutCarts(partition: partition, after: point, limit: limit)
    }

    func end(of partition: Int) async throws(EventLogError) -> LogPoint { try await log.end(of: partition) }

    func read(
        partition: Int, after position: Int64, limit: Int
    ) async throws(EventLogError) -> [RecordedEvent] {
        try await log.read(partition: partition, after: position, limit: limit)
    }

    func page(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> EventPage {
        try await log.page(partition: partition, after: position, limit: limit)
    }

    func commits(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [Commit] {
        try await log.commits(partition: partition, after: position, limit: limit)
    }

    func heads() async throws(EventLogError) -> [LogHead] { try await log.heads() }

    func indexStreams(of partition: Int) async throws(EventLogError) {
        try await log.indexStreams(of: partition)
    }

    func mendIndex(
        of partition: Int, _ part: IndexPart
    ) async throws(EventLogError) -> (missing: Int64, next: Int64?) {
        try await log.mendIndex(of: partition, part)
    }

    func treeNode(of partition: Int, upTo position: Int64) async throws(EventLogError) -> TreeNode? {
        try await log.treeNode(of: partition, upTo: position)
    }

    func treeNodes(
        of partition: Int, level: Int, numbers: Range<Int64>
    ) async throws(EventLogError) -> [TreeNode] {
        try await log.treeNodes(of: partition, level: level, numbers: numbers)
    }

    func growTree(of partition: Int, anew: Bool) async throws(EventLogError) {
        try await log.growTree(of: partition, anew: anew)
    }

    func signedHead(of partition: Int) async throws(EventLogError) -> PublishedHead? {
        try await log.signedHead(of: partition)
    }
}
