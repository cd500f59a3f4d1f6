internal import Postgres

/// Every statement about read models. The first parameter is the partition.
enum Statements {
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

    private static let columns = "projection, generation, version, position, digest"

    static let generations = Statement(
        "generations", "SELECT \(columns) FROM tiffin.projection_checkpoints WHERE partition = $1 AND state = $2",
        [.int2, .text])

    static let lockGenerations = Statement(
        "lock_generations",
        """
        SELECT \(columns) FROM tiffin.projection_checkpoints
        WHERE partition = $1 AND state = $2 ORDER BY projection FOR UPDATE
        """, [.int2, .text])

    static let checkpoint = Statement(
        "save_checkpoint",
        """
        UPDATE tiffin.projection_checkpoints SET version = $3, position = $4, digest = $5
        WHERE partition = $1 AND projection = $2 AND state = 'active'
        """, [.int2, .text, .int4, .int8, .bytea])

    // MARK: Rows

    static let saveOutlets = Statement(
        "save_outlets",
        """
        INSERT INTO tiffin.outlet_home_rows (partition, generation, outlet, revision, document, snapshot)
        SELECT $1, $2, r.* FROM unnest($3, $4, $5, $6) AS r ON CONFLICT (partition, generation, outlet) DO UPDATE
        SET revision = EXCLUDED.revision, document = EXCLUDED.document, snapshot = EXCLUDED.snapshot
        """, [.int2, .int4, .textArray, .int8Array, .textArray, .textArray])

    static let saveCarts = Statement(
        "save_carts",
        """
        INSERT INTO tiffin.cart_count_rows (partition, generation, cart, count)
        SELECT $1, $2, r.* FROM unnest($3, $4) AS r
        ON CONFLICT (partition, generation, cart) DO UPDATE SET count = EXCLUDED.count
        """, [.int2, .int4, .textArray, .int4Array])

    static let quarantine = Statement(
        "save_quarantine",
        """
        INSERT INTO tiffin.quarantine (partition, projection, generation, stream, position, reason)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
        """, [.int2, .text, .int4, .text, .int8, .text])

    static let oneSnapshot = Statement("one_snapshot", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")

    static let outlets = Statement(
        "outlets",
        """
        SELECT outlet, revision, snapshot FROM tiffin.outlet_home_rows
        WHERE partition = $1 AND generation = $2 AND outlet > $3 ORDER BY outlet LIMIT $4
        """, [.int2, .int4, .text, .int8])

    static let carts = Statement(
        "carts",
        """
        SELECT cart, count FROM tiffin.cart_count_rows
        WHERE partition = $1 AND generation = $2 AND cart > $3 ORDER BY cart LIMIT $4
        """, [.int2, .int4, .text, .int8])

    static let quarantined = Statement(
        "quarantined",
        """
        SELECT stream, position, reason FROM tiffin.quarantine
        WHERE partition = $1 AND projection = $2 AND generation = $3
        """, [.int2, .text, .int4])

    // MARK: Generations

    static let newestGeneration = Statement(
        "newest_generation",
        "SELECT max(generation) FROM tiffin.projection_checkpoints WHERE partition = $1 AND projection = $2",
        [.int2, .text])

    /// How many rows differ between two generations, and the keys of the first few.
    static let outletDifference = difference("outlet_home_rows", key: "outlet", values: "revision, document, snapshot")
    static let cartDifference = difference("cart_count_rows", key: "cart", values: "count")

    private static func difference(_ table: String, key: String, values: String) -> Statement {
        Statement(
            "difference_of_\(table)",
            """
            WITH a AS (SELECT \(key), ROW(\(values)) AS v FROM tiffin.\(table) WHERE partition = $1 AND generation = $2),
                 b AS (SELECT \(key), ROW(\(values)) AS v FROM tiffin.\(table) WHERE partition = $1 AND generation = $3),
                 d AS (SELECT \(key) FROM a FULL JOIN b USING (\(key)) WHERE a.v IS DISTINCT FROM b.v)
            SELECT (SELECT count(*) FROM d), ARRAY(SELECT \(key) FROM d ORDER BY \(key) LIMIT 5)
            """, [.int2, .int4, .int4])
    }

    static let deleteOutlets = Statement(
        "delete_outlets", "DELETE FROM tiffin.outlet_home_rows WHERE partition = $1 AND generation = $2",
        [.int2, .int4])

    static let deleteCarts = Statement(
        "delete_carts", "DELETE FROM tiffin.cart_count_rows WHERE partition = $1 AND generation = $2",
        [.int2, .int4])

    static let deleteQuarantine = Statement(
        "delete_quarantine",
        "DELETE FROM tiffin.quarantine WHERE partition = $1 AND generation = $2 AND projection = $3",
        [.int2, .int4, .text])

    static let deletePrevious = Statement(
        "delete_previous",
        "DELETE FROM tiffin.projection_checkpoints WHERE partition = $1 AND projection = $2 AND state = 'previous'",
        [.int2, .text])

    static let retire = Statement(
        "retire",
        """
        UPDATE tiffin.projection_checkpoints SET state = 'previous'
        WHERE partition = $1 AND projection = $2 AND state = 'active'
        """, [.int2, .text])

    static let activate = Statement(
        "activate",
        """
        INSERT INTO tiffin.projection_checkpoints (partition, projection, version, position, digest, generation, state)
        VALUES ($1, $2, $3, $4, $5, $6, 'active')
        """, [.int2, .text, .int4, .int8, .bytea, .int4])

    static let exchange = Statement(
        "exchange",
        """
        UPDATE tiffin.projection_checkpoints SET state = CASE state WHEN 'active' THEN 'previous' ELSE 'active' END
        WHERE partition = $1 AND projection = $2
        """, [.int2, .text])
}
