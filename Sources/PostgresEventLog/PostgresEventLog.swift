// The event log in PostgreSQL: its migrations, and the log itself on libpq.
//
// It keeps the promise of every `EventLog`, and the schema alone enforces it: however many servers write through
// `tiffin.append`, positions are dense and in commit order, and nobody can change anything.

internal import Domain
public import EventLog
public import EventLoop
package import Postgres

/// The event log in the schema `tiffin` of a database.
@LoopActor
public final class PostgresEventLog: EventLog {
    /// See `EventLog`.
    public nonisolated let partitionCount: Int

    /// One for each partition, so that their batches commit concurrently.
    private let writers: [PartitionWriter]
    private let reader: LazyConnection

    private init(partitionCount: Int, writers: [PartitionWriter], reader: LazyConnection) {
        self.partitionCount = partitionCount
        self.writers = writers
        self.reader = reader
    }

    /// The log in a migrated database.
    ///
    /// - Parameters:
    ///   - database: a `postgres://` URL, or libpq's keywords and values.
    ///   - isReadOnly: whether it is only for reading, by a user who may have no other right, or on a replica.
    public static func open(
        _ database: String, isReadOnly: Bool = false
    ) async throws(EventLogError) -> PostgresEventLog {
        let reader = LazyConnection(database, name: "tiffin reader", isReadOnly: isReadOnly)
        do throws(EventLogError) {
            let epochs = try await PostgresEventLog.epochs(reader)
            return PostgresEventLog(
                partitionCount: epochs.count,
                writers: epochs.enumerated().map { PartitionWriter(database, partition: $0, epoch: $1) },
                reader: reader)
        } catch {
            reader.close()
            throw error
        }
    }

    /// The log, only for reading. It does not query the database yet, not even for the number of rows in `log_head`.
    public static func reader(_ database: String, partitionCount: Int) -> PostgresEventLog {
        PostgresEventLog(
            partitionCount: partitionCount, writers: [],
            reader: LazyConnection(database, name: "tiffin reader", isReadOnly: true))
    }

    /// The epoch of each partition. If a head were missing, streams would be looked for in the wrong partitions, so
    /// such a log is not opened.
    private static func epochs(_ reader: LazyConnection) async throws(EventLogError) -> [Int64] {
        let rows = try await reader.execute(Statements.epochs, [])
        let partitions = (0..<rows.count).map { Int(rows.int2($0, 0)) }
        for (expected, found) in partitions.enumerated() where found != expected {
            throw .unavailable(
                "tiffin.log_head is damaged: it has a row for partition \(found) and none for partition \(expected)")
        }
        let next = try await reader.execute(Statements.hasHistory, [.int2(Int16(clamping: rows.count))])
        guard !next.bool(0, 0) else {
            throw .unavailable(
                "tiffin.log_head is damaged: it has no row for partition \(rows.count), which has events and commits")
        }
        guard rows.count > 0 else { throw .unavailable("the log has no partitions; run tiffin migrate") }
        return (0..<rows.count).map { rows.int8($0, 1) }
    }

    /// Damage that no append of the log's own can have caused: a sentence for each partition and kind of damage that
    /// can be found without reading everything.
    public func damage() async throws(EventLogError) -> [String] {
        var found: [String] = []
        for partition in 0..<partitionCount {
            let rows = try await reader.execute(Statements.damage, [.int2(Int16(partition))])
            guard rows.count > 0 else { continue }
            let head = rows.int8(0, 0)
            if !(0...LogHead.maximumPosition).contains(head) {
                found.append("the head of partition \(partition) has the impossible position \(head)")
            }
            if !rows.isNull(0, 1) {
                found.append(
                    "partition \(partition) has a row at the impossible position \(rows.int8(0, 1)): nothing reads it"
                )
            }
            if !rows.isNull(0, 2), head < rows.int8(0, 2) {
                found.append(
                    "partition \(partition) has events up to position \(rows.int8(0, 2)), and its head says \(head): "
                        + "they are read, and the next append continues after them")
            }
        }
        return found
    }

