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
        header(.asterisk, arguments.count)
        for argument in arguments {
            header(.dollar, argument.utf8.count)
            buffer.append(argument)
            buffer.append("\r\n" as StaticString)
        }
    }

    /// Appends a request: the command's name and its arguments, of any bytes.
    public mutating func write(_ arguments: [[UInt8]]) {
        header(.asterisk, arguments.count)
        for argument in arguments {
            header(.dollar, argument.count)
            buffer.append(argument)
            buffer.append("\r\n" as StaticString)
        }
    }

    private mutating func header(_ type: UInt8, _ count: Int) {
        buffer.append(type)
        buffer.append(decimal: Int64(count))
        buffer.append("\r\n" as StaticString)
    }
}
