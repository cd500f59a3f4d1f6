import EventLog
import EventLoop
import Foundation
import Postgres
import TestSupport
import Testing

@testable import PostgresStorage

@Suite struct MigrationTests {
    init() { LoopActor.startInBackground() }

    /// Migrates, and returns what was done.
    @LoopActor
    private func migrate(_ database: String, partitions: Int? = nil) async throws(MigrationError) -> [String] {
        var lines: [String] = []
        try await Migrations.run(database, partitions: partitions) { lines.append($0) }
        return lines
    }

    @LoopActor
    private func run(_ sql: String, in database: String) async throws {
        let connection = try await PostgresConnection.connect(database)
        defer { connection.close() }
        try await connection.runScript(sql)
    }

    private static let directory = URL(filePath: #filePath).appending(path: "../../../migrations").standardized

    @Test func `Every file is registered under its number`() throws {
        let files = try Self.files(in: Self.directory)
        let registered = Migrations.all.map { migration in
            String(repeating: "0", count: 4 - "\(migration.number)".count) + "\(migration.number)_\(migration.name).sql"
        }
        #expect(files == registered)
        #expect(Set(Migrations.all.map(\.number)).count == files.count)
        for (file, migration) in zip(files, Migrations.all) {
            #expect(try Data(contentsOf: Self.directory.appending(path: file)) == Data(migration.sql))
        }
    }

    private static func files(in directory: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasSuffix(".sql") }.sorted()
    }

    @Test func `Every file of functions is registered`() throws {
        let directory = Self.directory.appending(path: "functions")
        let contents = try Self.files(in: directory).map { try Data(contentsOf: directory.appending(path: $0)) }
        #expect(Set(contents) == Set(SchemaFunctions.files.map { Data($0) }))
        #expect(contents.count == SchemaFunctions.files.count)
    }

    /// Whoever changes a function gives the set its next version, and writes the checksum here: databases have it.
    @Test func `A version of the functions has one checksum`() {
        #expect(SchemaFunctions.version == 9)
        #expect(SchemaFunctions.checksum.hasPrefix("8c8a201750f48b2a"))
    }

    /// Databases with these exist: whoever changed one would have their servers refused. A change is a new migration.
    @Test func `No published migration changes`() {
        let published = [
            "92b3175b885a672d", "c7c6719cfc587e77", "ae98a48bea3d18c6", "6a0394cb67842024",
            "bc7c7564aa798550", "f6986441d19f4f10", "084436653a6944e5", "a24e06300caaf01f",
            "f2bdb39afaa89f9c", "9ed43e48458f219c", "ee0b16e55fdc68bd", "b5df04eefe6a17f7",
            "ce87c4cf64bc72e1", "0745f87fea663190",
        ]
        for (migration, beginning) in zip(Migrations.all, published) {
            #expect(migration.checksum.hasPrefix(beginning), "migration \(migration.number)")
        }
    }

    /// Who may do what in the schema, a line each.
    @LoopActor
    private func rights(in database: String) async throws -> [String] {
        let connection = try await PostgresConnection.connect(database)
        defer { connection.close() }
        let rows = try await connection.execute(
            Statement(
                "rights",
                """
                SELECT format('%s %s %s', name, grantee::regrole, privilege_type) FROM (
                    SELECT oid::regclass::text, coalesce(relacl, acldefault('r', relowner)) FROM pg_class
                    WHERE relnamespace = 'tiffin'::regnamespace AND relkind IN ('r', 'v')
                    UNION ALL SELECT oid::regprocedure::text, coalesce(proacl, acldefault('f', proowner)) FROM pg_proc
                    WHERE pronamespace = 'tiffin'::regnamespace
                    UNION ALL SELECT 'tiffin', nspacl FROM pg_namespace WHERE nspname = 'tiffin'
                    UNION ALL SELECT attrelid::regclass || '.' || attname, attacl
                    FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
                    WHERE relnamespace = 'tiffin'::regnamespace
                ) AS o (name, acl), aclexplode(acl) ORDER BY 1
                """))
        return (0..<rows.count).map { rows.text($0, 0) }
    }

