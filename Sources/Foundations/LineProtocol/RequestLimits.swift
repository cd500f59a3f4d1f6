internal import TextFormats

/// How large a request may be. A request over a limit is a `ProtocolError` as soon as that is known,
/// which for arrays is when the length is announced.
package struct RequestLimits: Sendable, Equatable {
    /// Bytes of an inline request, or of a line that announces a length, without its line end.
    package var lineLength = 64 << 10

    /// Bytes of one argument.
    package var bulkLength = 1 << 20

    /// The one argument that may have more bytes, from clients who may send it.
    package var longArgument: LongArgument?

    /// An argument that may have more bytes than others.
    package struct LongArgument: Sendable, Equatable {
        /// The command that it belongs to, in capital letters.
        package var command: String
        /// Its place behind the command's name, from 1.
        package var index: Int
        /// Its bytes. The request may have as many more.
        package var length: Int

        /// An argument of a command.
        package init(of command: String, index: Int, length: Int) {
            self.command = command
            self.index = index
            self.length = length
        }
    }

    /// Arguments of a request, the command's name among them.
    package var argumentCount = 1024

    /// Bytes of a whole request as sent. Less than 4 GiB.
    package var requestLength = 4 << 20 {
        didSet { precondition(requestLength <= Int(UInt32.max), "a request is addressed with 32 bits") }
    }

    /// `argumentCount` before the client has authenticated, if it has to.
    package var unauthenticatedArgumentCount = 10

    /// `bulkLength` before the client has authenticated, if it has to.
    package var unauthenticatedBulkLength = 16 << 10

    /// The defaults that docs/limits.md states.
    package init() {}
}
