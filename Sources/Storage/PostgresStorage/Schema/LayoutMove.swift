internal import EventLog
internal import EventLoop
internal import Postgres

/// Moves a log from the old tables, with one row per event, to the new ones, with one row per batch.
///
/// It goes on where it stopped, however it stopped: each step moves the batches that follow the last one moved. Old
/// tables stay as they are until everything is moved.
@LoopActor
struct LayoutMove {
    /// About how many events a step moves: some tenths of a second of work.
    private static let eventsOfStep = 20_000

    let connection: PostgresConnection

    /// Whether a database has tables to be moved.
    static func isNeeded(_ connection: PostgresConnection) async throws(PostgresError) -> Bool {
        try await connection.execute(Statements.isNeeded)[0]["is_needed"]
    }

    /// Moves everything, and drops the old tables. Returns how many events were moved; nil if there is nothing to move.
    ///
    /// - Parameter progress: called after each step with the events moved so far, and about how many there are.
    func run(progress: (Int64, Int64) -> Void) async throws -> Int64? {
        // One at a time; another process waits here, and finds nothing left to do. The lock ends with the connection.
        _ = try await connection.execute(Statements.lock)
        guard try await LayoutMove.isNeeded(connection) else { return nil }
        // Compiling a step takes longer than the step.
        try await connection.runScript("SET jit = off")
        try await check()
        let total: Int64 = try await connection.execute(Statements.total)[0]["count"]
        var moved: Int64 = try await connection.execute(Statements.moved)[0]["count"]
        for row in try await connection.execute(Statements.partitions) {
            let partition = Parameter.int2(Int16(row["partition"] as Int))
            let limit = Parameter.int8(Int64(LayoutMove.eventsOfStep))
            while let step: Int64 = try await connection.execute(Statements.move, [partition, limit])[0]["events"] {
                moved += step
                progress(moved, total)
            }
            while try await connection.execute(Statements.index, [partition])[0]["is_behind"] {}
        }
        try await finish(total)
        return total
    }

    /// Refuses a log whose batches do not have the events: they would be lost, or be in two batches.
    private func check() async throws {
        let rows = try await connection.execute(Statements.impossible, [.int8(Int64(EventBatch.maximumEvents))])
        guard let row = rows.first else { return }
        throw damaged("the batch", at: row, "is impossible, or overlaps with the one before")
    }

    private func finish(_ total: Int64) async throws {
        if let row = try await connection.execute(Statements.unmoved).first {
            throw damaged("the event", at: row, "is in no batch")
        }
        try await connection.runScript("DROP TABLE tiffin.event_rows, tiffin.commit_rows")
    }

    private func damaged(_ what: String, at row: Row, _ problem: String) -> MigrationError {
        let (partition, position): (Int, Int64) = (row["partition"], row["position"])
        return MigrationError(
            description: "the log is damaged, and cannot be moved to the layout of this version: \(what) at position "
                + "\(position) of partition \(partition) \(problem). Audit the log with the version that wrote it")
    }
}

private enum Statements {
    static let isNeeded = Statement("old_layout", "SELECT to_regclass('tiffin.event_rows') IS NOT NULL AS is_needed")

    static let lock = Statement("lock_move", "SELECT pg_advisory_lock(1953064550, -1)")

    static let total = Statement("events_to_move", "SELECT count(*) FROM tiffin.event_rows")

    static let moved = Statement(
        "events_moved",
        "SELECT coalesce(sum(last_position - first_position + 1), 0)::bigint AS count FROM tiffin.batches")

    static let partitions = Statement(
        "partitions_to_move", "SELECT DISTINCT partition FROM tiffin.commit_rows ORDER BY partition")

    static let impossible = Statement(
        "impossible_batches",
        """
        SELECT partition, first_position AS position FROM (
            SELECT partition, first_position, last_position, lag(last_position) OVER (
                PARTITION BY partition ORDER BY first_position) AS before
            FROM tiffin.commit_rows) AS c
        WHERE NOT (first_position BETWEEN 1 AND \(LogHead.maximumPosition)
            AND last_position BETWEEN first_position AND first_position + $1 - 1) OR first_position <= before
        ORDER BY partition, first_position LIMIT 1
        """, [.int8])

    // JSON escapes tabs and line breaks, so an event that has one was changed by somebody, and its digest does not fit.
    // All its tabs and line breaks become spaces: a line that cannot be read, as damaged after the move as before. A line
    // stays empty for each event that is missing.
    static let move = Statement(
        "move_batches",
        """
        WITH step AS (
            SELECT * FROM (
                SELECT c.*, sum(last_position - first_position + 1) OVER (ORDER BY first_position) AS events
                FROM (
                    SELECT * FROM tiffin.commit_rows WHERE partition = $1 AND first_position > coalesce(
                        (SELECT max(first_position) FROM tiffin.batches WHERE partition = $1), 0)
                    ORDER BY first_position LIMIT $2) AS c) AS c
            WHERE events - (last_position - first_position + 1) < $2),
        moved AS (
            INSERT INTO tiffin.batches
            SELECT partition, first_position, last_position, content_digest, chain_digest, submitted_digest, recorded_at,
                coalesce((
                    SELECT string_agg(
                        repeat(E'\\n', gap) || CASE WHEN is_clean THEN line ELSE translate(line, E'\\t\\n', '  ') END,
                        E'\\n' ORDER BY position)
                    FROM (
                        SELECT position,
                            (position - 1 - lag(position, 1, step.first_position - 1) OVER (ORDER BY position))::integer,
                            stream || E'\\t' || version || E'\\t' || kind || E'\\t' || schema_version || E'\\t'
                                || payload || E'\\t' || metadata,
                            strpos(stream || kind || payload || metadata, E'\\t') = 0
                                AND strpos(stream || kind || payload || metadata, E'\\n') = 0
                        FROM tiffin.event_rows
                        WHERE partition = $1 AND position BETWEEN step.first_position AND step.last_position
                    ) AS e (position, gap, line, is_clean)), '')
            FROM step
            RETURNING last_position - first_position + 1 AS events)
        SELECT sum(events)::bigint AS events FROM moved
        """, [.int2, .int8])

    static let index = Statement("index_moved", "SELECT is_behind FROM tiffin.index_streams($1, 1000)", [.int2])

    // Each event by itself: a count would not tell an event that is in no batch from one that was lost.
    static let unmoved = Statement(
        "events_left",
        """
        SELECT e.partition, e.position FROM tiffin.event_rows AS e
        WHERE NOT EXISTS (
            SELECT FROM (
                SELECT last_position FROM tiffin.batches AS b
                WHERE b.partition = e.partition AND b.first_position <= e.position
                ORDER BY b.first_position DESC LIMIT 1) AS c
            WHERE c.last_position >= e.position)
        ORDER BY e.partition, e.position LIMIT 1
        """)
}
