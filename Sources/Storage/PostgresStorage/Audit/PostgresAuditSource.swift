// What an audit reads, in PostgreSQL: as a user who may only read, or on a replica.

package import Audit
package import Domain
package import EventLog
package import EventLoop
internal import Postgres
package import Projections

/// The log and the read models in the schema `tiffin` of a database.
@LoopActor
package final class PostgresAuditSource: AuditSource {
    /// So many that the index is seldom looked through, and few enough for memory.
    private static let archivedStreamsAtOnce = 200_000

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
    /// - Parameters:
    ///   - database: a `postgres://` URL, or libpq's keywords and values.
    ///   - name: what it is called among several; nil if it is to have the whole log.
    static func open(_ database: String, named name: String? = nil) async throws -> PostgresAuditSource {
        let connection = try await PostgresConnection.connect(database, applicationName: "tiffin audit")
        do {
            try await connection.take(.reading)
            let row = try await connection.execute(Partitioning.stored).first
            if let problem = row.flatMap({ Partitioning.problem(with: $0, named: name) }) {
                throw DatabaseMapError(problem)
            }
            let partitioning = row.flatMap { Partitioning($0) }
            let log = PostgresEventLog.reader(database, partitioning ?? Partitioning(count: 1))
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

    package func partitioning() async throws -> Partitioning? {
        try await connection.execute(Partitioning.stored).first.flatMap { Partitioning($0) }
    }

    /// The heads of the partitions that live here.
    package func heads() async throws -> [StoredHead] { try await placedHeads().filter(\.isOpen).map(\.head) }

    /// All heads, with whether the partition lives here.
    func placedHeads() async throws -> [(head: StoredHead, isOpen: Bool)] {
        try await connection.execute(Statements.heads).map {
            (
                StoredHead(
                    partition: $0["partition"], position: $0["position"], digest: $0["digest"], epoch: $0["epoch"]),
                $0["moved_to"] as String? == nil
            )
        }
    }

    package func partitions() async throws -> [Int] {
        // One by one, which the indexes answer at once: one statement for all would read the whole log.
        var partitions: [Int] = []
        while true {
            let rows = try await connection.execute(
                Statements.nextPartition, [.int4(Int32(partitions.last ?? Int(Int16.min) - 1))])
            guard let next: Int = rows[0]["next"] else { return partitions }
            partitions.append(next)
        }
    }

    package func page(partition: Int, after position: Int64, limit: Int) async throws -> EventPage {
        try await log.page(partition: partition, after: position, limit: limit)
    }

    package func events(partition: Int, stream: StreamName, limit: Int) async throws -> [RecordedEvent] {
        try await log.read(stream: stream, partition: partition, afterVersion: 0, limit: limit)
    }

    package func commits(partition: Int, behind position: Int64, limit: Int) async throws -> [Commit] {
        let rows = try await connection.execute(
            Statements.commits, [.int2(Int16(partition)), .int8(position), .int8(Int64(limit))])
        return PostgresEventLog.commits(rows, partition)
    }

    package func strays(partition: Int, head: Int64) async throws -> [StrayRow] {
        let rows = try await connection.execute(
            Statements.strays, [.int2(Int16(partition)), .int8(head), .int8(Int64(Findings.limit))])
        return rows.map { StrayRow(subject: $0["subject"], position: $0["position"]) }
    }

    // MARK: The read models

    package func changedColumns() async throws -> [ChangedColumn] {
        let rows = try await connection.execute(Statements.columns)
        let found = Dictionary(rows.map { ($0["name"] as String, $0["type"] as String) }) { $1 }
        return StoredColumns.expected.compactMap { name, type in
            guard found[name] != type else { return nil }
            return ChangedColumn(name, "is \(found[name] ?? "not there"), and was made as \(type)")
        }
    }

    package func checkpoints(partition: Int) async throws -> [StoredCheckpoint] {
        try await StoredProjections(connection).checkpoints(nil, of: partition)
    }

    package func generations(of projection: RegisteredProjection, partition: Int) async throws -> [Int32] {
        try await StoredProjections(connection).generations(of: projection, partition: partition)
    }

    package func batchFaults(partition: Int) async throws -> BatchFaults {
        var faults = BatchFaults()
        try await add(Statements.indexFaults, Statements.falseCartBatches, partition, [], to: &faults)
        let row = try await connection.execute(Statements.lastArchived, [.int2(Int16(partition))])[0]
        if let last: Int64 = row["last"] { try await addArchived(partition, upTo: last, to: &faults) }
        return faults
    }

    private func add(
        _ index: Statement, _ carts: Statement, _ partition: Int, _ rest: [Parameter], to faults: inout BatchFaults
    ) async throws {
        let parameters = [.int2(Int16(partition)), .int8(Int64(Findings.limit))] + rest
        faults.index += try await connection.execute(index, parameters).map {
            IndexFault(stream: $0["name"], position: $0["position"])
        }
        faults.falseCarts += try await connection.execute(carts, parameters).map {
            BatchBounds(first: $0["first_position"], last: $0["last_position"])
        }
    }

    /// Compares archived batches, whose events are in files: so many at a time that few looks through the index will do.
    private func addArchived(_ partition: Int, upTo last: Int64, to faults: inout BatchFaults) async throws {
        var (compared, read) = (Int64.min, Int64.min)
        while compared < last, faults.index.count + faults.falseCarts.count < Findings.limit {
            var streams: [(name: String, batch: Int64)] = []
            while read < last, streams.count < PostgresAuditSource.archivedStreamsAtOnce {
                let rows = try await connection.execute(
                    Statements.archivedBatches, [.int2(Int16(partition)), .int8(read), .int8(last)])
                let batches = PostgresEventLog.commits(rows, partition)
                streams += try await log.streams(ofArchived: batches)
                read = batches.last?.firstPosition ?? last
            }
            try await add(
                Statements.archivedIndexFaults, Statements.falseArchivedCartBatches, partition,
                [.array(streams.map(\.name)), .array(streams.map(\.batch)), .int8(compared), .int8(read)], to: &faults)
            compared = read
        }
    }

    package func keptTreeNodes(partition: Int) async throws -> Int64 {
        try await connection.execute(Statements.keptTreeNodes, [.int2(Int16(partition))])[0]["count"]
    }

    package func treeNodes(partition: Int, level: Int, numbers: Range<Int64>) async throws -> [TreeNode] {
        PostgresEventLog.treeNodes(
            try await connection.execute(
                PostgresEventLog.treeNodesStatement,
                [
                    .int2(Int16(partition)), .int2(Int16(clamping: level)), .int8(numbers.lowerBound),
                    .int8(numbers.upperBound),
                ]))
    }

    package func strayTreeNodes(partition: Int, size: Int64) async throws -> [TreeNode] {
        PostgresEventLog.treeNodes(
            try await connection.execute(
                Statements.strayTreeNodes, [.int2(Int16(partition)), .int8(size), .int8(Int64(Findings.limit))]))
    }

    package func schemaFaults() async throws -> [SchemaFault] {
        try await SchemaComparison(connection: connection).faults()
    }

    package func rows(
        of projection: RegisteredProjection, _ generation: Int32, partition: Int, after key: String?, isWhole: Bool
    ) async throws -> (any StoredRows)? {
        try await StoredProjections(connection).rows(
            of: projection, generation, partition: partition, after: key, isWhole: isWhole)
    }

    package func quarantined(
        _ projection: RegisteredProjection, _ generation: Int32, partition: Int
    ) async throws -> [CorruptEvent] {
        try await StoredProjections(connection).quarantined(projection, generation, partition: partition)
    }

    // MARK: Beside the log

    package func deeds(partition: Int) async throws -> StoredDeeds? {
        try await deeds(partition: partition, forgottenIn: nil)
    }

    /// The same.
    ///
    /// - Parameter partitions: those of which keys are counted; nil for all.
    func deeds(partition: Int, forgottenIn partitions: [Int]?) async throws -> StoredDeeds? {
        guard try await mayReadDeeds(), let partitioning = try await partitioning() else { return nil }
        func id(_ row: Row, _ category: StreamName.Category) -> Identifier? {
            guard let id = Identifier(row["name"] as String) else { return nil }
            return partitioning.partition(of: StreamName(category, id)) == partition ? id : nil
        }
        var deeds = StoredDeeds(partitionCount: partitioning.count, forgotten: [:], users: [:], relays: [:])
        let marks =
            if let partitions {
                try await connection.execute(DeedTables.forgottenIn, [.array(partitions.map { Int16($0) })])
            } else {
                try await connection.execute(DeedTables.forgotten)
            }
        for row in marks {
            if let id = id(row, .customer) { deeds.forgotten[id] = row["count"] }
        }
        for row in try await connection.execute(DeedTables.users) {
            if let id = id(row, .user) { deeds.users[id] = Deed.User(row, change: "") }
        }
        for row in try await connection.execute(DeedTables.relays) {
            if let id = id(row, .relay) { deeds.relays[id] = row["count"] }
        }
        return deeds
    }

    package func keys(of customers: [Identifier], partition: Int) async throws -> [Identifier: StoredKey]? {
        guard try await mayReadDeeds() else { return nil }
        let mayReadKeys: Bool = try await connection.execute(Statements.mayReadKeys)[0]["may_read"]
        let rows = try await connection.execute(
            mayReadKeys ? Statements.keys : Statements.timesOfKeys,
            [.int2(Int16(partition)), .array(customers.map(\.rawValue))])
        let keys = rows.compactMap { row in Identifier(row["customer"] as String).map { ($0, StoredKey(row)) } }
        return Dictionary(keys) { first, _ in first }
    }

    private func mayReadDeeds() async throws -> Bool {
        let mayRead: Bool? = try await connection.execute(Statements.mayReadDeeds)[0]["may_read"]
        return mayRead == true
    }

    // MARK: Snapshots

    package func beginSnapshot() async throws { _ = try await connection.execute(Statements.beginSnapshot) }

    package func endSnapshot() async throws { _ = try await connection.execute(Statements.endSnapshot) }
}

extension StoredKey {
    fileprivate init(_ row: Row) {
        if row["forgotten_at"] as Timestamp? != nil {
            self = .destroyed
        } else if let bytes: UnsafeRawBufferPointer = row["key"], let key = SealingKey(bytes) {
            self = .known(key)
        } else {
            self = .secret(madeAt: row["created_at"])
        }
    }
}

private enum Statements {
    // Null if one of them is not there.
    static let mayReadDeeds = Statement(
        "may_read_deeds",
        """
        SELECT has_column_privilege(to_regclass('tiffin.customer_keys'), 'forgotten_at', 'SELECT')
            AND has_column_privilege(to_regclass('tiffin.users'), 'role', 'SELECT')
            AND has_column_privilege(to_regclass('tiffin.relays'), 'name', 'SELECT')
            AND has_column_privilege(to_regclass('tiffin.relay_cursors'), 'relay', 'SELECT') AS may_read
        """)

    static let mayReadKeys = Statement(
        "may_read_keys", "SELECT has_column_privilege('tiffin.customer_keys', 'key', 'SELECT') AS may_read")

    static let keys = Statement(
        "keys_of_customers",
        """
        SELECT customer, key, created_at, forgotten_at FROM tiffin.customer_keys
        WHERE partition = $1 AND customer = ANY ($2)
        """, [.int2, .textArray])

    static let timesOfKeys = Statement(
        "times_of_keys",
        """
        SELECT customer, NULL::bytea AS key, created_at, forgotten_at FROM tiffin.customer_keys
        WHERE partition = $1 AND customer = ANY ($2)
        """, [.int2, .textArray])

    static let beginSnapshot = Statement("begin_snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    static let endSnapshot = Statement("end_snapshot", "COMMIT")

    static let heads = Statement(
        "heads", "SELECT partition, position, digest, epoch, moved_to FROM tiffin.log_head ORDER BY partition")

    static let columns = Statement(
        "columns",
        """
        SELECT n.nspname || '.' || c.relname || '.' || a.attname AS name,
            format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END AS type
        FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'tiffin' AND a.attnum > 0 AND NOT a.attisdropped
        """)

    static let nextPartition = Statement(
        "next_partition", "SELECT min(partition) AS next FROM tiffin.batches WHERE partition > $1", [.int4])

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
        WITH reach AS (\(reach)),
        written AS (
            SELECT b.first_position, array_agg(DISTINCT hashtextextended(split_part(e.line, E'\\t', 1), 0)) AS streams
            FROM tiffin.batches AS b CROSS JOIN LATERAL string_to_table(b.events, E'\\n') AS e (line)
            WHERE b.partition = $1 AND e.line <> '' AND b.first_position BETWEEN 1 AND \(LogHead.maximumPosition)
            GROUP BY 1),
        indexed AS (
            SELECT first_position, array_agg(DISTINCT stream) AS streams FROM tiffin.stream_index
            WHERE partition = $1 AND stream IS NOT NULL AND first_position > (
                SELECT coalesce(max(first_position), 0) FROM tiffin.batches WHERE partition = $1 AND events IS NULL)
            GROUP BY 1),
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
        SELECT l.name, coalesce(l.first_position, r.first_position) AS position
        FROM lines AS l FULL JOIN rows AS r
            ON r.stream = hashtextextended(l.name, 0) AND r.first_position = l.first_position
        WHERE r.stream IS NULL AND l.first_position <= (SELECT first_position FROM reach) OR l.name IS NULL
        ORDER BY 2, 1 LIMIT $2
        """, [.int2, .int8])

    private static let reach = """
        SELECT b.first_position FROM tiffin.batches AS b WHERE b.partition = $1 AND b.first_position = (
            SELECT CASE WHEN count(*) = 1 THEN max(first_position) END FROM tiffin.stream_index
            WHERE partition = $1 AND stream IS NULL)
        """

    // The same for batches that were archived, between two positions, with the streams that they hold.
    static let archivedIndexFaults = Statement(
        "archived_index_faults",
        """
        WITH written AS (
            SELECT DISTINCT s.name COLLATE "C" AS name, hashtextextended(s.name, 0) AS stream, s.first_position
            FROM unnest($3, $4) AS s (name, first_position)),
        indexed AS (
            SELECT DISTINCT stream, first_position FROM tiffin.stream_index
            WHERE partition = $1 AND stream IS NOT NULL AND first_position > $5 AND first_position <= $6)
        SELECT w.name, coalesce(w.first_position, i.first_position) AS position
        FROM written AS w FULL JOIN indexed AS i USING (stream, first_position)
        WHERE i.stream IS NULL AND w.first_position <= (\(reach)) OR w.name IS NULL
        ORDER BY 2, 1 LIMIT $2
        """, [.int2, .int8, .textArray, .int8Array, .int8, .int8])

    // If every line begins like a cart's, which is found at once, the rest is not looked at. An empty line is an event that
    // was lost, and says nothing.
    static let falseCartBatches = Statement(
        "false_cart_batches",
        """
        SELECT first_position, last_position FROM tiffin.batches
        WHERE partition = $1 AND only_carts AND first_position BETWEEN 1 AND \(LogHead.maximumPosition) AND CASE
            WHEN starts_with(events, 'cart-') AND octet_length(events) - octet_length(replace(events, E'\\ncart-', ''))
                = 6 * (octet_length(events) - octet_length(replace(events, E'\\n', ''))) THEN false
            ELSE events ~ '(?n)^(?!cart-)[^\\n]'
        END
        ORDER BY first_position LIMIT $2
        """, [.int2, .int8])

    static let falseArchivedCartBatches = Statement(
        "false_archived_cart_batches",
        """
        SELECT DISTINCT b.first_position, b.last_position
        FROM unnest($3, $4) AS s (name, first_position) JOIN tiffin.batches AS b ON b.first_position = s.first_position
        WHERE b.partition = $1 AND b.first_position > $5 AND b.first_position <= $6 AND b.only_carts
            AND NOT starts_with(s.name, 'cart-')
        ORDER BY b.first_position LIMIT $2
        """, [.int2, .int8, .textArray, .int8Array, .int8, .int8])

    static let lastArchived = Statement(
        "last_archived",
        "SELECT max(first_position) AS last FROM tiffin.batches WHERE partition = $1 AND events IS NULL", [.int2])

    static let archivedBatches = Statement(
        "archived_batches",
        """
        SELECT first_position, last_position, content_digest, chain_digest, recorded_at FROM tiffin.batches
        WHERE partition = $1 AND first_position > $2 AND first_position <= $3 AND events IS NULL
        ORDER BY first_position LIMIT 500
        """, [.int2, .int8, .int8])

    static let keptTreeNodes = Statement(
        "kept_tree_nodes",
        """
        SELECT coalesce(max(number) + 1, 0) AS count FROM tiffin.tree_nodes
        WHERE partition = $1 AND level = 1 AND number BETWEEN 0 AND \(LogHead.maximumPosition)
        """, [.int2])

    static let strayTreeNodes = Statement(
        "stray_tree_nodes",
        """
        SELECT level, number, last_position, digest, tree_digest FROM tiffin.tree_nodes
        WHERE partition = $1 AND CASE WHEN level BETWEEN 1 AND 7 THEN number < 0 OR number >= $2 >> 8 * level ELSE true END
        ORDER BY level, number LIMIT $3
        """, [.int2, .int8, .int8])

    // Each by itself, so that each reads the key and not the whole log.
    static let strays = Statement(
        "strays",
        """
        (SELECT 'batch ' || first_position || '–' || last_position AS subject, first_position AS position
            FROM tiffin.batches WHERE partition = $1 AND first_position < 1 ORDER BY first_position LIMIT $3)
        UNION ALL
        (SELECT 'batch ' || first_position || '–' || last_position, first_position FROM tiffin.batches
            WHERE partition = $1 AND first_position > $2 AND first_position >= 1 ORDER BY first_position LIMIT $3)
        """, [.int2, .int8, .int8])
}
