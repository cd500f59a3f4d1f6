import EventLog
import EventLogContract
import EventLoop
import Postgres
import PostgresStorage
import TestSupport
import Testing

@Suite struct PostgresEventLogTests {
    init() { LoopActor.startInBackground() }

    @Test(arguments: Clause.all) @LoopActor
    func `The log in PostgreSQL keeps the contract`(_ clause: Clause) async throws {
        try await TestLog.with(partitions: clause.partitionCount) { try await clause.check($0.log) }
    }

    @Test(arguments: Clause.all) @LoopActor
    func `Several servers keep the contract together`(_ clause: Clause) async throws {
        try await TestLog.with(partitions: clause.partitionCount) { test in
            let servers = try await SeveralServers(3, test.database)
            defer { servers.close() }
            try await clause.check(servers)
        }
    }

    @Test @LoopActor
    func `What was written before an append waits for the head conflicts, and what is written meanwhile`() async throws
    {
        try await TestLog.with { test in
            _ = try await test.log.append(LogWriter(test.log).batch([[.cart("a")]]), seen: .start)
            let late = LogWriter(test.log).batch([[.cart("a")], [.cart("b")], [.cart("c")]], marks: [1, 2, 3])
            let other = try await PostgresConnection.connect(test.database)
            defer { other.close() }
            let append = try await other.transaction { transaction in
                _ = try await transaction.execute(
                    Statement(
                        "other_append",
                        """
                        SELECT FROM tiffin.append(
                            0::smallint, 1, NULL, 0, $1, now(), 1, E'cart-b\\t1\\tcart.cleared\\t1\\t{"count":1}\\t{}', '{}',
                            NULL, NULL, NULL, true)
                        """, [.bytea]), [.bytes(Digest.zero.bytes)])
                let append = Task { try await test.log.append(late, seen: .start) }
                try await test.owner.wait(forSessions: 1, where: PostgresConnection.blocked)
                return append
            }
            #expect(try await append.value.conflicts == [0, 1])
            #expect(try await test.log.read(partition: 0, after: 2, limit: 9).map(\.stream) == ["cart-c"])
        }
    }

    // MARK: Without a log

    @Test @LoopActor func `A database without a log cannot be opened, and no session is left in it`() async throws {
        let database = try await TestDatabase.create()
        let error = await #expect(throws: EventLogError.self) { try await PostgresEventLog.open(database) }
        #expect(error?.unavailableReason != nil, "\(String(describing: error))")
        let connection = try await PostgresConnection.connect(database)
        defer { connection.close() }
        let isAlone =
            "NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid())"
        try await connection.wait(forSessions: 1, where: isAlone)
    }

    @Test @LoopActor func `A server that cannot be reached is unavailable`() async throws {
        let error = await #expect(throws: EventLogError.self) {
            try await PostgresEventLog.open("postgres:///tiffin?host=/nonexistent")
        }
        #expect(error?.unavailableReason != nil, "\(String(describing: error))")
    }

}

extension EventLogError {
    fileprivate var unavailableReason: String? {
        guard case .unavailable(let reason) = self else { return nil }
        return reason
    }
}
