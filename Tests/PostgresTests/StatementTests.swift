import EventLoop
import Postgres
import TestSupport
import Testing

struct StatementTests {
    init() { LoopActor.startInBackground() }

    private static let number = Statement("number", "SELECT $1", [.int8])

    @Test(arguments: [
        ("SELEC 1", SQLState.syntaxError),
        ("SELECT * FROM nowhere", .undefinedTable),
        ("SELECT nothing()", .undefinedFunction),
        ("CREATE TABLE nowhere.dishes ()", .undefinedSchema),
        ("INSERT INTO dishes VALUES (1), (1)", .uniqueViolation),
    ])
    @LoopActor func `A refused statement says why, and the connection goes on`(
        sql: String, expected: SQLState
    ) async throws {
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        try await connection.runScript(
            "CREATE TEMPORARY TABLE dishes (id int CONSTRAINT dish_id PRIMARY KEY)")
        let error = await #expect(throws: PostgresError.self) {
            try await connection.execute(Statement("refused", sql))
        }
        #expect(error?.sqlState == expected)
        #expect(error?.kind == .server)
        #expect(error?.constraint == (expected == .uniqueViolation ? "dish_id" : nil))
        #expect(try await connection.execute(Self.number, [.int8(7)]).int8(0, 0) == 7)
    }

    @Test @LoopActor func `A statement with several lists of parameters is one transaction`() async throws {
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        try await connection.runScript("CREATE TEMPORARY TABLE dishes (id bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        let statement = Statement("insert", "INSERT INTO dishes SELECT 6 / $1 RETURNING id", [.int8])
        func insert(_ numbers: [Int64]) async -> (ids: [Int64], failure: SQLState?) {
            await withCheckedContinuation { continuation in
                connection.execute(statement, forEach: numbers.map { [.int8($0)] }) { rows, failure in
                    continuation.resume(returning: (rows.map { $0.int8(0, 0) }, failure?.sqlState))
                }
            }
        }
        let whole = await insert([6, 3, 2])
        #expect(whole.ids == [1, 2, 3] && whole.failure == nil)
        // What was answered before the failure tells which one failed: the third; then only the commit.
        let third = await insert([1, 3, 0, 6])
        #expect(third.ids == [6, 2] && third.failure == SQLState(rawValue: "22012"))
        let commit = await insert([1, 3])
        #expect(commit.ids == [6, 2] && commit.failure == .uniqueViolation)
        let ids = try await connection.execute(Statement("ids", "SELECT array_agg(id ORDER BY id)::text FROM dishes"))
        #expect(ids.text(0, 0) == "{1,2,3}")
    }

    @Test @LoopActor func `A statement that takes too long is cancelled`() async throws {
        let connection = try await TestDatabase.connect(statementTimeout: .milliseconds(50))
        defer { connection.close() }
        let error = await #expect(throws: PostgresError.self) {
            try await connection.execute(Statement("sleep", "SELECT pg_sleep(60)"))
        }
        #expect(error?.sqlState == .queryCanceled)
        #expect(error?.kind == .server)
    }

    @Test @LoopActor func `A statement that the role may not execute is refused`() async throws {
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        try await connection.runScript("SET ROLE pg_read_all_stats")
        let error = await #expect(throws: PostgresError.self) {
            try await connection.execute(Statement("refused", "SELECT * FROM pg_authid"))
        }
        #expect(error?.sqlState == .insufficientPrivilege)
    }

    @Test @LoopActor func `A statement that could not be prepared is prepared again`() async throws {
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        let statement = Statement("count", "SELECT count(*) FROM dishes")
        await #expect(throws: PostgresError.self) { try await connection.execute(statement) }
        try await connection.runScript("CREATE TEMPORARY TABLE dishes ()")
        #expect(try await connection.execute(statement).int8(0, 0) == 0)
    }

    @Test @LoopActor func `Answers come in the order of the statements, and each failure affects one statement`()
        async throws
    {
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        let inverse = Statement("inverse", "SELECT 1000 / $1", [.int8])
        let answers = await withCheckedContinuation { continuation in
            let answers = Answers()
            for number in 0..<500 as Range<Int64> {
                connection.execute(inverse, [.int8(number % 10)]) { result in
                    answers.all.append(try? result.get().int8(0, 0))
                    if answers.all.count == 500 { continuation.resume(returning: answers.all) }
                }
            }
            #expect(connection.outstandingCount == 500)
        }
        let expected = (0..<500 as Range<Int64>).map { (number: Int64) -> Int64? in
            let divisor: Int64 = number % 10
            return divisor == 0 ? nil : 1_000 / divisor
        }
        #expect(answers == expected)
    }

    @LoopActor private final class Answers {
        var all: [Int64?] = []
    }

    @Test @LoopActor func `One statement too many is refused, the others are answered`() async throws {
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        let answered = Answers()
        for _ in 0..<PostgresConnection.outstandingLimit - 1 {
            connection.execute(Self.number, [.int8(1)]) { answered.all.append(try? $0.get().int8(0, 0)) }
        }
        let last = await withCheckedContinuation { continuation in
            connection.execute(Self.number, [.int8(2)]) { continuation.resume(returning: $0) }
            connection.execute(Self.number, [.int8(3)]) { result in
                #expect(throws: PostgresError.self) { try result.get() }
            }
        }
        #expect(try last.get().int8(0, 0) == 2)
        #expect(answered.all == Array(repeating: 1, count: PostgresConnection.outstandingLimit - 1))
    }

    @Test @LoopActor func `Parameters that are too large are refused before they are sent`() async throws {
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        let half = [UInt8](repeating: 0, count: PostgresConnection.parameterBytesLimit / 2 + 1)
        let error = await #expect(throws: PostgresError.self) {
            try await connection.execute(
                Statement("large", "SELECT length($1) + length($2)", [.bytea, .bytea]),
                [.bytes(half), .bytes(half)])
        }
        #expect(error?.sqlState == .programLimitExceeded)
    }

    @Test @LoopActor func `Parameters and rows larger than any socket buffer pass`() async throws {
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        let bytes = [UInt8](repeating: 42, count: 20_000_000)
        let rows = try await connection.execute(Statement("echo", "SELECT $1", [.bytea]), [.bytes(bytes)])
        #expect([UInt8](rows.bytes(0, 0)) == bytes)
    }
}
