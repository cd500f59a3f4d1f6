internal import EventLog
internal import Postgres

extension Partitioning {
    /// The row that says which partitions the log has. Before migration 20 it had no rule, which was SHA-256.
    static let stored = Statement(
        "partitioning",
        "SELECT p.count, to_jsonb(p) ->> 'placement' AS placement FROM tiffin.partition_count AS p LIMIT 1")

    /// What the row says; nil if that cannot be.
    init?(_ row: Row) {
        let placement: String? = row["placement"]
        guard let rule = placement.map(Rule.init) ?? .sha256, row["count"] as Int > 0 else { return nil }
        self.init(count: row["count"], by: rule)
    }
}