    /// The version of its PostgreSQL, such as `15.18`; nil if the server does not say.
    public var serverVersion: String? { reader.serverVersion.flatMap { $0.isEmpty ? nil : $0 } }

    /// Closes the connections.
    public func close() {
        reader.close()
        for writer in writers { writer.connection.close() }
    }

    // MARK: Writing

    /// See `EventLog`.
    public func append(_ batch: EventBatch, seen: Int64) async throws(EventLogError) -> AppendReceipt {
        let events = batch.events
        let parameters: [Parameter] = [
            .int2(Int16(batch.partition)),
            .int8(seen),
            .bytes(batch.contentDigest.bytes),
            .timestamp(unixMicroseconds: batch.recordedAt.microseconds),
            .array(events.map { $0.stream.description }),
            .array(events.map { $0.version }),
            .array(events.map { $0.kind.name }),
            .array(events.map { Int32($0.kind.schemaVersion) }),
            .array(utf8: events.map { $0.payload }),
            .array(utf8: events.map { $0.metadata }),
            .array(batch.groups),
        ]
        if let receipt = try await writers[batch.partition].append(parameters) { return receipt }
        return try await refusal(of: batch)
    }

    /// The receipt for a batch that would have used a key twice: which streams the writer is wrong about, and how far
    /// the log reaches.
    private func refusal(of batch: EventBatch) async throws(EventLogError) -> AppendReceipt {
        let versions = Dictionary(
            batch.events.map { ($0.stream, $0.version) }, uniquingKeysWith: { first, _ in first })
        let streams = Array(versions.keys)
        let partition = Parameter.int2(Int16(batch.partition))
        let rows = try await reader.execute(Statements.versions, [partition, .array(streams.map(\.description))])
        let stale = streams.indices.filter { index in
            let (next, hasOverflowed) = rows.int8(index, 0).addingReportingOverflow(1)
            return hasOverflowed || next != versions[streams[index]]
        }
        let end = try await reader.execute(Statements.end, [partition])
        guard end.count > 0 else { throw .unavailable("partition \(batch.partition) has no head") }
        return AppendReceipt(
            previousPosition: end.int8(0, 0), conflicts: Set(batch.groups), stale: Set(stale.map { streams[$0] }))
    }

    /// See `EventLog`.
    public func outcome(of batch: EventBatch, since seen: Int64) async throws(EventLogError) -> AppendReceipt? {
        let rows = try await writers[batch.partition].outcome(
            [.int2(Int16(batch.partition)), .int8(seen), .bytes(batch.contentDigest.bytes)])
        guard !rows.isNull(0, 0) else { return nil }
        let (first, last) = (rows.int8(0, 0), rows.int8(0, 1))
        guard first >= 1, last >= first, last < first + Int64(EventBatch.maximumEvents) else {
            throw .unavailable("the commit of the batch has the impossible positions \(first) to \(last)")
        }
        let previous = first - 1
        let count = Int(last - previous)
        if count == batch.events.count { return AppendReceipt(previousPosition: previous, conflicts: []) }
        // A part was refused: the groups that have no events here.
        let appended = try await read(partition: batch.partition, after: previous, limit: count)
        let names = Set(appended.map(\.stream))
        let refused = zip(batch.events, batch.groups).filter { !names.contains($0.0.stream.description) }
        return AppendReceipt(previousPosition: previous, conflicts: Set(refused.map(\.1)))
    }

    // MARK: Reading

    /// See `EventLog`.
    public func read(
        partition: Int, after position: Int64, limit: Int
    ) async throws(EventLogError) -> [RecordedEvent] {
        PostgresEventLog.events(try await rows(partition, after: position, limit), partition)
    }

    /// See `EventLog`.
    public func page(
        partition: Int, after position: Int64, limit: Int
    ) async throws(EventLogError) -> EventPage {
        await PostgresEventLog.page(try await rows(partition, after: position, limit), partition)
    }

    private func rows(_ partition: Int, after position: Int64, _ limit: Int) async throws(EventLogError) -> Rows {
        try await reader.execute(
            Statements.readPartition, [.int2(Int16(partition)), .int8(position), .int8(Int64(limit))])
    }

