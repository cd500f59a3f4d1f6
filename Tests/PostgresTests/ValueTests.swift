import EventLoop
import Postgres
import SeededRandom
import TestSupport
import Testing

struct ValueTests {
    init() { LoopActor.startInBackground() }

    @Test @LoopActor func `A row is read by the names of its columns`() async throws {
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        let statement = Statement(
            "named",
            """
            SELECT n AS number, n::smallint AS small, n::bigint AS large, 'n' || n AS text, n > 1 AS flag,
                nullif(n, 1) AS some, ARRAY['a', 'b'] AS texts, ARRAY[n] AS numbers, '\\x0102'::bytea AS bytes,
                ARRAY['\\x03'::bytea] AS pieces, to_timestamp(n) AS time
            FROM generate_series(1, 3) AS n
            """)
        let rows = try await connection.execute(statement)
        #expect(rows.map { $0["number"] } == [1, 2, 3] as [Int32])
        #expect(rows.map { $0["small"] } == [1, 2, 3] as [Int])
        #expect(rows.map { $0["large"] } == [1, 2, 3] as [Int])
        #expect(rows.map { $0["some"] } == [nil, 2, 3] as [Int?])
        let row = try #require(rows.first)
        #expect(row["number"] as Int == 1 && row["large"] as Int64 == 1)
        #expect(row["text"] == "n1")
        #expect(row["flag"] == false)
        #expect(row["texts"] == ["a", "b"])
        #expect(row["numbers"] == [1] as [Int32])
        #expect(row["bytes"] == [1, 2] as [UInt8])
        #expect(row["pieces"] == [[3]] as [[UInt8]])
        #expect(row.unixMicroseconds("time") == 1_000_000)
        let texts = rows.column("text", of: String.self)
        #expect(rows.indices.map { texts[$0] } == ["n1", "n2", "n3"])
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    @LoopActor func `Every value comes back as it was sent`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        let statement = Statement(
            "values", "SELECT $1, $2, $3, $4, $5, $6, $7, $8::text",
            [.bool, .int2, .int4, .int8, .text, .bytea, .timestamptz, .text])
        let bool = Bool.random(using: &random)
        let int2 = Int16.random(in: .min ... .max, using: &random)
        let int4 = Int32.random(in: .min ... .max, using: &random)
        let int8 = Int64.random(in: .min ... .max, using: &random)
        let text = random.text()
        let bytes = random.bytes()
        let time = Int64.random(in: -60_000_000_000_000_000...60_000_000_000_000_000, using: &random)
        let rows = try await connection.execute(
            statement,
            [
                .bool(bool), .int2(int2), .int4(int4), .int8(int8), .text(text), .bytes(bytes),
                .timestamp(unixMicroseconds: time), .null,
            ])
        #expect(rows.count == 1)
        #expect(rows.bool(0, 0) == bool)
        #expect(rows.int2(0, 1) == int2)
        #expect(rows.int4(0, 2) == int4)
        #expect(rows.int8(0, 3) == int8)
        #expect(rows.text(0, 4) == text)
        #expect([UInt8](rows.bytes(0, 5)) == bytes)
        #expect(rows.unixMicroseconds(0, 6) == time)
        #expect(rows.isNull(0, 7))
        #expect(!rows.isNull(0, 6))
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    @LoopActor func `Every array comes back as it was sent`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        let statement = Statement(
            "arrays", "SELECT $1, $2, $3, $4, $5",
            [.int2Array, .int4Array, .int8Array, .textArray, .byteaArray])
        // The first seed is for empty arrays.
        let count = seed == 0 ? 0 : Int.random(in: 0...300, using: &random)
        let int2s = (0..<count).map { _ in Int16.random(in: .min ... .max, using: &random) }
        let int4s = (0..<count).map { _ in Int32.random(in: .min ... .max, using: &random) }
        let int8s = (0..<count).map { _ in Int64.random(in: .min ... .max, using: &random) }
        let texts = (0..<count).map { _ in random.text() }
        let byteas = (0..<count).map { _ in random.bytes() }
        let rows = try await connection.execute(
            statement, [.array(int2s), .array(int4s), .array(int8s), .array(texts), .array(byteas)])
        #expect(rows.int2Array(0, 0) == int2s)
        #expect(rows.int4Array(0, 1) == int4s)
        #expect(rows.int8Array(0, 2) == int8s)
        #expect(rows.textArray(0, 3) == texts)
        #expect(rows.byteaArray(0, 4) == byteas)
    }

    @Test @LoopActor func `The server reads values as meant`() async throws {
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        var times = ArrayParameter(of: .timestamptz)
        times.append(unixMicroseconds: 0)
        var documents = ArrayParameter(of: .json)
        documents.append { $0.append(contentsOf: #"{"dish":"dosa"}"#.utf8) }
        let rows = try await connection.execute(
            Statement(
                "meaning",
                """
                SELECT $1 = '2026-03-01 12:00:00.000001+00'::timestamptz, $2[1] = 'epoch'::timestamptz,
                       $3[1]->>'dish', $4 = '', $5 = ''::bytea, $6 = '{}'::int4[]
                """, [.timestamptz, .timestamptzArray, .jsonArray, .text, .bytea, .int4Array]),
            [
                .timestamp(unixMicroseconds: 1_772_366_400_000_001), .array(times), .array(documents),
                .text(""),
                .bytes([]), .array([Int32]()),
            ])
        for column in [0, 1, 3, 4, 5] { #expect(rows.bool(0, column), "column \(column)") }
        #expect(rows.text(0, 2) == "dosa")
    }

    @Test @LoopActor func `Affected rows are counted`() async throws {
        let connection = try await TestDatabase.connect()
        defer { connection.close() }
        try await connection.runScript("CREATE TEMPORARY TABLE dishes (name text)")
        let inserted = try await connection.execute(
            Statement("insert", "INSERT INTO dishes SELECT unnest($1)", [.textArray]),
            [.array(["idli", "dosa", "vada"])])
        #expect(inserted.affectedCount == 3)
        #expect(inserted.count == 0)
        let deleted = try await connection.execute(
            Statement("delete", "DELETE FROM dishes WHERE name = 'rice'"))
        #expect(deleted.affectedCount == 0)
    }
}
