import EventLog
import EventLoop
import Postgres
import PostgresEventLog
import TestSupport

/// A log in a database of its own, and a connection to that database as its owner.
@LoopActor
struct TestLog {
    let database: String
    let log: PostgresEventLog
    let owner: PostgresConnection

    /// Runs `body` with a log that is new.
    static func with<Result: Sendable>(
        partitions: Int = 1, _ body: @LoopActor (TestLog) async throws -> Result
    ) async throws -> Result {
        let database = try await TestDatabase.create()
        try await Migrations.run(database, partitions: partitions) { _ in }
        let owner = try await PostgresConnection.connect(database)
        defer { owner.close() }
        let log = try await PostgresEventLog.open(database)
        defer { log.close() }
        return try await body(TestLog(database: database, log: log, owner: owner))
    }

    /// Ends the sessions that append to the first partition, from the server's side.
    func terminateWriters() async throws {
        _ = try await owner.execute(
            Statement(
                "terminate_writers",
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = 'tiffin writer 0'
                """))
    }

    /// Waits until so many sessions wait for a lock.
    func waitForBlockedSessions(_ count: Int64) async throws {
        let blocked = Statement(
            "blocked_sessions",
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
            """)
        for _ in 0..<100_000 where try await owner.execute(blocked).int8(0, 0) >= count { return }
        throw NobodyWaits()
    }

    /// Runs `body` while the first partition's head is locked.
    func withHeadLocked<Result: Sendable>(_ body: @LoopActor () async throws -> Result) async throws -> Result {
        let connection = try await PostgresConnection.connect(database)
        defer { connection.close() }
        return try await connection.transaction { transaction in
            _ = try await transaction.execute(
                Statement("lock_head", "SELECT FROM tiffin.log_head WHERE partition = 0 FOR UPDATE"))
            return try await body()
        }
    }

    private struct NobodyWaits: Error {}
}
