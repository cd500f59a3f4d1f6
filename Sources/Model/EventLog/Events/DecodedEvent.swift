public import Domain

/// An event of the log, understood: what folds and projections work on.
public struct DecodedEvent: Sendable {
    /// The partition of the log.
    public var partition: Int
    /// Its number in the partition.
    public var position: Int64
    /// Its stream.
    public var stream: StreamName
    /// Its number in the stream.
    public var version: Int64
    /// What happened.
    public var event: DomainEvent
    /// The command it came from.
    public var metadata: EventMetadata
    /// When its batch was written.
    public var recordedAt: Timestamp

    /// An event, understood.
    public init(
        partition: Int, position: Int64, stream: StreamName, version: Int64, event: DomainEvent,
        metadata: EventMetadata, recordedAt: Timestamp
    ) {
        self.partition = partition
        self.position = position
        self.stream = stream
        self.version = version
        self.event = event
        self.metadata = metadata
        self.recordedAt = recordedAt
    }
}

/// An event of the log that cannot be understood, or cannot have happened.
public struct CorruptEvent: Error, Equatable, Sendable {
    /// The partition of the log.
    public var partition: Int
    /// Its number in the partition.
    public var position: Int64
    /// The name of its stream.
    public var stream: String
    /// What is wrong, for an operator.
    public var reason: String

    /// A corrupt event.
    public init(partition: Int, position: Int64, stream: String, reason: String) {
        self.partition = partition
        self.position = position
        self.stream = stream
        self.reason = reason
    }

    /// An event that can be understood, but cannot have happened.
    public init(_ event: DecodedEvent, reason: String) {
        self.init(
            partition: event.partition, position: event.position, stream: event.stream.description, reason: reason)
    }
}
