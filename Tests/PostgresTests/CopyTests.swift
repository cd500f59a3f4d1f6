import EventLoop
import TestSupport
import Testing

@testable import Postgres

struct CopyTests {
    init() { LoopActor.startInBackground() }

    private struct Row: Equatable, Sendable {
        var number: Int32
        var text: [UInt8]
    }

    private struct Stopped: Error {}

    /// Copies the rows of a query that gives an `int4` and a `text`; stops after so many.
    @concurrent
    private nonisolated func copied(
        of query: String, in transaction: Transaction, atMost limit: Int = .max
    ) async throws -> [Row] {
        var rows: [Row] = []
        try await transaction.copy(query, [.int4, .text]) { page in
            for row in 0..<page.count {
                rows.append(Row(number: page.int4(row, 0), text: Array(page.bytes(row, 1))))
                guard rows.count < limit else { throw Stopped() }
            }
        }
        return rows
    }

    private static let one = Statement("one", "SELECT 1")

    @Test(arguments: [0, 1, 2_000, 60_000])
    @LoopActor func `A copy gives every row`(count: Int) async throws {
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        let rows = try await connection.transaction { transaction in
            let rows = try await copied(
                of: "SELECT n, repeat('x', n % 100) FROM generate_series(1, \(count)) AS n", in: transaction)
            // The connection is free for statements again.
            #expect(try await transaction.execute(Self.one).int4(0, 0) == 1)
            return rows
        }
        #expect(
            rows == (0..<count).map { Row(number: Int32($0 + 1), text: Array(repeating: 120, count: ($0 + 1) % 100)) })
    }

    @Test @LoopActor func `Rows may be of any length`() async throws {
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        let lengths = [0, 1_000_000, 3, 262_000, 262_144, 262_145, 0]
        let list = lengths.map(String.init).joined(separator: ", ")
        let rows = try await connection.transaction { transaction in
            try await copied(
                of: "SELECT 1, repeat('x', n) FROM unnest(ARRAY[\(list)]) WITH ORDINALITY AS t (n, i) ORDER BY i",
                in: transaction)
        }
        #expect(rows.map(\.text.count) == lengths)
    }

    @Test(arguments: [
        "SELECT nothing()", "SELECT n, repeat('x', 1000 / (5000 - n)) FROM generate_series(1, 9000) AS n",
    ])
    @LoopActor func `A copy that fails says why, and the connection goes on`(query: String) async throws {
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        let error = await #expect(throws: PostgresError.self) {
            try await connection.transaction { transaction in
                _ = try await copied(of: query, in: transaction)
            }
        }
        #expect(error?.kind == .server)
        #expect(try await connection.execute(Self.one).int4(0, 0) == 1)
    }

    @Test @LoopActor func `A reader that stops leaves the connection free`() async throws {
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        let query = "SELECT n, repeat('x', 100) FROM generate_series(1, 100000) AS n"
        let after = try await connection.transaction { transaction in
            await #expect(throws: Stopped.self) { try await copied(of: query, in: transaction, atMost: 10) }
            return try await transaction.execute(Self.one).int4(0, 0)
        }
        #expect(after == 1)
    }

    @Test @LoopActor func `A lost connection ends a copy`() async throws {
        let connection = try await TestDatabase.connect()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.transaction { transaction in
                _ = try await copied(
                    of: """
                        SELECT n, CASE WHEN n = 50000 THEN pg_terminate_backend(pg_backend_pid())::text
                            ELSE repeat('x', 100) END
                        FROM generate_series(1, 1000000) AS n
                        """, in: transaction)
            }
        }
        #expect(error?.kind == .connection)
        #expect(!connection.isOpen)
    }

    // MARK: What cannot be read

    @Test(arguments: [
        ("SELECT NULL::int4, 'x'", "null"),
        ("SELECT n, CASE WHEN n < 50000 THEN 'x' END FROM generate_series(1, 100000) AS n", "null"),
        ("SELECT 1", "1 columns instead of 2"),
        ("SELECT 1, 'x', 'y'", "3 columns instead of 2"),
        ("SELECT 1::int8, 'x'", "8 bytes"),
        ("SELECT 1::int2, 'x'", "2 bytes"),
        ("SELECT '', 'x'", "0 bytes"),
    ])
    @LoopActor func `Rows of other columns are refused, and the connection goes on`(
        query: String, reason: String
    ) async throws {
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        let after = try await connection.transaction { transaction in
            let error = await #expect(throws: PostgresError.self) {
                _ = try await copied(of: query, in: transaction)
            }
            #expect(error?.sqlState == .invalidBinaryRepresentation)
            #expect(error?.message.contains(reason) == true)
            return try await transaction.execute(Self.one).int4(0, 0)
        }
        #expect(after == 1)
    }

    private static let header =
        Array("PGCOPY\n\u{FF}\r\n\0".unicodeScalars.map { UInt8($0.value) }) + [
            0, 0, 0, 0, 0, 0, 0, 3, 9, 9, 9,
        ]
    private static let row: [UInt8] = [0, 2, 0, 0, 0, 4, 0, 0, 0, 7, 0, 0, 0, 1, 120]
    private static let end: [UInt8] = [0xFF, 0xFF]

    private static func rows(_ bytes: [UInt8], isFirst: Bool = true) throws(PostgresError) -> CopiedRows {
        let page = CopiedPage(capacity: bytes.count)
        #expect(bytes.withUnsafeBytes { page.append($0) })
        return try CopiedRows(page, [.int4, .text], isFirst: isFirst)
    }

    @Test func `Rows come between a header and an end`() throws {
        for (bytes, isFirst, count) in [
            (Self.header + Self.end, true, 0), (Self.header, true, 0), (Self.header + Self.row, true, 1),
            (Self.row + Self.row + Self.end, false, 2), (Self.end, false, 0),
        ] {
            let rows = try Self.rows(bytes, isFirst: isFirst)
            #expect(rows.count == count)
            for row in 0..<count {
                #expect(rows.int4(row, 0) == 7)
                #expect(Array(rows.bytes(row, 1)) == [120])
            }
        }
    }

    @Test func `Bytes that are no rows are refused, wherever they end or differ`() throws {
        let whole = Self.header + Self.row
        for length in 0..<whole.count where length != Self.header.count {
            #expect(throws: PostgresError.self, "\(length) bytes") { try Self.rows(Array(whole.prefix(length))) }
        }
        #expect(throws: PostgresError.self) { try Self.rows(Self.header + Self.end + Self.row) }
        #expect(throws: PostgresError.self) { try Self.rows(Self.row) }
        // Whatever a byte is changed to, there are rows or an error.
        for place in whole.indices {
            for byte in UInt8.min...UInt8.max {
                var bytes = whole
                bytes[place] = byte
                guard let rows = try? Self.rows(bytes) else { continue }
                #expect(rows.count <= 1)
                for row in 0..<rows.count { _ = (rows.int4(row, 0), Array(rows.bytes(row, 1))) }
            }
        }
    }
}
