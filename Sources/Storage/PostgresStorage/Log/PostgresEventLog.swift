// The event log in PostgreSQL: its migrations, and the log itself on libpq.
//
// It keeps the promise of every `EventLog`, and the schema alone enforces it: however many servers write through
// `tiffin.append`, positions are dense and in commit order, and nothing can be changed.

internal import Domain
package import EventLog
package import EventLoop
package import Postgres

/// The event log in the schema `tiffin` of a database.
@LoopActor
package final class PostgresEventLog: EventLog {
    package nonisolated let partitioning: Partitioning

    /// nil if the log is only for reading.
    private let connections: LogWriters?
    /// One for each partition.
    private let writers: [PartitionWriter]
    private let reader: LazyConnection
    /// On a connection of its own, so that nothing else waits for it.
    private let indexer: LazyConnection
    private let archived: ArchivedBatches

    private init(
        _ database: String, _ partitioning: Partitioning, epochs: [Int64] = [], reader: LazyConnection,
        hasRoom: @escaping @LoopActor () -> Bool = { true }, report: (@LoopActor (String) -> Void)? = nil
    ) {
        self.partitioning = partitioning
        let connections =
            epochs.isEmpty ? nil : LogWriters(database, partitions: epochs.count, hasRoom: hasRoom, report: report)
        self.connections = connections
        writers =
            connections.map { connections in
                epochs.enumerated().map { PartitionWriter(connections, partition: $0, epoch: $1) }
            } ?? []
        self.reader = reader
        archived = ArchivedBatches(reader)
        indexer = LazyConnection(
            database, name: "tiffin indexer", deadlines: report == nil ? nil : .background, hasRoom: hasRoom,
            report: report)
    }

    /// The log in a migrated database.
    ///
    /// - Parameters:
    ///   - database: a `postgres://` URL, or libpq's keywords and values.
    ///   - name: what the database is called among several; nil if it is to have the whole log.
    ///   - isReadOnly: whether it is only for reading, by a user who may have no other right, or on a replica.
    ///   - hasRoom: whether the database's disk has room. Without it, nothing is written.
    ///   - report: given where clients wait for what the log says. It learns the whole of each failure, and errors say
    ///     only what clients may know. A database that is silent for some seconds is then one that cannot be reached.
    package static func open(
        _ database: String, named name: String? = nil, isReadOnly: Bool = false,
        hasRoom: @escaping @LoopActor () -> Bool = { true }, report: (@LoopActor (String) -> Void)? = nil
    ) async throws(EventLogError) -> PostgresEventLog {
        let reader = LazyConnection(
            database, name: "tiffin reader", isReadOnly: isReadOnly, deadlines: report == nil ? nil : .reading)
        do throws(EventLogError) {
            let partitioning = try await PostgresEventLog.partitioning(reader, name)
            let epochs = try await PostgresEventLog.epochs(reader)
            // Until here, the caller that opens the log is told everything.
            if let report { reader.report(to: report) }
            return PostgresEventLog(
                database, partitioning, epochs: epochs, reader: reader, hasRoom: hasRoom, report: report)
        } catch {
            reader.close()
            throw error
        }
    }

    /// The log, only for reading. It does not query the database yet, not even for the number of partitions.
    package static func reader(_ database: String, _ partitioning: Partitioning) -> PostgresEventLog {
        PostgresEventLog(
            database, partitioning,
            reader: LazyConnection(database, name: "tiffin reader", isReadOnly: true))
    }

    /// The log of a server, only for reading, on a connection of its own: however long a read takes, writers and
    /// readers on other connections do not wait for it.
    ///
    /// - Parameter report: as in ``open(_:isReadOnly:report:)``.
    package static func history(
        _ database: String, _ partitioning: Partitioning, report: @escaping @LoopActor (String) -> Void
    ) -> PostgresEventLog {
        PostgresEventLog(
            database, partitioning,
            reader: LazyConnection(database, name: "tiffin history", deadlines: .reading, report: report))
    }

    private static func partitioning(
        _ reader: LazyConnection, _ name: String?
    ) async throws(EventLogError) -> Partitioning {
        guard let row = try await reader.execute(Partitioning.stored, []).first else {
            throw .unavailable("the log has no partitions; run tiffin migrate")
        }
        guard let partitioning = Partitioning(row) else {
            throw .unavailable("tiffin.partition_count is damaged: it names a placement that there is not")
        }
        if let problem = Partitioning.problem(with: row, named: name) { throw .unavailable(problem) }
        return partitioning
    }

    /// The epoch of each partition. Rows of partitions that the log does not have are passed over; the audit names them.
    private static func epochs(_ reader: LazyConnection) async throws(EventLogError) -> [Int64] {
        let rows = try await reader.execute(Statements.epochs, [])
        return try rows.enumerated().map { partition, row throws(EventLogError) in
            guard let epoch: Int64 = row["epoch"] else {
                throw .unavailable("tiffin.log_head is damaged: it has no row for partition \(partition)")
            }
            return epoch
        }
    }

    /// Damage that no append of the log's own can have caused: a sentence for each partition and kind of damage that
    /// can be found without reading everything.
    ///
    /// - Parameter partitions: those that live in the database; nil for all.
    package func damage(of partitions: [Int]? = nil) async throws(EventLogError) -> [String] {
        var found: [String] = []
        for partition in partitions ?? Array(0..<partitionCount) {
            let rows = try await reader.execute(Statements.damage, [.int2(Int16(partition))])
            guard let row = rows.first else { continue }
            let head: Int64 = row["head"]
            if !(0...LogHead.maximumPosition).contains(head) {
                found.append("the head of partition \(partition) has the impossible position \(head)")
            }
            if let stray: Int64 = row["stray"] {
                found.append("partition \(partition) has a row at the impossible position \(stray): nothing reads it")
            }
            if let last: Int64 = row["last"], head < last {
                found.append(
                    "partition \(partition) has events up to position \(last), and its head says \(head): "
                        + "they are read, and the next append continues after them")
            }
        }
        return found
    }

    /// The version of its PostgreSQL, such as `15.18`; nil if the server does not say.
    package var serverVersion: String? { reader.serverVersion.flatMap { $0.isEmpty ? nil : $0 } }

    /// How its connections are, for `INFO`.
    package var connectionLines: [(name: String, value: String)] {
        guard let connections else { return [reader.line] }
        return [reader.line, indexer.line] + connections.connections.map(\.line)
    }

    /// Closes the connections.
    package func close() {
        reader.close()
        indexer.close()
        connections?.close()
    }

    // MARK: Writing

    package func append(_ batch: EventBatch, seen: LogPoint) async throws(EventLogError) -> AppendReceipt {
        if let receipt = try await writers[batch.partition].append(batch, seen: seen) { return receipt }
        // The head lies before a batch that exists: a reader that goes on learns of that batch.
        let end = try await end(of: batch.partition)
        return AppendReceipt(previous: end, conflicts: Set(batch.groups), end: end)
    }

    package func appendNext(_ batch: EventBatch, after point: LogPoint) async throws(EventLogError) -> LogPoint? {
        try await writers[batch.partition].appendNext(batch, after: point)
    }

    package func outcome(of batch: EventBatch, since seen: LogPoint) async throws(EventLogError) -> AppendReceipt? {
        let row = try await writers[batch.partition].outcome(of: batch, since: seen)
        guard let first: Int64 = row["first_position"] else { return nil }
        let last: Int64 = row["last_position"]
        let previous = LogPoint(position: first - 1, digest: row.digest("previous_digest"))
        let end = LogPoint(position: last, digest: row.digest("chain_digest"))
        guard first >= 1, last >= first, last < first + Int64(EventBatch.maximumEvents) else {
            throw .unavailable("the commit of the batch has the impossible positions \(first) to \(last)")
        }
        let count = Int(last - previous.position)
        if count == batch.events.count { return AppendReceipt(previous: previous, conflicts: [], end: end) }
        // A part was refused: the groups that have no events here.
        let appended = try await read(partition: batch.partition, after: previous.position, limit: count)
        let names = Set(appended.map(\.stream))
        let refused = zip(batch.events, batch.groups).filter { !names.contains($0.0.stream.description) }
        return AppendReceipt(previous: previous, conflicts: Set(refused.map(\.1)), end: end)
    }

    package func end(of partition: Int) async throws(EventLogError) -> LogPoint {
        let rows = try await reader.execute(Statements.end, [.int2(Int16(partition))])
        guard let row = rows.first else { throw .unavailable("the log is damaged: partition \(partition) has no head") }
        return LogPoint(position: row["position"], digest: row.digest("digest"))
    }

    // MARK: Reading

    package func read(
        partition: Int, after position: Int64, limit: Int
    ) async throws(EventLogError) -> [RecordedEvent] {
        var (events, reached): ([RecordedEvent], Int64?) = ([], position)
        while events.isEmpty, let after = reached {
            let rows = try await batches(partition, after: after, limit)
            let archived = try await archived.lines(missingIn: rows, partition)
            PostgresEventLog.forEach(in: rows, archived, partition, after: after, limit) { events.append($0.recorded) }
            reached = PostgresEventLog.end(of: rows)
        }
        return events
    }

    package func follow(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        let (end, isBeyond) = point.position.addingReportingOverflow(Int64(limit))
        let rows = try await reader.execute(
            Statements.follow,
            [
                .int2(Int16(partition)), .int8(point.position), Parameter(point.digest),
                .int8(isBeyond ? .max : end), .int8(Int64(limit)),
            ])
        guard let first = rows.first, first["is_known"] else { throw .forked(DatabaseTrouble.forked) }
        var following = FollowingEvents(events: [], end: point)
        guard first["first_position"] as Int64? != nil else { return following }
        let archived = try await archived.lines(missingIn: rows, partition)
        PostgresEventLog.forEach(in: rows, archived, partition, after: point.position, .max) {
            following.events.append($0.recorded)
        }
        // The last batch ends last, unless somebody has changed it.
        let ends = rows.map { LogPoint(position: $0["last_position"], digest: $0.digest("chain_digest")) }
        following.end = ends.max { $0.position < $1.position } ?? point
        return following
    }

    package func followWithoutCarts(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        var following = FollowingEvents(events: [], end: point)
        var isBehind = true
        // Where only carts came for that far, or nothing but lost events, it is not the end yet.
        while isBehind, following.events.isEmpty {
            let (goal, isBeyond) = following.end.position.addingReportingOverflow(
                PostgresEventLog.positionsPassedAtOnce)
            let rows = try await reader.execute(
                Statements.followWithoutCarts,
                [
                    .int2(Int16(partition)), .int8(following.end.position), Parameter(following.end.digest),
                    .int8(isBeyond ? .max : goal), .int8(Int64(limit)),
                ])
            guard let first = rows.first, first["is_known"] else { throw .forked(DatabaseTrouble.forked) }
            var ends = [following.end]
            var rest = Int64(limit)
            if first["first_position"] as Int64? != nil {
                let archived = try await archived.lines(missingIn: rows, partition)
                PostgresEventLog.forEach(in: rows, archived, partition, after: following.end.position, .max) {
                    following.events.append($0.recorded)
                }
                for row in rows {
                    let last: Int64 = row["last_position"]
                    ends.append(LogPoint(position: last, digest: row.digest("chain_digest")))
                    rest -= last - max(row["first_position"] - 1, ends[0].position)
                }
            }
            // Where the limit was reached, there may be more before the last batch.
            if rest > 0, let end: Int64 = first["end_position"] {
                ends.append(LogPoint(position: end, digest: first.digest("end_digest")))
            }
            following.end = ends.dropFirst().reduce(ends[0]) { $1.position > $0.position ? $1 : $0 }
            isBehind = following.end.position > ends[0].position && (rest <= 0 || following.end.position >= goal)
        }
        return following
    }

    /// So far that few questions pass over a long log, and near enough that each is answered in a fraction of a second.
    private nonisolated static let positionsPassedAtOnce: Int64 = 50_000

    package func page(
        partition: Int, after position: Int64, limit: Int
    ) async throws(EventLogError) -> EventPage {
        var after = position
        while true {
            let rows = try await batches(partition, after: after, limit)
            let archived = try await archived.lines(missingIn: rows, partition)
            let page = await PostgresEventLog.page(rows, archived, partition, after: after, limit)
            guard page.isEmpty, let end = PostgresEventLog.end(of: rows) else { return page }
            after = end
        }
    }

    /// Where the last of some batches ends. If all their events were lost, the next one is behind it.
    private nonisolated static func end(of rows: Rows) -> Int64? {
        rows.last?["last_position"]
    }

    /// The batches that hold the events after a position.
    private func batches(_ partition: Int, after position: Int64, _ limit: Int) async throws(EventLogError) -> Rows {
        let (last, isBeyond) = position.addingReportingOverflow(Int64(limit))
        return try await reader.execute(
            Statements.batches,
            [
                .int2(Int16(partition)), .int8(min(position, LogHead.maximumPosition)), .int8(isBeyond ? .max : last),
                .int8(Int64(limit)),
            ])
    }

    package func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int, seen: LogPoint
    ) async throws(EventLogError) -> [RecordedEvent] {
        if let events = try await read(Statements.stream, stream, partition, version, limit, seen) { return events }
        return try await archived.read(stream, partition, afterVersion: version, limit: limit) {
            version, limit throws(EventLogError) in
            try await self.read(Statements.unarchivedStream, stream, partition, version, limit, seen) ?? []
        }
    }

    /// Nil if some were archived.
    private func read(
        _ statement: Statement, _ stream: StreamName, _ partition: Int, _ version: Int64, _ limit: Int,
        _ seen: LogPoint
    ) async throws(EventLogError) -> [RecordedEvent]? {
        let rows = try await reader.execute(
            statement,
            [
                .int2(Int16(partition)), .text(stream.description), .int8(version), .int8(Int64(limit)),
                .int8(seen.position), Parameter(seen.digest),
            ])
        guard let first = rows.first, first["is_known"] else { throw .forked(DatabaseTrouble.forked) }
        guard first["position"] as Int64? != nil else { return [] }
        let (position, recordedAt) = (
            rows.column("position", of: Int64.self), rows.column("recorded_at", of: Timestamp.self)
        )
        let lines = rows.column("line", of: UnsafeRawBufferPointer?.self)
        var events: [RecordedEvent] = []
        for row in rows.indices {
            guard let line = lines[row] else { return nil }
            events.append(
                EventLines.event(line, partition: partition, position: position[row], recordedAt: recordedAt[row])
                    .recorded)
        }
        return events
    }

    package func indexStreams(of partition: Int) async throws(EventLogError) {
        var isBehind = true
        while isBehind {
            let rows = try await indexer.execute(
                Statements.indexStreams, [.int2(Int16(partition)), .int4(PostgresEventLog.batchesIndexedAtOnce)],
                needsRoom: true)
            if let isBehindNow: Bool = rows[0]["is_behind"] {
                isBehind = isBehindNow
            } else {
                isBehind = try await indexArchived(partition)
            }
        }
    }

    /// Indexes some of the archived batches that follow. Returns whether there were any.
    private func indexArchived(_ partition: Int) async throws(EventLogError) -> Bool {
        let found = try await archived.streamsBehindIndex(
            of: partition, limit: PostgresEventLog.archivedBatchesIndexedAtOnce)
        guard let found else { return false }
        _ = try await indexer.execute(
            Statements.indexArchived,
            [
                .int2(Int16(partition)), .int8(found.after), .int8(found.last), .array(found.streams.map(\.name)),
                .array(found.streams.map(\.batch)),
            ], needsRoom: true)
        return true
    }

    /// The names of the streams in archived batches, each with where the batch begins.
    func streams(ofArchived batches: [Commit]) async throws(EventLogError) -> [(name: String, batch: Int64)] {
        try await archived.streams(of: batches)
    }

    package func mendIndex(
        of partition: Int, _ part: IndexPart
    ) async throws(EventLogError) -> (missing: Int64, next: Int64?) {
        switch part {
        case .batches(let after, let limit):
            return try await mendIndex(partition, of: nil, after: after, limit: Int32(clamping: limit))
        case .stream(let stream):
            var (missing, next): (Int64, Int64?) = (0, 0)
            while let after = next {
                let step = try await mendIndex(
                    partition, of: stream, after: after, limit: PostgresEventLog.batchesSearchedAtOnce)
                missing += step.missing
                next = step.next
            }
            return (missing, nil)
        }
    }

    private func mendIndex(
        _ partition: Int, of stream: StreamName?, after position: Int64, limit: Int32
    ) async throws(EventLogError) -> (missing: Int64, next: Int64?) {
        let rows = try await indexer.execute(
            Statements.mendIndex,
            [
                .int2(Int16(partition)), stream.map { .text($0.description) } ?? .null, .int8(position), .int4(limit),
            ], needsRoom: true)
        return (rows[0]["missing"], rows[0]["reached"])
    }

    /// Few enough that others do not wait long for the processor or the disk.
    private nonisolated static let batchesIndexedAtOnce: Int32 = 200
    /// Fewer: these are in memory here.
    private nonisolated static let archivedBatchesIndexedAtOnce: Int32 = 50
    /// More: of nearly all of them, the lines are only searched for a name.
    private nonisolated static let batchesSearchedAtOnce: Int32 = 1_000

    package func growTree(of partition: Int, anew: Bool) async throws(EventLogError) {
        var (isBehind, anew) = (true, anew)
        while isBehind {
            let rows = try await indexer.execute(
                Statements.growTree,
                [.int2(Int16(partition)), .int4(PostgresEventLog.nodesMadeAtOnce), .bool(anew)], needsRoom: true)
            (isBehind, anew) = (rows[0]["is_behind"], false)
        }
    }

    /// As few batches as are searched at once, about four times.
    private nonisolated static let nodesMadeAtOnce: Int32 = 16

    package func treeNode(of partition: Int, upTo position: Int64) async throws(EventLogError) -> TreeNode? {
        let rows = try await reader.execute(Statements.treeNode, [.int2(Int16(partition)), .int8(position)])
        return PostgresEventLog.treeNodes(rows).first
    }

    package func treeNodes(
        of partition: Int, level: Int, numbers: Range<Int64>
    ) async throws(EventLogError) -> [TreeNode] {
        let rows = try await reader.execute(
            PostgresEventLog.treeNodesStatement,
            [
                .int2(Int16(partition)), .int2(Int16(clamping: level)), .int8(numbers.lowerBound),
                .int8(numbers.upperBound),
            ])
        return PostgresEventLog.treeNodes(rows)
    }

    nonisolated static let treeNodesStatement = Statement(
        "tree_nodes",
        """
        SELECT level, number, last_position, digest, tree_digest FROM tiffin.tree_nodes
        WHERE partition = $1 AND level = $2 AND number >= $3 AND number < $4 ORDER BY number
        """, [.int2, .int2, .int8, .int8])

    /// Nodes from rows. Bytes that do not have the length of a digest become zeros, which is not the root of anything.
    package nonisolated static func treeNodes(_ rows: Rows) -> [TreeNode] {
        rows.map { row in
            TreeNode(
                level: row["level"], number: row["number"], lastPosition: row["last_position"],
                digest: row.digest("digest") ?? .zero, treeDigest: row.digest("tree_digest") ?? .zero)
        }
    }

    package func signedHead(of partition: Int) async throws(EventLogError) -> PublishedHead? {
        let rows = try await reader.execute(Statements.signedHead, [.int2(Int16(clamping: partition))])
        return rows.first.map { PublishedHead(note: $0["note"], position: $0["position"]) }
    }

    package func commits(
        partition: Int, after position: Int64, limit: Int
    ) async throws(EventLogError) -> [Commit] {
        let rows = try await reader.execute(
            Statements.commits, [.int2(Int16(partition)), .int8(position), .int8(Int64(limit))])
        return PostgresEventLog.commits(rows, partition)
    }

    /// Batches from rows of their positions, digests and times.
    package nonisolated static func commits(_ rows: Rows, _ partition: Int) -> [Commit] {
        rows.map { row in
            Commit(
                partition: partition, firstPosition: row["first_position"], lastPosition: row["last_position"],
                // Bytes that do not have the length of a digest become zeros, which is not the digest of anything
                // either.
                contentDigest: row.digest("content_digest") ?? .zero, chainDigest: row.digest("chain_digest") ?? .zero,
                recordedAt: row["recorded_at"], microseconds: abs(row.unixMicroseconds("recorded_at") % 1_000))
        }
    }

    package func heads() async throws(EventLogError) -> [LogHead] {
        let rows = try await reader.execute(Statements.heads, [.int2(Int16(clamping: partitionCount))])
        return rows.map {
            LogHead(partition: $0["partition"], position: $0["position"], digest: $0.digest("digest") ?? .zero)
        }
    }

    /// The heads as one of several databases has them.
    func placedHeads() async throws(EventLogError) -> [PlacedHead] {
        try await reader.execute(Statements.placedHeads, [.int2(Int16(clamping: partitionCount))]).map {
            PlacedHead(
                partition: $0["partition"], position: $0["position"], digest: $0.digest("digest") ?? .zero,
                epoch: $0["epoch"], movedTo: $0["moved_to"])
        }
    }

    /// Where a partition ends here, and whether it lives here, as of one moment.
    func placedEnd(of partition: Int) async throws(EventLogError) -> (end: LogPoint, isOpen: Bool) {
        let rows = try await reader.execute(Statements.placedEnd, [.int2(Int16(partition))])
        guard let row = rows.first else { throw .unavailable("the log is damaged: partition \(partition) has no head") }
        return (LogPoint(position: row["position"], digest: row.digest("digest")), row["is_open"])
    }

    /// Whether a partition lives in this one of several databases.
    func isOpen(_ partition: Int) async throws(EventLogError) -> Bool {
        try await reader.execute(Statements.isOpen, [.int2(Int16(partition))]).first?["is_open"] ?? false
    }

    /// Off the loop's thread, which has the next rows to receive.
    @concurrent
    private nonisolated static func page(
        _ rows: Rows, _ archived: [Int: [UInt8]], _ partition: Int, after position: Int64, _ limit: Int
    ) async -> EventPage {
        let lines = rows.column("events", of: UnsafeRawBufferPointer?.self)
        let bytes = rows.indices.reduce(0) { $0 + (lines[$1]?.count ?? archived[$1]?.count ?? 0) }
        var page = EventPage(partition: partition, reservingCapacity: min(limit, bytes / 100), bytes: bytes)
        forEach(in: rows, archived, partition, after: position, limit) { page.append($0) }
        return page
    }

    /// Gives the events after a position to the body. A view is valid until the body returns.
    ///
    /// Positions rise, whatever the rows hold: of two events at a position, the one in the earlier batch is the event.
    ///
    /// - Parameter archived: the lines of rows that have none.
    private nonisolated static func forEach(
        in rows: Rows, _ archived: [Int: [UInt8]], _ partition: Int, after position: Int64, _ limit: Int,
        _ body: (EventView) -> Void
    ) {
        let (firsts, lasts) = (
            rows.column("first_position", of: Int64.self), rows.column("last_position", of: Int64.self)
        )
        let lines = rows.column("events", of: UnsafeRawBufferPointer?.self)
        let recordedAt = rows.column("recorded_at", of: Timestamp.self)
        var (last, rest) = (position, limit)
        for row in rows.indices where rest > 0 {
            let first = firsts[row]
            func take(_ lines: UnsafeRawBufferPointer) {
                EventLines.forEach(
                    in: lines, lasts[row] - first + 1, partition: partition, firstPosition: first,
                    recordedAt: recordedAt[row]
                ) { event in
                    guard event.position > last, rest > 0 else { return }
                    last = event.position
                    rest -= 1
                    body(event)
                }
            }
            if let lines = lines[row] { take(lines) } else { archived[row]?.withUnsafeBytes(take) }
        }
    }
}

