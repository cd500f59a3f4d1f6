internal import TextFormats

/// Reads the replies of one connection, as they arrive.
///
/// Append what was received, then take replies until there is none: an incomplete one is kept, and
/// resumed where it stopped. Attributes are read and dropped. Streamed strings and aggregates (`$?`, `*?`)
/// are errors, as no server sends them unasked.
public struct ReplyParser: ~Copyable {
    /// An aggregate that is not complete.
    private struct Frame {
        var type: UInt8
        var awaited: Int
        var values: [Reply] = []
    }

    private let limits: ReplyLimits
    private var input = ByteBuffer()
    /// Up to here, no line end was found in the input.
    private var scanned = 0
    /// A bulk string's type and length, once its header has been consumed.
    private var awaitedBulk: (type: UInt8, length: Int)?
    private var frames: [Frame] = []
    /// Values of the current reply that have been announced.
    private var announced = 0

    /// A parser for a new connection.
    public init(limits: ReplyLimits = ReplyLimits()) {
        self.limits = limits
    }

    /// Bytes appended and not understood yet.
    public var unread: Int { input.count }

    /// Takes bytes that were received.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        input.append(bytes)
    }

    /// Takes what `receive` writes into at least `space` bytes; it returns how many bytes it has written.
    public mutating func receive<Failure: Error>(
        atLeast space: Int, _ receive: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        try input.fill(atLeast: space, receive)
    }

    /// The next reply; nil if it is incomplete.
    public mutating func next() throws(ReplyError) -> Reply? {
        while let value = try nextValue() {
            if let reply = fold(value) {
                announced = 0
                return reply
            }
        }
        return nil
    }

    /// Adds a value to the innermost open aggregate, and closes those that it completes. Returns the reply once none
    /// is left open.
    private mutating func fold(_ value: Reply) -> Reply? {
        var value = value
        while var frame = frames.popLast() {
            frame.values.append(value)
            guard frame.values.count == frame.awaited else {
                frames.append(frame)
                return nil
            }
            guard let aggregate = ReplyParser.aggregate(frame.type, frame.values) else { return nil }
            value = aggregate
        }
        return value
    }

    /// The aggregate of a type; nil for attributes, which have no value.
    private static func aggregate(_ type: UInt8, _ values: [Reply]) -> Reply? {
        switch type {
        case UInt8(ascii: "|"): nil
        case UInt8(ascii: "%"):
            .map(stride(from: 0, to: values.count, by: 2).map { .init(values[$0], values[$0 + 1]) })
        case UInt8(ascii: "~"): .set(values)
        case UInt8(ascii: ">"): .push(values)
        default: .array(values)
        }
    }

    /// The next value that is not the header of an aggregate with values; nil if it is incomplete.
    private mutating func nextValue() throws(ReplyError) -> Reply? {
        while true {
            if let (type, length) = awaitedBulk { return try takeBulk(type, length) }
            guard let end = try lineEnd() else { return nil }
            let type = input.bytes[0]
            let text = input.bytes.part(1..<end)
            let value: Reply?
            switch type {
            case .dollar, UInt8(ascii: "="), UInt8(ascii: "!"):
                value = try readBulkHeader(type, text)
            case .asterisk, UInt8(ascii: "%"), UInt8(ascii: "~"), UInt8(ascii: ">"), UInt8(ascii: "|"):
                value = try readAggregateHeader(type, text)
            default:
                value = try ReplyParser.scalar(type, text)
            }
            input.consume(end + 2)
            scanned = 0
            if let value { return value }
        }
    }

    /// Where the line that the input starts with ends; nil if it is incomplete.
    private mutating func lineEnd() throws(ReplyError) -> Int? {
        let bytes = input.bytes
        while scanned < bytes.count, bytes[scanned] != .carriageReturn { scanned += 1 }
        guard scanned <= limits.lineLength else { throw .tooLarge }
        guard scanned + 1 < bytes.count else { return nil }
        guard scanned > 0, bytes[scanned + 1] == .lineFeed else { throw .malformedLine(type: bytes[0]) }
        return scanned
    }

    /// Returns null; or nil, and then a bulk string is awaited.
    private mutating func readBulkHeader(
        _ type: UInt8, _ text: UnsafeRawBufferPointer
    ) throws(ReplyError) -> Reply? {
        guard let length = Int64(canonicalDecimal: text), length >= -1 else {
            throw .malformedLine(type: type)
        }
        guard length >= 0 else { return .null }
        guard length <= limits.bulkLength else { throw .tooLarge }
        awaitedBulk = (type, Int(length))
        return nil
    }

    private mutating func takeBulk(_ type: UInt8, _ length: Int) throws(ReplyError) -> Reply? {
        let bytes = input.bytes
        guard length + 2 <= bytes.count else { return nil }
        guard bytes[length] == .carriageReturn, bytes[length + 1] == .lineFeed else { throw .malformedBulk }
        let reply = try ReplyParser.bulk(type, bytes.part(0..<length))
        input.consume(length + 2)
        awaitedBulk = nil
        return reply
    }

    private static func bulk(_ type: UInt8, _ bytes: UnsafeRawBufferPointer) throws(ReplyError) -> Reply {
        switch type {
        case .dollar:
            return .bulk(Array(bytes))
        case UInt8(ascii: "!"):
            return try error(bytes)
        default:
            guard bytes.count >= 4, bytes[3] == UInt8(ascii: ":") else { throw .malformedBulk }
            return .verbatim(
                format: try text(bytes.part(0..<3)), text: try text(bytes.part(4..<bytes.count)))
        }
    }

    /// Returns null or an empty aggregate; or nil, and then a frame is to be filled.
    private mutating func readAggregateHeader(
        _ type: UInt8, _ text: UnsafeRawBufferPointer
    ) throws(ReplyError) -> Reply? {
        guard let count = Int64(canonicalDecimal: text), count >= -1 else {
            throw .malformedLine(type: type)
        }
        guard count >= 0 else { return .null }
        guard count <= limits.valueCount, frames.count < limits.depth else { throw .tooLarge }
        let hasKeys = type == UInt8(ascii: "%") || type == UInt8(ascii: "|")
        let awaited = Int(count) * (hasKeys ? 2 : 1)
        announced += awaited
        guard announced <= limits.valueCount else { throw .tooLarge }
        guard awaited == 0 else {
            frames.append(Frame(type: type, awaited: awaited))
            return nil
        }
        return ReplyParser.aggregate(type, [])
    }

    private static func scalar(_ type: UInt8, _ bytes: UnsafeRawBufferPointer) throws(ReplyError) -> Reply {
        switch type {
        case UInt8(ascii: "+"):
            return .simple(try text(bytes))
        case .minus:
            return try error(bytes)
        case UInt8(ascii: ":"):
            guard let value = Int64(canonicalDecimal: bytes) else { throw .malformedLine(type: type) }
            return .integer(value)
        case UInt8(ascii: "_"):
            guard bytes.isEmpty else { throw .malformedLine(type: type) }
            return .null
        case UInt8(ascii: "#"):
            switch try text(bytes) {
            case "t": return .boolean(true)
            case "f": return .boolean(false)
            default: throw .malformedLine(type: type)
            }
        case UInt8(ascii: ","):
            guard let value = Double(try text(bytes)) else { throw .malformedLine(type: type) }
            return .double(value)
        case UInt8(ascii: "("):
            let digits = bytes.first == .minus ? bytes.part(1..<bytes.count) : bytes
            guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else {
                throw .malformedLine(type: type)
            }
            return .bigNumber(try text(bytes))
        default:
            throw .unknownType(type)
        }
    }

    private static func error(_ bytes: UnsafeRawBufferPointer) throws(ReplyError) -> Reply {
        let words = try text(bytes).split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        return .error(code: String(words[0]), message: words.count == 2 ? String(words[1]) : "")
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) throws(ReplyError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        return text
    }
}
