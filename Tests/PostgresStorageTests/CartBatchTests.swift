import Audit
import Domain
import EventLog
import EventLogContract
import EventLoop
import Postgres
import Testing

@testable import PostgresStorage

/// Batches that say that they hold only carts, and readers that pass over them.
@Suite(.timeLimit(.minutes(1))) struct CartBatchTests {
    init() { LoopActor.startInBackground() }

    private static let order = StreamName(.order, Identifier("o")!)

    /// What the batches say, in their order.
    @LoopActor
    private static func claims(_ test: TestLog) async throws -> [Bool?] {
        let rows = try await test.owner.execute(
            Statement("claims", "SELECT only_carts FROM tiffin.batches ORDER BY partition, first_position"))
        return rows.map { $0["only_carts"] }
    }

    /// A log with a batch of carts, one of an order, one of both, and another one of carts. Returns where they end.
    @LoopActor
    private static func fill(_ test: TestLog) async throws -> [LogPoint] {
        var writer = LogWriter(test.log)
        var points: [LogPoint] = []
        for groups in [[[.cart("a")], [.cart("b")]], [[order]], [[.cart("a")], [order]], [[.cart("b")]]] {
            let marks = groups.indices.map { points.count * 10 + $0 }
            points.append(try await writer.append(groups, marks: marks).end)
            try await writer.catchUp()
        }
        return points
    }

    @Test @LoopActor func `Batches say whether they hold only carts, and those that do are left out`() async throws {
        try await TestLog.with { test in
            let points = try await Self.fill(test)
            #expect(try await Self.claims(test) == [true, false, false, true])
            let following = try await test.log.followWithoutCarts(partition: 0, after: .start, limit: 100)
            #expect(following.events.map(\.position) == [3, 4, 5])
            #expect(following.end == points[3])
            let expected: [(limit: Int, positions: [Int64], end: LogPoint)] = [
                (0, [], .start), (1, [3], points[1]), (2, [3, 4, 5], points[2]),
            ]
            for (limit, positions, end) in expected {
                let following = try await test.log.followWithoutCarts(partition: 0, after: .start, limit: limit)
                #expect(following.events.map(\.position) == positions)
                #expect(following.end == end)
            }
            let rest = try await test.log.followWithoutCarts(partition: 0, after: points[2], limit: 1)
            #expect(rest == FollowingEvents(events: [], end: points[3]))
        }
    }

    @Test @LoopActor func `What is left of a batch says no more than the whole said`() async throws {
        try await TestLog.with { test in
            let late = LogWriter(test.log)
            _ = try await LogWriter(test.log).append([[Self.order], [.cart("b")]], marks: [1, 2])
            #expect(try await late.append([[Self.order], [.cart("a")]], marks: [3, 4]).conflicts == [0])
            #expect(try await late.append([[.cart("b")], [.cart("c")]], marks: [5, 6]).conflicts == [0])
            #expect(try await Self.claims(test) == [false, false, true])
        }
    }

    @Test @LoopActor func `Batches of before that, which say nothing, come whole`() async throws {
        try await TestLog.with { test in
            _ = try await Self.fill(test)
            try await test.owner.runScript("UPDATE tiffin.batches SET only_carts = NULL")
            let following = try await test.log.follow(partition: 0, after: .start, limit: 100)
            #expect(following.events.count == 6)
            #expect(try await test.log.followWithoutCarts(partition: 0, after: .start, limit: 100) == following)
        }
    }

    @Test @LoopActor func `Nobody reads the events of a batch that is left out`() async throws {
        try await TestLog.with { test in
            let points = try await Self.fill(test)
            try await test.owner.runScript(
                """
                CREATE FUNCTION public.read(text) RETURNS text LANGUAGE plpgsql STABLE AS
                $$ BEGIN RAISE EXCEPTION 'the events of a batch were read'; END $$;
                ALTER TABLE tiffin.batches RENAME TO stored;
                CREATE VIEW tiffin.batches AS
                SELECT partition, first_position, last_position, content_digest, chain_digest, submitted_digest,
                    recorded_at, CASE WHEN only_carts THEN public.read(events) ELSE events END AS events, only_carts
                FROM tiffin.stored;
                GRANT SELECT ON tiffin.batches TO tiffin_server;
                """)
            let following = try await test.log.followWithoutCarts(partition: 0, after: .start, limit: 100)
            #expect(following.events.map(\.position) == [3, 4, 5])
            #expect(following.end == points[3])
            await #expect(throws: EventLogError.self) {
                try await test.log.follow(partition: 0, after: .start, limit: 100)
            }
        }
    }

    @Test @LoopActor func `An audit finds what says that it holds only carts, and holds others`() async throws {
        try await TestLog.with { test in
            _ = try await Self.fill(test)
            let source = try await PostgresAuditSource.open(test.database)
            defer { source.close() }
            #expect(try await source.batchFaults(partition: 0).falseCarts == [])
            try await test.owner.runScript("UPDATE tiffin.batches SET only_carts = true")
            let expected = [BatchBounds(first: 3, last: 3), BatchBounds(first: 4, last: 5)]
            #expect(try await source.batchFaults(partition: 0).falseCarts == expected)
            // A lost event is no other event.
            try await test.owner.runScript(
                "UPDATE tiffin.batches SET events = E'\\n' || split_part(events, E'\\n', 2) WHERE first_position = 1")
            #expect(try await source.batchFaults(partition: 0).falseCarts == expected)
        }
    }

    @Test @LoopActor func `However many carts come before it, another event is found`() async throws {
        try await TestLog.with { test in
            try await test.owner.runScript(
                """
                INSERT INTO tiffin.batches
                SELECT 0, n * 10000 + 1, (n + 1) * 10000, '', sha256(n::text::bytea), NULL, now(), '', true
                FROM generate_series(0, 49) AS n;
                INSERT INTO tiffin.batches
                SELECT 0, 500001, 500001, '', sha256('x'), NULL, now(),
                    concat_ws(E'\\t', 'order-o', 1, 'order.placed', 1, '{}', '{}'), false;
                UPDATE tiffin.log_head SET position = 500001, digest = sha256('x');
                """)
            let end = LogPoint(position: 500_001, digest: Digest.of(Array("x".utf8)))
            for position in [0, 1, 49_999, 50_000, 490_000, 500_000] as [Int64] {
                let point = LogPoint(position: position, digest: nil)
                let following = try await test.log.followWithoutCarts(partition: 0, after: point, limit: 5)
                #expect(following.events.map(\.stream) == ["order-o"])
                #expect(following.end == end)
            }
            // Nor do events hide it that were lost.
            try await test.owner.runScript("UPDATE tiffin.batches SET only_carts = NULL")
            let found = try await test.log.followWithoutCarts(partition: 0, after: .start, limit: 5)
            #expect(found.events.map(\.stream) == ["order-o"])
            try await test.owner.runScript("UPDATE tiffin.batches SET only_carts = true")
            let nothing = try await test.log.followWithoutCarts(partition: 0, after: .start, limit: 5)
            #expect(nothing == FollowingEvents(events: [], end: end))
        }
    }
}
