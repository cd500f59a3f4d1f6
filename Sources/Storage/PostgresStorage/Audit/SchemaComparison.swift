internal import Audit
internal import EventLoop
internal import Postgres

/// Compares the functions, views and migrations of a database with what this program's migrations make, and looks for
/// whatever could change or hide rows by itself. Needs only the right to read.
@LoopActor
struct SchemaComparison {
    private static let planAttempts = 5

    let connection: PostgresConnection

    func faults() async throws -> [SchemaFault] {
        let objects = SchemaObjects()
        var faults = await reading("tiffin.migrations", migrations)
        faults += await reading("tiffin.functions", functionFiles)
        faults += try await functions(objects)
        faults += try await views(objects)
        return faults
            + (try await connection.execute(Statements.actors)).map { SchemaFault($0["subject"], $0["fault"]) }
    }

    /// What is found in a table; that it cannot be read, if so.
    private func reading(
        _ table: String, _ faults: () async throws(PostgresError) -> [SchemaFault]
    ) async -> [SchemaFault] {
        do throws(PostgresError) {
            return try await faults()
        } catch {
            return [SchemaFault(table, "cannot be read: \(error.message)", isUnknown: true)]
        }
    }

    private func migrations() async throws(PostgresError) -> [SchemaFault] {
        var expected = Dictionary(uniqueKeysWithValues: Migrations.all.map { ($0.number, $0.checksum) })
        var faults: [SchemaFault] = []
        for row in try await connection.execute(Statements.migrations) {
            let (number, found): (Int, String) = (row["number"], row["checksum"])
            guard let checksum = expected.removeValue(forKey: number) else {
                faults.append(
                    SchemaFault("migration \(number)", "is not one that this version of Tiffin knows", isUnknown: true))
                continue
            }
            guard checksum != found else { continue }
            faults.append(SchemaFault("migration \(number)", "has the checksum \(found), and was \(checksum)"))
        }
        return faults
            + expected.keys.sorted().map { SchemaFault("migration \($0)", "is missing from tiffin.migrations") }
    }

    private func functionFiles() async throws(PostgresError) -> [SchemaFault] {
        let right = (version: SchemaFunctions.version, checksum: SchemaFunctions.checksum)
        guard let applied = try await SchemaFunctions.applied(connection) else {
            return [SchemaFault("tiffin.functions", "does not say which functions were made")]
        }
        guard applied != right else { return [] }
        let name = SchemaFunctions.name(applied.version)
        return [
            SchemaFault(name, "has the checksum \(applied.checksum), and version \(right.version) \(right.checksum)")
        ]
    }

    private func functions(_ objects: SchemaObjects) async throws -> [SchemaFault] {
        var expected = objects.functions
        var faults: [SchemaFault] = []
        for row in try await connection.execute(Statements.functions) {
            let signature = SchemaObjects.Signature(name: row["name"], argumentCount: row["arguments"])
            let found = SchemaObjects.Function(
                source: row["source"], language: row["language"], isDefiner: row["is_definer"],
                volatility: row["volatility"], settings: row["settings"])
            let subject = "function tiffin.\(signature.name)"
            guard let right = expected.removeValue(forKey: signature) else {
                faults.append(SchemaFault(subject, "is not one that the migrations make"))
                continue
            }
            if found != right { faults.append(SchemaFault(subject, "is not as the migrations make it")) }
        }
        return faults
            + expected.keys.map(\.name).sorted().map { SchemaFault("function tiffin.\($0)", "is missing") }
    }

    /// A view is right if PostgreSQL plans it as it plans the query that it was made from: how it prints a view's query
    /// depends on its version.
    private func views(_ objects: SchemaObjects) async throws -> [SchemaFault] {
        let found: Set<String> = Set(try await connection.execute(Statements.views).map { $0["name"] })
        var faults = found.subtracting(objects.views.keys).sorted().map { name in
            SchemaFault("view tiffin.\(name)", "is not one that the migrations make")
        }
        for (name, query) in objects.views.sorted(by: { $0.key < $1.key }) {
            guard found.contains(name) else {
                faults.append(SchemaFault("view tiffin.\(name)", "is missing"))
                continue
            }
            do throws(PostgresError) {
                if try await !isPlanned(name, as: query) {
                    faults.append(SchemaFault("view tiffin.\(name)", "is not as the migrations make it"))
                }
            } catch {
                // Whether it was the view or what it stands on, nothing can be said of it.
                faults.append(
                    SchemaFault("view tiffin.\(name)", "cannot be compared: \(error.message)", isUnknown: true))
            }
        }
        return faults
    }

    /// Plans depend on how large tables are, which may change between two of them: a view differs if its plan does at
    /// every attempt.
    private func isPlanned(_ view: String, as query: String) async throws(PostgresError) -> Bool {
        for _ in 1...SchemaComparison.planAttempts {
            let stored = try await plan(of: "view_\(view)", "tiffin.\(view)")
            let right = try await plan(of: "query_\(view)", "(\(query)) AS \(view)")
            if stored == right { return true }
        }
        return false
    }

    private func plan(of name: String, _ source: String) async throws(PostgresError) -> [String] {
        let rows = try await connection.execute(
            Statement("plan_\(name)", "EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM \(source)"))
        return rows.indices.map { rows.text($0, 0) }.filter { !$0.hasPrefix("Query Identifier:") }
    }
}

private enum Statements {
    static let migrations = Statement(
        "migration_checksums", "SELECT number, checksum FROM tiffin.migrations ORDER BY number")

    static let functions = Statement(
        "functions",
        """
        SELECT p.proname::text AS name, p.pronargs::integer AS arguments, p.prosrc AS source,
            l.lanname::text AS language, p.prosecdef AS is_definer, p.provolatile::text AS volatility,
            coalesce(p.proconfig, '{}') AS settings
        FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang JOIN pg_namespace AS n ON n.oid = p.pronamespace
        WHERE n.nspname = 'tiffin' ORDER BY 1, 2
        """)

    static let views = Statement(
        "views",
        """
        SELECT c.relname::text AS name FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'tiffin' AND c.relkind IN ('v', 'm')
        """)

    // The migrations make none of these.
    static let actors = Statement(
        "actors",
        """
        SELECT 'trigger ' || t.tgname || ' of tiffin.' || c.relname AS subject,
            'is not one that the migrations make' AS fault
        FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'tiffin' AND NOT t.tgisinternal
        UNION ALL
        SELECT 'rule ' || r.rulename || ' of tiffin.' || c.relname, 'is not one that the migrations make'
        FROM pg_rewrite AS r JOIN pg_class AS c ON c.oid = r.ev_class JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'tiffin' AND r.rulename <> '_RETURN'
        UNION ALL
        SELECT 'tiffin.' || c.relname, 'hides rows by row security, which the migrations do not use'
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'tiffin' AND c.relrowsecurity
        UNION ALL
        SELECT 'tiffin.' || p.relname, 'has rows of another table, ' || h.inhrelid::regclass || ', which inherits it'
        FROM pg_inherits AS h JOIN pg_class AS p ON p.oid = h.inhparent JOIN pg_namespace AS n ON n.oid = p.relnamespace
        WHERE n.nspname = 'tiffin' AND p.relkind = 'r'
        ORDER BY 1
        """)
}
