/// A log in memory: for tests, and as the simplest definition of what a log does.
public actor InMemoryEventLog: EventLog {
    public nonisolated let partitioning: Partitioning

    private struct Partition {
        var events: [RecordedEvent] = []
        var commits: [Commit] = []
        var digest: Digest { commits.last?.chainDigest ?? .zero }
        var end: LogPoint { LogPoint(position: Int64(events.count), digest: digest) }
        /// The receipts of batches by content, for ``outcome(of:since:)``.
        var receipts: [Digest: AppendReceipt] = [:]
    }
    private var partitions: [Partition]

    /// An empty log.
    public init(partitionCount: Int = 1, by rule: Partitioning.Rule = .slots) {
        partitioning = Partitioning(count: partitionCount, by: rule)
        partitions = Array(repeating: Partition(), count: partitionCount)
    }

    public func append(_ batch: EventBatch, seen: LogPoint) throws(EventLogError) -> AppendReceipt {
        try check(seen, batch.partition)
        let partition = partitions[batch.partition]
        let previous = Int64(partition.events.count)
        let written = Set(partition.events.dropFirst(Int(seen.position)).map(\.stream))
        let conflicts = batch.conflicts(with: written)
        let accepted = zip(batch.events, batch.groups).filter { !conflicts.contains($0.1) }.map(\.0)
        guard !accepted.isEmpty else {
            return AppendReceipt(previous: partition.end, conflicts: conflicts, end: partition.end)
        }
        let stale = staleStreams(of: accepted, in: partition)
        guard stale.isEmpty else {
            return AppendReceipt(
                previous: partition.end, conflicts: Set(batch.groups), stale: stale, end: partition.end)
        }

        for (offset, event) in accepted.enumerated() {
            partitions[batch.partition].events.append(
                RecordedEvent(
                    partition: batch.partition, position: previous + Int64(offset) + 1,
                    stream: event.stream.description, version: event.version, kind: event.kind,
                    payload: event.payload, metadata: event.metadata, recordedAt: batch.recordedAt))
        }
        let content =
            conflicts.isEmpty
            ? batch.contentDigest : EventBatch.contentDigest(of: accepted, recordedAt: batch.recordedAt)
        partitions[batch.partition].commits.append(
            Commit(
                partition: batch.partition, firstPosition: previous + 1,
                lastPosition: previous + Int64(accepted.count), contentDigest: content,
                chainDigest: partition.digest.chained(to: content), recordedAt: batch.recordedAt))
        let receipt = AppendReceipt(
            previous: partition.end, conflicts: conflicts, end: partitions[batch.partition].end)
        partitions[batch.partition].receipts[batch.contentDigest] = receipt
        return receipt
    }

    public func appendNext(_ batch: EventBatch, after point: LogPoint) throws(EventLogError) -> LogPoint? {
        guard point == partitions[batch.partition].end else { return nil }
        let receipt = try append(batch, seen: point)
        return receipt.stale.isEmpty ? receipt.end : nil
    }

    /// Fails if the log does not have the point.
    private func check(_ point: LogPoint, _ partition: Int) throws(EventLogError) {
        let commits = partitions[partition].commits
        guard point.position <= partitions[partition].events.count else {
            throw .forked("the log ends at \(partitions[partition].events.count), before position \(point.position)")
        }
        guard let digest = point.digest, point.position > 0,
            let commit = commits.first(where: { $0.lastPosition >= point.position })
        else { return }
        guard commit.lastPosition == point.position, commit.chainDigest == digest else {
            throw .forked("the log has other events up to position \(point.position)")
        }
    }

    /// The streams that the events begin and the log has.
    private func staleStreams(of events: [NewEvent], in partition: Partition) -> Set<StreamName> {
        Set(
            events.lazy.filter { $0.version == 1 }.map(\.stream).filter { stream in
                let name = stream.description
                return partition.events.contains { $0.stream == name }
            })
    }

    public func outcome(of batch: EventBatch, since seen: LogPoint) throws(EventLogError) -> AppendReceipt? {
        partitions[batch.partition].receipts[batch.contentDigest]
    }

    public func follow(
        partition: Int, after point: LogPoint, limit: Int
    ) throws(EventLogError) -> FollowingEvents {
        try check(point, partition)
        let all = partitions[partition]
        var end = point
        for commit in all.commits where commit.lastPosition > point.position {
            end = LogPoint(position: commit.lastPosition, digest: commit.chainDigest)
            if end.position - point.position >= limit { break }
        }
        return FollowingEvents(events: Array(all.events[Int(point.position)..<Int(end.position)]), end: end)
    }

    public func read(partition: Int, after position: Int64, limit: Int) throws(EventLogError) -> [RecordedEvent] {
        Array(partitions[partition].events.dropFirst(Int(position)).prefix(limit))
    }

    public func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int, seen: LogPoint
    ) throws(EventLogError) -> [RecordedEvent] {
        try check(seen, partition)
        let name = stream.description
        return Array(
            partitions[partition].events.lazy.filter { $0.stream == name && $0.version > version }.prefix(limit))
    }

    public func commits(partition: Int, after position: Int64, limit: Int) throws(EventLogError) -> [Commit] {
        Array(partitions[partition].commits.drop { $0.lastPosition <= position }.prefix(limit))
    }

    public func heads() throws(EventLogError) -> [LogHead] {
        partitions.enumerated().map { index, partition in
            LogHead(partition: index, position: Int64(partition.events.count), digest: partition.digest)
        }
    }

    /// Drops the newest batches, as a database does that goes back to an older copy. For tests.
    public func lose(batches count: Int, of partition: Int = 0) {
        partitions[partition].commits.removeLast(count)
        let end = Int(partitions[partition].commits.last?.lastPosition ?? 0)
        partitions[partition].events.removeSubrange(end...)
        partitions[partition].receipts = partitions[partition].receipts.filter { $0.value.end.position <= end }
    }

    /// Adds an event without any check, for tests of damaged logs.
    public func damage(with event: RecordedEvent) {
        let digest = partitions[event.partition].digest
        partitions[event.partition].events.append(event)
        partitions[event.partition].commits.append(
            Commit(
                partition: event.partition, firstPosition: event.position, lastPosition: event.position,
                contentDigest: .zero, chainDigest: digest.chained(to: .zero), recordedAt: event.recordedAt))
    }
}
