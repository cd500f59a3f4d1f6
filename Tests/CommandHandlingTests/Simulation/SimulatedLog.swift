import EventLog
import SeededRandom

/// A log in memory whose answers come late, and sometimes not at all, as its seed says.
actor SimulatedLog: EventLog {
    nonisolated let partitionCount = 1
    let inner = InMemoryEventLog()
    private let scheduler: Scheduler
    private var generator: SeededGenerator
    private var isCalm = false
    private var darkOutcomes = 0

    init(_ scheduler: Scheduler, seed: UInt64) {
        self.scheduler = scheduler
        generator = SeededGenerator(seed: seed)
    }

    /// From now on nothing fails.
    func calmDown() {
        isCalm = true
        darkOutcomes = 0
    }

    private func fails(_ percent: Int) -> Bool { generator.chance(percent) && !isCalm }

    func append(_ batch: EventBatch, seen: Int64) async throws(EventLogError) -> AppendReceipt {
        await scheduler.pause()
        if fails(8) { throw .unavailable("refused") }
        if fails(8) { throw lost() }
        let receipt = try await inner.append(batch, seen: seen)
        await scheduler.pause()
        if fails(12) { throw lost() }
        return receipt
    }

    private func lost() -> EventLogError {
        darkOutcomes = fails(25) ? 100 : generator.number(0..<3)
        return .outcomeUnknown("lost")
    }

    func outcome(of batch: EventBatch, since seen: Int64) async throws(EventLogError) -> AppendReceipt? {
        if darkOutcomes > 0 {
            darkOutcomes -= 1
            throw .unavailable("dark")
        }
        await scheduler.pause()
        return try await inner.outcome(of: batch, since: seen)
    }

    func read(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [RecordedEvent] {
        await scheduler.pause()
        if fails(10) { throw .unavailable("unread") }
        // Small pages, so that there are several.
        let events = try await inner.read(partition: partition, after: position, limit: min(limit, 7))
        await scheduler.pause()
        return events
    }

    func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int
    ) async throws(EventLogError) -> [RecordedEvent] {
        await scheduler.pause()
        if fails(15) { throw .unavailable("unread") }
        let events = try await inner.read(stream: stream, partition: partition, afterVersion: version, limit: limit)
        await scheduler.pause()
        return events
    }

    func commits(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [Commit] {
        try await inner.commits(partition: partition, after: position, limit: limit)
    }

    func heads() async throws(EventLogError) -> [LogHead] { try await inner.heads() }
}
