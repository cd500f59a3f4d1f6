import EventLog
import EventLogContract
import EventLoop
import Postgres
import PostgresStorage
import SeededRandom
import TestSupport
import Testing

/// Appends of several partitions that become ready at once.
@Suite struct AppendsTogetherTests {
    private static let partitions = 8

    init() { LoopActor.startInBackground() }

    @Test @LoopActor func `Appends that become ready at once are one transaction, also while the log connects`()
        async throws
    {
        try await TestLog.with(partitions: Self.partitions) { test in
            var writers = (0..<Self.partitions).map { LogWriter(test.log, partition: $0) }
            for round in 1...3 {
                let receipts = try await appendToAll(&writers)
                #expect(receipts.allSatisfy { $0.conflicts.isEmpty })
                #expect(try await test.transactions() == round)
            }
        }
    }

    @Test @LoopActor func `Batches that follow each other in a partition leave without waiting, and arrive in order`()
        async throws
    {
        try await TestLog.with(partitions: Self.partitions) { test in
            let writing = (0..<Self.partitions).map { partition in
                Task { @LoopActor in
                    let writer = LogWriter(test.log, partition: partition)
                    var point = LogPoint.start
                    var appends: [Task<LogPoint?, any Error>] = []
                    for number in 0..<3 {
                        let (batch, seen) = (writer.batch([[.cart("c\(number)")]]), point)
                        appends.append(
                            Task { @LoopActor in
                                if number > 0 { return try await test.log.appendNext(batch, after: seen) }
                                return try await test.log.append(batch, seen: seen).end
                            })
                        await Task.yield()
                        let digest = seen.digest?.chained(to: batch.contentDigest)
                        point = LogPoint(position: seen.position + 1, digest: digest)
                    }
                    let ends = try await values(of: appends)
                    #expect(ends.map { $0?.position } == [1, 2, 3])
                    #expect(ends.last == point)
                }
            }
            _ = try await values(of: writing)
        }
    }

    @Test @LoopActor func `If one append of eight fails, the others are in the log, each by itself`() async throws {
        try await TestLog.with(partitions: Self.partitions) { test in
            var writers = (0..<Self.partitions).map { LogWriter(test.log, partition: $0) }
            _ = try await appendToAll(&writers)
            // Now the head says that a batch is not there, which is.
            try await test.owner.runScript(
                "UPDATE tiffin.log_head SET position = 0, digest = decode(repeat('00', 32), 'hex') WHERE partition = 3")
            writers[3] = LogWriter(test.log, partition: 3)
            let receipts = try await appendToAll(&writers)
            #expect(receipts.map(\.conflicts.isEmpty) == (0..<Self.partitions).map { $0 != 3 })
            #expect(receipts[3].end.position == 1)
            #expect(try await test.transactions() == 1 + Self.partitions - 1)
        }
    }

    @Test @LoopActor func `A head that somebody holds keeps the others waiting only once`() async throws {
        try await TestLog.with(partitions: Self.partitions) { test in
            var writers = (0..<Self.partitions).map { LogWriter(test.log, partition: $0) }
            _ = try await appendToAll(&writers)
            // The first time, the transaction is undone, and each of the others is one.
            for most in [Self.partitions - 1, 1] {
                let before = try await test.transactions()
                let held = try await test.withHeadLocked {
                    let batch = writers[0].batch([[.cart("c")]])
                    let (log, seen) = (test.log, writers[0].seen)
                    let held = Task { @LoopActor in try await log.append(batch, seen: seen) }
                    var free = Array(writers.dropFirst())
                    #expect(try await appendToAll(&free).allSatisfy { $0.conflicts.isEmpty })
                    writers.replaceSubrange(1..., with: free)
                    try await test.owner.wait(forSessions: 1, where: PostgresConnection.blocked)
                    #expect(try await test.transactions() - before <= most)
                    return held
                }
                #expect(try await held.value.conflicts.isEmpty)
                try await writers[0].catchUp()
                // So that it is contended when the head is held again.
                _ = try await LogWriter(test.log).append([[.cart("z\(most)")]])
                let late = try await writers[0].append([[.cart("y\(most)")]])
                #expect(late.conflicts.isEmpty)
                try await writers[0].catchUp()
            }
            // Once it found its head, it leaves with the others again.
            _ = try await appendToAll(&writers)
            let before = try await test.transactions()
            _ = try await appendToAll(&writers)
            #expect(try await test.transactions() - before == 1)
        }
    }

