package import Domain
package import EventLog
package import EventLoop
package import Postgres

/// Records what is done beside the log, in the transaction that does it: both are there, or neither.
@LoopActor
package enum DeedRecorder {
    /// The most events of a batch.
    private static let batchEvents = 1_000

    /// Appends the deeds to their streams. Until the transaction ends, no other one appends to their partitions, so
    /// this comes last in it.
    ///
    /// - Parameter deeds: at most one of each stream.
    package static func record(
        _ deeds: [(id: Identifier, event: Deed.Event)], _ metadata: EventMetadata, in transaction: Transaction
    ) async throws {
        guard let partitioning = Partitioning(try await transaction.execute(Partitioning.stored)[0]) else {
            throw DeedError("tiffin.partition_count is damaged")
        }
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
        guard let head = try await transaction.execute(Statements.head, [.int2(Int16(partition))]).first
        else { throw DeedError("the log has no partition \(partition)") }
        let names = deeds.map { "\($0.stream)" }
        let rows = try await transaction.execute(Statements.versions, [.int2(Int16(partition)), .array(names)])
        let versions = Dictionary(uniqueKeysWithValues: rows.map { ($0["name"] as String, $0["version"] as Int64) })
        let events = zip(names, deeds).map { name, deed in
            let (kind, payload) = EventCodec.encode(deed.event)
            return NewEvent(
                stream: deed.stream, version: versions[name, default: 0] + 1, kind: kind, payload: payload,
                metadata: metadata)
        }
        let now: Timestamp = head["now"]
        let batch = EventBatch(
            partition: partition, events: events, groups: events.indices.map { Int32($0) }, readings: [],
            recordedAt: now)
        let appended = try await transaction.execute(
            Statements.append,
            [
                .int2(Int16(partition)), .int8(head["position"]), .bytes(head["digest"]), .int8(head["epoch"]),
                .bytes(batch.contentDigest.bytes),
                .timestamp(unixMicroseconds: now.millisecondsSinceEpoch * 1_000),
                .int4(Int32(events.count)), .bytes(batch.lines),
            ])
        // Its head is locked, so this cannot be unless it is damaged.
        guard appended[0]["previous_position"] as Int64? != nil else {
            throw DeedError("the head of partition \(partition) is damaged")
        }
    }
}

/// Why a deed could not be recorded. Nothing was done then.
struct DeedError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension Deed.User {
    /// What a row of the table of users says of one.
    init(_ row: Row, change: Text) {
        self.init(
            role: Text(row["role"] as String), grants: (row["grants"] as [String]).compactMap { Identifier($0) },
            isEnabled: row["enabled"], change: change)
    }
}

/// What was done beside the log, as its tables have it.
enum DeedTables {
    static let forgotten = Statement(
        "forgotten",
        "SELECT customer AS name, count(*) FROM tiffin.customer_keys WHERE forgotten_at IS NOT NULL GROUP BY customer")

    static let users = Statement(
        "users", "SELECT name, role, grants, enabled FROM tiffin.users WHERE removed_at IS NULL")

    static let relays = Statement("relays", "SELECT name FROM tiffin.relays")
}

private enum Statements {
    static let head = Statement(
        "deed_head",
        """
        SELECT position, digest, epoch, clock_timestamp() AS now FROM tiffin.log_head WHERE partition = $1 FOR UPDATE
        """, [.int2])

    static let versions = Statement(
        "deed_versions",
        """
        SELECT n AS name, max(e.version) AS version FROM unnest($2) AS n CROSS JOIN LATERAL tiffin.events_of(n) AS e
        WHERE e.partition = $1 GROUP BY n
        """, [.int2, .textArray])

    static let append = Statement(
        "append_deeds",
        "SELECT previous_position FROM tiffin.append($1, $2, $3, $4, $5, $6, $7, $8, '{}', NULL, NULL, NULL, false)",
        [.int2, .int8, .bytea, .int8, .bytea, .timestamptz, .int4, .text])
}
