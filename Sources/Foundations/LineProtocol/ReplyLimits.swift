/// How large a reply a client takes.
public struct ReplyLimits: Sendable, Equatable {
    /// Bytes of a line, without its end.
    public var lineLength = 64 << 10

    /// Bytes of a bulk, verbatim or error string.
    public var bulkLength = 64 << 20

    /// Values in a whole reply, however nested; a map's keys count.
    public var valueCount = 1 << 20

    /// Aggregates within aggregates.
    public var depth = 16

    /// The defaults.
    public init() {}
}
