internal import EventLog
internal import Postgres

extension Partitioning {
    /// The row that says which partitions the log has, and what the database is called if it is one of several. Before
    /// migration 20 it had no rule, which was SHA-256.
    static let stored = Statement(
        "partitioning",
        """
        SELECT p.count, to_jsonb(p) ->> 'placement' AS placement, to_jsonb(p) ->> 'database' AS database
        FROM tiffin.partition_count AS p LIMIT 1
        """)

    /// What the row says; nil if that cannot be.
    init?(_ row: Row) {
        let placement: String? = row["placement"]
        guard let rule = placement.map(Rule.init) ?? .sha256, row["count"] as Int > 0 else { return nil }
        self.init(count: row["count"], by: rule)
    }

    /// Why a database is not the one that is meant, by what its row says; nil if it is.
    ///
    /// - Parameter name: what it is called among several; nil if it is to have the whole log.
    static func problem(with row: Row, named name: String?) -> String? {
        let stored: String? = row["database"]
        return switch (stored, name) {
        case (let stored?, nil):
            "the log is in several databases, and this is only '\(stored)' of them: name them all with --databases"
        case (let stored?, let name?) where stored != name:
            "the map calls a database '\(name)' that calls itself '\(stored)'"
        case (nil, let name?): "database '\(name)' is not one of several yet: run tiffin migrate with the map"
        default: nil
        }
    }
}
