internal import TextFormats

/// How large a request may be. A request over a limit is a `ProtocolError` as soon as that is known,
/// which for arrays is when the length is announced.
public struct RequestLimits: Sendable, Equatable {
    /// Bytes of an inline request, or of a line that announces a length, without its line end.
    public var lineLength = 64 << 10

    /// Bytes of one argument.
    public var bulkLength = 1 << 20

    /// The one argument that may have more bytes, from clients who may send it.
    public var longArgument: LongArgument?

    /// An argument that may have more bytes than others.
    public struct LongArgument: Sendable, Equatable {
        /// The command that it belongs to, in capital letters.
        public var command: String
        /// Its place behind the command's name, from 1.
        public var index: Int
        /// Its bytes. The request may have as many more.
        public var length: Int

        /// An argument of a command.
        public init(of command: String, index: Int, length: Int) {
            self.command = command
            self.index = index
            self.length = length
        }
    }

    /// Arguments of a request, the command's name among them.
    public var argumentCount = 1024

    /// Bytes of a whole request as sent. Less than 4 GiB.
    public var requestLength = 4 << 20 {
        didSet { precondition(requestLength <= Int(UInt32.max), "a request is addressed with 32 bits") }
    }

    /// `argumentCount` before the client has authenticated, if it has to.
    public var unauthenticatedArgumentCount = 10

    /// `bulkLength` before the client has authenticated, if it has to.
    public var unauthenticatedBulkLength = 16 << 10

    /// The defaults that docs/limits.md states.
    public init() {}
}
