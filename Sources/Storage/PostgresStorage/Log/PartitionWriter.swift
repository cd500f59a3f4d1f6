internal import Domain
internal import EventLog
internal import EventLoop
internal import Postgres

/// Appends to one partition: how often, and in the epoch that the partition last reported.
@LoopActor
final class PartitionWriter {
    /// How often a batch is sent again because a new epoch began.
    static let attempts = 10

    private let writers: LogWriters
    private let partition: Int
    private var epoch: Int64

    init(_ writers: LogWriters, partition: Int, epoch: Int64) {
        self.writers = writers
        self.partition = partition
        self.epoch = epoch
    }

    /// The receipt; nil if a batch begins at that position already.
    func append(_ batch: EventBatch, seen: LogPoint) async throws(EventLogError) -> AppendReceipt? {
        // If events are refused, the groups say which belong together. That is rare: they are sent if it happens.
        var sendsGroups = false
        for _ in 0..<PartitionWriter.attempts {
            guard let appended = try await send(batch, seen, withGroups: sendsGroups) else { return nil }
            let receipt = appended.receipt(of: batch)
            // With groups it had the head because it waited for it.
            if !sendsGroups { writers.found(partition, isContended: receipt == nil) }
            if let receipt { return receipt }
            // In another epoch it is sent again as well: this caller has not given the batch up for lost.
            epoch = appended.epoch
            sendsGroups = true
        }
        throw .unavailable("other servers keep losing their connections")
    }

    /// The end of the batch; nil if it was not appended directly after the point.
    func appendNext(_ batch: EventBatch, after point: LogPoint) async throws(EventLogError) -> LogPoint? {
        guard let appended = try await send(batch, point, withGroups: false), appended.stale == nil else { return nil }
        return appended.receipt(of: batch)?.end
    }

    private func send(
        _ batch: EventBatch, _ seen: LogPoint, withGroups: Bool
    ) async throws(EventLogError) -> Appended? {
        try await writers.execute(
            Statements.append,
            [
                .int2(Int16(batch.partition)), .int8(seen.position), Parameter(seen.digest), .int8(epoch),
                .bytes(batch.contentDigest.bytes),
                .timestamp(unixMicroseconds: batch.recordedAt.millisecondsSinceEpoch * 1_000),
                .int4(Int32(batch.events.count)), .bytes(batch.lines), .array(PartitionWriter.newStreams(batch)),
                withGroups ? .array(batch.groups) : .null,
                withGroups ? .array(PartitionWriter.names(of: batch.readings)) : .null,
                withGroups ? .array(batch.readings.map(\.group)) : .null,
                .bool(batch.events.allSatisfy { $0.stream.category == .cart && !$0.kind.isOfProcess }),
            ], partition: partition, bytes: batch.lines.count, isAlone: withGroups, needsRoom: true
        ).map { Appended($0[0]) }
    }

    /// The names of the streams that begin with a batch.
    private static func newStreams(_ batch: EventBatch) -> ArrayParameter {
        var names = ArrayParameter(of: .text)
        for index in batch.events.indices where batch.events[index].version == 1 {
            names.append { batch.events[index].stream.append(to: &$0) }
        }
        return names
    }

    private static func names(of readings: [EventBatch.Reading]) -> ArrayParameter {
        var names = ArrayParameter(of: .text)
        for reading in readings {
            names.append { reading.stream.append(to: &$0) }
        }
        return names
    }

    func outcome(of batch: EventBatch, since seen: LogPoint) async throws(EventLogError) -> Row {
        let rows = try await writers.execute(
            Statements.outcome,
            [
                .int2(Int16(batch.partition)), .int8(seen.position), .int8(epoch), .bytes(batch.contentDigest.bytes),
            ], partition: partition, bytes: 0, isAlone: true, needsRoom: false)
        guard let rows else { throw .unavailable(DatabaseTrouble.damaged) }
        epoch = rows[0]["epoch"]
        return rows[0]
    }
}

/// What `tiffin.append` returns.
private struct Appended {
    /// nil where nothing was appended: the log has gone on, or another epoch has begun.
    let previousPosition: Int64?
    let previousDigest: Digest?
    let chainDigest: Digest?
    let epoch: Int64
    let conflicts: Set<Int32>
    let stale: [String]?

    init(_ row: Row) {
        previousPosition = row["previous_position"]
        previousDigest = row.digest("previous_digest")
        chainDigest = row.digest("chain_digest")
        epoch = row["epoch"]
        conflicts = Set(row["conflicts"] as [Int32]? ?? [])
        stale = row["stale"]
    }

    /// nil where the batch has to be sent again.
    func receipt(of batch: EventBatch) -> AppendReceipt? {
        guard let previousPosition else { return nil }
        let previous = LogPoint(position: previousPosition, digest: previousDigest)
        if let stale {
            return AppendReceipt(
                previous: previous, conflicts: Set(batch.groups), stale: Set(stale.compactMap { StreamName($0) }),
                end: previous)
        }
        let count = conflicts.isEmpty ? batch.events.count : batch.groups.count { !conflicts.contains($0) }
        return AppendReceipt(
            previous: previous, conflicts: conflicts,
            end: LogPoint(position: previousPosition + Int64(count), digest: chainDigest))
    }
}

private enum Statements {
    static let append = Statement(
        "append",
        """
        SELECT previous_position, epoch, conflicts, stale, previous_digest, chain_digest
        FROM tiffin.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        """,
        [
            .int2, .int8, .bytea, .int8, .bytea, .timestamptz, .int4, .text, .textArray, .int4Array, .textArray,
            .int4Array, .bool,
        ])

    static let outcome = Statement(
        "outcome",
        """
        SELECT first_position, last_position, epoch, previous_digest, chain_digest FROM tiffin.outcome($1, $2, $3, $4)
        """,
        [.int2, .int8, .int8, .bytea])
}
