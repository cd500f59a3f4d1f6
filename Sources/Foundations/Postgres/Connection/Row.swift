/// One of the rows that a statement returned. A value is asked for by the name of its column, and decoded as what is
/// wanted: `let name: String? = row["name"]`.
///
/// A column that is not there, a value of another type, and a null that is not wanted as an optional are programmer
/// errors and trap.
public struct Row: Sendable {
    fileprivate let rows: Rows
    fileprivate let number: Int

    /// A value.
    public subscript<Value: ColumnValue>(_ name: String) -> Value {
        Value.decode(rows, number, rows.number(of: name))
    }

    /// A point in time, as `Rows` has it.
    public func unixMicroseconds(_ name: String) -> Int64 { rows.unixMicroseconds(number, rows.number(of: name)) }
}

/// A column of some rows, which is looked for once: for what reads very many rows.
public struct ColumnOfRows<Value: ColumnValue> {
    fileprivate let rows: Rows
    fileprivate let number: Int

    /// The value in a row.
    public subscript(_ row: Int) -> Value { Value.decode(rows, row, number) }
}

extension Rows: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }
    public subscript(number: Int) -> Row { Row(rows: self, number: number) }

    /// The column with a name.
    public func column<Value: ColumnValue>(_ name: String, of type: Value.Type = Value.self) -> ColumnOfRows<Value> {
        ColumnOfRows(rows: self, number: number(of: name))
    }
}

/// What a value can be decoded as.
public protocol ColumnValue {
    /// Decodes a value that is of this type.
    static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> Self
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    public static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> Wrapped? {
        rows.isNull(row, column) ? nil : Wrapped.decode(rows, row, column)
    }
}

extension Bool: ColumnValue {
    public static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> Bool { rows.bool(row, column) }
}

extension Int32: ColumnValue {
    public static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> Int32 { rows.int4(row, column) }
}

extension Int64: ColumnValue {
    public static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> Int64 { rows.int8(row, column) }
}

/// A whole number of any of PostgreSQL's sizes.
extension Int: ColumnValue {
    public static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> Int {
        switch rows.bytes(row, column).count {
        case 2: Int(rows.int2(row, column))
        case 4: Int(rows.int4(row, column))
        default: Int(rows.int8(row, column))
        }
    }
}

extension String: ColumnValue {
    public static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> String { rows.text(row, column) }
}

/// The bytes of a `bytea` or a `text`, without a copy. They are valid as long as the rows live.
extension UnsafeRawBufferPointer: ColumnValue {
    public static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        rows.bytes(row, column)
    }
}

/// A `bytea`, a `text[]` and so on.
extension Array: ColumnValue where Element: ArrayElement {
    public static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> [Element] {
        Element.decodeArray(rows, row, column)
    }
}

/// What an array that stands for a value can be made of.
public protocol ArrayElement {
    /// Decodes a value that is of an array of this type.
    static func decodeArray(_ rows: Rows, _ row: Int, _ column: Int) -> [Self]
}

extension UInt8: ArrayElement {
    public static func decodeArray(_ rows: Rows, _ row: Int, _ column: Int) -> [UInt8] {
        [UInt8](rows.bytes(row, column))
    }
}

extension Int32: ArrayElement {
    public static func decodeArray(_ rows: Rows, _ row: Int, _ column: Int) -> [Int32] { rows.int4Array(row, column) }
}

extension String: ArrayElement {
    public static func decodeArray(_ rows: Rows, _ row: Int, _ column: Int) -> [String] { rows.textArray(row, column) }
}

extension [UInt8]: ArrayElement {
    public static func decodeArray(_ rows: Rows, _ row: Int, _ column: Int) -> [[UInt8]] {
        rows.byteaArray(row, column)
    }
}