private enum Statements {
    static let signedHead = Statement(
        "signed_head", "SELECT position, note FROM tiffin.signed_heads WHERE partition = $1", [.int2])

    static let batches = Statement(
        "batches",
        """
        SELECT first_position, last_position, recorded_at, events FROM tiffin.batches
        WHERE partition = $1 AND first_position >= (SELECT b FROM tiffin.batch_at($1, $2 + 1) AS b)
            AND first_position <= greatest($3, (SELECT b FROM tiffin.batch_at($1, $2 + 1) AS b))
            AND first_position <= \(LogHead.maximumPosition)
            AND last_position BETWEEN first_position AND first_position + \(EventBatch.maximumEvents - 1)
        ORDER BY first_position LIMIT $4
        """, [.int2, .int8, .int8, .int8])

    // The last column says whether the partition has the point at all. Without a batch behind it, that is all there is
    // to say. OFFSET 0 has it looked for once, and not for each batch.
    static let follow = Statement(
        "follow",
        """
        SELECT b.first_position, b.last_position, b.recorded_at, b.events, b.chain_digest, p.is_known
        FROM (SELECT * FROM tiffin.is_point($1, $2, $3) OFFSET 0) AS p (is_known) LEFT JOIN LATERAL (
            SELECT * FROM tiffin.batches
            WHERE partition = $1 AND first_position >= (SELECT b FROM tiffin.batch_at($1, $2 + 1) AS b)
                AND first_position <= greatest($4, (SELECT b FROM tiffin.batch_at($1, $2 + 1) AS b))
                AND first_position <= \(LogHead.maximumPosition)
                AND last_position BETWEEN first_position AND first_position + \(EventBatch.maximumEvents - 1)
            ORDER BY first_position LIMIT $5) AS b ON p.is_known
        ORDER BY b.first_position
        """, [.int2, .int8, .bytea, .int8, .int8])

