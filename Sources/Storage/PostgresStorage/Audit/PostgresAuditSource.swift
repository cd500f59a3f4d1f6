// What an audit reads, in PostgreSQL: as a user who may only read, or on a replica.

package import Audit
internal import Domain
package import EventLog
package import EventLoop
internal import Postgres
package import Projections

/// The log and the read models in the schema `tiffin` of a database.
@LoopActor
package final class PostgresAuditSource: AuditSource {
    private let log: PostgresEventLog
    /// The log, for callers that need nothing else.
    package var eventLog: any EventLog { log }
    /// For everything except events, which are read at the same time.
    private let connection: PostgresConnection

    private init(log: PostgresEventLog, connection: PostgresConnection) {
        self.log = log
        self.connection = connection
    }

    /// Connects.
    ///
    /// - Parameter database: a `postgres://` URL, or libpq's keywords and values.
    package static func open(_ database: String) async throws -> PostgresAuditSource {
        let connection = try await PostgresConnection.connect(database, applicationName: "tiffin audit")
        do {
            _ = try await connection.execute(Statements.readOnly, [])
            let count = try await connection.execute(Statements.partitionCount, [])
            let log = PostgresEventLog.reader(database, partitionCount: count.count > 0 ? Int(count.int2(0, 0)) : 1)
            return PostgresAuditSource(log: log, connection: connection)
        } catch {
            connection.close()
            throw error
        }
    }

    /// Closes the connections.
    package func close() {
        log.close()
        connection.close()
    }

    // MARK: The log

    /// See `AuditSource`.
    package func partitionCount() async throws -> Int? {
        let rows = try await connection.execute(Statements.partitionCount, [])
        return rows.count > 0 ? Int(rows.int2(0, 0)) : nil
    }

    /// See `AuditSource`.
    package func heads() async throws -> [StoredHead] {
        let rows = try await connection.execute(Statements.heads, [])
        return (0..<rows.count).map { row in
            StoredHead(
                partition: Int(rows.int2(row, 0)), position: rows.int8(row, 1), digest: Array(rows.bytes(row, 2)),
                epoch: rows.int8(row, 3))
        }
    }

    /// See `AuditSource`.
    package func partitions() async throws -> [Int] {
        // One by one, which the indexes answer at once: one statement for all would read the whole log.
        var partitions: [Int] = []
        while true {
            let next = try await connection.execute(
                Statements.nextPartition, [.int4(Int32(partitions.last ?? Int(Int16.min) - 1))])
            guard !next.isNull(0, 0) else { return partitions }
            partitions.append(Int(next.int2(0, 0)))
        }
    }

    /// See `AuditSource`.
    package func page(partition: Int, after position: Int64, limit: Int) async throws -> EventPage {
        try await log.page(partition: partition, after: position, limit: limit)
    }

    /// See `AuditSource`.
    package func events(partition: Int, stream: StreamName, limit: Int) async throws -> [RecordedEvent] {
        try await log.read(stream: stream, partition: partition, afterVersion: 0, limit: limit)
    }

    /// See `AuditSource`.
    package func commits(partition: Int, behind position: Int64, limit: Int) async throws -> [Commit] {
        let rows = try await connection.execute(
            Statements.commits, [.int2(Int16(partition)), .int8(position), .int8(Int64(limit))])
        return PostgresEventLog.commits(rows, partition)
    }

    /// See `AuditSource`.
    package func strays(partition: Int, head: Int64) async throws -> [StrayRow] {
        let rows = try await connection.execute(
            Statements.strays, [.int2(Int16(partition)), .int8(head), .int8(Int64(Findings.limit))])
        return (0..<rows.count).map { StrayRow(subject: rows.text($0, 0), position: rows.int8($0, 1)) }
    }

    // MARK: The read models

    /// See `AuditSource`.
    package func changedColumns() async throws -> [ChangedColumn] {
        var found: [String: String] = [:]
        let rows = try await connection.execute(Statements.columns, [])
        for row in 0..<rows.count { found[rows.text(row, 0)] = rows.text(row, 1) }
        return StoredColumns.expected.compactMap { name, type in
            guard found[name] != type else { return nil }
            return ChangedColumn(name, "is \(found[name] ?? "not there"), and was made as \(type)")
        }
    }

    /// See `AuditSource`.
    package func checkpoints(partition: Int) async throws -> [StoredCheckpoint] {
        try await StoredProjections(connection).checkpoints(nil, of: partition)
    }

    /// See `AuditSource`.
    package func generations(of projection: RegisteredProjection, partition: Int) async throws -> [Int32] {
        try await StoredProjections(connection).generations(of: projection, partition: partition)
    }

    /// See `AuditSource`.
    package func indexFaults(partition: Int) async throws -> [IndexFault] {
        let rows = try await connection.execute(
            Statements.indexFaults, [.int2(Int16(partition)), .int8(Int64(Findings.limit))])
        return (0..<rows.count).map { row in
            IndexFault(stream: rows.isNull(row, 0) ? nil : rows.text(row, 0), position: rows.int8(row, 1))
        }
    }

    /// See `AuditSource`.
    package func schemaFaults() async throws -> [SchemaFault] {
        try await SchemaComparison(connection: connection).faults()
    }

    /// See `AuditSource`.
    package func rows(
        of projection: RegisteredProjection, _ generation: Int32, partition: Int, after key: String?, isWhole: Bool
    ) async throws -> (any StoredRows)? {
        try await StoredProjections(connection).rows(
            of: projection, generation, partition: partition, after: key, isWhole: isWhole)
    }

    /// See `AuditSource`.
    package func quarantined(
        _ projection: RegisteredProjection, _ generation: Int32, partition: Int
    ) async throws -> [CorruptEvent] {
        try await StoredProjections(connection).quarantined(projection, generation, partition: partition)
    }

    // MARK: Beside the log

    /// See `AuditSource`.
    package func deeds(partition: Int) async throws -> StoredDeeds? {
        let rows = try await connection.execute(Statements.mayReadDeeds, [])
        guard !rows.isNull(0, 0), rows.bool(0, 0), let count = try await partitionCount(), count > 0 else { return nil }
        let partitioning = Partitioning(count: count)
        func id(_ rows: Rows, _ row: Int, _ category: StreamName.Category) -> Identifier? {
            guard let id = Identifier(rows.text(row, 0)) else { return nil }
            return partitioning.partition(of: StreamName(category, id)) == partition ? id : nil
        }
        var deeds = StoredDeeds(partitionCount: count, forgotten: [:], users: [:], relays: [])
        let forgotten = try await connection.execute(Statements.forgotten, [])
        for row in 0..<forgotten.count {
            if let id = id(forgotten, row, .customer) { deeds.forgotten[id] = Int(forgotten.int8(row, 1)) }
        }
        let users = try await connection.execute(Statements.users, [])
        for row in 0..<users.count {
            guard let id = id(users, row, .user) else { continue }
            deeds.users[id] = Deed.User(
                role: Text(users.text(row, 1)), grants: users.textArray(row, 2).compactMap { Identifier($0) },
                isEnabled: users.bool(row, 3), change: "")
        }
        let relays = try await connection.execute(Statements.relays, [])
        deeds.relays = Set((0..<relays.count).compactMap { id(relays, $0, .relay) })
        return deeds
    }

    // MARK: Snapshots

    /// See `AuditSource`.
    package func beginSnapshot() async throws { _ = try await connection.execute(Statements.beginSnapshot, []) }

    /// See `AuditSource`.
    package func endSnapshot() async throws { _ = try await connection.execute(Statements.endSnapshot, []) }
}

