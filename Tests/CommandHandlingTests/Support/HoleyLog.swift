import EventLog

/// A log from which somebody has removed events.
actor HoleyLog: EventLog {
    nonisolated let partitioning = Partitioning(count: 1)
    private let whole: InMemoryEventLog
    private var removed: Set<Int64> = []

    init(_ whole: InMemoryEventLog) {
        self.whole = whole
    }

    func remove(_ positions: Set<Int64>) { removed.formUnion(positions) }

    func append(_ batch: EventBatch, seen: LogPoint) async throws(EventLogError) -> AppendReceipt {
        try await whole.append(batch, seen: seen)
    }

    func appendNext(_ batch: EventBatch, after point: LogPoint) async throws(EventLogError) -> LogPoint? {
        try await whole.appendNext(batch, after: point)
    }

    func outcome(of batch: EventBatch, since seen: LogPoint) async throws(EventLogError) -> AppendReceipt? {
        try await whole.outcome(of: batch, since: seen)
    }

    func read(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [RecordedEvent] {
        let events = try await whole.read(partition: partition, after: position, limit: .max)
        return Array(events.lazy.filter { !self.removed.contains($0.position) }.prefix(limit))
    }

    func follow(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        var following = try await whole.follow(partition: partition, after: point, limit: limit)
        following.events.removeAll { removed.contains($0.position) }
        return following
    }

    func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int, seen: LogPoint
    ) async throws(EventLogError) -> [RecordedEvent] {
        let events = try await whole.read(
            stream: stream, partition: partition, afterVersion: version, limit: .max, seen: seen)
        return Array(events.lazy.filter { !self.removed.contains($0.position) }.prefix(limit))
    }

    func commits(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [Commit] {
        try await whole.commits(partition: partition, after: position, limit: limit)
    }

    func heads() async throws(EventLogError) -> [LogHead] { try await whole.heads() }
}