    @Test @LoopActor func `A copy that lost its grants gets those of the migrations, and no others`() async throws {
        let database = try await TestDatabase.create()
        _ = try await migrate(database)
        let granted = try await rights(in: database)
        // As pg_restore leaves it without privileges: PostgreSQL's own defaults.
        try await run(
            """
            UPDATE pg_class SET relacl = NULL WHERE relnamespace = 'tiffin'::regnamespace;
            UPDATE pg_proc SET proacl = NULL WHERE pronamespace = 'tiffin'::regnamespace;
            UPDATE pg_namespace SET nspacl = NULL WHERE nspname = 'tiffin';
            UPDATE pg_attribute SET attacl = NULL WHERE attrelid IN (
                SELECT oid FROM pg_class WHERE relnamespace = 'tiffin'::regnamespace);
            """, in: database)
        #expect(try await rights(in: database) != granted)
        let lines = try await migrate(database)
        #expect(lines == ["the roles and grants that were missing, as in a restored copy, are there again"])
        #expect(try await rights(in: database) == granted)
        #expect(try await migrate(database) == [])
    }

    private static let applied = "version \(SchemaFunctions.version) of the functions applied"

    /// What PostgreSQL has of every function, a line each, and who owns it.
    @LoopActor
    private func functions(in database: String) async throws -> [String] {
        let connection = try await PostgresConnection.connect(database)
        defer { connection.close() }
        let rows = try await connection.execute(
            Statement(
                "definitions",
                """
                SELECT proowner::regrole || ' ' || pg_get_functiondef(oid) FROM pg_proc
                WHERE pronamespace = 'tiffin'::regnamespace ORDER BY oid::regprocedure::text
                """))
        return (0..<rows.count).map { rows.text($0, 0) }
    }

    /// Who may execute what, a line each.
    @LoopActor
    private func executors(in database: String) async throws -> [String] {
        try await rights(in: database).filter { $0.hasSuffix(" EXECUTE") }
    }

    /// A database as the migrations alone leave it.
    @LoopActor
    private func databaseBeforeFunctions() async throws -> String {
        let database = try await TestDatabase.create()
        let connection = try await PostgresConnection.connect(database)
        defer { connection.close() }
        try await connection.runScript(
            """
            CREATE SCHEMA tiffin;
            CREATE TABLE tiffin.migrations (
                number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL);
            CREATE TABLE tiffin.functions (
                single boolean PRIMARY KEY DEFAULT true, version integer NOT NULL, checksum text NOT NULL,
                applied_at timestamptz NOT NULL);
            """)
        for migration in Migrations.all {
            try await connection.runScript(String(decoding: migration.sql, as: UTF8.self))
            try await connection.runScript(
                "INSERT INTO tiffin.migrations VALUES "
                    + "(\(migration.number), '\(migration.name)', '\(migration.checksum)', now())")
        }
        return database
    }

    @Test @LoopActor func `A migrated database gets the functions, and they stay whose they were`() async throws {
        let database = try await databaseBeforeFunctions()
        let before = (try await functions(in: database), try await executors(in: database))
        #expect(try await migrate(database) == [Self.applied, "the log has 1 partition"])
        #expect(before.0.count == 14)
        // No migration made these, or left them.
        let new = [
            "append", "renew_server", "change_leases", "leave_fleet", "grow_tree", "tree_root", "index_archived",
            "is_point",
        ]
        let isNew = { (line: String) in new.contains(where: line.contains) }
        // Each has a first line of its own: the owner, the name and the parameters.
        let firstLines = { (functions: [String]) in functions.map { String($0.prefix { $0 != "\n" }) } }
        let after = try await firstLines(functions(in: database))
        #expect(after.filter { !isNew($0) } == firstLines(before.0))
        #expect(after.count(where: isNew) == 8)
        #expect(try await executors(in: database).filter { !isNew($0) } == before.1)
        #expect(try await migrate(database) == [])
    }

