package import Domain
package import EventLog

/// A writer that behaves like a server: it knows its partition up to a position, and gives the events of a stream the
/// versions that follow from there.
package struct LogWriter: Sendable {
    /// When batches without a mark are recorded, in milliseconds since 1970. A mark adds that many milliseconds.
    static let epoch: Int64 = 1_700_000_000_123

    /// When a batch with a mark is recorded.
    package static func time(mark: Int) -> Timestamp {
        Timestamp(millisecondsSinceEpoch: epoch + Int64(mark))
    }

    /// The log it writes to.
    package let log: any EventLog
    /// The partition it writes to.
    package let partition: Int
    /// The point up to which it knows the partition.
    package private(set) var seen = LogPoint.start
    private var versions: [String: Int64] = [:]

    /// A writer that knows nothing yet.
    package init(_ log: any EventLog, partition: Int = 0) {
        self.log = log
        self.partition = partition
    }

    /// A batch of these groups, with an event for each time that a stream is named.
    ///
    /// - Parameters:
    ///   - readings: what groups rest on without writing it.
    ///   - marks: a number for each group, which its payloads carry; zero by default.
    package func batch(
        _ groups: [[StreamName]], readings: [EventBatch.Reading] = [], marks: [Int] = []
    ) -> EventBatch {
        var versions = versions
        var events: [NewEvent] = []
        var numbers: [Int32] = []
        for (group, streams) in groups.enumerated() {
            let mark = marks.isEmpty ? 0 : marks[group]
            for stream in streams {
                let version = versions[stream.description, default: 0] + 1
                versions[stream.description] = version
                events.append(
                    NewEvent(
                        stream: stream, version: version, kind: EventKind(name: "cart.cleared", schemaVersion: 1),
                        payload: Array(#"{"count":\#(mark)}"#.utf8), metadata: Array("{}".utf8)))
                numbers.append(Int32(group))
            }
        }
        return EventBatch(
            partition: partition, events: events, groups: numbers, readings: readings,
            recordedAt: LogWriter.time(mark: marks.first ?? 0))
    }

    /// Appends without looking at what was written since.
    package func append(_ batch: EventBatch) async throws -> AppendReceipt {
        try await log.append(batch, seen: seen)
    }

    /// Appends a batch of these groups.
    package func append(_ groups: [[StreamName]], marks: [Int] = []) async throws -> AppendReceipt {
        try await append(batch(groups, marks: marks))
    }

    /// Takes in what anybody has written since, and returns it.
    @discardableResult
    package mutating func catchUp() async throws -> [RecordedEvent] {
        var all: [RecordedEvent] = []
        while true {
            let following = try await log.follow(partition: partition, after: seen, limit: 1_000)
            guard !following.events.isEmpty else { return all }
            for event in following.events { versions[event.stream] = event.version }
            seen = following.end
            all += following.events
        }
    }
}

extension StreamName {
    /// A cart's stream.
    package static func cart(_ id: String) -> StreamName { StreamName(.cart, Identifier(id)!) }
}
