internal import Domain
package import EventLog
package import EventLoop

/// A log whose partitions live in several databases: each question goes to the database of its partition. If that
/// one says that the partition has moved, or lacks what was read there, it is looked for.
@LoopActor
package final class SpreadLog: EventLog {
    /// How long a question waits for a partition that is on its way, in nanoseconds.
    private static let patience: UInt64 = 1_000_000_000
    /// How long to wait before it is looked for again, in milliseconds.
    private static let pause: UInt64 = 20

    package nonisolated let partitioning: Partitioning
    private let logs: [PostgresEventLog]
    private let places: PartitionPlaces
    /// Called when a database has lost what was read of it.
    var onFork: (@LoopActor () -> Void)?

    init(_ logs: [PostgresEventLog], _ places: PartitionPlaces) {
        partitioning = logs[0].partitioning
        self.logs = logs
        self.places = places
    }

    private func ask<Answer>(
        _ partition: Int, _ question: (PostgresEventLog) async throws(EventLogError) -> Answer
    ) async throws(EventLogError) -> Answer {
        let end = LoopActor.now + SpreadLog.patience
        while true {
            let place = places[partition]
            do throws(EventLogError) {
                return try await question(logs[place])
            } catch {
                switch error {
                case .forked, .moved: await places.look()
                default: throw error
                }
                if places[partition] != place { continue }
                if case .forked = error { onFork?() }
                guard error == .moved, LoopActor.now < end else { throw error }
            }
            await LoopTimer.pause(milliseconds: SpreadLog.pause)
        }
    }

    /// The same of a question that names no point. A database from which the partition was moved has nothing of it.
    private func askForSome<Answer>(
        _ partition: Int, _ question: (PostgresEventLog) async throws(EventLogError) -> Answer,
        isEmpty: (Answer) -> Bool
    ) async throws(EventLogError) -> Answer {
        try await ask(partition) { log throws(EventLogError) in
            let answer = try await question(log)
            guard isEmpty(answer) else { return answer }
            // It may have come back since it was asked.
            if try await log.isOpen(partition) { return try await question(log) }
            try await checkPlace(of: partition)
            return answer
        }
    }

    /// Makes sure that a partition that does not live where it was read lives nowhere else yet.
    private func checkPlace(of partition: Int) async throws(EventLogError) {
        let place = places[partition]
        let isComplete = await places.look()
        guard isComplete, places[partition] == place else { throw .moved }
    }

    // MARK: Writing

    @LoopActor
    package func append(_ batch: EventBatch, seen: LogPoint) async throws(EventLogError) -> AppendReceipt {
        try await ask(batch.partition) { log throws(EventLogError) in try await log.append(batch, seen: seen) }
    }

    @LoopActor
    package func appendNext(_ batch: EventBatch, after point: LogPoint) async throws(EventLogError) -> LogPoint? {
        try await logs[places[batch.partition]].appendNext(batch, after: point)
    }

    @LoopActor
    package func outcome(of batch: EventBatch, since seen: LogPoint) async throws(EventLogError) -> AppendReceipt? {
        try await ask(batch.partition) { log throws(EventLogError) in try await log.outcome(of: batch, since: seen) }
    }

    @LoopActor
    package func end(of partition: Int) async throws(EventLogError) -> LogPoint {
        try await ask(partition) { log throws(EventLogError) in
            let (end, isOpen) = try await log.placedEnd(of: partition)
            if !isOpen { try await checkPlace(of: partition) }
            return end
        }
    }

    // MARK: Reading

    @LoopActor
    package func follow(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        try await ask(partition) { log throws(EventLogError) in
            try await log.follow(partition: partition, after: point, limit: limit)
        }
    }

    @LoopActor
    package func followWithoutCarts(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        try await ask(partition) { log throws(EventLogError) in
            try await log.followWithoutCarts(partition: partition, after: point, limit: limit)
        }
    }

    @LoopActor
    package func read(
        partition: Int, after position: Int64, limit: Int
    ) async throws(EventLogError) -> [RecordedEvent] {
        try await askForSome(partition) { log throws(EventLogError) in
            try await log.read(partition: partition, after: position, limit: limit)
        } isEmpty: {
            $0.isEmpty
        }
    }

    @LoopActor
    package func page(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> EventPage {
        try await askForSome(partition) { log throws(EventLogError) in
            try await log.page(partition: partition, after: position, limit: limit)
        } isEmpty: {
            $0.isEmpty
        }
    }

    @LoopActor
    package func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int, seen: LogPoint
    ) async throws(EventLogError) -> [RecordedEvent] {
        try await askForSome(partition) { log throws(EventLogError) in
            try await log.read(
                stream: stream, partition: partition, afterVersion: version, limit: limit, seen: seen)
        } isEmpty: {
            // Otherwise it is known whether the log has the point.
            $0.isEmpty && seen.position == 0
        }
    }

    @LoopActor
    package func commits(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [Commit] {
        try await askForSome(partition) { log throws(EventLogError) in
            try await log.commits(partition: partition, after: position, limit: limit)
        } isEmpty: {
            $0.isEmpty
        }
    }

    @LoopActor
    package func heads() async throws(EventLogError) -> [LogHead] {
        let heads = await knownHeads()
        guard heads.count == partitionCount else {
            throw .unavailable("one of the log's databases cannot be reached")
        }
        return heads
    }

    @LoopActor
    package func knownHeads() async -> [LogHead] {
        await places.look()
        return places.knownHeads
    }

    @LoopActor
    package func indexStreams(of partition: Int) async throws(EventLogError) {
        try await logs[places[partition]].indexStreams(of: partition)
    }

    @LoopActor
    package func mendIndex(
        of partition: Int, _ part: IndexPart
    ) async throws(EventLogError) -> (missing: Int64, next: Int64?) {
        try await logs[places[partition]].mendIndex(of: partition, part)
    }

    @LoopActor
    package func treeNode(of partition: Int, upTo position: Int64) async throws(EventLogError) -> TreeNode? {
        try await logs[places[partition]].treeNode(of: partition, upTo: position)
    }

    @LoopActor
    package func treeNodes(
        of partition: Int, level: Int, numbers: Range<Int64>
    ) async throws(EventLogError) -> [TreeNode] {
        try await logs[places[partition]].treeNodes(of: partition, level: level, numbers: numbers)
    }

    @LoopActor
    package func growTree(of partition: Int, anew: Bool) async throws(EventLogError) {
        try await logs[places[partition]].growTree(of: partition, anew: anew)
    }

    @LoopActor
    package func signedHead(of partition: Int) async throws(EventLogError) -> PublishedHead? {
        // The first has what is published, as it has users and relays.
        try await logs[0].signedHead(of: partition)
    }
}
