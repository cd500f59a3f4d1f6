/// A place in a partition: a position, and the chain up to it. Two logs that agree on a point agree on everything before
/// it; a log that does not have a point is not the one that it came from.
public struct LogPoint: Equatable, Sendable {
    /// Where every log begins.
    public static let start = LogPoint(position: 0, digest: .zero)

    /// The position of the last event; 0 if there is none.
    public var position: Int64
    /// The chain over every batch up to that position; nil where it is not known, as within a batch or behind damage.
    /// Then only the position can be compared.
    public var digest: Digest?

    /// A place in a partition.
    public init(position: Int64, digest: Digest?) {
        self.position = position
        self.digest = digest
    }
}

/// What follows a point of a partition.
public struct FollowingEvents: Equatable, Sendable {
    /// The events, in order.
    public var events: [RecordedEvent]
    /// Where they and the batches left out end: the point that was asked about, if there are none.
    public var end: LogPoint

    /// What follows a point.
    public init(events: [RecordedEvent], end: LogPoint) {
        self.events = events
        self.end = end
    }
}
