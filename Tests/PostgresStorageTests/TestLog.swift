import EventLog
import EventLoop
import Postgres
import PostgresStorage
import TestSupport

/// A log in a database of its own, and a connection to that database as its owner.
@LoopActor
struct TestLog {
    let database: String
    let log: PostgresEventLog
    let owner: PostgresConnection

    /// Runs `body` with a new log.
    static func with<Result: Sendable>(
        partitions: Int = 1, _ body: @LoopActor (TestLog) async throws -> Result
    ) async throws -> Result {
        try await with(database: TestDatabase.create(), partitions: partitions, body)
    }

    /// Runs `body` with a new log in that database.
    static func with<Result: Sendable>(
        database: String, partitions: Int = 1, _ body: @LoopActor (TestLog) async throws -> Result
    ) async throws -> Result {
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
                WHERE datname = current_database() AND application_name IN ('tiffin writer', 'tiffin lone writer 1', 'tiffin lone writer 2')
                """))
    }

    /// Makes the whole server wait for a standby with that name to confirm commits; for none if the name is empty.
    func setStandby(_ name: String) async throws {
        try await owner.runScript("ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
        try await owner.runScript("SELECT pg_reload_conf()")
        try await owner.wait(forSessions: 1, where: "current_setting('synchronous_standby_names') = '\(name)'")
        // The checkpointer tells all sessions. It reads the settings before it makes a checkpoint.
        try await owner.runScript("CHECKPOINT")
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
}

extension PostgresConnection {
    /// The sessions that wait for a lock.
    static let blocked = "wait_event_type = 'Lock'"

    /// Waits until this database has this many sessions of that kind.
    func wait(forSessions count: Int64, where condition: String) async throws {
        // A statement's name holds 63 bytes.
        let statement = Statement(
            "sessions \(condition.suffix(40))",
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND \(condition)")
        for _ in 0..<100_000 where try await execute(statement).int8(0, 0) >= count { return }
        throw NoSuchSessions()
    }

    private struct NoSuchSessions: Error {}
}
