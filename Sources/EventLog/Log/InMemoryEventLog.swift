/// A log in memory: for tests, and as the simplest definition of what a log does.
public actor InMemoryEventLog: EventLog {
    /// See ``EventLog``.
    public nonisolated let partitionCount: Int

    private struct Partition {
        var events: [RecordedEvent] = []
        var commits: [Commit] = []
        var digest: Digest { commits.last?.chainDigest ?? .zero }
        /// The receipts of batches by content, for ``outcome(of:since:)``.
        var receipts: [Digest: AppendReceipt] = [:]
    }
    private var partitions: [Partition]

    /// An empty log.
    public init(partitionCount: Int = 1) {
        self.partitionCount = partitionCount
        partitions = Array(repeating: Partition(), count: partitionCount)
    }

    /// See ``EventLog``.
    public func append(_ batch: EventBatch, seen: Int64) throws(EventLogError) -> AppendReceipt {
        let partition = partitions[batch.partition]
        let previous = Int64(partition.events.count)
        precondition(seen <= previous, "a writer cannot have seen what is not there")
        let written = Set(partition.events.dropFirst(Int(seen)).map(\.stream))
        let conflicts = Set(
            zip(batch.events, batch.groups).filter { written.contains($0.0.stream.description) }.map(\.1))
        let accepted = zip(batch.events, batch.groups).filter { !conflicts.contains($0.1) }.map(\.0)
        let receipt = AppendReceipt(previousPosition: previous, conflicts: conflicts)
        guard !accepted.isEmpty else { return receipt }
        let stale = staleStreams(of: accepted, in: partition)
        guard stale.isEmpty else {
            return AppendReceipt(previousPosition: previous, conflicts: Set(batch.groups), stale: stale)
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
        partitions[batch.partition].receipts[batch.contentDigest] = receipt
        return receipt
    }

    /// The streams that the events begin and the log has.
    private func staleStreams(of events: [NewEvent], in partition: Partition) -> Set<StreamName> {
        Set(
            events.lazy.filter { $0.version == 1 }.map(\.stream).filter { stream in
                let name = stream.description
                return partition.events.contains { $0.stream == name }
            })
    }

    /// See ``EventLog``.
    public func outcome(of batch: EventBatch, since seen: Int64) throws(EventLogError) -> AppendReceipt? {
        partitions[batch.partition].receipts[batch.contentDigest]
    }

    /// See ``EventLog``.
    public func read(partition: Int, after position: Int64, limit: Int) throws(EventLogError) -> [RecordedEvent] {
        Array(partitions[partition].events.dropFirst(Int(position)).prefix(limit))
    }

    /// See ``EventLog``.
    public func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int
    ) throws(EventLogError) -> [RecordedEvent] {
        let name = stream.description
        return Array(
            partitions[partition].events.lazy.filter { $0.stream == name && $0.version > version }.prefix(limit))
    }

    /// See ``EventLog``.
    public func commits(partition: Int, after position: Int64, limit: Int) throws(EventLogError) -> [Commit] {
        Array(partitions[partition].commits.drop { $0.lastPosition <= position }.prefix(limit))
    }

    /// See ``EventLog``.
    public func heads() throws(EventLogError) -> [LogHead] {
        partitions.enumerated().map { index, partition in
            LogHead(partition: index, position: Int64(partition.events.count), digest: partition.digest)
        }
    }

    /// Adds an event without any check, for tests of damaged logs.
    public func damage(with event: RecordedEvent) {
        partitions[event.partition].events.append(event)
    }
}
