import EventLog

/// A log in memory whose next operations fail as requested.
actor FaultyLog: EventLog {
    enum AppendFault {
        /// Nothing is appended, and the writer is told so.
        case refused
        /// Nothing is appended, and the writer is not told.
        case lostBefore
        /// The batch is appended, and the writer is not told.
        case lostAfter
    }

    nonisolated let partitioning = Partitioning(count: 1)
    let inner = InMemoryEventLog()
    private var appendFaults: [AppendFault] = []
    private var outcomeFaults = 0
    private var readsBeforeFaults = 0
    private var readFaults = 0
    private var streamReadFaults = 0
    /// Called with each batch before it is appended: a writer that appends first here makes it conflict.
    private var rival: (@Sendable (EventBatch, InMemoryEventLog) async -> Void)?

    func fail(
        appends: [AppendFault] = [], outcomes: Int = 0, reads: Int = 0, afterReads: Int = 0, streamReads: Int = 0
    ) {
        appendFaults = appends
        outcomeFaults = outcomes
        readsBeforeFaults = afterReads
        readFaults = reads
        streamReadFaults = streamReads
    }

    func setRival(_ rival: (@Sendable (EventBatch, InMemoryEventLog) async -> Void)?) { self.rival = rival }

    func append(_ batch: EventBatch, seen: LogPoint) async throws(EventLogError) -> AppendReceipt {
        if let rival { await rival(batch, inner) }
        guard !appendFaults.isEmpty else { return try await inner.append(batch, seen: seen) }
        switch appendFaults.removeFirst() {
        case .refused: throw .unavailable("refused")
        case .lostBefore: throw .outcomeUnknown("lost before")
        case .lostAfter:
            _ = try await inner.append(batch, seen: seen)
            throw .outcomeUnknown("lost after")
        }
    }

    func appendNext(_ batch: EventBatch, after point: LogPoint) async throws(EventLogError) -> LogPoint? {
        try await inner.appendNext(batch, after: point)
    }

    func outcome(of batch: EventBatch, since seen: LogPoint) async throws(EventLogError) -> AppendReceipt? {
        try FaultyLog.fail(&outcomeFaults)
        return try await inner.outcome(of: batch, since: seen)
    }

    func read(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [RecordedEvent] {
        try await inner.read(partition: partition, after: position, limit: limit)
    }

    func follow(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        if readsBeforeFaults > 0 { readsBeforeFaults -= 1 } else { try FaultyLog.fail(&readFaults) }
        return try await inner.follow(partition: partition, after: point, limit: limit)
    }

    func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int, seen: LogPoint
    ) async throws(EventLogError) -> [RecordedEvent] {
        try FaultyLog.fail(&streamReadFaults)
        return try await inner.read(
            stream: stream, partition: partition, afterVersion: version, limit: limit, seen: seen)
    }

    func commits(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [Commit] {
        try await inner.commits(partition: partition, after: position, limit: limit)
    }

    func heads() async throws(EventLogError) -> [LogHead] { try await inner.heads() }

    private static func fail(_ faults: inout Int) throws(EventLogError) {
        guard faults > 0 else { return }
        faults -= 1
        throw .unavailable("out of reach")
    }
}
