package import Domain

/// Events that are appended together. Each group is appended whole or not at all, independently of the others.
package struct EventBatch: Equatable, Sendable {
    /// The most events of a batch.
    package static let maximumEvents = 10_000

    /// The partition they are appended to.
    package let partition: Int
    /// The events, those of a stream in the order of their versions.
    package let events: [NewEvent]
    /// For each event, the number of its group. Streams that share a command share a group, so that a conflict takes
    /// all of that command's events, and nobody else's.
    package let groups: [Int32]
    /// The streams that groups rest on without writing them.
    package let readings: [Reading]
    /// When the batch was made, by the writer's clock.
    package let recordedAt: Timestamp
    /// The root of the Merkle tree over the events' canonical bytes.
    package let contentDigest: Digest
    /// The events as a log keeps them; see ``EventLines``.
    package let lines: [UInt8]

    /// A stream that a group was decided on.
    package struct Reading: Equatable, Sendable {
        /// The stream.
        package var stream: StreamName
        /// The number of the group.
        package var group: Int32

        /// A stream that a group was decided on.
        package init(_ stream: StreamName, by group: Int32) {
            self.stream = stream
            self.group = group
        }
    }

    /// A batch of events with their groups.
    package init(
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
    package func conflicts(with written: Set<String>) -> Set<Int32> {
        var conflicts: Set<Int32> = []
        for (event, group) in zip(events, groups) where written.contains(event.stream.description) {
            conflicts.insert(group)
        }
        for reading in readings where written.contains(reading.stream.description) { conflicts.insert(reading.group) }
        return conflicts
    }

    /// The digest of events that were recorded at that time.
    package static func contentDigest(of events: [NewEvent], recordedAt: Timestamp) -> Digest {
        var leaves = LeafMaker()
        return MerkleTree.root(events.indices.map { leaves.leaf(of: events[$0], recordedAt: recordedAt) })
    }
}
