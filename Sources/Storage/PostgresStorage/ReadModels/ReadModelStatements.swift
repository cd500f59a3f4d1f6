internal import Postgres
internal import Projections

/// Every statement about stored projections. The first parameter is the partition.
enum ReadModelStatements {
    static let oneSnapshot = Statement("one_snapshot", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")

    // MARK: Checkpoints

    static let reserve = Statement(
        "reserve_checkpoints",
        """
        INSERT INTO tiffin.projection_checkpoints (partition, projection, version, position, digest)
        SELECT $1, name, 0, 0, '' FROM unnest($2) AS name
        WHERE NOT EXISTS (
            SELECT FROM tiffin.projection_checkpoints WHERE partition = $1 AND projection = name AND state = 'active')
        ON CONFLICT (partition, projection, generation) DO NOTHING
        """, [.int2, .textArray])

    private static let columns = "projection, generation, version, position, digest, chain_digest, state"

    static let checkpoints = Statement(
        "checkpoints",
        "SELECT \(columns) FROM tiffin.projection_checkpoints WHERE partition = $1 AND state = coalesce($2, state)",
        [.int2, .text])

    static func generations(of projection: RegisteredProjection) -> Statement {
        Statement(
            "generations_\(projection.table)",
            """
            SELECT DISTINCT generation FROM (
                SELECT generation FROM tiffin.\(projection.table) WHERE partition = $1 UNION ALL
                SELECT generation FROM tiffin.quarantine WHERE partition = $1 AND projection = $2) AS g
            """, [.int2, .text])
    }

    static let lockCheckpoints = Statement(
        "lock_checkpoints",
        """
        SELECT \(columns) FROM tiffin.projection_checkpoints
        WHERE partition = $1 AND state = 'active' ORDER BY projection FOR UPDATE
        """, [.int2])

    static let advance = Statement(
        "advance_checkpoint",
        """
        UPDATE tiffin.projection_checkpoints
        SET version = $3, position = $4, digest = $5, chain_digest = tiffin.chain_at($1, $4)
        WHERE partition = $1 AND projection = $2 AND state = 'active'
        """, [.int2, .text, .int4, .int8, .bytea])

    static let hasPoint = Statement(
        "has_point", "SELECT tiffin.has_point($1, $2, $3) AS has_point", [.int2, .int8, .bytea])

    // MARK: Generations

    static let newestGeneration = Statement(
        "newest_generation",
        """
        SELECT coalesce(max(generation), 0) AS generation FROM tiffin.projection_checkpoints
        WHERE partition = $1 AND projection = $2
        """, [.int2, .text])

    static let retire = Statement(
        "retire",
        """
        UPDATE tiffin.projection_checkpoints SET state = 'previous'
        WHERE partition = $1 AND projection = $2 AND state = 'active'
        """, [.int2, .text])

    static let activate = Statement(
        "activate",
        """
        INSERT INTO tiffin.projection_checkpoints
            (partition, projection, version, position, digest, generation, state, chain_digest)
        VALUES ($1, $2, $3, $4, $5, $6, 'active', tiffin.chain_at($1, $4))
        """, [.int2, .text, .int4, .int8, .bytea, .int4])

    static let exchange = Statement(
        "exchange",
        """
        UPDATE tiffin.projection_checkpoints SET state = CASE state WHEN 'active' THEN 'previous' ELSE 'active' END
        WHERE partition = $1 AND projection = $2
        """, [.int2, .text])

    static let deleteCheckpoint = Statement(
        "delete_checkpoint",
        "DELETE FROM tiffin.projection_checkpoints WHERE partition = $1 AND generation = $2 AND projection = $3",
        [.int2, .int4, .text])

    // MARK: Rows

    static func save(_ projection: RegisteredProjection) -> Statement {
        let arrays = projection.columns.indices.map { "$\($0 + 3)" }.joined(separator: ", ")
        return Statement(
            "save_\(projection.table)", upsert(projection, "SELECT $1, $2, r.* FROM unnest(\(arrays)) AS r"),
            [.int2, .int4] + projection.columns.map(\.kind.arrayType))
    }

    /// Makes one row of all rows of a generation, which are its pieces.
    static func join(_ projection: RegisteredProjection) -> Statement {
        let key = projection.columns[0].name
        let values = projection.columns.dropFirst().map { column in
            column.kind == .json ? "string_agg(\(column.name), '' ORDER BY \(key))" : "max(\(column.name))"
        }
        return Statement(
            "join_\(projection.table)",
            upsert(
                projection,
                """
                SELECT $1, $3, $4, \(values.joined(separator: ", ")) FROM tiffin.\(projection.table)
                WHERE partition = $1 AND generation = $2
                """),
            [.int2, .int4, .int4, .text])
    }

    private static func upsert(_ projection: RegisteredProjection, _ rows: String) -> String {
        let names = projection.columns.map(\.name)
        let updates = names.dropFirst().map { "\($0) = EXCLUDED.\($0)" }.joined(separator: ", ")
        return """
            INSERT INTO tiffin.\(projection.table) (partition, generation, \(names.joined(separator: ", ")))
            \(rows)
            ON CONFLICT (partition, generation, \(names[0])) DO UPDATE SET \(updates)
            """
    }

    static func rows(of projection: RegisteredProjection, isWhole: Bool) -> Statement {
        let key = projection.columns[0].name
        let documents = projection.columns.filter { $0.kind == .json && (isWhole || $0.isRestored) }
        // The size of a text is known without reading it.
        let size = documents.map { "octet_length(\($0.name))::bigint" }.joined(separator: " + ")
        let rowsBefore = "OVER (ORDER BY \(key) ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
        // No key comes before the first one, not even the empty one.
        return Statement(
            "\(isWhole ? "whole" : "restored")_\(projection.table)",
            """
            SELECT \(columns(of: projection, isWhole: isWhole)) FROM (
                SELECT *, \(size.isEmpty ? "0" : "coalesce(sum(\(size)) \(rowsBefore), 0)") AS bytes_before
                FROM tiffin.\(projection.table)
                WHERE partition = $1 AND generation = $2 AND \(key) >= coalesce($3, '') AND \(key) IS DISTINCT FROM $3
                ORDER BY \(key) LIMIT $4) AS r
            WHERE bytes_before < $5 ORDER BY \(key)
            """, [.int2, .int4, .text, .int8, .int8])
    }

    /// The rows with some keys, each with its generation and the checkpoint's position; one of these alone where there are
    /// none.
    ///
    /// Each key is looked up by itself: `= ANY ($3)` reads all rows of a table that PostgreSQL has not analyzed yet.
    static func rowsByKey(of projection: RegisteredProjection) -> Statement {
        let columns = projection.columns.map { "r.\($0.name)" }.joined(separator: ", ")
        return Statement(
            "keyed_\(projection.table)",
            """
            SELECT \(columns), c.generation AS of_generation, c.position AS saved_position
            FROM tiffin.projection_checkpoints AS c LEFT JOIN LATERAL (
                SELECT found.* FROM (SELECT DISTINCT unnest($3)) AS k (key) CROSS JOIN LATERAL (
                    SELECT * FROM tiffin.\(projection.table)
                    WHERE (partition, generation, \(projection.columns[0].name)) = (c.partition, c.generation, k.key) OFFSET 0
                ) AS found) AS r ON true
            WHERE c.partition = $1 AND c.projection = $2 AND c.state = 'active'
            """, [.int2, .text, .textArray])
    }

    /// What a restart needs of every row, in no order: PostgreSQL reads them as they lie.
    ///
    /// - Parameter floor: of orders placed up to this position, only the open ones; 0 for every row.
    static func restored(
        _ projection: RegisteredProjection, _ generation: Int32, partition: Int, after floor: Int64 = 0
    ) -> String {
        let rows = """
            SELECT \(columns(of: projection, isWhole: false)) FROM tiffin.\(projection.table)
            WHERE partition = \(partition) AND generation = \(generation)
            """
        guard floor > 0 else { return rows }
        return """
            \(rows) AND position > \(floor)
            UNION ALL \(rows) AND position <= \(floor) AND snapshot <> ''
            """
    }

    /// The position of the newest order that is not among so many of the newest.
    static let floorOfOrders = Statement(
        "floor_of_orders",
        """
        SELECT position FROM tiffin.order_rows WHERE partition = $1 AND generation = $2
        ORDER BY position DESC OFFSET $3 LIMIT 1
        """, [.int2, .int4, .int8])

    /// Orders of a list before a position, the newest first, each with its generation and the checkpoint's position; one of
    /// these alone where there are none.
    static func orders(_ list: OrderFilter) -> Statement {
        // For each an index, in which the orders that are passed over are seen without being read.
        let (name, condition) =
            if list.customer != nil {
                ("customer", "AND customer = $3 AND customer <> ''")
            } else if list.outlet != nil {
                ("outlet", "AND outlet = $3")
            } else {
                ("all", "AND coalesce($3, '') = ''")
            }
        let columns = ReadModel.orders.columns.map { "r.\($0.name)" }.joined(separator: ", ")
        return Statement(
            "orders_of_\(name)\(list.placed == nil ? "" : "_placed")",
            """
            SELECT \(columns), c.generation AS of_generation, c.position AS saved_position
            FROM tiffin.projection_checkpoints AS c LEFT JOIN LATERAL (
                SELECT * FROM tiffin.order_rows
                WHERE (partition, generation) = (c.partition, c.generation) AND position < $4 \(condition)
                    \(list.placed == nil ? "" : "AND placed_at >= $6 AND placed_at < $7")
                ORDER BY position DESC LIMIT $5) AS r ON true
            WHERE c.partition = $1 AND c.projection = $2 AND c.state = 'active'
            ORDER BY r.position DESC
            """, [.int2, .text, .text, .int8, .int8] + (list.placed == nil ? [] : [.int8, .int8]))
    }

    private static func columns(of projection: RegisteredProjection, isWhole: Bool) -> String {
        projection.columns.map { isWhole || $0.isRestored ? $0.name : "'' AS \($0.name)" }.joined(separator: ", ")
    }

    static func deleteRows(of projection: RegisteredProjection) -> Statement {
        Statement(
            "delete_\(projection.table)",
            "DELETE FROM tiffin.\(projection.table) WHERE partition = $1 AND generation = $2", [.int2, .int4])
    }

    /// How many rows differ between two generations, and the keys of the first few.
    static func difference(of projection: RegisteredProjection) -> Statement {
        let (table, key) = (projection.table, projection.columns[0].name)
        let values = projection.columns.dropFirst().map(\.name).joined(separator: ", ")
        return Statement(
            "difference_of_\(table)",
            """
            WITH a AS (SELECT \(key), ROW(\(values)) AS v FROM tiffin.\(table) WHERE partition = $1 AND generation = $2),
                 b AS (SELECT \(key), ROW(\(values)) AS v FROM tiffin.\(table) WHERE partition = $1 AND generation = $3),
                 d AS (SELECT \(key) FROM a FULL JOIN b USING (\(key)) WHERE a.v IS DISTINCT FROM b.v)
            SELECT (SELECT count(*) FROM d) AS count, ARRAY(SELECT \(key) FROM d ORDER BY \(key) LIMIT 5) AS examples
            """, [.int2, .int4, .int4])
    }

    // MARK: Quarantine

    static let quarantine = Statement(
        "save_quarantine",
        """
        INSERT INTO tiffin.quarantine (partition, projection, generation, stream, position, reason)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
        """, [.int2, .text, .int4, .text, .int8, .text])

    static let quarantined = Statement(
        "quarantined",
        """
        SELECT stream, position, reason FROM tiffin.quarantine
        WHERE partition = $1 AND projection = $2 AND generation = $3
        """, [.int2, .text, .int4])

    static let deleteQuarantine = Statement(
        "delete_quarantine",
        "DELETE FROM tiffin.quarantine WHERE partition = $1 AND generation = $2 AND projection = $3",
        [.int2, .int4, .text])
}

extension Column.Kind {
    /// The type of the column in a database.
    var elementType: PostgresType {
        switch self {
        case .text, .json: .text
        case .int32: .int4
        case .int64: .int8
        }
    }

    /// An array of it.
    var arrayType: PostgresType {
        switch self {
        case .text, .json: .textArray
        case .int32: .int4Array
        case .int64: .int8Array
        }
    }
}