    // As `follow`, with the last of all those batches, and the others only as far as the limit. Their sizes are added up
    // after LIMIT, which ends the search, and before anybody reads their events.
    static let followWithoutCarts = Statement(
        "follow_without_carts",
        """
        SELECT b.first_position, b.last_position, b.recorded_at, b.events, b.chain_digest, p.is_known,
            e.last_position AS end_position, e.chain_digest AS end_digest
        FROM (SELECT * FROM tiffin.is_point($1, $2, $3) OFFSET 0) AS p (is_known) LEFT JOIN LATERAL (
            SELECT last_position, chain_digest FROM tiffin.batches
            WHERE \(followed) ORDER BY first_position DESC LIMIT 1) AS e ON p.is_known LEFT JOIN LATERAL (
            SELECT * FROM (
                SELECT *, sum(last_position - greatest(first_position - 1, $2)) OVER (ORDER BY first_position) AS total
                FROM (
                    SELECT * FROM tiffin.batches WHERE \(followed) AND only_carts IS NOT TRUE
                    ORDER BY first_position LIMIT $5) AS b) AS b
            WHERE total - (last_position - greatest(first_position - 1, $2)) < $5) AS b ON p.is_known
        ORDER BY b.first_position
        """, [.int2, .int8, .bytea, .int8, .int8])

