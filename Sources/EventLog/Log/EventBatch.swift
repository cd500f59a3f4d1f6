public import Domain

/// Events that are appended together: those of one group all or none, each group on its own.
public struct EventBatch: Equatable, Sendable {
    /// The most events of a batch.
    public static let maximumEvents = 10_000

    /// The partition they are appended to.
    public let partition: Int
    /// The events, those of a stream in the order of their versions.
    public let events: [NewEvent]
    /// For each event, the number of its group. Streams that share a command share a group, so that a conflict
    /// takes all of that command's events, and nobody else's.
    public let groups: [Int32]
    /// When the batch was made, by the writer's clock.
    public let recordedAt: Timestamp
    /// The root of the Merkle tree over the events' canonical bytes.
    public let contentDigest: Digest

    /// A batch of events with their groups.
    public init(partition: Int, events: [NewEvent], groups: [Int32], recordedAt: Timestamp) {
        precondition(events.count == groups.count && (1...EventBatch.maximumEvents).contains(events.count))
        self.partition = partition
        self.events = events
        self.groups = groups
        self.recordedAt = recordedAt
        contentDigest = EventBatch.contentDigest(of: events, recordedAt: recordedAt)
    }

    /// The digest of events that were recorded at that time.
    public static func contentDigest(of events: [NewEvent], recordedAt: Timestamp) -> Digest {
        MerkleTree.root(events.map { MerkleTree.leaf($0.canonicalBytes(recordedAt: recordedAt)) })
    }
}

extension NewEvent {
    /// The bytes that an event's digest covers, the same that `tiffin.canonical_bytes` makes in SQL: numbers are
    /// big-endian, texts have their length in four bytes before them.
    public func canonicalBytes(recordedAt: Timestamp) -> [UInt8] {
        makeCanonicalBytes(
            stream: stream.description, version: version, kind: kind, payload: payload, metadata: metadata,
            recordedAt: recordedAt)
    }
}

extension RecordedEvent {
    /// The bytes that the event's digest covers. Its partition and position are not among them: the log gives
    /// them when the digest has been made.
    public var canonicalBytes: [UInt8] {
        makeCanonicalBytes(
            stream: stream, version: version, kind: kind, payload: payload, metadata: metadata, recordedAt: recordedAt)
    }
}

private func makeCanonicalBytes(
    stream: String, version: Int64, kind: EventKind, payload: [UInt8], metadata: [UInt8], recordedAt: Timestamp
) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(48 + stream.utf8.count + kind.name.utf8.count + payload.count + metadata.count)
    func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
    func append(_ text: some Collection<UInt8>) {
        append(Int32(text.count))
        bytes.append(contentsOf: text)
    }
    append(stream.utf8)
    append(version)
    append(kind.name.utf8)
    append(Int32(kind.schemaVersion))
    append(payload)
    append(metadata)
    append(recordedAt.millisecondsSinceEpoch)
    return bytes
}
