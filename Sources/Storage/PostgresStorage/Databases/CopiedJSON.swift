internal import EventLog
internal import Postgres

/// Rows on their way from one database to another, or to a file: JSON has every type of a column, whatever a later
/// migration adds.
enum CopiedJSON {
    /// Batches of a partition behind a position, up to a number of them, and of about so many bytes.
    static let batches = Statement(
        "copied_batches",
        """
        SELECT to_json(b)::text AS row, last_position, chain_digest, events IS NULL AS is_archived FROM (
            SELECT *, sum(length) OVER (ORDER BY first_position) - length AS bytes_before
            FROM (
                SELECT *, coalesce(octet_length(events), 0) AS length FROM tiffin.batches
                WHERE partition = $1 AND first_position > $2 AND first_position <= \(LogHead.maximumPosition)
                ORDER BY first_position LIMIT $3) AS b) AS b
        WHERE bytes_before < $4 ORDER BY first_position
        """, [.int2, .int8, .int8, .int8])

    /// Adds batches behind a position and its chain. Returns where they end, and whether they fail to continue the chain.
    static let addBatches = Statement(
        "add_batches",
        """
        WITH added AS (
            INSERT INTO tiffin.batches SELECT b.* FROM unnest($3) AS r (row)
                CROSS JOIN LATERAL json_populate_record(NULL::tiffin.batches, r.row::json) AS b
            RETURNING first_position, last_position, content_digest, chain_digest)
        SELECT bool_or(
                first_position IS DISTINCT FROM coalesce(last_before, $1) + 1 OR last_position < first_position
                OR chain_digest IS DISTINCT FROM sha256(coalesce(chain_before, $2) || content_digest)) AS is_broken,
            max(last_position) AS last_position,
            (array_agg(chain_digest ORDER BY first_position DESC))[1] AS chain_digest
        FROM (
            SELECT *, lag(last_position) OVER (ORDER BY first_position) AS last_before,
                lag(chain_digest) OVER (ORDER BY first_position) AS chain_before
            FROM added) AS a
        """, [.int8, .bytea, .textArray])

    /// Adds rows to a table.
    static func add(to table: String) -> Statement {
        Statement(
            "add_to_\(table)",
            """
            INSERT INTO tiffin.\(table) SELECT t.* FROM unnest($1) AS r (row)
                CROSS JOIN LATERAL json_populate_record(NULL::tiffin.\(table), r.row::json) AS t
            """, [.textArray])
    }
}