    /// The batches after position $2, up to one that begins at $4.
    private static let followed = """
        partition = $1 AND first_position >= (SELECT b FROM tiffin.batch_at($1, $2 + 1) AS b)
            AND first_position <= greatest($4, (SELECT b FROM tiffin.batch_at($1, $2 + 1) AS b))
            AND first_position <= \(LogHead.maximumPosition)
            AND last_position BETWEEN first_position AND first_position + \(EventBatch.maximumEvents - 1)
        """

    // A line that begins like one of the stream, and whose version is none, is read with the first versions. OFFSET 0
    // keeps the planner from reading every batch. The last column is that of `follow`.
    private static func stream(_ name: String, alsoArchived: Bool) -> Statement {
        let (join, condition) = alsoArchived ? ("LEFT", "b.events IS NULL OR") : ("INNER", "")
        return Statement(
            name,
            """
            SELECT e.position, e.recorded_at, e.line, p.is_known
            FROM (SELECT * FROM tiffin.is_point($1, $5, $6) OFFSET 0) AS p (is_known) LEFT JOIN LATERAL (
                SELECT b.first_position + (coalesce(e.number, 1) - 1) AS position, b.recorded_at, e.line
                FROM tiffin.batches_of($1, $2) AS found (first_position)
                    CROSS JOIN LATERAL (
                        SELECT * FROM tiffin.batches
                        WHERE partition = $1 AND first_position = found.first_position
                            AND first_position <= \(LogHead.maximumPosition) OFFSET 0) AS b
                    \(join) JOIN LATERAL string_to_table(b.events, E'\\n') WITH ORDINALITY AS e (line, number) ON true
                WHERE \(condition) starts_with(e.line, $2 || E'\\t') AND CASE
                    WHEN split_part(e.line, E'\\t', 2) ~ '^[0-9]{1,18}$' THEN split_part(e.line, E'\\t', 2)::bigint > $3
                    ELSE $3 = 0
                END
                ORDER BY 1 LIMIT $4) AS e ON p.is_known
            ORDER BY 1
            """, [.int2, .text, .int8, .int8, .int8, .bytea])
    }

