package import Domain
package import EventLog
package import EventLoop
package import Postgres

/// Records what is done beside the log, in the transaction that does it: both are there, or neither. In a log of several
/// databases that transaction only says what is to be recorded; see ``PendingDeeds``.
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
        let stored = try await transaction.execute(Partitioning.stored)[0]
        guard let partitioning = Partitioning(stored) else { throw DeedError("tiffin.partition_count is damaged") }
        let events = deeds.map { id, deed in
            let event = DomainEvent.deed(deed)
            let (kind, payload) = EventCodec.encode(event)
            return NewEvent(
                stream: StreamName(event.category, id), version: 0, kind: kind, payload: payload,
                metadata: metadata.encoded())
        }
        if stored["database"] as String? != nil {
            return try await PendingDeeds.add(events, metadata, in: transaction)
        }
        let parts = Dictionary(grouping: events) { partitioning.partition(of: $0.stream) }
        // In one order, so that two of these do not wait for each other.
        for (partition, events) in parts.sorted(by: { $0.key < $1.key }) {
            for start in stride(from: 0, to: events.count, by: batchEvents) {
                let some = events[start..<min(start + batchEvents, events.count)]
                try await append(Array(some), to: partition, in: transaction)
            }
        }
    }

    /// Appends events, which get their versions here.
    static func append(_ events: [NewEvent], to partition: Int, in transaction: Transaction) async throws {
        guard let head = try await transaction.execute(Statements.head, [.int2(Int16(partition))]).first
        else { throw DeedError("the log has no partition \(partition)") }
        let names = events.map { "\($0.stream)" }
        let rows = try await transaction.execute(Statements.versions, [.int2(Int16(partition)), .array(names)])
        let versions = Dictionary(uniqueKeysWithValues: rows.map { ($0["name"] as String, $0["version"] as Int64) })
        var events = events
        for (index, name) in names.enumerated() { events[index].version = versions[name, default: 0] + 1 }
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

    /// The same in some partitions.
    static let forgottenIn = Statement(
        "forgotten_in",
        """
        SELECT customer AS name, count(*) FROM tiffin.customer_keys
        WHERE forgotten_at IS NOT NULL AND partition = ANY ($1) GROUP BY customer
        """, [.int2Array])

    static let users = Statement(
        "users", "SELECT name, role, grants, enabled FROM tiffin.users WHERE removed_at IS NULL")

    static let relays = Statement(
        "relays",
        """
        SELECT r.name, count(c.relay) FROM tiffin.relays AS r LEFT JOIN tiffin.relay_cursors AS c ON c.relay = r.name
        GROUP BY r.name
        """)
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