    @Test @LoopActor func `Functions that changed are made once`() async throws {
        let database = try await TestDatabase.create()
        _ = try await migrate(database)
        try await run("ALTER FUNCTION tiffin.merkle_root OWNER TO tiffin_auditor", in: database)
        let right = (try await functions(in: database), try await rights(in: database))
        try await run(
            """
            UPDATE tiffin.functions SET version = 0, checksum = 'of other files';
            CREATE OR REPLACE FUNCTION tiffin.merkle_root(leaves bytea[]) RETURNS bytea LANGUAGE sql IMMUTABLE
            AS 'SELECT sha256(''other'')';
            """, in: database)
        await #expect(throws: MigrationError.self) { try await Migrations.check(database) }
        #expect(try await migrate(database) == [Self.applied])
        #expect(try await functions(in: database) == right.0)
        #expect(try await rights(in: database) == right.1)
        try await Migrations.check(database)
        #expect(try await migrate(database) == [])
    }

    @Test @LoopActor func `A server with older functions leaves newer ones alone`() async throws {
        let database = try await TestDatabase.create()
        _ = try await migrate(database)
        try await run(
            """
            UPDATE tiffin.functions SET version = version + 1, checksum = 'of later files', served_since = version + 1;
            CREATE OR REPLACE FUNCTION tiffin.merkle_root(leaves bytea[]) RETURNS bytea LANGUAGE sql IMMUTABLE
            AS 'SELECT sha256(''later'')';
            """, in: database)
        let newer = try await functions(in: database)
        let message =
            "version \(SchemaFunctions.version + 1) of the functions, which this version of Tiffin does not know"
        for attempt in [{ _ = try await migrate(database) }, { try await Migrations.check(database) }] {
            let error = await #expect(throws: MigrationError.self) { try await attempt() }
            #expect(error?.description.contains(message) == true)
        }
        #expect(try await functions(in: database) == newer)
    }

    @Test(arguments: 0..<4) @LoopActor
    func `Of servers that start at once, one makes the functions`(_: Int) async throws {
        let database = try await TestDatabase.create()
        _ = try await migrate(database)
        try await run("UPDATE tiffin.functions SET version = 0", in: database)
        let runs = (0..<4).map { _ in Task { @LoopActor in try await migrate(database) } }
        var lines: [[String]] = []
        for run in runs { lines.append(try await run.value) }
        #expect(lines.filter { !$0.isEmpty } == [[Self.applied]])
    }

    @Test @LoopActor func `A second run does nothing`() async throws {
        let database = try await TestDatabase.create()
        let first = try await migrate(database)
        #expect(first.count == Migrations.all.count + 2)
        #expect(first.first == "migration 1 (event_log) applied")
        #expect(first.dropLast().last == Self.applied)
        #expect(first.last == "the log has 1 partition")
        #expect(try await migrate(database) == [])
    }