    @Test(arguments: SeededGenerator.seeds.prefix(6)) @LoopActor
    func `Whenever the sessions end, nothing is lost and nothing is there twice`(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await TestLog.with(partitions: Self.partitions) { test in
            let rounds = 15
            let writing = (0..<Self.partitions).map { partition in
                Task { @LoopActor in try await write(rounds, to: test.log, partition: partition) }
            }
            for _ in 0..<30 {
                for _ in 0..<Int.random(in: 0...8, using: &random) {
                    try await test.owner.wait(forSessions: 0, where: PostgresConnection.blocked)
                }
                try await test.terminateWriters()
            }
            _ = try await values(of: writing)
            for partition in 0..<Self.partitions {
                let events = try await test.log.read(partition: partition, after: 0, limit: .max)
                #expect(
                    events.map { String(decoding: $0.payload, as: UTF8.self) }
                        == (0..<rounds).map { #"{"count":\#($0)}"# })
                let digest = events.reduce(Digest.zero) { referenceChain($0, [$1]) }
                #expect(try await test.log.heads()[partition].digest == digest)
            }
        }
    }

    @Test @LoopActor func `Servers that append to the same partitions never wait for each other in a circle`()
        async throws
    {
        try await TestLog.with(partitions: Self.partitions) { test in
            let logs = [
                test.log, try await PostgresEventLog.open(test.database),
                try await PostgresEventLog.open(test.database),
            ]
            defer { for log in logs.dropFirst() { log.close() } }
            let writing = logs.flatMap { log in
                (0..<Self.partitions).map { partition in
                    Task { @LoopActor in try await write(20, to: log, partition: partition) }
                }
            }
            _ = try await values(of: writing)
            for head in try await test.log.heads() { #expect(head.position == Int64(20 * logs.count)) }
            let deadlocks = Statement(
                "deadlocks", "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
            #expect(try await test.owner.execute(deadlocks).int8(0, 0) == 0)
        }
    }

    /// Appends an event to each partition at once.
    @LoopActor private func appendToAll(_ writers: inout [LogWriter]) async throws -> [AppendReceipt] {
        let appends = writers.map { writer in
            let batch = writer.batch([[.cart("c")]])
            return Task { @LoopActor in try await writer.append(batch) }
        }
        let receipts = try await values(of: appends)
        for index in writers.indices { try await writers[index].catchUp() }
        return receipts
    }

    @LoopActor private func values<Value: Sendable>(of tasks: [Task<Value, any Error>]) async throws -> [Value] {
        var values: [Value] = []
        for task in tasks { values.append(try await task.value) }
        return values
    }

    /// Appends so many marked events, each after the one before, as a server does whose connections may end.
    @LoopActor private func write(_ count: Int, to log: PostgresEventLog, partition: Int) async throws {
        var writer = LogWriter(log, partition: partition)
        for mark in 0..<count {
            var isThere = false
            while !isThere {
                try await writer.catchUp()
                let batch = writer.batch([[.cart("c")]], marks: [mark])
                do {
                    isThere = try await writer.append(batch).conflicts.isEmpty
                } catch EventLogError.unavailable {
                    continue
                } catch EventLogError.outcomeUnknown {
                    isThere = try await outcome(of: batch, since: writer.seen, log)
                }
            }
        }
    }

    /// Asks until there is an answer.
    @LoopActor private func outcome(
        of batch: EventBatch, since seen: LogPoint, _ log: PostgresEventLog
    ) async throws -> Bool {
        while true {
            do {
                guard let receipt = try await log.outcome(of: batch, since: seen) else { return false }
                return receipt.conflicts.isEmpty
            } catch {
                guard case .forked = error else { continue }
                throw error
            }
        }
    }
}

extension TestLog {
    /// How many transactions have appended batches.
    fileprivate func transactions() async throws -> Int {
        let statement = Statement("transactions", "SELECT count(DISTINCT xmin::text) FROM tiffin.batches")
        return Int(try await owner.execute(statement).int8(0, 0))
    }
}
