package import Domain
package import EventLog
package import EventLoop
package import Postgres

/// Records what is done beside the log, in the transaction that does it: both are there, or neither.
@LoopActor
package enum DeedRecorder {
    /// The most events of a batch.
    private static let batchEvents = 1_000

    /// Appends the deeds to their streams. Until the transaction ends nobody else appends to their partitions, so this
    /// comes last in it.
    ///
    /// - Parameter deeds: at most one of each stream.
    package static func record(
        _ deeds: [(id: Identifier, event: Deed.Event)], _ metadata: EventMetadata, in transaction: Transaction
    ) async throws {
        let count = Int(try await transaction.execute(Statements.partitionCount, []).int2(0, 0))
        let partitioning = Partitioning(count: count)
        let metadata = metadata.encoded()
        var parts: [Int: [(stream: StreamName, event: DomainEvent)]] = [:]
        for (id, deed) in deeds {
            let event = DomainEvent.deed(deed)
            let stream = StreamName(event.category, id)
            parts[partitioning.partition(of: stream), default: []].append((stream, event))
        }
        // In one order, so that two of these do not wait for each other.
        for (partition, deeds) in parts.sorted(by: { $0.key < $1.key }) {
            for start in stride(from: 0, to: deeds.count, by: batchEvents) {
                let some = deeds[start..<min(start + batchEvents, deeds.count)]
                try await append(Array(some), metadata, to: partition, in: transaction)
            }
        }
    }

    private static func append(
        _ deeds: [(stream: StreamName, event: DomainEvent)], _ metadata: [UInt8], to partition: Int,
        in transaction: Transaction
    ) async throws {
        let head = try await transaction.execute(Statements.head, [.int2(Int16(partition))])
        guard head.count == 1 else { throw DeedError("the log has no partition \(partition)") }
        let names = deeds.map { "\($0.stream)" }
        let rows = try await transaction.execute(Statements.versions, [.int2(Int16(partition)), .array(names)])
        var versions: [String: Int64] = [:]
        for row in 0..<rows.count { versions[rows.text(row, 0)] = rows.int8(row, 1) }
        let events = zip(names, deeds).map { name, deed in
            let (kind, payload) = EventCodec.encode(deed.event)
            return NewEvent(
                stream: deed.stream, version: versions[name, default: 0] + 1, kind: kind, payload: payload,
                metadata: metadata)
        }
        let now = Timestamp(millisecondsSinceEpoch: head.int8(0, 3))
        let batch = EventBatch(
            partition: partition, events: events, groups: events.indices.map { Int32($0) }, readings: [],
            recordedAt: now)
        let appended = try await transaction.execute(
            Statements.append,
            [
                .int2(Int16(partition)), .int8(head.int8(0, 0)), .bytes(Array(head.bytes(0, 1))),
                .int8(head.int8(0, 2)), .bytes(batch.contentDigest.bytes),
                .timestamp(unixMicroseconds: now.millisecondsSinceEpoch * 1_000),
                .int4(Int32(events.count)), .bytes(batch.lines),
            ])
        // Its head is locked, so this cannot be unless it is damaged.
        guard !appended.isNull(0, 0) else { throw DeedError("the head of partition \(partition) is damaged") }
    }
}

/// Why a deed could not be recorded. Nothing was done then.
struct DeedError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

private enum Statements {
    static let partitionCount = Statement("deed_partitions", "SELECT count FROM tiffin.partition_count")

    static let head = Statement(
        "deed_head",
        """
        SELECT position, digest, epoch, (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        FROM tiffin.log_head WHERE partition = $1 FOR UPDATE
        """, [.int2])

    static let versions = Statement(
        "deed_versions",
        """
        SELECT n, max(e.version) FROM unnest($2) AS n CROSS JOIN LATERAL tiffin.events_of(n) AS e
        WHERE e.partition = $1 GROUP BY n
        """, [.int2, .textArray])

    static let append = Statement(
        "append_deeds",
        "SELECT previous_position FROM tiffin.append($1, $2, $3, $4, $5, $6, $7, $8, '{}', NULL, NULL, NULL)",
        [.int2, .int8, .bytea, .int8, .bytea, .timestamptz, .int4, .text])
}