    @Test @LoopActor func `A migration that is added after ones with higher numbers is applied`() async throws {
        let database = try await TestDatabase.create()
        _ = try await migrate(database)
        try await run("DROP VIEW tiffin.catalogue; DELETE FROM tiffin.migrations WHERE number = 3", in: database)
        // What a later migration had granted on the view went with it.
        #expect(
            try await migrate(database) == [
                "migration 3 (catalogue) applied", Self.applied,
            ])
    }

    @Test @LoopActor func `A migration that was changed after it was applied is refused`() async throws {
        let database = try await TestDatabase.create()
        _ = try await migrate(database)
        try await run("UPDATE tiffin.migrations SET checksum = 'abc' WHERE number = 1", in: database)
        let error = await #expect(throws: MigrationError.self) { try await migrate(database) }
        #expect(
            error?.description.hasPrefix(
                "migration 1 (event_log) was changed after it was applied: the database has checksum abc") == true)
    }

    @Test @LoopActor func `A database that a newer version migrated is refused`() async throws {
        let database = try await TestDatabase.create()
        _ = try await migrate(database)
        try await run("INSERT INTO tiffin.migrations VALUES (999, 'later', 'abc', now())", in: database)
        let error = await #expect(throws: MigrationError.self) { try await migrate(database) }
        #expect(
            error?.description.contains("migration 999 (later), which this version of Tiffin does not know") == true)
    }

    /// Where this fails, there are new kinds or versions: the newest migration is then to be one without `servedSince`, and
    /// to stand here.
    @Test func `The newest events came with a migration that only their servers can serve`() {
        #expect(EventSchema.all.reduce(0) { $0 + $1.versions.count } == 102)
        #expect(Migrations.all.last { $0.servedSince == nil }?.number == 33)
    }

    @Test(arguments: [
        "INSERT INTO tiffin.migrations SELECT 999, 'later', 'abc', now(), max(number) FROM tiffin.migrations",
        "UPDATE tiffin.functions SET version = version + 1, checksum = 'of later files'",
    ])
    @LoopActor func `What a newer version left as it can be served is served, and left alone`(
        change: String
    ) async throws {
        let database = try await TestDatabase.create()
        _ = try await migrate(database)
        try await run(change, in: database)
        let name =
            change.contains("999") ? "migration 999 (later)" : SchemaFunctions.name(SchemaFunctions.version + 1)
        #expect(try await migrate(database) == ["a newer version applied \(name), and left what this one can serve"])
        try await Migrations.check(database, serving: true)
        let error = await #expect(throws: MigrationError.self) { try await Migrations.check(database) }
        #expect(error?.description.contains(name) == true)

        try await run(
            """
            UPDATE tiffin.migrations SET served_since = number WHERE number = 999;
            UPDATE tiffin.functions SET served_since = version;
            """, in: database)
        await #expect(throws: MigrationError.self) { try await migrate(database) }
        await #expect(throws: MigrationError.self) { try await Migrations.check(database, serving: true) }
    }

    @Test @LoopActor func `A migration that fails leaves no trace`() async throws {
        let database = try await TestDatabase.create()
        try await run("CREATE SCHEMA tiffin; CREATE TABLE tiffin.outlet_home ()", in: database)
        await #expect(throws: MigrationError.self) { try await migrate(database) }
        try await run("DROP TABLE tiffin.outlet_home", in: database)
        #expect(try await migrate(database).count == Migrations.all.count + 2)
    }

    @Test @LoopActor func `Partitions are chosen once`() async throws {
        let database = try await TestDatabase.create()
        #expect(try await migrate(database, partitions: 4).last == "the log has 4 partitions")
        #expect(try await migrate(database) == [])
        #expect(try await migrate(database, partitions: 4) == [])
        let error = await #expect(throws: MigrationError.self) { try await migrate(database, partitions: 2) }
        #expect(
            error?.description == "the log was created with 4 partitions, and cannot have 2")
        let log = try await PostgresEventLog.open(database)
        defer { log.close() }
        #expect(log.partitioning == Partitioning(count: 4, by: .slots))
        #expect(try await log.heads().map(\.partition) == [0, 1, 2, 3])
    }

    @Test @LoopActor func `A log that was there before there were slots keeps its rule`() async throws {
        let database = try await TestDatabase.create()
        _ = try await migrate(database, partitions: 4)
        try await run(
            "ALTER TABLE tiffin.partition_count DROP COLUMN placement; DELETE FROM tiffin.migrations WHERE number = 20",
            in: database)
        #expect(try await migrate(database).first == "migration 20 (placement) applied")
        let log = try await PostgresEventLog.open(database)
        defer { log.close() }
        #expect(log.partitioning == Partitioning(count: 4, by: .sha256))
    }

    @Test(arguments: 0..<4) @LoopActor
    func `Of concurrent migrators, one migrates and the others find it done`(_: Int) async throws {
        let database = try await TestDatabase.create()
        let runs = (0..<4).map { _ in Task { @LoopActor in try await migrate(database) } }
        var lines: [[String]] = []
        for run in runs { lines.append(try await run.value) }
        #expect(lines.map(\.count).sorted() == [0, 0, 0, Migrations.all.count + 2])
    }

    @Test @LoopActor func `An address that is not a database gives an error in a sentence`() async throws {
        let error = await #expect(throws: MigrationError.self) {
            try await migrate("postgres:///tiffin?host=/nonexistent")
        }
        #expect(error?.description.isEmpty == false)
    }
}
