public import Domain

/// Events that are appended together. Each group is appended whole or not at all, independently of the others.
public struct EventBatch: Equatable, Sendable {
    /// The most events of a batch.
    public static let maximumEvents = 10_000

    /// The partition they are appended to.
    public let partition: Int
    /// The events, those of a stream in the order of their versions.
    public let events: [NewEvent]
    /// For each event, the number of its group. Streams that share a command share a group, so that a conflict takes
    /// all of that command's events, and nobody else's.
    public let groups: [Int32]
    /// When the batch was made, by the writer's clock.
    public let recordedAt: Timestamp
    /// The root of the Merkle tree over the events' canonical bytes.
    public let contentDigest: Digest
    /// The events as a log keeps them; see ``EventLines``.
    public let lines: [UInt8]

    /// A batch of events with their groups.
    public init(partition: Int, events: [NewEvent], groups: [Int32], recordedAt: Timestamp) {
        precondition(events.count == groups.count && (1...EventBatch.maximumEvents).contains(events.count))
        self.partition = partition
        self.events = events
        self.groups = groups
        self.recordedAt = recordedAt
        contentDigest = EventBatch.contentDigest(of: events, recordedAt: recordedAt)
        lines = EventLines.lines(of: events)
    }

    /// The digest of events that were recorded at that time.
    public static func contentDigest(of events: [NewEvent], recordedAt: Timestamp) -> Digest {
        var leaves = LeafMaker()
        return MerkleTree.root(events.indices.map { leaves.leaf(of: events[$0], recordedAt: recordedAt) })
    }
}
