internal import CLibPQ

/// One of the rows that a statement returned. A value is asked for by the name of its column, and decoded as what is
/// wanted: `let name: String? = row["name"]`.
///
/// A column that is not there, a value of another type, and a null that is not wanted as an optional are programmer
/// errors and trap. Where a statement returns very many rows, to read ``Rows`` by numbers takes less time.
package struct Row {
    private let rows: Rows
    private let number: Int

    fileprivate init(_ rows: Rows, _ number: Int) {
        self.rows = rows
        self.number = number
    }

    /// A value.
    package subscript<Value: ColumnValue>(_ column: String) -> Value {
        Value.decode(rows, number, rows.number(of: column))
    }

    /// The bytes of a `bytea` or a `text`, without a copy; nil for a null. They are valid as long as the rows live.
    package func bytes(_ column: String) -> UnsafeRawBufferPointer? {
        let column = rows.number(of: column)
        return rows.isNull(number, column) ? nil : rows.bytes(number, column)
    }
}

extension Rows: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { count }
    package subscript(number: Int) -> Row { Row(self, number) }
}

/// What a value in a row can be decoded as.
package protocol ColumnValue {
    /// Decodes a value that is of this type.
    static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> Self
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    package static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> Wrapped? {
        rows.isNull(row, column) ? nil : Wrapped.decode(rows, row, column)
    }
}

extension Bool: ColumnValue {
    package static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> Bool { rows.bool(row, column) }
}

extension Int16: ColumnValue {
    package static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> Int16 { rows.int2(row, column) }
}

extension Int32: ColumnValue {
    package static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> Int32 { rows.int4(row, column) }
}

extension Int64: ColumnValue {
    package static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> Int64 { rows.int8(row, column) }
}

/// A whole number of any of PostgreSQL's sizes.
extension Int: ColumnValue {
    package static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> Int {
        switch rows.bytes(row, column).count {
        case 2: Int(rows.int2(row, column))
        case 4: Int(rows.int4(row, column))
        default: Int(rows.int8(row, column))
        }
    }
}

extension String: ColumnValue {
    package static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> String { rows.text(row, column) }
}

/// A `bytea`, a `text[]` and so on.
extension Array: ColumnValue where Element: ArrayElement {
    package static func decode(_ rows: Rows, _ row: Int, _ column: Int) -> [Element] {
        Element.decodeArray(rows, row, column)
    }
}

/// What an array that stands for a value can be made of.
package protocol ArrayElement {
    /// Decodes a value that is of an array of this type.
    static func decodeArray(_ rows: Rows, _ row: Int, _ column: Int) -> [Self]
}

extension UInt8: ArrayElement {
    package static func decodeArray(_ rows: Rows, _ row: Int, _ column: Int) -> [UInt8] {
        [UInt8](rows.bytes(row, column))
    }
}

extension Int32: ArrayElement {
    package static func decodeArray(_ rows: Rows, _ row: Int, _ column: Int) -> [Int32] { rows.int4Array(row, column) }
}

extension String: ArrayElement {
    package static func decodeArray(_ rows: Rows, _ row: Int, _ column: Int) -> [String] { rows.textArray(row, column) }
}

extension [UInt8]: ArrayElement {
    package static func decodeArray(_ rows: Rows, _ row: Int, _ column: Int) -> [[UInt8]] {
        rows.byteaArray(row, column)
    }
}
