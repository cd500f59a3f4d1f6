/// A value for one of a statement's parameters, sent in PostgreSQL's binary format.
public enum Parameter: Sendable {
    /// No value, of any type.
    case null
    /// A `bool`.
    case bool(Bool)
    /// An `int2`.
    case int2(Int16)
    /// An `int4`.
    case int4(Int32)
    /// An `int8`.
    case int8(Int64)
    /// A `text` or `json`.
    case text(String)
    /// A `bytea`; also a `text` or `json` in UTF-8.
    case bytes([UInt8])
    /// A `timestamptz`, given in microseconds since 1970-01-01 00:00 UTC.
    case timestamp(unixMicroseconds: Int64)
    /// An array of any type.
    case array(ArrayParameter)

    /// An `int2[]`.
    public static func array(_ elements: some Collection<Int16>) -> Parameter {
        var array = ArrayParameter(of: .int2, reserving: elements.count * 6)
        for element in elements { array.append(element) }
        return .array(array)
    }

    /// An `int4[]`.
    public static func array(_ elements: some Collection<Int32>) -> Parameter {
        var array = ArrayParameter(of: .int4, reserving: elements.count * 8)
        for element in elements { array.append(element) }
        return .array(array)
    }

    /// An `int8[]`.
    public static func array(_ elements: some Collection<Int64>) -> Parameter {
        var array = ArrayParameter(of: .int8, reserving: elements.count * 12)
        for element in elements { array.append(element) }
        return .array(array)
    }

    /// A `text[]`.
    public static func array(_ elements: some Collection<String>) -> Parameter {
        var array = ArrayParameter(of: .text)
        for element in elements { array.append(element) }
        return .array(array)
    }

    /// A `text[]` whose elements are UTF-8.
    public static func array(utf8 elements: some Collection<[UInt8]>) -> Parameter {
        var array = ArrayParameter(of: .text)
        for element in elements { array.append(element) }
        return .array(array)
    }

    /// A `bytea[]`.
    public static func array(_ elements: some Collection<[UInt8]>) -> Parameter {
        var array = ArrayParameter(of: .bytea)
        for element in elements { array.append(element) }
        return .array(array)
    }

    /// Appends the value's binary form; nothing for null.
    func encode(into bytes: inout [UInt8]) {
        switch self {
        case .null: break
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .int2(let value): bytes.appendBigEndian(value)
        case .int4(let value): bytes.appendBigEndian(value)
        case .int8(let value): bytes.appendBigEndian(value)
        case .text(let value): bytes.append(contentsOf: value.utf8)
        case .bytes(let value): bytes.append(contentsOf: value)
        case .timestamp(let value): bytes.appendBigEndian(PostgresTime.fromUnix(microseconds: value))
        case .array(let value): bytes.append(contentsOf: value.bytes)
        }
    }

    /// How many bytes `encode` appends; nil for null.
    var size: Int? {
        switch self {
        case .null: nil
        case .bool: 1
        case .int2: 2
        case .int4: 4
        case .int8, .timestamp: 8
        case .text(let value): value.utf8.count
        case .bytes(let value): value.count
        case .array(let value): value.bytes.count
        }
    }
}
