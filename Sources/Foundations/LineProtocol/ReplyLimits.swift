/// How large a reply a client takes.
package struct ReplyLimits: Sendable, Equatable {
    /// Bytes of a line, without its end.
    package var lineLength = 64 << 10

    /// Bytes of a bulk, verbatim or error string.
    package var bulkLength = 64 << 20

    /// Values in a whole reply, however nested; a map's keys count.
    package var valueCount = 1 << 20

    /// Aggregates within aggregates.
    package var depth = 16

    /// The defaults.
    package init() {}
}
