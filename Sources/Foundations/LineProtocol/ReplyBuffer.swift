internal import TextFormats

/// The replies of one connection, encoded in its version of the protocol and waiting to be sent. What version 2 has
/// no type for is sent as Redis sends it: a map as a flat array, a set as an array, a double as a bulk string, a
/// boolean as 1 or 0.
///
/// An aggregate is announced with its count and followed by as many replies. The caller has to bound how much may
/// wait, by `count`.
public struct ReplyBuffer: ~Copyable {
    /// The version that replies appended from now on are encoded in.
    public var version: ProtocolVersion

    private var buffer: ByteBuffer

    /// An empty buffer with room for `capacity` bytes.
    public init(version: ProtocolVersion = .resp2, capacity: Int = 0) {
        self.version = version
        buffer = ByteBuffer(capacity: capacity)
    }

    // MARK: The bytes

    /// How many bytes wait.
    public var count: Int { buffer.count }

    /// Whether nothing waits.
    public var isEmpty: Bool { buffer.isEmpty }

    /// How many bytes the allocated memory can hold.
    public var capacity: Int { buffer.capacity }

    /// The waiting bytes; valid until the buffer is changed or goes away.
    public var bytes: UnsafeRawBufferPointer { buffer.bytes }

    /// Drops the first `count` bytes, which have been sent.
    public mutating func consume(_ count: Int) {
        buffer.consume(count)
    }

    /// Drops everything, and the memory too unless it is to be kept.
    public mutating func removeAll(keepingCapacity: Bool) {
        buffer.removeAll(keepingCapacity: keepingCapacity)
    }

    /// Appends bytes that are replies already.
    public mutating func append(encoded bytes: UnsafeRawBufferPointer) {
        buffer.append(bytes)
    }

    // MARK: Scalars

    /// A short status such as `OK`. CR and LF become blanks.
    public mutating func simpleString(_ text: String) {
        line(UInt8(ascii: "+"), text)
    }

    /// A short status such as `OK`, which must not hold CR or LF.
    public mutating func simpleString(_ text: StaticString) {
        buffer.append(UInt8(ascii: "+"))
        buffer.append(text)
        endLine()
    }

    /// An error: a stable code and a text for people. CR and LF become blanks.
    public mutating func error(_ code: String, _ text: String) {
        line(.minus, "\(code) \(text)")
    }

    /// A 64-bit integer.
    public mutating func integer(_ value: Int64) {
        header(UInt8(ascii: ":"), value)
    }

    /// A bulk string of any bytes.
    public mutating func bulk(_ bytes: UnsafeRawBufferPointer) {
        header(.dollar, Int64(bytes.count))
        buffer.append(bytes)
        endLine()
    }

    /// A bulk string of any bytes.
    public mutating func bulk(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bulk($0) }
    }

    /// A bulk string of any bytes, ending in some UTF-8.
    public mutating func bulk(_ bytes: ArraySlice<UInt8>, followedBy end: String) {
        var end = end
        end.withUTF8 { end in
            header(.dollar, Int64(bytes.count + end.count))
            bytes.withUnsafeBytes { buffer.append($0) }
            buffer.append(UnsafeRawBufferPointer(end))
            endLine()
        }
    }

    /// A bulk string of UTF-8.
    public mutating func bulk(_ text: String) {
        var text = text
        text.withUTF8 { bulk(UnsafeRawBufferPointer($0)) }
    }

    /// A bulk string of UTF-8.
    public mutating func bulk(_ text: StaticString) {
        text.withUTF8Buffer { bulk(UnsafeRawBufferPointer($0)) }
    }

    /// Text to be shown as it is, line ends and all; a bulk string in version 2.
    public mutating func verbatim(_ text: String) {
        guard version == .resp3 else { return bulk(text) }
        var text = text
        text.withUTF8 { utf8 in
            header(UInt8(ascii: "="), Int64(utf8.count) + 4)
            buffer.append("txt:" as StaticString)
            buffer.append(UnsafeRawBufferPointer(utf8))
            endLine()
        }
    }

    /// Nothing: `_`, in version 2 the bulk string of length -1.
    public mutating func null() {
        buffer.append(version == .resp3 ? "_\r\n" : "$-1\r\n")
    }

    /// True or false; 1 or 0 in version 2.
    public mutating func boolean(_ value: Bool) {
        switch (version, value) {
        case (.resp3, true): buffer.append("#t\r\n" as StaticString)
        case (.resp3, false): buffer.append("#f\r\n" as StaticString)
        case (.resp2, _): integer(value ? 1 : 0)
        }
    }

    /// A double in its shortest decimal form, `inf`, `-inf` or `nan`; a bulk string in version 2.
    public mutating func double(_ value: Double) {
        let text = value.description
        let shortest = text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        guard version == .resp3 else { return bulk(shortest) }
        line(UInt8(ascii: ","), shortest)
    }

    // MARK: Aggregates

    /// An array; `count` replies follow.
    public mutating func array(_ count: Int) {
        header(.asterisk, Int64(count))
    }

    /// A map; `count` pairs of replies follow, in version 2 as an array of twice as many.
    public mutating func map(_ count: Int) {
        guard version == .resp3 else { return array(2 * count) }
        header(UInt8(ascii: "%"), Int64(count))
    }

    /// A set; `count` replies follow. An array in version 2.
    public mutating func set(_ count: Int) {
        guard version == .resp3 else { return array(count) }
        header(UInt8(ascii: "~"), Int64(count))
    }

    /// A message that answers no request; `count` replies follow. In version 2 it is an array, which the caller may
    /// send only if the client expects it.
    public mutating func push(_ count: Int) {
        guard version == .resp3 else { return array(count) }
        header(UInt8(ascii: ">"), Int64(count))
    }

    // MARK: Parts of lines

    private mutating func header(_ type: UInt8, _ value: Int64) {
        buffer.appendLine(type, decimal: value)
    }

    private mutating func line(_ type: UInt8, _ text: String) {
        buffer.append(type)
        for byte in text.utf8 {
            buffer.append(byte == .carriageReturn || byte == .lineFeed ? .space : byte)
        }
        endLine()
    }

    private mutating func endLine() {
        buffer.append("\r\n" as StaticString)
    }
}
