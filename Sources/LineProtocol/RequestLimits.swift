internal import CallArguments

/// How large a request may be. A request over a limit is a `ProtocolError` as soon as that is known,
/// which for arrays is when the length is announced.
public struct RequestLimits: Sendable, Equatable {
    /// Bytes of an inline request, or of a line that announces a length, without its line end.
    public var lineLength = 64 << 10

    /// Bytes of one argument.
    public var bulkLength = 1 << 20

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

    /// The defaults that docs/protocol.md states.
    public init() {}
}
