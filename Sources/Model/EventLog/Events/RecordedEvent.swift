public import Domain

/// An event that is about to be recorded.
public struct NewEvent: Equatable, Sendable {
    /// The stream it belongs to.
    public var stream: StreamName
    /// Its number in the stream, from 1 without gaps.
    public var version: Int64
    /// Its name and the version of its schema.
    public var kind: EventKind
    /// What happened, as JSON text.
    public var payload: [UInt8]
    /// ``EventMetadata`` as JSON text.
    public var metadata: [UInt8]

    /// An event about to be recorded.
    public init(stream: StreamName, version: Int64, kind: EventKind, payload: [UInt8], metadata: [UInt8]) {
        self.stream = stream
        self.version = version
        self.kind = kind
        self.payload = payload
        self.metadata = metadata
    }
}

/// An event in the log.
public struct RecordedEvent: Equatable, Sendable {
    /// The partition of the log.
    public var partition: Int
    /// Its number in the partition, from 1 without gaps.
    public var position: Int64
    /// The name of its stream: text, because a damaged log may hold anything.
    public var stream: String
    /// Its number in the stream, from 1 without gaps.
    public var version: Int64
    /// Its name and the version of its schema.
    public var kind: EventKind
    /// What happened, as JSON text.
    public var payload: [UInt8]
    /// ``EventMetadata`` as JSON text.
    public var metadata: [UInt8]
    /// When its batch was written, by the writer's clock.
    public var recordedAt: Timestamp

    /// An event in the log.
    public init(
        partition: Int, position: Int64, stream: String, version: Int64, kind: EventKind, payload: [UInt8],
        metadata: [UInt8], recordedAt: Timestamp
    ) {
        self.partition = partition
        self.position = position
        self.stream = stream
        self.version = version
        self.kind = kind
        self.payload = payload
        self.metadata = metadata
        self.recordedAt = recordedAt
    }
}

/// The name of a kind of event, such as `cart.itemAdded`, and the version of its payload's schema.
public struct EventKind: Hashable, Sendable {
    /// The aggregate and what happened to it.
    public var name: String
    /// From 1; rises when the payload's shape changes.
    public var schemaVersion: Int

    /// A kind of event.
    public init(name: String, schemaVersion: Int) {
        self.name = name
        self.schemaVersion = schemaVersion
    }

    /// Whether a cart's event begins or ends what goes on over several streams: every server has to know of it.
    public var isOfProcess: Bool { name == "cart.checkoutBegun" || name == "cart.checkoutRefused" }

    /// Writes the name in UTF-8 where there is room for it.
    func write(to room: inout UnsafeMutableRawPointer) {
        var name = name
        name.withUTF8 { room.write(UnsafeRawBufferPointer($0)) }
    }
}

extension RecordedEvent {
    private static let prefixOfCarts = Array("\(StreamName.Category.cart.rawValue)-".utf8)

    /// Whether it is an event of a cart.
    public var isOfCart: Bool { stream.utf8.starts(with: RecordedEvent.prefixOfCarts) }
}
