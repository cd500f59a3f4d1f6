internal import Domain
internal import EventLog
internal import EventLoop
internal import Postgres

/// The functions of the present schema, as `migrations/functions/` has them. A migration says how they came about; these
/// files replace what all migrations left, and are applied again when they change.
enum SchemaFunctions {
    /// Rises with every change of a file that is published: a program with a lower one refuses the database.
    static let version = 9
    /// The first version whose servers can call the functions of this one.
    static let servedSince = 6

    static func name(_ version: Int) -> String { "version \(version) of the functions" }

    /// In the order in which they are made: PostgreSQL looks up what a function of SQL calls.
    static let files = [
        PackageResources.digests_sql, PackageResources.points_sql, PackageResources.reading_sql,
        PackageResources.stream_index_sql, PackageResources.append_sql, PackageResources.outcome_sql,
        PackageResources.customer_key_sql, PackageResources.fleet_sql, PackageResources.tree_sql,
    ]

    /// SHA-256 of all files, in hexadecimal.
    static let checksum = Digest.of(files.flatMap { $0 }).description

    /// What a database has: the version and checksum of the files that were last applied; nil before the first.
    @LoopActor
    static func applied(_ session: any StatementExecutor) async throws(PostgresError) -> (
        version: Int, checksum: String
    )? {
        do throws(PostgresError) {
            let statement = Statement("functions_applied", "SELECT version, checksum FROM tiffin.functions")
            return try await session.execute(statement, []).first.map { ($0["version"], $0["checksum"]) }
        } catch {
            guard error.sqlState == .undefinedTable else { throw error }
            return nil
        }
    }

    /// Makes the functions, unless the database has those of these files. Returns whether it did.
    ///
    /// - Parameter isForced: whether the database may have others whatever it says, as a migration made some.
    @LoopActor
    static func apply(_ transaction: Transaction, isForced: Bool) async throws -> Bool {
        let found = try await applied(transaction)
        if let found, found.version > version { throw MigrationError.newer(name(found.version)) }
        guard isForced || found?.checksum != checksum || found?.version != version else { return false }
        for file in files { try await transaction.runScript(String(decoding: file, as: UTF8.self)) }
        _ = try await transaction.execute(
            Statement(
                "record_functions",
                """
                INSERT INTO tiffin.functions (version, checksum, applied_at, served_since) VALUES ($1, $2, now(), $3)
                ON CONFLICT (single) DO UPDATE
                SET version = excluded.version, checksum = excluded.checksum, applied_at = excluded.applied_at,
                    served_since = excluded.served_since
                """, [.int4, .text, .int4]),
            [.int4(Int32(version)), .text(checksum), .int4(Int32(servedSince))])
        return true
    }
}
