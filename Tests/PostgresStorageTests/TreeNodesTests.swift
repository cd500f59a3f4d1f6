import Domain
import EventLog
import EventLogContract
import EventLoop
import Postgres
import TestSupport
import Testing

@testable import PostgresStorage

// 12 seconds alone, and minutes where all other tests share the loop and the processors.
@Suite(.timeLimit(.minutes(10))) struct TreeNodesTests {
    init() { LoopActor.startInBackground() }

    /// Enough for a node of level 2, some of level 1 behind it, and a rest.
    private static let batches = 66_000

    /// Batches as appends leave them, with an event each.
    private static let fill = """
        DO $$
        DECLARE
            chain bytea := decode(repeat('00', 32), 'hex');
            moment timestamptz := '2026-11-27T12:00:00Z';
            content bytea;
            line text;
        BEGIN
            FOR n IN 1 .. \(batches) LOOP
                line := concat_ws(E'\\t', 'cart-c' || n, 1, 'cart.cleared', 1, '{"count":1}', '{}');
                content := sha256('\\x00'::bytea || tiffin.canonical_bytes(line, moment));
                chain := sha256(chain || content);
                INSERT INTO tiffin.batches VALUES (0, n, n, content, chain, NULL, moment, line, true);
            END LOOP;
            UPDATE tiffin.log_head SET position = \(batches), digest = chain;
        END
        $$
        """

    @LoopActor
    private static func stored(_ owner: PostgresConnection) async throws -> [TreeNode] {
        let rows = try await owner.execute(
            Statement(
                "all_nodes",
                "SELECT level, number, last_position, digest, tree_digest FROM tiffin.tree_nodes ORDER BY level, number"
            ))
        return PostgresEventLog.treeNodes(rows)
    }

    @LoopActor
    private static func receipts(_ log: PostgresEventLog) async throws -> [Receipt] {
        var receipts: [Receipt] = []
        for position in [1, 256, 257, 40_000, 65_536, 65_537, 66_000] {
            receipts.append(try await Prover(log).receipt(for: .cart("c\(position)"), version: 1))
        }
        return receipts
    }

    @Test @LoopActor func `The nodes of a tree follow from the batches, whatever happened to them`() async throws {
        try await TestLog.with { test in
            let (log, owner) = (test.log, test.owner)
            try await owner.runScript(Self.fill)
            try await log.indexStreams(of: 0)
            var (expected, fold): ([TreeNode], TreeFold) = ([], TreeFold())
            while fold.size < Self.batches {
                for commit in try await log.commits(partition: 0, after: fold.size, limit: 10_000) {
                    expected += fold.take(commit)
                }
            }
            expected.sort { ($0.level, $0.number) < ($1.level, $1.number) }

            // A process that is killed leaves nothing of a step, and everything of the one before.
            let step = "SELECT tiffin.grow_tree(0::smallint, 5, false)"
            try await owner.runScript("BEGIN; \(step); ROLLBACK; \(step)")
            #expect(try await Self.stored(owner) == Array(expected.prefix(5)))
            try await log.growTree(of: 0, anew: false)
            #expect(try await Self.stored(owner) == expected)
            try await log.growTree(of: 0, anew: false)
            #expect(try await Self.stored(owner) == expected)

            let receipts = try await Self.receipts(log)
            for receipt in receipts {
                _ = try receipt.verified()
                #expect(receipt.tree?.root == fold.root)
                #expect(receipt.json.count <= 2_048)
            }
            let head = try await log.heads()[0]
            #expect(try await Prover(log).growth(of: 0).head.digest == head.digest)

            for damage in [
                "UPDATE tiffin.tree_nodes SET digest = sha256('') WHERE level = 2",
                "UPDATE tiffin.tree_nodes SET digest = sha256('') WHERE level = 1 AND number = 0",
                "UPDATE tiffin.tree_nodes SET digest = '' WHERE level = 1 AND number = 256",
                "UPDATE tiffin.tree_nodes SET tree_digest = NULL WHERE level = 1 AND number = 256",
                "UPDATE tiffin.tree_nodes SET last_position = last_position - 1 WHERE level = 1 AND number = 256",
                "UPDATE tiffin.tree_nodes SET last_position = -last_position WHERE level = 1 AND number = 0",
                "DELETE FROM tiffin.tree_nodes WHERE level = 1 AND number = 156",
                "INSERT INTO tiffin.tree_nodes VALUES (0, 1, 257, 66000, sha256(''), sha256(''))",
                "INSERT INTO tiffin.tree_nodes VALUES (0, 1, 9223372036854775807, 65999, '', NULL)",
            ] {
                try await owner.runScript(damage)
                #expect(try await Self.receipts(log) == receipts, "\(damage)")
                #expect(try await Self.stored(owner) == expected, "\(damage)")
            }
        }
    }
}
