internal import Domain
internal import EventLog
internal import EventLoop
internal import Postgres

/// The numbered changes that lead from an empty database to the present schema. Each is applied once, in order, and
/// its checksum is kept: a migration must not change after it was applied.
package enum Migrations {
    /// One change.
    struct Migration {
        var number: Int
        var name: String
        var sql: [UInt8]
        /// The first migration whose servers can serve what this one leaves, and read the events of its version; nil if
        /// only servers of its own version can.
        var servedSince: Int?

        /// SHA-256 of the text, in hexadecimal.
        var checksum: String { Digest.of(sql).description }
    }

    private static let deeds = "deeds"

    static let all = [
        Migration(number: 1, name: "event_log", sql: PackageResources._001_event_log_sql),
        Migration(number: 2, name: "projections", sql: PackageResources._002_projections_sql),
        Migration(number: 3, name: "catalogue", sql: PackageResources._003_catalogue_sql),
        Migration(number: 4, name: "generations", sql: PackageResources._004_generations_sql),
        Migration(number: 5, name: "customer_keys", sql: PackageResources._005_customer_keys_sql),
        Migration(number: 6, name: "log_decides", sql: PackageResources._006_log_decides_sql),
        Migration(number: 7, name: "batches", sql: PackageResources._007_batches_sql),
        Migration(number: 8, name: "batch_queries", sql: PackageResources._008_batch_queries_sql),
        Migration(number: 9, name: "users", sql: PackageResources._009_users_sql),
        Migration(number: 10, name: "chain_points", sql: PackageResources._010_chain_points_sql),
        Migration(number: 11, name: "readings", sql: PackageResources._011_readings_sql),
        Migration(number: 12, name: "partition_count", sql: PackageResources._012_partition_count_sql),
        Migration(number: 13, name: "relays", sql: PackageResources._013_relays_sql),
        Migration(number: 14, name: "orders", sql: PackageResources._014_orders_sql),
        Migration(number: 15, name: "auditor", sql: PackageResources._015_auditor_sql),
        Migration(number: 16, name: "order_payments", sql: PackageResources._016_order_payments_sql),
        Migration(number: 17, name: "order_taxes", sql: PackageResources._017_order_taxes_sql),
        Migration(number: 18, name: deeds, sql: PackageResources._018_deeds_sql),
        Migration(number: 19, name: "derived", sql: PackageResources._019_derived_sql),
        Migration(number: 20, name: "placement", sql: PackageResources._020_placement_sql),
        Migration(number: 21, name: "fleet", sql: PackageResources._021_fleet_sql),
        Migration(number: 22, name: "carts_only", sql: PackageResources._022_carts_only_sql),
        Migration(number: 23, name: "takings", sql: PackageResources._023_takings_sql),
        Migration(number: 24, name: "databases", sql: PackageResources._024_databases_sql),
        Migration(number: 25, name: "pictures", sql: PackageResources._025_pictures_sql),
        Migration(number: 26, name: "supply", sql: PackageResources._026_supply_sql),
        Migration(number: 27, name: "relay_failures", sql: PackageResources._027_relay_failures_sql),
        Migration(number: 28, name: "tree", sql: PackageResources._028_tree_sql),
        Migration(number: 29, name: "signed_heads", sql: PackageResources._029_signed_heads_sql),
        Migration(number: 30, name: "relay_deliveries", sql: PackageResources._030_relay_deliveries_sql),
        Migration(number: 31, name: "relay_places", sql: PackageResources._031_relay_places_sql),
        Migration(number: 32, name: "orders_by_place", sql: PackageResources._032_orders_by_place_sql),
        Migration(number: 33, name: "served_since", sql: PackageResources._033_served_since_sql),
        Migration(number: 34, name: "archive", sql: PackageResources._034_archive_sql, servedSince: 33),
    ]

    private static let newestNumber = all.last?.number ?? 0

    /// The most partitions a log may have.
    package static let maximumPartitions = 256

    /// Brings a database to the present schema.
    ///
    /// - Parameters:
    ///   - partitions: how many partitions a new log gets. An existing log keeps its number, and refuses another.
    ///   - usual: how many a new log gets where that is nil.
    ///   - progress: called while events are moved to another layout, with those moved so far and all of them.
    ///   - log: called with every migration that is applied.
    @LoopActor
    package static func run(
        _ database: String, partitions: Int? = nil, usual: Int = 1, progress: (Int64, Int64) -> Void = { _, _ in },
        log: (String) -> Void
    ) async throws(MigrationError) {
        try await run(database, nil, partitions, usual, progress, log)
    }

    /// The same of all databases of a log. The first gives the others their partitions; these live elsewhere until they
    /// are moved.
    @LoopActor
    package static func run(
        _ databases: LogDatabases, partitions: Int? = nil, usual: Int = 1,
        progress: (Int64, Int64) -> Void = { _, _ in }, log: (String) -> Void
    ) async throws(MigrationError) {
        guard let first = databases.named.first else {
            return try await run(databases.first, nil, partitions, usual, progress, log)
        }
        let others = databases.named.dropFirst()
        if try await partitioning(of: first) == nil {
            for other in others where try await partitioning(of: other) != nil {
                throw MigrationError(
                    description: "the map names '\(first.name)' first, which has no log, and '\(other.name)' has one")
            }
        }
        try await run(
            first.address, Part(name: first.name, first: first.name, partitioning: nil), partitions, usual, progress
        ) { log("\(first.name): \($0)") }
        let partitioning = try await partitioning(of: first)
        for other in others {
            try await run(
                other.address, Part(name: other.name, first: first.name, partitioning: partitioning), nil, 1, progress
            ) { log("\(other.name): \($0)") }
        }
    }

    /// One of several databases that is to be migrated.
    private struct Part {
        let name: String
        /// The name of the first.
        let first: String
        /// The partitions of the first; nil in the first itself.
        let partitioning: Partitioning?
    }

    /// The partitions that a database has; nil if it has no log.
    @LoopActor
    private static func partitioning(of database: LogDatabases.Named) async throws(MigrationError) -> Partitioning? {
        do throws(PostgresError) {
            let connection = try await PostgresConnection.connect(database.address, applicationName: "tiffin migrate")
            defer { connection.close() }
            return try await connection.execute(Partitioning.stored).first.flatMap { Partitioning($0) }
        } catch {
            if [.undefinedTable, .undefinedSchema].contains(error.sqlState) { return nil }
            throw MigrationError(description: "\(database.name): \(error)")
        }
    }

    @LoopActor
    private static func run(
        _ database: String, _ part: Part?, _ partitions: Int?, _ usual: Int, _ progress: (Int64, Int64) -> Void,
        _ log: (String) -> Void
    ) async throws(MigrationError) {
        do {
            let connection = try await PostgresConnection.connect(database, applicationName: "tiffin migrate")
            defer { connection.close() }
            try await prepare(connection)
            let lines = try await connection.transaction { try await apply($0, part, partitions, usual) }
            for line in lines { log(line) }
            if let count = try await LayoutMove(connection: connection).run(progress: progress), count > 0 {
                log("\(count) events were moved to the layout of migration 7")
            }
        } catch let error as MigrationError {
            throw error
        } catch {
            throw MigrationError(description: "\(error)")
        }
    }

    /// Refuses databases that have no log, that another version of Tiffin migrated, as their tables have another form,
    /// or that are not those of the map. If a check is not possible, for example because the user lacks a right, it is
    /// skipped: whatever needs the right reports it.
    ///
    /// - Parameter serving: whether it is to be served, which a version can do although a newer one migrated it, if that
    ///   left it so.
    @LoopActor
    package static func check(_ databases: LogDatabases, serving: Bool = false) async throws(MigrationError) {
        guard !databases.named.isEmpty else { return try await check(databases.first, serving: serving) }
        for database in databases.named {
            do throws(MigrationError) {
                try await check(database.address, named: database.name, serving: serving)
            } catch {
                throw MigrationError(description: "database '\(database.name)': \(error)")
            }
        }
    }

    @LoopActor
    package static func check(
        _ database: String, named name: String? = nil, serving: Bool = false
    ) async throws(MigrationError) {
        do {
            let connection = try await PostgresConnection.connect(database, applicationName: "tiffin check")
            defer { connection.close() }
            let newest = Statement(
                "newest_migration", "SELECT coalesce(max(number), 0) AS number FROM tiffin.migrations")
            let found: Int = try await connection.execute(newest)[0]["number"]
            if try await LayoutMove.isNeeded(connection) {
                throw MigrationError(
                    description: "the log is not moved to the layout of this version yet; run tiffin migrate, which "
                        + "goes on where it stopped")
            }
            if found < newestNumber { throw MigrationError.older("migrations up to \(found)", newestNumber) }
            let functions = try await SchemaFunctions.applied(connection)?.version ?? 0
            if functions < SchemaFunctions.version {
                throw MigrationError.older(SchemaFunctions.name(functions), SchemaFunctions.version)
            }
            let newer = try await changesOfNewerVersions(connection)
            if let change = newer.first(where: { !serving || !$0.canBeServed }) {
                throw MigrationError.newer(change.name)
            }
            if let row = try await connection.execute(Partitioning.stored).first,
                let problem = Partitioning.problem(with: row, named: name)
            {
                throw MigrationError(description: problem)
            }
        } catch let error as MigrationError {
            throw error
        } catch {
            guard let state = (error as? PostgresError)?.sqlState, [.undefinedTable, .undefinedSchema].contains(state)
            else { return }
            throw MigrationError(description: "the database has no log; run tiffin migrate")
        }
    }

    /// What newer versions did to a database that has all migrations of this one, and whether servers of this version can
    /// serve it nevertheless.
    @LoopActor
    private static func changesOfNewerVersions(
        _ session: any StatementExecutor
    ) async throws(PostgresError) -> [(name: String, canBeServed: Bool)] {
        let changes = Statement(
            "changes_of_newer_versions",
            """
            SELECT format('migration %s (%s)', number, name) AS name, coalesce(served_since <= $1, false) AS can_be_served
            FROM tiffin.migrations WHERE number > $1
            UNION ALL
            SELECT format('version %s of the functions', version), coalesce(served_since <= $2, false)
            FROM tiffin.functions WHERE version > $2
            """, [.int4, .int4])
        let rows = try await session.execute(
            changes, [.int4(Int32(newestNumber)), .int4(Int32(SchemaFunctions.version))])
        return rows.map { ($0["name"], $0["can_be_served"]) }
    }

    @LoopActor
    private static func prepare(_ connection: PostgresConnection) async throws(PostgresError) {
        let script = """
            CREATE SCHEMA IF NOT EXISTS tiffin;
            CREATE TABLE IF NOT EXISTS tiffin.migrations (
                number       integer     NOT NULL PRIMARY KEY,
                name         text        NOT NULL,
                checksum     text        NOT NULL,
                applied_at   timestamptz NOT NULL,
                served_since integer
            );
            CREATE TABLE IF NOT EXISTS tiffin.functions (
                single       boolean     NOT NULL PRIMARY KEY DEFAULT true CHECK (single),
                version      integer     NOT NULL,
                checksum     text        NOT NULL,
                applied_at   timestamptz NOT NULL,
                served_since integer
            );
            """
        do throws(PostgresError) {
            try await connection.runScript(script)
        } catch {
            // Two servers that start at once may both find nothing there. The second attempt finds it.
            guard error.sqlState == .uniqueViolation else { throw error }
            try await connection.runScript(script)
        }
    }

    @LoopActor
    private static func apply(
        _ transaction: Transaction, _ part: Part?, _ partitions: Int?, _ usual: Int
    ) async throws -> [String] {
        // A second process waits here, and then finds everything applied.
        _ = try await transaction.execute(
            Statement("lock_migrations", "LOCK TABLE tiffin.migrations IN EXCLUSIVE MODE"))
        let rows = try await transaction.execute(
            Statement("migrations", "SELECT number, name, checksum FROM tiffin.migrations ORDER BY number"))
        var done: [Int: String] = [:]
        for row in rows { done[row["number"]] = row["checksum"] }
        if done[newestNumber] != nil {
            let newer = try await changesOfNewerVersions(transaction)
            if let change = newer.first(where: { !$0.canBeServed }) { throw MigrationError.newer(change.name) }
            guard newer.isEmpty else {
                return ["a newer version applied \(newer[0].name), and left what this one can serve"]
            }
        }
        var lines: [String] = []
        var recordsDeeds = false
        for migration in all {
            if let checksum = done[migration.number] {
                guard checksum == migration.checksum else {
                    throw MigrationError(
                        description: "migration \(migration.number) (\(migration.name)) was changed after it was "
                            + "applied: the database has checksum \(checksum), this version \(migration.checksum)")
                }
                continue
            }
            try await transaction.runScript(String(decoding: migration.sql, as: UTF8.self))
            _ = try await transaction.execute(
                Statement(
                    "record_migration",
                    "INSERT INTO tiffin.migrations (number, name, checksum, applied_at) VALUES ($1, $2, $3, now())",
                    [.int4, .text, .text]),
                [.int4(Int32(migration.number)), .text(migration.name), .text(migration.checksum)])
            if let servedSince = migration.servedSince {
                _ = try await transaction.execute(
                    Statement(
                        "record_served_since", "UPDATE tiffin.migrations SET served_since = $2 WHERE number = $1",
                        [.int4, .int4]),
                    [.int4(Int32(migration.number)), .int4(Int32(servedSince))])
            }
            if migration.name == deeds { recordsDeeds = true }
            lines.append("migration \(migration.number) (\(migration.name)) applied")
        }
        // A migration that comes late may have put an older function back.
        let isReplaced = try await SchemaFunctions.apply(transaction, isForced: !lines.isEmpty)
        if isReplaced { lines.append("\(SchemaFunctions.name(SchemaFunctions.version)) applied") }
        // By the functions of this version.
        if recordsDeeds { try await recordDeeds(transaction) }
        lines += try await choosePartitions(part, partitions, usual, transaction)
        // New functions, and the table of their version, get their rights here, too.
        if try await Rights.mend(transaction) > 0, !isReplaced {
            lines.append("the roles and grants that were missing, as in a restored copy, are there again")
        }
        return lines
    }

    /// Records what was done beside the log before that was recorded.
    @LoopActor
    private static func recordDeeds(_ transaction: Transaction) async throws {
        var deeds: [(id: Identifier, event: Deed.Event)] = []
        func take(_ table: Statement, _ event: (Row) -> Deed.Event) async throws {
            for row in try await transaction.execute(table) {
                if let id = Identifier(row["name"] as String) { deeds.append((id, event(row))) }
            }
        }
        try await take(DeedTables.forgotten) { _ in .customerForgotten }
        try await take(DeedTables.users) { .userPut(Deed.User($0, change: "migrated")) }
        try await take(DeedTables.relays) { _ in .relayPut }
        guard !deeds.isEmpty else { return }
        let isInOldLayout = Statement(
            "is_in_old_layout",
            """
            SELECT EXISTS (SELECT FROM tiffin.log_head WHERE position > 0) AND NOT EXISTS (SELECT FROM tiffin.batches)
                AS is_old
            """)
        guard !(try await transaction.execute(isInOldLayout)[0]["is_old"]) else {
            throw MigrationError(
                description: "the log has the layout of before migration 7, and customers who were forgotten: migrate "
                    + "it with the version before this one first")
        }
        let metadata = EventMetadata(commandID: nil, fingerprint: nil, actor: "tiffin")
        try await DeedRecorder.record(deeds, metadata, in: transaction)
    }

    /// Gives a new log its partitions, and one of several databases its name.
    @LoopActor
    private static func choosePartitions(
        _ part: Part?, _ partitions: Int?, _ usual: Int, _ transaction: Transaction
    ) async throws -> [String] {
        if let row = try await transaction.execute(Partitioning.stored).first {
            return try await nameDatabase(row, part, partitions, transaction)
        }
        let isUsed = Statement(
            "is_used", "SELECT EXISTS (SELECT FROM tiffin.batches) OR EXISTS (SELECT FROM tiffin.log_head) AS is_used")
        guard !(try await transaction.execute(isUsed)[0]["is_used"]) else {
            throw MigrationError(
                description: "tiffin.partition_count is damaged: it has no row, and the log has partitions. Restore it "
                    + "from a backup, or run tiffin audit, which counts the partitions")
        }
        let partitioning = part?.partitioning ?? Partitioning(count: partitions ?? usual, by: .slots)
        let isFurther = part?.partitioning != nil
        // Where nothing was open yet, the epoch lies before all others.
        _ = try await transaction.execute(
            Statement(
                "add_partitions",
                """
                INSERT INTO tiffin.log_head (partition, position, digest, epoch, moved_to)
                SELECT n, 0, $2, $3, $4 FROM generate_series(0, $1 - 1) AS n
                """, [.int4, .bytea, .int8, .text]),
            [
                .int4(Int32(partitioning.count)), .bytes(Digest.zero.bytes), .int8(isFurther ? -1 : 0),
                part.map { isFurther ? .text($0.first) : .null } ?? .null,
            ])
        _ = try await transaction.execute(
            Statement(
                "set_partition_count",
                "INSERT INTO tiffin.partition_count (count, placement, database) VALUES ($1, $2, $3)",
                [.int4, .text, .text]),
            [
                .int4(Int32(partitioning.count)), .text(partitioning.rule.rawValue),
                part.map { .text($0.name) } ?? .null,
            ])
        if isFurther { return ["it has no partition yet: 'tiffin move' moves one here"] }
        return ["the log has \(partitioning.count) partition\(partitioning.count == 1 ? "" : "s")"]
    }

    /// Checks a log that is there already, and gives the first of several databases its name.
    @LoopActor
    private static func nameDatabase(
        _ row: Row, _ part: Part?, _ partitions: Int?, _ transaction: Transaction
    ) async throws -> [String] {
        let count: Int = row["count"]
        if let partitions, partitions != count {
            throw MigrationError(
                description: "the log was created with \(count) partition\(count == 1 ? "" : "s"), and cannot "
                    + "have \(partitions)")
        }
        let name: String? = row["database"]
        guard name != nil || part == nil else {
            guard let part, part.partitioning == nil else {
                throw MigrationError(description: "the database has a log of its own: it cannot be one of several")
            }
            _ = try await transaction.execute(
                Statement("name_database", "UPDATE tiffin.partition_count SET database = $1", [.text]),
                [.text(part.name)])
            return ["it is called '\(part.name)' from now on"]
        }
        if let problem = Partitioning.problem(with: row, named: part?.name) {
            throw MigrationError(description: problem)
        }
        if let wanted = part?.partitioning, wanted != Partitioning(row) {
            throw MigrationError(description: "the database has other partitions than the first one")
        }
        return []
    }
}

/// Why a database could not be brought to the present schema. Every change that was made is whole.
package struct MigrationError: Error, CustomStringConvertible {
    /// What went wrong, for an operator.
    package let description: String

    static func newer(_ what: String) -> MigrationError {
        MigrationError(
            description: "the database has \(what), which this version of Tiffin does not know: it was migrated by a "
                + "newer one")
    }

    fileprivate static func older(_ what: String, _ present: Int) -> MigrationError {
        MigrationError(
            description: "the database has \(what), and this version of Tiffin works with \(present); run tiffin "
                + "migrate, or a server of this version")
    }
}