private enum Statements {
    static let readOnly = Statement("read_only", "SET default_transaction_read_only = on")

    // Null if one of them is not there.
    static let mayReadDeeds = Statement(
        "may_read_deeds",
        """
        SELECT has_column_privilege(to_regclass('tiffin.customer_keys'), 'forgotten_at', 'SELECT')
            AND has_column_privilege(to_regclass('tiffin.users'), 'role', 'SELECT')
            AND has_column_privilege(to_regclass('tiffin.relays'), 'name', 'SELECT')
        """)

    static let forgotten = Statement(
        "forgotten",
        "SELECT customer, count(*) FROM tiffin.customer_keys WHERE forgotten_at IS NOT NULL GROUP BY customer")

    static let users = Statement(
        "users", "SELECT name, role, grants, enabled FROM tiffin.users WHERE removed_at IS NULL")

    static let relays = Statement("relays", "SELECT name FROM tiffin.relays")

    static let beginSnapshot = Statement("begin_snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    static let endSnapshot = Statement("end_snapshot", "COMMIT")

    static let partitionCount = Statement("partition_count", "SELECT count FROM tiffin.partition_count LIMIT 1")

    static let heads = Statement(
        "heads", "SELECT partition, position, digest, epoch FROM tiffin.log_head ORDER BY partition")

    static let columns = Statement(
        "columns",
        """
        SELECT n.nspname || '.' || c.relname || '.' || a.attname,
            format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
        FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'tiffin' AND a.attnum > 0 AND NOT a.attisdropped
        """)

    static let nextPartition = Statement(
        "next_partition",
        """
        SELECT min(partition) FROM tiffin.batches WHERE partition > $1
        """, [.int4])

    // Ordered by where they begin, which is their key, not by where they claim to end.
    static let commits = Statement(
        "commits",
        """
        SELECT first_position, last_position, content_digest, chain_digest, recorded_at FROM tiffin.batches
        WHERE partition = $1 AND first_position > $2 ORDER BY first_position LIMIT $3
        """, [.int2, .int8, .int8])

    // All of the index against all of the log, batch by batch, up to where the index reaches; then by their names what
    // differs. To have every name in the first step takes three times as long.
    static let indexFaults = Statement(
        "index_faults",
        """
        WITH reach AS (
            SELECT b.first_position FROM tiffin.batches AS b WHERE b.partition = $1 AND b.first_position = (
                SELECT CASE WHEN count(*) = 1 THEN max(first_position) END FROM tiffin.stream_index
                WHERE partition = $1 AND stream IS NULL)),
        written AS (
            SELECT b.first_position, array_agg(DISTINCT hashtextextended(split_part(e.line, E'\\t', 1), 0)) AS streams
            FROM tiffin.batches AS b CROSS JOIN LATERAL string_to_table(b.events, E'\\n') AS e (line)
            WHERE b.partition = $1 AND e.line <> '' AND b.first_position BETWEEN 1 AND \(LogHead.maximumPosition)
            GROUP BY 1),
        indexed AS (
            SELECT first_position, array_agg(DISTINCT stream) AS streams FROM tiffin.stream_index
            WHERE partition = $1 AND stream IS NOT NULL GROUP BY 1),
        differing AS (
            SELECT first_position FROM written AS w FULL JOIN indexed AS i USING (first_position)
            WHERE w.streams IS DISTINCT FROM i.streams),
        lines AS (
            SELECT DISTINCT split_part(e.line, E'\\t', 1) COLLATE "C" AS name, b.first_position
            FROM tiffin.batches AS b CROSS JOIN LATERAL string_to_table(b.events, E'\\n') AS e (line)
            WHERE b.partition = $1 AND e.line <> '' AND b.first_position IN (SELECT first_position FROM differing)),
        rows AS (
            SELECT DISTINCT stream, first_position FROM tiffin.stream_index
            WHERE partition = $1 AND stream IS NOT NULL AND first_position IN (SELECT first_position FROM differing))
        SELECT l.name, coalesce(l.first_position, r.first_position)
        FROM lines AS l FULL JOIN rows AS r
            ON r.stream = hashtextextended(l.name, 0) AND r.first_position = l.first_position
        WHERE r.stream IS NULL AND l.first_position <= (SELECT first_position FROM reach) OR l.name IS NULL
        ORDER BY 2, 1 LIMIT $2
        """, [.int2, .int8])

    // Each by itself, so that each reads the key and not the whole log.
    static let strays = Statement(
        "strays",
        """
        (SELECT 'batch ' || first_position || '–' || last_position, first_position FROM tiffin.batches
            WHERE partition = $1 AND first_position < 1 ORDER BY first_position LIMIT $3)
        UNION ALL
        (SELECT 'batch ' || first_position || '–' || last_position, first_position FROM tiffin.batches
            WHERE partition = $1 AND first_position > $2 AND first_position >= 1 ORDER BY first_position LIMIT $3)
        """, [.int2, .int8, .int8])
}
