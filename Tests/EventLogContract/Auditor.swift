internal import Domain
internal import EventLog
internal import Testing

/// Follows one partition append by append, and checks after each that the log holds exactly what it should.
struct Auditor {
    private let log: any EventLog
    private var head: LogHead

    /// Where the partition ends.
    var end: LogPoint { LogPoint(position: head.position, digest: head.digest) }

    init(_ log: any EventLog, partition: Int = 0) {
        self.log = log
        head = LogHead(partition: partition, position: 0, digest: .zero)
    }

    /// Checks what an append left behind.
    ///
    /// - Parameter conflicts: the groups that had to be refused.
    mutating func check(
        _ receipt: AppendReceipt, of batch: EventBatch, seen: LogPoint, conflicts: Set<Int32> = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let previous = end
        let accepted = zip(batch.events, batch.groups).filter { !conflicts.contains($0.1) }.map(\.0)
        let expected = accepted.enumerated().map { offset, event in
            RecordedEvent(
                partition: head.partition, position: head.position + Int64(offset) + 1,
                stream: event.stream.description, version: event.version, kind: event.kind, payload: event.payload,
                metadata: event.metadata, recordedAt: batch.recordedAt)
        }
        let events = try await log.read(partition: head.partition, after: head.position, limit: expected.count + 1)
        #expect(events == expected, sourceLocation: sourceLocation)

        if !events.isEmpty { head.digest = referenceChain(head.digest, events) }
        head.position += Int64(expected.count)
        #expect(
            receipt == AppendReceipt(previous: previous, conflicts: conflicts, end: end),
            sourceLocation: sourceLocation)
        #expect(try await log.end(of: head.partition) == end, sourceLocation: sourceLocation)
        #expect(try await log.heads()[head.partition] == head, sourceLocation: sourceLocation)
        #expect(
            try await log.outcome(of: batch, since: seen) == (accepted.isEmpty ? nil : receipt),
            sourceLocation: sourceLocation)
    }
}
