import Domain
import EventLog
import EventLogContract
import EventLoop
import Postgres
import PostgresStorage
import SeededRandom
import Testing

/// The schema by itself, as any SQL client sees it.
@Suite struct SchemaTests {
    init() { LoopActor.startInBackground() }

    // MARK: Digests

    private static let canonicalBytes = Statement(
        "canonical_bytes",
        """
        SELECT tiffin.canonical_bytes(stream, version, kind, schema_version, payload, metadata, recorded_at)
        FROM tiffin.events ORDER BY position
        """)

    private static let roots = Statement(
        "roots",
        """
        SELECT c.content_digest, (
            SELECT tiffin.merkle_root(array_agg(
                sha256('\\x00'::bytea || tiffin.canonical_bytes(
                    stream, version, kind, schema_version, payload, metadata, e.recorded_at))
                ORDER BY position))
            FROM tiffin.events e
            WHERE e.partition = c.partition AND position BETWEEN c.first_position AND c.last_position)
        FROM tiffin.commits c ORDER BY first_position
        """)

    @Test(arguments: SeededGenerator.seeds.prefix(4)) @LoopActor
    func `SQL and Swift agree on the digests of a batch`(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await TestLog.with { test in
            var expected: [[UInt8]] = []
            var version: Int64 = 0
            for _ in 0..<10 {
                let events = (0..<Int.random(in: 1...20, using: &random)).map { _ in
                    version += 1
                    return NewEvent(
                        stream: .cart("c"), version: version,
                        kind: EventKind(
                            name: random.unicodeText(), schemaVersion: Int.random(in: 1...1_000, using: &random)),
                        payload: Array(random.unicodeText().utf8), metadata: Array(random.unicodeText().utf8))
                }
                let time = Timestamp(
                    millisecondsSinceEpoch: .random(in: -62_135_596_800_000...253_402_300_799_999, using: &random))
                let batch = EventBatch(
                    partition: 0, events: events, groups: events.map { _ in 0 }, recordedAt: time)
                _ = try await test.log.append(batch, seen: LogPoint(position: Int64(expected.count), digest: nil))
                expected += events.map { $0.canonicalBytes(recordedAt: time) }
            }
            // What a session has set makes no difference.
            try await test.owner.runScript("SET TIME ZONE 'Asia/Kolkata'; SET bytea_output = 'escape'")
            let rows = try await test.owner.execute(Self.canonicalBytes)
            #expect((0..<rows.count).map { Array(rows.bytes($0, 0)) } == expected)
            let recorded = try await test.log.read(partition: 0, after: 0, limit: .max)
            #expect(recorded.map(referenceBytes) == expected)
            let roots = try await test.owner.execute(Self.roots)
            #expect(roots.count == 10)
            for row in 0..<roots.count { #expect(Array(roots.bytes(row, 0)) == Array(roots.bytes(row, 1))) }
        }
    }

    @Test @LoopActor func `SQL and Swift agree on the tree over any number of leaves`() async throws {
        try await TestLog.with { test in
            let root = Statement("root", "SELECT tiffin.merkle_root($1)", [.byteaArray])
            for count in 0...70 {
                let leaves = (0..<count).map { MerkleTree.leaf([UInt8($0)]) }
                let rows = try await test.owner.execute(root, [.array(leaves.map(\.bytes))])
                #expect(Array(rows.bytes(0, 0)) == MerkleTree.root(leaves).bytes)
            }
        }
    }

    // MARK: Privileges

    private static let forbidden = [
        "INSERT INTO tiffin.batches VALUES (0, 1, 1, '', '', NULL, now(), '')",
        "UPDATE tiffin.batches SET events = ''", "DELETE FROM tiffin.batches", "TRUNCATE tiffin.batches",
        "INSERT INTO tiffin.commits VALUES (0, 1, 1, '', '', NULL, now())",
        "UPDATE tiffin.commits SET chain_digest = ''", "DELETE FROM tiffin.commits",
        "INSERT INTO tiffin.stream_index VALUES (0, NULL, 9)", "UPDATE tiffin.stream_index SET first_position = 9",
        "DELETE FROM tiffin.stream_index", "TRUNCATE tiffin.stream_index",
        "INSERT INTO tiffin.log_head VALUES (1, 0, '')", "UPDATE tiffin.log_head SET position = 0",
        "DELETE FROM tiffin.log_head", "TRUNCATE tiffin.log_head", "SELECT FROM tiffin.log_head FOR UPDATE",
        "UPDATE tiffin.migrations SET checksum = ''", "DELETE FROM tiffin.migrations",
        "DROP TABLE tiffin.batches", "ALTER TABLE tiffin.batches DISABLE TRIGGER ALL",
        "INSERT INTO tiffin.customer_keys VALUES (0, 'asha', NULL, now(), now())",
        "UPDATE tiffin.customer_keys SET key = NULL", "DELETE FROM tiffin.customer_keys",
        "TRUNCATE tiffin.customer_keys", "INSERT INTO tiffin.leases VALUES (9)", "UPDATE tiffin.leases SET term = 9",
        "DELETE FROM tiffin.leases", "TRUNCATE tiffin.leases", "SELECT FROM tiffin.leases FOR UPDATE",
        "INSERT INTO tiffin.servers VALUES ('a', '', '', now(), now())", "UPDATE tiffin.servers SET seen_at = now()",
        "DELETE FROM tiffin.servers", "TRUNCATE tiffin.servers", "CREATE TABLE tiffin.mine ()",
        "DROP FUNCTION tiffin.outcome",
    ]

    @Test @LoopActor func `The server's role can change nothing in the log, no key and no lease`() async throws {
        try await TestLog.with { test in
            _ = try await LogWriter(test.log).append([[.cart("a")]])
            try await test.owner.runScript("SET ROLE tiffin_server")
            for sql in Self.forbidden {
                let error = await #expect(throws: PostgresError.self, "\(sql)") {
                    try await test.owner.runScript(sql)
                }
                #expect(error?.sqlState == .insufficientPrivilege, "\(sql)")
            }
        }
    }

    @Test @LoopActor func `Only the server's role can append, create keys and take part in the fleet`() async throws {
        let privileges = Statement(
            "privileges",
            """
            SELECT proname, has_function_privilege('tiffin_server', oid, 'EXECUTE'),
                has_function_privilege('public', oid, 'EXECUTE')
            FROM pg_proc WHERE pronamespace = 'tiffin'::regnamespace AND prosecdef ORDER BY proname
            """)
        try await TestLog.with { test in
            let rows = try await test.owner.execute(privileges)
            #expect(
                (0..<rows.count).map { rows.text($0, 0) }
                    == [
                        "append", "change_leases", "customer_key", "grow_tree", "index_archived", "index_streams",
                        "leave_fleet", "mend_index", "outcome", "renew_server",
                    ])
            for row in 0..<rows.count {
                #expect(rows.bool(row, 1))
                #expect(!rows.bool(row, 2))
            }
        }
    }
}

extension SeededGenerator {
    fileprivate mutating func unicodeText() -> String {
        (0..<Int.random(in: 0...20, using: &self)).map { _ in
            pick(["a", "\"", "\\", "{", ",", "é", "e\u{301}", "त", "🍱", "\u{1}", "NULL", "'"])
        }.joined()
    }
}
