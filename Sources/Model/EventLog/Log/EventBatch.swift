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
    /// all of that command's events, and no others.
    public let groups: [Int32]
    /// The streams that groups rest on without writing them.
    public let readings: [Reading]
    /// When the batch was made, by the writer's clock.
    public let recordedAt: Timestamp
    /// The root of the Merkle tree over the events' canonical bytes.
    public let contentDigest: Digest
    /// The events as a log keeps them; see ``EventLines``.
    public let lines: [UInt8]

    /// A stream that a group was decided on.
    public struct Reading: Equatable, Sendable {
        /// The stream.
        public var stream: StreamName
        /// The number of the group.
        public var group: Int32

        /// A stream that a group was decided on.
        public init(_ stream: StreamName, by group: Int32) {
            self.stream = stream
            self.group = group
        }
    }

    /// A batch of events with their groups.
    public init(
        partition: Int, events: [NewEvent], groups: [Int32], readings: [Reading] = [], recordedAt: Timestamp
    ) {
        precondition(events.count == groups.count && (1...EventBatch.maximumEvents).contains(events.count))
        self.partition = partition
        self.events = events
        self.groups = groups
        self.readings = readings
        self.recordedAt = recordedAt
        contentDigest = EventBatch.contentDigest(of: events, recordedAt: recordedAt)
        lines = EventLines.lines(of: events)
    }

    /// The groups that conflict where these streams, by their names, have been written since the batch was decided.
    public func conflicts(with written: Set<String>) -> Set<Int32> {
        var conflicts: Set<Int32> = []
        for (event, group) in zip(events, groups) where written.contains(event.stream.description) {
            conflicts.insert(group)
        }
        for reading in readings where written.contains(reading.stream.description) { conflicts.insert(reading.group) }
        return conflicts
    }

    /// The digest of events that were recorded at that time.
    public static func contentDigest(of events: [NewEvent], recordedAt: Timestamp) -> Digest {
        var leaves = LeafMaker()
        return MerkleTree.root(events.indices.map { leaves.leaf(of: events[$0], recordedAt: recordedAt) })
    }
}
