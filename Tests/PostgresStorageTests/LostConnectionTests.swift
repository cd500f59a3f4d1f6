import EventLog
import EventLogContract
import EventLoop
import Postgres
import PostgresStorage
import SeededRandom
import TestSupport
import Testing

/// What a writer learns when its session ends in the middle of an append.
@Suite struct LostConnectionTests {
    init() { LoopActor.startInBackground() }

    @Test @LoopActor func `An append that was ended while it waited is not in the log`() async throws {
        try await TestLog.with { test in
            let batch = LogWriter(test.log).batch([[.cart("a")]])
            let result = try await test.withHeadLocked {
                let append = Task { try await test.log.append(batch, seen: .start) }
                try await test.owner.wait(forSessions: 1, where: PostgresConnection.blocked)
                try await test.terminateWriters()
                return await append.result
            }
            expectOutcomeUnknown(result)
            #expect(try await test.log.outcome(of: batch, since: .start) == nil)
            #expect(try await test.log.append(batch, seen: .start) == .whole(batch))
        }
    }

    @Test @LoopActor func `A batch that was declared not to be in the log does not get in later`() async throws {
        try await TestLog.with { test in
            let batch = LogWriter(test.log).batch([[.cart("a")]])
            #expect(try await test.log.outcome(of: batch, since: .start) == nil)
            // The same through a connection that was believed dead: it knows the earlier epoch.
            let late = Statement(
                "late_append",
                """
                SELECT previous_position FROM tiffin.append(
                    0::smallint, 0, NULL, 0, $1, now(), 1, E'cart-a\\t1\\tcart.cleared\\t1\\t{"count":1}\\t{}', '{}', $2,
                    '{}', '{}', true)
                """, [.bytea, .int4Array])
            for groups in [Parameter.null, .array([Int32(7)])] {
                let rows = try await test.owner.execute(late, [.bytes(batch.contentDigest.bytes), groups])
                #expect(rows.isNull(0, 0))
            }
            #expect(try await test.log.heads().map(\.position) == [0])
            // A live writer continues, whichever epoch it knew.
            let other = try await PostgresEventLog.open(test.database)
            defer { other.close() }
            #expect(try await test.log.outcome(of: batch, since: .start) == nil)
            #expect(try await other.append(batch, seen: .start) == .whole(batch))
        }
    }

    /// Between the commit and its answer a session waits only for a standby; if there is none, it waits until it
    /// ends. All databases of a server wait then, so this one has a server of its own.
    @Test @LoopActor func `An append that was committed and not answered is in the log`() async throws {
        let directory = try TemporaryDirectory.make(openToAll: true)
        try TemporaryDirectory.removeAtExit(directory)
        let server = try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        try await TestLog.with(database: server.connectionString) { test in
            try await test.setStandby("nobody")
            let batch = LogWriter(test.log).batch([[.cart("a")]])
            let append = Task { try await test.log.append(batch, seen: .start) }
            try await test.owner.wait(forSessions: 1, where: "wait_event = 'SyncRep'")
            try await test.terminateWriters()
            expectOutcomeUnknown(await append.result)
            try await test.setStandby("")
            #expect(try await test.log.outcome(of: batch, since: .start) == .whole(batch))
        }
        await server.stop()
    }

    @Test @LoopActor func `The outcome of an append that is still under way is waited for`() async throws {
        try await TestLog.with { test in
            let batch = LogWriter(test.log).batch([[.cart("a")]])
            let (result, outcome) = try await test.withHeadLocked {
                let append = Task { try await test.log.append(batch, seen: .start) }
                try await test.owner.wait(forSessions: 1, where: PostgresConnection.blocked)
                // The server does not notice: it continues with the statement.
                test.log.close()
                let result = await append.result
                let outcome = Task { try await test.log.outcome(of: batch, since: .start) }
                try await test.owner.wait(forSessions: 2, where: PostgresConnection.blocked)
                return (result, outcome)
            }
            expectOutcomeUnknown(result)
            #expect(try await outcome.value == .whole(batch))
        }
    }

    @Test(arguments: SeededGenerator.seeds.prefix(8)) @LoopActor
    func `The outcome is the truth, whenever the session ended`(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await TestLog.with { test in
            var writer = LogWriter(test.log)
            var digest = Digest.zero
            for round in 0..<25 {
                let streams = (0..<Int.random(in: 1...200, using: &random)).map { StreamName.cart("c\($0 % 20)") }
                let batch = writer.batch([streams], marks: [round])
                let seen = writer.seen
                let append = Task { try await test.log.append(batch, seen: seen) }
                // Statements that do nothing let the append get further before its session ends.
                for _ in 0..<Int.random(in: 0...8, using: &random) {
                    try await test.owner.wait(forSessions: 0, where: PostgresConnection.blocked)
                }
                try await test.terminateWriters()

                let receipt = try await receipt(of: append, batch, seen: seen, test.log)
                #expect(receipt == .whole(batch, after: seen))
                let events = try await writer.catchUp()
                #expect(events.map(\.position) == Array((seen.position + 1)...(seen.position + Int64(streams.count))))
                #expect(events.map(\.payload) == batch.events.map(\.payload))
                digest = referenceChain(digest, events)
                #expect(try await test.log.heads()[0].digest == digest)
            }
        }
    }

    /// The receipt of a batch that is appended in the end, once. No more sessions are ended, so a second attempt
    /// succeeds.
    @LoopActor private func receipt(
        of append: Task<AppendReceipt, any Error>, _ batch: EventBatch, seen: LogPoint, _ log: PostgresEventLog
    ) async throws -> AppendReceipt {
        do {
            return try await append.value
        } catch EventLogError.unavailable {
            #expect(try await log.read(partition: 0, after: seen.position, limit: 1) == [])
        } catch EventLogError.outcomeUnknown {
            let outcome = try await log.outcome(of: batch, since: seen)
            let isThere = try await !log.read(partition: 0, after: seen.position, limit: 1).isEmpty
            #expect((outcome != nil) == isThere)
            if let outcome { return outcome }
        }
        return try await log.append(batch, seen: seen)
    }

    /// Expects that the append could not give its outcome.
    private func expectOutcomeUnknown(
        _ result: Result<AppendReceipt, any Error>, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard case .failure(EventLogError.outcomeUnknown) = result else {
            Issue.record("the append ended in \(result)" as Comment, sourceLocation: sourceLocation)
            return
        }
    }
}

extension AppendReceipt {
    /// That of a batch that was appended whole, directly after the point.
    fileprivate static func whole(_ batch: EventBatch, after point: LogPoint = .start) -> AppendReceipt {
        let position = point.position + Int64(batch.events.count)
        let end = LogPoint(position: position, digest: point.digest?.chained(to: batch.contentDigest))
        return AppendReceipt(previous: point, conflicts: [], end: end)
    }
}
