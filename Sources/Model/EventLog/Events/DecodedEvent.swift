package import Domain

/// An event of the log, understood: what folds and projections work on.
package struct DecodedEvent: Sendable {
    /// The partition of the log.
    package var partition: Int
    /// Its number in the partition.
    package var position: Int64
    /// Its stream.
    package var stream: StreamName
    /// Its number in the stream.
    package var version: Int64
    /// What happened.
    package var event: DomainEvent
    /// The command it came from.
    package var metadata: EventMetadata
    /// When its batch was written.
    package var recordedAt: Timestamp

    /// An event, understood.
    package init(
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
package struct CorruptEvent: Error, Equatable, Sendable {
    /// The partition of the log.
    package var partition: Int
    /// Its number in the partition.
    package var position: Int64
    /// The name of its stream.
    package var stream: String
    /// What is wrong, for an operator.
    package var reason: String

    /// A corrupt event.
    package init(partition: Int, position: Int64, stream: String, reason: String) {
        self.partition = partition
        self.position = position
        self.stream = stream
        self.reason = reason
    }

    /// An event that can be understood, but cannot have happened.
    package init(_ event: DecodedEvent, reason: String) {
        self.init(
            partition: event.partition, position: event.position, stream: event.stream.description, reason: reason)
    }
}