    /// See `EventLog`.
    public func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int
    ) async throws(EventLogError) -> [RecordedEvent] {
        let rows = try await reader.execute(
            Statements.readStream,
            [.int2(Int16(partition)), .text(stream.description), .int8(version), .int8(Int64(limit))])
        return PostgresEventLog.events(rows, partition)
    }

    /// See `EventLog`.
    public func commits(
        partition: Int, after position: Int64, limit: Int
    ) async throws(EventLogError) -> [Commit] {
        let rows = try await reader.execute(
            Statements.commits, [.int2(Int16(partition)), .int8(position), .int8(Int64(limit))])
        return PostgresEventLog.commits(rows, partition)
    }

    /// Batches from rows of their positions, digests and times.
    package nonisolated static func commits(_ rows: Rows, _ partition: Int) -> [Commit] {
        (0..<rows.count).map { row in
            Commit(
                partition: partition, firstPosition: rows.int8(row, 0), lastPosition: rows.int8(row, 1),
                // Bytes that do not have the length of a digest become zeros, which is not the digest of anything
                // either.
                contentDigest: Digest(rows.bytes(row, 2)) ?? .zero, chainDigest: Digest(rows.bytes(row, 3)) ?? .zero,
                recordedAt: Timestamp(millisecondsSinceEpoch: rows.unixMicroseconds(row, 4) / 1_000))
        }
    }

    /// See `EventLog`.
    public func heads() async throws(EventLogError) -> [LogHead] {
        let rows = try await reader.execute(Statements.heads, [.int2(Int16(clamping: partitionCount))])
        return (0..<rows.count).map { row in
            LogHead(
                partition: Int(rows.int2(row, 0)), position: rows.int8(row, 1),
                digest: Digest(rows.bytes(row, 2)) ?? .zero)
        }
    }

    private nonisolated static func events(_ rows: Rows, _ partition: Int) -> [RecordedEvent] {
        (0..<rows.count).map { event(rows, $0, partition).recorded }
    }

    /// Off the loop's thread, which has the next rows to receive.
    @concurrent
    private nonisolated static func page(_ rows: Rows, _ partition: Int) async -> EventPage {
        var page = EventPage(
            partition: partition, reservingCapacity: rows.count, bytes: rows.count * expectedTextBytes)
        for row in 0..<rows.count { page.append(event(rows, row, partition)) }
        return page
    }

    /// About the length of the texts of an event that adds to a cart.
    private nonisolated static let expectedTextBytes = 200

    /// Valid as long as the rows.
    private nonisolated static func event(_ rows: Rows, _ row: Int, _ partition: Int) -> EventView {
        EventView(
            partition: partition, position: rows.int8(row, 0), stream: rows.bytes(row, 1), version: rows.int8(row, 2),
            kind: rows.bytes(row, 3), schemaVersion: Int(rows.int4(row, 4)), payload: rows.bytes(row, 5),
            metadata: rows.bytes(row, 6),
            recordedAt: Timestamp(millisecondsSinceEpoch: rows.unixMicroseconds(row, 7) / 1_000))
    }
}

/// The connection that appends to one partition, and the epoch that the partition last reported.
@LoopActor
private final class PartitionWriter {
    /// How often a batch is sent again because a new epoch began.
    static let attempts = 10

    let connection: LazyConnection
    private var epoch: Int64

    init(_ database: String, partition: Int, epoch: Int64) {
        connection = LazyConnection(database, name: "tiffin writer \(partition)")
        self.epoch = epoch
    }

    /// The receipt; nil if a row with a key of the batch exists.
    func append(_ parameters: [Parameter]) async throws(EventLogError) -> AppendReceipt? {
        for _ in 0..<PartitionWriter.attempts {
            let sent = epoch
            let answer = try await connection.executeUnlessViolated(Statements.append, parameters + [.int8(sent)])
            guard let rows = answer else { return nil }
            epoch = rows.int8(0, 2)
            // It was refused only because of its epoch, and this caller has not given the batch up for lost.
            guard epoch == sent else { continue }
            return AppendReceipt(previousPosition: rows.int8(0, 0), conflicts: Set(rows.int4Array(0, 1)))
        }
        throw .unavailable("other servers keep losing their connections")
    }