    /// The line of an archived batch is NULL.
    static let stream = stream("stream", alsoArchived: true)
    static let unarchivedStream = stream("unarchived_stream", alsoArchived: false)

    static let indexArchived = Statement(
        "index_archived", "SELECT tiffin.index_archived($1, $2, $3, $4, $5)",
        [.int2, .int8, .int8, .textArray, .int8Array])

    static let indexStreams = Statement(
        "index_streams", "SELECT is_behind FROM tiffin.index_streams($1, $2)", [.int2, .int4])

    static let mendIndex = Statement(
        "mend_index", "SELECT missing, reached FROM tiffin.mend_index($1, $2, $3, $4)", [.int2, .text, .int8, .int4])

    static let growTree = Statement(
        "grow_tree", "SELECT is_behind FROM tiffin.grow_tree($1, $2, $3)", [.int2, .int4, .bool])

    static let treeNode = Statement(
        "tree_node",
        """
        SELECT level, number, last_position, digest, tree_digest FROM tiffin.tree_nodes
        WHERE partition = $1 AND level = 1 AND last_position <= $2 ORDER BY last_position DESC LIMIT 1
        """, [.int2, .int8])

    // Commits are found by where they begin: the first one wanted is the last that begins at or before the position,
    // or the one after it.
    static let commits = Statement(
        "commits",
        """
        SELECT first_position, last_position, content_digest, chain_digest, recorded_at FROM tiffin.batches
        WHERE partition = $1 AND last_position > $2 AND first_position >= coalesce(
            (SELECT max(first_position) FROM tiffin.batches WHERE partition = $1 AND first_position <= $2), 1)
            AND first_position >= 1 AND last_position BETWEEN first_position AND \(LogHead.maximumPosition)
        ORDER BY first_position LIMIT $3
        """, [.int2, .int8, .int8])

