internal import Projections
internal import TextFormats

/// A value of a row as it is printed.
enum RowValue: Equatable {
    case text(String)
    case number(Int64)
    case boolean(Bool)
    /// JSON as it is.
    case json([UInt8])
    case null

    /// The value as a cell of comma-separated values: nothing for null, and quotes for an empty text.
    var cell: String {
        switch self {
        case .text(let text): CSV.cell(text)
        case .number(let number): "\(number)"
        case .boolean(let value): value ? "true" : "false"
        case .json(let bytes): CSV.cell(String(decoding: bytes, as: UTF8.self), .json)
        case .null: ""
        }
    }

    /// The value as people read it.
    var shown: String {
        switch self {
        case .text(let text): TerminalText.line(text)
        case .number(let number): "\(number)"
        case .boolean(let value): value ? "yes" : "no"
        case .json(let bytes): TerminalText.line(String(decoding: bytes, as: UTF8.self), .json)
        case .null: "–"
        }
    }
}

/// The values of a projection's row, one for each of its columns.
struct RowValues: RowWriter {
    private(set) var values: [RowValue] = []

    init(_ row: any ProjectionRow) { row.write(to: &self) }

    mutating func text(_ value: String) { values.append(.text(value)) }
    mutating func json(_ value: [UInt8]) { values.append(.json(value)) }
    mutating func int32(_ value: Int32) { values.append(.number(Int64(value))) }
    mutating func int64(_ value: Int64) { values.append(.number(value)) }
}
