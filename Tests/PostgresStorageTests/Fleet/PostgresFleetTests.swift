import EventLoop
import Fleet
import Postgres
import PostgresStorage
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct PostgresFleetTests {
    init() { LoopActor.startInBackground() }

    /// A database with a fleet's tables, as two servers and its owner use it.
    @LoopActor
    private struct Scene {
        let first: PostgresFleet
        let second: PostgresFleet
        let owner: PostgresConnection

        static func with(partitions: Int = 4, _ body: @LoopActor (Scene) async throws -> Void) async throws {
            let database = try await TestDatabase.create()
            try await Migrations.run(database, partitions: partitions) { _ in }
            let scene = Scene(
                first: PostgresFleet(database), second: PostgresFleet(database),
                owner: try await PostgresConnection.connect(database))
            defer {
                scene.first.close()
                scene.second.close()
                scene.owner.close()
            }
            try await body(scene)
        }

        /// What the first column of a query has, as text.
        func ask(_ sql: String) async throws -> [String] {
            let rows = try await owner.execute(Statement("ask \(sql)", "SELECT (\(sql))::text"))
            return (0..<rows.count).map { rows.text($0, 0) }
        }
    }

    private static func server(_ port: Int, secret: UInt8 = 7) -> FleetServer {
        FleetServer(id: .random(), address: "127.0.0.1:\(port)", secret: Array(repeating: secret, count: 32))
    }

    private static func free(_ partitions: Range<Int>) -> [Lease] {
        partitions.map { Lease(partition: $0, holder: nil, term: 0) }
    }

    private static func sorted(_ leases: [Lease]) -> [Lease] { leases.sorted { $0.partition < $1.partition } }

    @Test @LoopActor func `A server that renews is seen by itself and others, with every lease`() async throws {
        try await Scene.with { scene in
            let (a, b) = (Self.server(1, secret: 1), Self.server(2, secret: 2))
            var view = try await scene.first.renew(a)
            #expect(view.servers.map(\.id) == [a.id])
            #expect(Self.sorted(view.leases) == Self.free(0..<4))
            view = try await scene.second.renew(b)
            #expect(Set(view.servers.map(\.id)) == [a.id, b.id])
            for server in view.servers {
                let expected = server.id == a.id ? a : b
                #expect(server.address == expected.address && server.secret == expected.secret)
            }
            // Another address of the same server replaces its own.
            var moved = a
            moved.address = "127.0.0.1:3"
            view = try await scene.first.renew(moved)
            #expect(Set(view.servers.map(\.address)) == ["127.0.0.1:3", "127.0.0.1:2"])
        }
    }

    @Test @LoopActor func `Silence counts by the database's clock, and ends with a renewal`() async throws {
        try await Scene.with { scene in
            let (a, b) = (Self.server(1), Self.server(2))
            _ = try await scene.first.renew(a)
            _ = try await scene.second.renew(b)
            // The second time is a time of the future, which a clock that was set back leaves.
            for shift in ["-", "+"] {
                try await scene.owner.runScript("UPDATE tiffin.servers SET seen_at = now() \(shift) interval '1 hour'")
                let silence = try await scene.second.renew(b).servers.first { $0.id == a.id }?.silence
                #expect((3_000_000...3_700_000).contains(silence ?? 0))
            }
            let servers = try await scene.first.renew(a).servers
            // It comes before b's silence: that is all that is certain.
            let silences = [a, b].map { server in servers.first { $0.id == server.id }?.silence ?? .max }
            #expect(silences[0] <= silences[1])
        }
    }

    @Test @LoopActor func `A server takes the place of one that had its address, and of those that ended`() async throws
    {
        try await Scene.with { scene in
            let (old, ended, silent) = (Self.server(1), Self.server(2), Self.server(3))
            for server in [old, ended, silent] { _ = try await scene.first.renew(server) }
            try await scene.owner.runScript(
                """
                UPDATE tiffin.servers SET seen_at = now() - interval '61 seconds' WHERE id = '\(ended.id)';
                UPDATE tiffin.servers SET seen_at = now() - interval '50 seconds' WHERE id = '\(silent.id)';
                """)
            _ = try await scene.first.change([LeaseChange(partition: 0, term: 0, holder: old.id)])
            let new = Self.server(1)
            let view = try await scene.second.renew(new)
            #expect(Set(view.servers.map(\.id)) == [new.id, silent.id])
            // The lease is still that of the old one, which is not there.
            #expect(view.leases.contains(Lease(partition: 0, holder: old.id, term: 1)))
        }
    }

    @Test @LoopActor func `A lease that is missing is made by the next server, and no other changes`() async throws {
        try await Scene.with { scene in
            let a = Self.server(1)
            _ = try await scene.first.renew(a)
            _ = try await scene.first.change([LeaseChange(partition: 1, term: 0, holder: a.id)])
            try await scene.owner.runScript("DELETE FROM tiffin.leases WHERE partition = 2")
            #expect(try await scene.first.renew(a).leases.count == 3)
            let leases = try await scene.second.renew(Self.server(2)).leases
            #expect(
                Self.sorted(leases) == Self.free(0..<1) + [Lease(partition: 1, holder: a.id, term: 1)]
                    + Self.free(2..<4))
        }
    }

    @Test @LoopActor func `Of two who change a lease of one term, one has it`() async throws {
        try await Scene.with { scene in
            let (a, b) = (Self.server(1), Self.server(2))
            _ = try await scene.first.renew(a)
            _ = try await scene.second.renew(b)
            func claims(_ partitions: [Int], _ server: FleetServer) -> [LeaseChange] {
                partitions.map { LeaseChange(partition: $0, term: 0, holder: server.id) }
            }
            let mine = Task { @LoopActor in try await scene.first.change(claims([0, 1, 2, 3], a)) }
            let others = Task { @LoopActor in try await scene.second.change(claims([3, 2, 1, 0], b)) }
            let (one, two) = (try await mine.value, try await others.value)
            // Both learn the same, in order: the whole went to whoever was first.
            #expect(one == two && one.map(\.partition) == [0, 1, 2, 3])
            #expect(one.allSatisfy { $0.term == 1 && $0.holder == one[0].holder })
            #expect([a.id, b.id].contains(one[0].holder))
            // Each change by itself: the term of one is old, that of the other is not.
            let mixed = [
                LeaseChange(partition: 0, term: 0, holder: b.id), LeaseChange(partition: 1, term: 1, holder: b.id),
            ]
            #expect(
                try await scene.first.change(mixed) == [one[0], Lease(partition: 1, holder: b.id, term: 2)])
        }
    }

    @Test @LoopActor func `Changes that make no sense change nothing`() async throws {
        try await Scene.with { scene in
            let a = Self.server(1)
            _ = try await scene.first.renew(a)
            #expect(try await scene.first.change([]) == [])
            let changes = [.min, -1, 4, 40_000, .max].map { LeaseChange(partition: $0, term: 0, holder: a.id) }
            #expect(try await scene.first.change(changes) == [])
            let twice = [0, 0].map { LeaseChange(partition: $0, term: 0, holder: a.id) }
            #expect(try await scene.first.change(twice) == [Lease(partition: 0, holder: a.id, term: 1)])
        }
    }

    @Test @LoopActor func `A server that leaves frees its leases, and no others`() async throws {
        try await Scene.with { scene in
            let (a, b) = (Self.server(1), Self.server(2))
            _ = try await scene.first.renew(a)
            _ = try await scene.second.renew(b)
            _ = try await scene.first.change(
                [(0, a), (1, b), (2, a)].map { LeaseChange(partition: $0, term: 0, holder: $1.id) })
            for _ in 0..<2 { try await scene.first.leave(a.id) }
            let view = try await scene.second.renew(b)
            #expect(view.servers.map(\.id) == [b.id])
            #expect(
                Self.sorted(view.leases) == [
                    Lease(partition: 0, holder: nil, term: 2), Lease(partition: 1, holder: b.id, term: 1),
                    Lease(partition: 2, holder: nil, term: 2), Lease(partition: 3, holder: nil, term: 0),
                ])
        }
    }

    @Test @LoopActor func `What somebody else wrote into the tables is left out`() async throws {
        try await Scene.with { scene in
            let a = Self.server(1)
            _ = try await scene.first.renew(a)
            try await scene.owner.runScript(
                """
                INSERT INTO tiffin.servers VALUES ('no id', '', decode(repeat('00', 32), 'hex'), now(), now()),
                    (repeat('a', 40), '', decode(repeat('00', 32), 'hex'), now(), 'infinity'),
                    (repeat('b', 40), '', decode(repeat('00', 32), 'hex'), now(), '-infinity'),
                    (repeat('c', 40), '', decode(repeat('00', 32), 'hex'), now(), '4000-01-01 BC'),
                    (repeat('d', 40), '', decode(repeat('00', 32), 'hex'), now(), '290000-01-01');
                UPDATE tiffin.leases SET server = 'no id' WHERE partition = 0;
                INSERT INTO tiffin.leases VALUES (-1, NULL, 5), (999, 'x', 9223372036854775807);
                """)
            let view = try await scene.first.renew(a)
            let unknown = ["c", "d"].map { ServerID(String(repeating: $0, count: 40))! }
            #expect(Set(view.servers.map(\.id)) == Set([a.id] + unknown))
            #expect(view.servers.allSatisfy { $0.id == a.id || $0.silence > 1_000_000 })
            #expect(view.leases.contains(Lease(partition: 0, holder: nil, term: 0)))
            var ownership = Ownership(of: a.id, partitionCount: 4)
            let leases = try await scene.first.change(ownership.renewed(view))
            ownership.changed(leases)
            #expect(ownership.leases == (0..<4).map { Lease(partition: $0, holder: a.id, term: 1) })
        }
    }

    @Test @LoopActor func `Renewals stay in their page, and leave leases alone`() async throws {
        try await Scene.with { scene in
            let servers = (1...8).map { Self.server($0) }
            for server in servers { _ = try await scene.first.renew(server) }
            let before = try await scene.ask("SELECT string_agg(xmin::text, ',' ORDER BY partition) FROM tiffin.leases")
            for _ in 0..<3 { for server in servers { _ = try await scene.first.renew(server) } }
            #expect(
                try await scene.ask("SELECT string_agg(xmin::text, ',' ORDER BY partition) FROM tiffin.leases")
                    == before)
            // So that no index changes.
            #expect(
                try await scene.ask("SELECT count(*) FROM tiffin.servers WHERE (ctid::text::point)[0] = 0") == ["8"])
        }
    }

    @Test @LoopActor func `No statistics are made of secrets`() async throws {
        try await Scene.with { scene in
            for port in 1...5 { _ = try await scene.first.renew(Self.server(port)) }
            try await scene.owner.runScript("ANALYZE tiffin.servers")
            let columns = try await scene.ask(
                "SELECT string_agg(attname, ',' ORDER BY attname) FROM pg_stats WHERE tablename = 'servers'")
            #expect(columns == ["address,id,seen_at,started_at"])
        }
    }

    @Test @LoopActor func `Only a server reads secrets`() async throws {
        try await Scene.with { scene in
            _ = try await scene.first.renew(Self.server(1))
            try await scene.owner.runScript("SET ROLE tiffin_server; SELECT secret FROM tiffin.servers; RESET ROLE")
            try await scene.owner.runScript(
                """
                SET ROLE tiffin_auditor;
                SELECT id, address, started_at, seen_at FROM tiffin.servers; SELECT * FROM tiffin.leases;
                """)
            for sql in [
                "SELECT secret FROM tiffin.servers", "SELECT s FROM tiffin.servers AS s",
                "SELECT * FROM tiffin.renew_server('', '', '', true, '')", "SELECT tiffin.leave_fleet('')",
                "SELECT * FROM tiffin.change_leases('{}', '{}', '{}')",
            ] {
                let error = await #expect(throws: PostgresError.self, "\(sql)") { try await scene.owner.runScript(sql) }
                #expect(error?.sqlState == .insufficientPrivilege, "\(sql)")
            }
        }
    }
}
