import EventLoop
import Postgres
import TestSupport
import Testing

struct TransactionTests {
    init() { LoopActor.startInBackground() }

    private static let insert = Statement("insert", "INSERT INTO dishes VALUES ($1)", [.int4])
    private static let count = Statement("count", "SELECT count(*) FROM dishes")

    @LoopActor private func connection() async throws -> PostgresConnection {
        let connection = try await TestDatabase.connect()
        try await connection.runScript("CREATE TABLE dishes (id int PRIMARY KEY)")
        return connection
    }

    @Test @LoopActor func `The changes of a transaction stay`() async throws {
        let connection = try await connection()
        defer { connection.close() }
        let inside = try await connection.transaction { transaction in
            _ = try await transaction.execute(Self.insert, [.int4(1)])
            try await transaction.runScript("INSERT INTO dishes VALUES (2); INSERT INTO dishes VALUES (3)")
            return try await transaction.execute(Self.count).int8(0, 0)
        }
        #expect(inside == 3)
        #expect(try await connection.execute(Self.count).int8(0, 0) == 3)
    }

    @Test @LoopActor func `A transaction that throws leaves nothing`() async throws {
        struct Burnt: Error {}
        let connection = try await connection()
        defer { connection.close() }
        await #expect(throws: Burnt.self) {
            try await connection.transaction { transaction in
                _ = try await transaction.execute(Self.insert, [.int4(1)])
                throw Burnt()
            }
        }
        #expect(try await connection.execute(Self.count).int8(0, 0) == 0)
    }

    @Test @LoopActor func `A failure that the body does not rethrow still prevents the commit`() async throws {
        let connection = try await connection()
        defer { connection.close() }
        let error = await #expect(throws: PostgresError.self) {
            try await connection.transaction { transaction in
                _ = try await transaction.execute(Self.insert, [.int4(1)])
                _ = try? await transaction.execute(Self.insert, [.int4(1)])
            }
        }
        #expect(error?.sqlState == .inFailedTransaction)
        #expect(try await connection.execute(Self.count).int8(0, 0) == 0)
    }

    @Test @LoopActor func `A script takes effect as a whole or not at all`() async throws {
        let connection = try await connection()
        defer { connection.close() }
        let error = await #expect(throws: PostgresError.self) {
            try await connection.runScript("INSERT INTO dishes VALUES (1); INSERT INTO dishes VALUES (1)")
        }
        #expect(error?.sqlState == .uniqueViolation)
        try await connection.runScript(
            "INSERT INTO dishes VALUES (4); SELECT 1; INSERT INTO dishes VALUES (5)")
        try await connection.runScript("")
        #expect(try await connection.execute(Self.count).int8(0, 0) == 2)
    }
}
