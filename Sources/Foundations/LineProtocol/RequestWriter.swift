internal import TextFormats

/// The requests of a client, encoded as arrays of bulk strings and waiting to be sent.
public struct RequestWriter: ~Copyable {
    private var buffer = ByteBuffer()

    /// No requests.
    public init() {}

    /// How many bytes wait.
    public var count: Int { buffer.count }

    /// The waiting bytes; valid until the writer is changed or goes away.
    public var bytes: UnsafeRawBufferPointer { buffer.bytes }

    /// Drops the first `count` bytes, which have been sent.
    public mutating func consume(_ count: Int) {
        buffer.consume(count)
    }

    /// Appends a request: the command's name and its arguments.
    public mutating func write(_ arguments: [String]) {
        begin(arguments.count)
        for word in arguments { argument(word) }
    }

    /// Appends a request: the command's name and its arguments, of any bytes.
    public mutating func write(_ arguments: [[UInt8]]) {
        begin(arguments.count)
        for word in arguments { argument(word) }
    }

    /// Begins a request of so many arguments, which follow one by one.
    public mutating func begin(_ count: Int) { header(.asterisk, count) }

    /// The next argument of a request that was begun.
    public mutating func argument(_ bytes: [UInt8]) {
        header(.dollar, bytes.count)
        buffer.append(bytes)
        buffer.append("\r\n" as StaticString)
    }

    /// The next argument of a request that was begun.
    public mutating func argument(_ text: String) {
        header(.dollar, text.utf8.count)
        buffer.append(text)
        buffer.append("\r\n" as StaticString)
    }

    private mutating func header(_ type: UInt8, _ count: Int) {
        buffer.append(type)
        buffer.append(decimal: Int64(count))
        buffer.append("\r\n" as StaticString)
    }
}
