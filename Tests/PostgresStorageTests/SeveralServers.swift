import EventLog
import EventLoop
import PostgresStorage

/// Several servers' logs on one database that take turns, call by call.
@LoopActor
final class SeveralServers: EventLog {
    nonisolated let partitioning: Partitioning
    private let logs: [PostgresEventLog]
    private var turn = 0

    init(_ count: Int, _ database: String) async throws {
        var logs: [PostgresEventLog] = []
        for _ in 0..<count { logs.append(try await PostgresEventLog.open(database)) }
        self.logs = logs
        partitioning = logs[0].partitioning
    }

    func close() {
        for log in logs { log.close() }
    }

    func append(_ batch: EventBatch, seen: LogPoint) async throws(EventLogError) -> AppendReceipt {
        try await next().append(batch, seen: seen)
    }

    func appendNext(_ batch: EventBatch, after point: LogPoint) async throws(EventLogError) -> LogPoint? {
        try await next().appendNext(batch, after: point)
    }

    func outcome(of batch: EventBatch, since seen: LogPoint) async throws(EventLogError) -> AppendReceipt? {
        try await next().outcome(of: batch, since: seen)
    }

    func read(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [RecordedEvent] {
        try await next().read(partition: partition, after: position, limit: limit)
    }

    func follow(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        try await next().follow(partition: partition, after: point, limit: limit)
    }

    func followWithoutCarts(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        try await next().followWithoutCarts(partition: partition, after: point, limit: limit)
    }

    func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int, seen: LogPoint
    ) async throws(EventLogError) -> [RecordedEvent] {
        try await next().read(stream: stream, partition: partition, afterVersion: version, limit: limit, seen: seen)
    }

    func commits(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [Commit] {
        try await next().commits(partition: partition, after: position, limit: limit)
    }

    func end(of partition: Int) async throws(EventLogError) -> LogPoint { try await next().end(of: partition) }

    func heads() async throws(EventLogError) -> [LogHead] { try await next().heads() }

    func indexStreams(of partition: Int) async throws(EventLogError) { try await next().indexStreams(of: partition) }

    private func next() -> PostgresEventLog {
        turn = (turn + 1) % logs.count
        return logs[turn]
    }
}
