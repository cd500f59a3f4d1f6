// Values in PostgreSQL's binary format, read and written by hand: what is tested has its own code for them.

import CLibPQ

/// A C string that lives as long as this object.
final class CString {
    let pointer: UnsafePointer<CChar>

    init(_ text: String) {
        let bytes = text.utf8CString
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        copy.initialize(from: Array(bytes), count: bytes.count)
        pointer = UnsafePointer(copy)
    }

    deinit { pointer.deallocate() }
}

/// The parameters of a statement, by their numbers from 1.
struct Parameters {
    private let values: [[UInt8]?]

    init(_ values: [[UInt8]?]) { self.values = values }

    func bytes(_ number: Int) -> [UInt8]? { values[number - 1] }
    func int(_ number: Int) -> Int64? { bytes(number).map { integer($0[...]) } }
    func text(_ number: Int) -> String? { bytes(number).map { String(decoding: $0, as: UTF8.self) } }
    func bool(_ number: Int) -> Bool { bytes(number) == [1] }
    func ints(_ number: Int) -> [Int64]? { elements(number)?.map { integer($0) } }
    func texts(_ number: Int) -> [String]? { elements(number)?.map { String(decoding: $0, as: UTF8.self) } }

    private func elements(_ number: Int) -> [ArraySlice<UInt8>]? {
        guard let bytes = bytes(number) else { return nil }
        guard integer(bytes[..<4]) == 1 else { return [] }
        var elements: [ArraySlice<UInt8>] = []
        var next = 20
        for _ in 0..<integer(bytes[12..<16]) {
            let length = Int(integer(bytes[next..<next + 4]))
            elements.append(bytes[next + 4..<next + 4 + length])
            next += 4 + length
        }
        return elements
    }
}

private func integer(_ bytes: ArraySlice<UInt8>) -> Int64 {
    let isNegative = bytes.first! & 0x80 != 0
    return bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
}

/// A value in a row.
enum Value {
    case null
    case int2(Int64), int4(Int64), int8(Int64)
    case bool(Bool)
    case bytes([UInt8])
    case text(String)
    case int4s([Int64]), texts([String])

    static func optional(_ text: String?) -> Value { text.map { .text($0) } ?? .null }
    static func optional(_ bytes: [UInt8]?) -> Value { bytes.map { .bytes($0) } ?? .null }
    static func optional(_ number: Int64?) -> Value { number.map { .int8($0) } ?? .null }

    var encoded: [UInt8]? {
        switch self {
        case .null: nil
        case .int2(let number): bigEndian(number, 2)
        case .int4(let number): bigEndian(number, 4)
        case .int8(let number): bigEndian(number, 8)
        case .bool(let isTrue): [isTrue ? 1 : 0]
        case .bytes(let bytes): bytes
        case .text(let text): Array(text.utf8)
        case .int4s(let numbers): array(of: 23, numbers.map { bigEndian($0, 4) })
        case .texts(let texts): array(of: 25, texts.map { Array($0.utf8) })
        }
    }
}

private func bigEndian(_ number: Int64, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}

private func array(of type: Int64, _ elements: [[UInt8]]) -> [UInt8] {
    guard !elements.isEmpty else { return bigEndian(0, 4) + bigEndian(0, 4) + bigEndian(type, 4) }
    let head = [1, 0, type, Int64(elements.count), 1].flatMap { bigEndian($0, 4) }
    return head + elements.flatMap { bigEndian(Int64($0.count), 4) + $0 }
}

/// Rows with the names of their columns.
struct Table {
    var columns: [String]
    var rows: [[Value]] = []
}

/// What an error says.
public struct DatabaseError: Error {
    let code: String
    let message: String
    /// Whether the session is over then.
    public let endsSession: Bool

    var severity: String { endsSession ? "FATAL" : "ERROR" }

    /// An error with one of PostgreSQL's codes.
    public init(_ code: String, _ message: String, endsSession: Bool = false) {
        (self.code, self.message, self.endsSession) = (code, message, endsSession)
    }
}

/// What the database has answered to some messages.
public struct Results {
    let results: [QueryResult?]
}

/// One result, as libpq gives it.
final class QueryResult {
    enum Kind { case done, rows, failure, skipped, sync }

    let kind: Kind
    let columns: [String]
    let rowCount: Int
    let message: CString
    /// The parts of an error, by the characters that name them.
    let fields: [UInt8: CString]
    private let memory: UnsafeMutableRawBufferPointer
    /// Where each value lies in memory, row by row; nil for a null.
    private var places: [Range<Int>?] = []

    init(_ kind: Kind) {
        (self.kind, columns, rowCount, fields) = (kind, [], 0, [:])
        message = CString("")
        memory = .allocate(byteCount: 0, alignment: 1)
    }

    init(_ table: Table) {
        (kind, columns, rowCount, fields) = (.rows, table.columns, table.rows.count, [:])
        message = CString("")
        var bytes: [UInt8] = []
        for value in table.rows.joined() {
            guard let encoded = value.encoded else {
                places.append(nil)
                continue
            }
            places.append(bytes.count..<bytes.count + encoded.count)
            bytes += encoded
        }
        // One byte more: an empty value has an address, too.
        memory = .allocate(byteCount: bytes.count + 1, alignment: 1)
        memory.copyBytes(from: bytes)
    }

    init(_ error: DatabaseError) {
        (kind, columns, rowCount) = (.failure, [], 0)
        message = CString("\(error.severity):  \(error.message)\n")
        fields = [
            UInt8(ascii: "V"): CString(error.severity), UInt8(ascii: "C"): CString(error.code),
            UInt8(ascii: "M"): CString(error.message),
        ]
        memory = .allocate(byteCount: 0, alignment: 1)
    }

    /// What libpq says of a connection that is gone.
    init(lostWith message: CString) {
        (kind, columns, rowCount, fields) = (.failure, [], 0, [:])
        self.message = message
        memory = .allocate(byteCount: 0, alignment: 1)
    }

    deinit { memory.deallocate() }

    func value(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        places[row * columns.count + column].map { UnsafeRawBufferPointer(rebasing: memory[$0]) }
    }
}
