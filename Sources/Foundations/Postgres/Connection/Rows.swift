internal import CLibPQ

/// What a statement returned, read in libpq's memory, without copies.
///
/// Rows and columns count from 0. Reading a column as another type, reading past the last row or column, and reading
/// a null without having asked, are programmer errors and trap.
public final class Rows: @unchecked Sendable {
    // Unchecked because of `result`: the memory behind it never changes after `init`, and is freed once.

    /// How many rows there are.
    public let count: Int
    private let columnCount: Int
    private let result: OpaquePointer

    init(owning result: OpaquePointer) {
        self.result = result
        count = Int(PQntuples(result))
        columnCount = Int(PQnfields(result))
    }

    deinit { PQclear(result) }

    /// How many rows an `INSERT`, `UPDATE`, `DELETE` or `SELECT` touched; 0 for what touches none.
    public var affectedCount: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// What the server says that it did: `INSERT 0 3`, `COMMIT`.
    public var commandTag: String { String(cString: PQcmdStatus(result)) }

    /// Whether the value is null.
    public func isNull(_ row: Int, _ column: Int) -> Bool {
        check(row, column)
        return PQgetisnull(result, Int32(row), Int32(column)) == 1
    }

    /// A value's bytes, in PostgreSQL's binary format: those of a `bytea`, the UTF-8 of a `text` or `json`.
    /// They are valid as long as this object lives.
    public func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        check(row, column)
        let length = PQgetlength(result, Int32(row), Int32(column))
        precondition(
            length > 0 || PQgetisnull(result, Int32(row), Int32(column)) == 0,
            "row \(row), column \(column) is null")
        return UnsafeRawBufferPointer(
            start: PQgetvalue(result, Int32(row), Int32(column)), count: Int(length))
    }

    /// A `bool`.
    public func bool(_ row: Int, _ column: Int) -> Bool { integer(row, column, as: UInt8.self) != 0 }

    /// An `int2`.
    public func int2(_ row: Int, _ column: Int) -> Int16 { integer(row, column) }

    /// An `int4`.
    public func int4(_ row: Int, _ column: Int) -> Int32 { integer(row, column) }

    /// An `int8`.
    public func int8(_ row: Int, _ column: Int) -> Int64 { integer(row, column) }

    /// A `text` or `json`.
    public func text(_ row: Int, _ column: Int) -> String {
        String(decoding: bytes(row, column), as: UTF8.self)
    }

    /// A `timestamptz`, in microseconds since 1970-01-01 00:00 UTC; the largest number for times that are too late
    /// for it, such as `infinity`.
    public func unixMicroseconds(_ row: Int, _ column: Int) -> Int64 {
        PostgresTime.toUnix(microseconds: integer(row, column))
    }

    /// An `int2[]`.
    public func int2Array(_ row: Int, _ column: Int) -> [Int16] {
        elements(row, column, of: [.int2]) { $0.loadBigEndian() }
    }

    /// An `int4[]`.
    public func int4Array(_ row: Int, _ column: Int) -> [Int32] {
        elements(row, column, of: [.int4]) { $0.loadBigEndian() }
    }

    /// An `int8[]`.
    public func int8Array(_ row: Int, _ column: Int) -> [Int64] {
        elements(row, column, of: [.int8]) { $0.loadBigEndian() }
    }

    /// A `text[]` or `json[]`.
    public func textArray(_ row: Int, _ column: Int) -> [String] {
        elements(row, column, of: [.text, .json]) { String(decoding: $0, as: UTF8.self) }
    }

    /// A `bytea[]`.
    public func byteaArray(_ row: Int, _ column: Int) -> [[UInt8]] {
        elements(row, column, of: [.bytea]) { [UInt8]($0) }
    }

    /// The number of the column with a name.
    func number(of column: String) -> Int {
        let number = PQfnumber(result, column)
        precondition(number >= 0, "no column '\(column)'")
        return Int(number)
    }

    private func check(_ row: Int, _ column: Int) {
        precondition(row >= 0 && row < count && column >= 0 && column < columnCount, "no such row or column")
    }

    private func integer<Integer: FixedWidthInteger & BitwiseCopyable>(
        _ row: Int, _ column: Int, as type: Integer.Type = Integer.self
    ) -> Integer {
        let bytes = bytes(row, column)
        precondition(bytes.count == MemoryLayout<Integer>.size, "column \(column) is not of this type")
        return bytes.loadBigEndian()
    }

    /// The elements of a one-dimensional array without nulls; `ArrayParameter` describes the format.
    private func elements<Element>(
        _ row: Int, _ column: Int, of types: [PostgresType], _ decode: (UnsafeRawBufferPointer) -> Element
    ) -> [Element] {
        let bytes = bytes(row, column)
        precondition(bytes.count >= 12, "column \(column) is not an array")
        let dimensions: Int32 = bytes.loadBigEndian()
        let type = PostgresType(rawValue: bytes.loadBigEndian(at: 8))
        precondition(types.contains(type), "column \(column) is an array of another type")
        guard dimensions > 0 else { return [] }
        precondition(dimensions == 1 && bytes.count >= 20, "column \(column) is not a list")
        let count = Int(bytes.loadBigEndian(at: 12, as: Int32.self))
        var offset = 20
        precondition(count <= (bytes.count - offset) / 4, "the array ends too early")
        var elements: [Element] = []
        elements.reserveCapacity(count)
        for _ in 0..<count {
            precondition(bytes.count - offset >= 4, "the array ends too early")
            let length = Int(bytes.loadBigEndian(at: offset, as: Int32.self))
            offset += 4
            precondition(length >= 0 && length <= bytes.count - offset, "a null, or an array that ends early")
            elements.append(decode(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])))
            offset += length
        }
        return elements
    }
}
