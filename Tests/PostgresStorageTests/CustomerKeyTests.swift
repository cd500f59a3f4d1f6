import Domain
import EventLog
import EventLogContract
import EventLoop
import Postgres
import PostgresStorage
import TestSupport
import Testing

@Suite struct CustomerKeyTests {
    init() { LoopActor.startInBackground() }

    private static let asha = Identifier("asha")!

    @Test(arguments: KeyClause.all) @LoopActor
    func `Keys in PostgreSQL keep the contract`(_ clause: KeyClause) async throws {
        try await TestLog.with(partitions: 2) { test in
            let keys = PostgresCustomerKeys(test.database)
            defer { keys.close() }
            try await clause.check(keys)
        }
    }

    @Test @LoopActor func `Two servers that want a customer's first key get the same one`() async throws {
        try await TestLog.with { test in
            let servers = (0..<4).map { _ in PostgresCustomerKeys(test.database) }
            defer { for server in servers { server.close() } }
            for round in 0..<20 {
                let customer = Identifier("customer-\(round)")!
                let runs = servers.map { server in
                    Task { @LoopActor in try await server.makeKey(of: customer, partition: 0) }
                }
                var made: [CustomerKey] = []
                for run in runs { made.append(try await run.value) }
                #expect(made.allSatisfy { $0 == made[0] && $0 != .unknown }, "\(round)")
            }
        }
    }

    @Test @LoopActor func `A user without the right to keys does not know them`() async throws {
        try await TestLog.with { test in
            let keys = PostgresCustomerKeys(test.database, isReadOnly: true)
            defer { keys.close() }
            let server = PostgresCustomerKeys(test.database)
            defer { server.close() }
            let key = try await server.makeKey(of: Self.asha, partition: 0)
            #expect(try await keys.key(of: Self.asha, partition: 0) == key)
            try await test.owner.runScript("DROP FUNCTION tiffin.customer_key; DROP TABLE tiffin.customer_keys")
            #expect(try await keys.key(of: Self.asha, partition: 0) == .unknown)
        }
    }

    @Test @LoopActor func `No statistics are made of keys`() async throws {
        try await TestLog.with { test in
            let keys = PostgresCustomerKeys(test.database)
            defer { keys.close() }
            for number in 0..<5 { _ = try await keys.makeKey(of: Identifier("c\(number)")!, partition: 0) }
            try await test.owner.runScript("ANALYZE tiffin.customer_keys")
            let columns = try await test.owner.execute(
                Statement(
                    "statistics", "SELECT attname::text FROM pg_stats WHERE tablename = 'customer_keys' ORDER BY 1"))
            let names = (0..<columns.count).map { columns.text($0, 0) }
            #expect(names.contains("customer"))
            #expect(!names.contains("key"))
        }
    }
}