    func outcome(_ parameters: [Parameter]) async throws(EventLogError) -> Rows {
        let rows = try await connection.execute(Statements.outcome, parameters)
        epoch = rows.int8(0, 2)
        return rows
    }
}

private enum Statements {
    static let append = Statement(
        "append",
        """
        SELECT previous_position, conflicts, epoch
        FROM tiffin.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        """,
        [
            .int2, .int8, .bytea, .timestamptz, .textArray, .int8Array, .textArray, .int4Array, .textArray,
            .textArray, .int4Array, .int8,
        ])

    static let outcome = Statement(
        "outcome", "SELECT first_position, last_position, epoch FROM tiffin.outcome($1, $2, $3)",
        [.int2, .int8, .bytea])

    private static let columns = "position, stream, version, kind, schema_version, payload, metadata, recorded_at"

    static let readPartition = Statement(
        "read_partition",
        """
        SELECT \(columns) FROM tiffin.events
        WHERE partition = $1 AND position > $2 AND position <= \(LogHead.maximumPosition) ORDER BY position LIMIT $3
        """, [.int2, .int8, .int8])

    static let readStream = Statement(
        "read_stream",
        """
        SELECT \(columns) FROM tiffin.events
        WHERE partition = $1 AND stream = $2 AND version > $3 ORDER BY version LIMIT $4
        """, [.int2, .text, .int8, .int8])

    // Commits are found by where they begin: the first one wanted is the last that begins at or before the position,
    // or the one after it.
    static let commits = Statement(
        "commits",
        """
        SELECT first_position, last_position, content_digest, chain_digest, recorded_at FROM tiffin.commits
        WHERE partition = $1 AND last_position > $2 AND first_position >= coalesce(
            (SELECT max(first_position) FROM tiffin.commits WHERE partition = $1 AND first_position <= $2), 1)
            AND first_position >= 1 AND last_position BETWEEN first_position AND \(LogHead.maximumPosition)
        ORDER BY first_position LIMIT $3
        """, [.int2, .int8, .int8])

    static let epochs = Statement("epochs", "SELECT partition, epoch FROM tiffin.log_head ORDER BY partition")

    static let heads = Statement(
        "heads",
        """
        SELECT partition, position, digest FROM tiffin.log_head WHERE partition >= 0 AND partition < $1
        ORDER BY partition
        """, [.int2])

    static let hasHistory = Statement(
        "has_history",
        """
        SELECT EXISTS (SELECT FROM tiffin.events WHERE partition = $1)
            AND EXISTS (SELECT FROM tiffin.commits WHERE partition = $1)
        """, [.int2])

    /// The last version of each stream, in the given order; 0 if it has none.
    static let versions = Statement(
        "versions",
        """
        SELECT coalesce((SELECT max(version) FROM tiffin.events WHERE partition = $1 AND stream = s.name), 0)
        FROM unnest($2) WITH ORDINALITY AS s (name, number) ORDER BY s.number
        """, [.int2, .textArray])

    /// The last position that exists, whatever the head says.
    private static let lastPosition = """
        (SELECT max(position) FROM tiffin.events WHERE partition = $1 AND position <= \(LogHead.maximumPosition))
        """

    static let end = Statement(
        "end",
        """
        SELECT greatest(\(lastPosition), CASE WHEN position <= \(LogHead.maximumPosition) THEN position END, 0)
        FROM tiffin.log_head WHERE partition = $1
        """, [.int2])

    static let damage = Statement(
        "damage",
        """
        SELECT position, coalesce(
            (SELECT max(position) FROM tiffin.events WHERE partition = $1 AND position > \(LogHead.maximumPosition)),
            (SELECT min(position) FROM tiffin.events WHERE partition = $1 AND position < 1)), \(lastPosition)
        FROM tiffin.log_head WHERE partition = $1
        """, [.int2])
}

extension Timestamp {
    fileprivate var microseconds: Int64 { millisecondsSinceEpoch * 1_000 }
}