    static let epochs = Statement(
        "epochs",
        """
        SELECT h.epoch FROM tiffin.partition_count AS p CROSS JOIN generate_series(0, p.count - 1) AS n
            LEFT JOIN tiffin.log_head AS h ON h.partition = n
        ORDER BY n
        """)

    static let heads = Statement(
        "heads",
        """
        SELECT partition, position, digest FROM tiffin.log_head WHERE partition >= 0 AND partition < $1
        ORDER BY partition
        """, [.int2])

    static let placedHeads = Statement(
        "placed_heads",
        """
        SELECT partition, position, digest, epoch, moved_to FROM tiffin.log_head WHERE partition >= 0 AND partition < $1
        ORDER BY partition
        """, [.int2])

    static let isOpen = Statement(
        "is_open", "SELECT moved_to IS NULL AS is_open FROM tiffin.log_head WHERE partition = $1", [.int2])

    /// The last batch, whatever the head says.
    private static let lastBatch = """
        SELECT last_position, chain_digest FROM tiffin.batches
        WHERE partition = $1 AND first_position <= \(LogHead.maximumPosition) ORDER BY first_position DESC LIMIT 1
        """

    // A head may lie behind the batches, or before them where the last ones were removed.
    private static let lastPoint = """
        SELECT position, digest FROM (
            SELECT last_position, chain_digest, 1 FROM (\(lastBatch)) AS b
            UNION ALL SELECT position, digest, 2 FROM tiffin.log_head WHERE partition = $1
            UNION ALL SELECT 0, '', 3 FROM tiffin.log_head WHERE partition = $1) AS e (position, digest, rank)
        WHERE position <= \(LogHead.maximumPosition) ORDER BY position DESC, rank LIMIT 1
        """

    static let end = Statement("end", lastPoint, [.int2])

    static let placedEnd = Statement(
        "placed_end",
        """
        SELECT e.position, e.digest, h.moved_to IS NULL AS is_open
        FROM tiffin.log_head AS h CROSS JOIN (\(lastPoint)) AS e WHERE h.partition = $1
        """, [.int2])

    static let damage = Statement(
        "damage",
        """
        SELECT position AS head, coalesce(
            (SELECT max(first_position) FROM tiffin.batches
                WHERE partition = $1 AND first_position > \(LogHead.maximumPosition)),
            (SELECT min(first_position) FROM tiffin.batches WHERE partition = $1 AND first_position < 1)) AS stray,
            (SELECT CASE WHEN last_position <= \(LogHead.maximumPosition) THEN last_position END
                FROM (\(lastBatch)) AS b) AS last
        FROM tiffin.log_head WHERE partition = $1
        """, [.int2])
}
