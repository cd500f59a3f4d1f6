internal import Domain
internal import EventLog
internal import EventLoop
internal import Postgres

/// Completes what is read of a log whose oldest batches were archived. Of any other log it asks for nothing.
@LoopActor
final class ArchivedBatches {
    private static let batchesAtOnce = 16

    private let reader: LazyConnection
    private var archive: BatchArchive?
    /// Where the last page of a stream ended: its next page begins in that batch.
    private var lastPage: (stream: StreamName, version: Int64, position: Int64)?

    init(_ reader: LazyConnection) { self.reader = reader }

    /// The lines of those rows whose batches were archived, by the number of the row.
    func lines(missingIn rows: Rows, _ partition: Int) async throws(EventLogError) -> [Int: [UInt8]] {
        let events = rows.column("events", of: UnsafeRawBufferPointer?.self)
        let numbers = rows.indices.filter { events[$0] == nil }
        guard !numbers.isEmpty else { return [:] }
        let firsts = rows.column("first_position", of: Int64.self)
        let found = try await reader.execute(
            Statements.batches, [.int2(Int16(partition)), .array(numbers.map { firsts[$0] })])
        let batches = PostgresEventLog.commits(found, partition)
        let lines = try await lines(of: batches)
        let byPosition = Dictionary(zip(batches.map(\.firstPosition), lines)) { first, _ in first }
        var missing: [Int: [UInt8]] = [:]
        for number in numbers { missing[number] = byPosition[firsts[number]] }
        return missing
    }

    /// The events of a stream after a version, of which some were archived.
    ///
    /// - Parameter rest: reads those in the database after a version, up to a number of them.
    func read(
        _ stream: StreamName, _ partition: Int, afterVersion version: Int64, limit: Int,
        rest: (Int64, Int) async throws(EventLogError) -> [RecordedEvent]
    ) async throws(EventLogError) -> [RecordedEvent] {
        let name = stream.description
        var events: [RecordedEvent] = []
        var reached: Int64?
        let known = lastPage.flatMap { $0.stream == stream && $0.version == version ? $0.position : nil }
        let found = try await reader.execute(
            Statements.batchesOf, [.int2(Int16(partition)), .text(name), .int8(known ?? 0)])
        var batches = PostgresEventLog.commits(found, partition)[...]
        while !batches.isEmpty, events.count < limit {
            let some = Array(batches.prefix(ArchivedBatches.batchesAtOnce))
            batches = batches.dropFirst(some.count)
            for (batch, lines) in zip(some, try await lines(of: some)) where events.count < limit {
                events += ArchivedBatches.events(lines, of: batch) {
                    $0.version > version && $0.stream.elementsEqual(name.utf8)
                }
                reached = batch.firstPosition
            }
        }
        events = Array(events.prefix(limit))
        let end = events.last?.version ?? version
        if let reached { lastPage = (stream, end, reached) }
        guard events.count < limit else { return events }
        return events + (try await rest(end, limit - events.count))
    }

    /// The names of the streams in the next archived batches behind the index of streams, each with the batch, up to a
    /// number of batches; and from where to where these go. Nil if the next batch is not archived.
    func streamsBehindIndex(
        of partition: Int, limit: Int32
    ) async throws(EventLogError) -> (after: Int64, last: Int64, streams: [(name: String, batch: Int64)])? {
        let rows = try await reader.execute(Statements.behindIndex, [.int2(Int16(partition)), .int4(limit)])
        let batches = PostgresEventLog.commits(rows, partition)
        guard let last = batches.last else { return nil }
        return (rows[0]["reached"], last.firstPosition, try await streams(of: batches))
    }

    /// The names of the streams in archived batches, each with where the batch begins.
    func streams(of batches: [Commit]) async throws(EventLogError) -> [(name: String, batch: Int64)] {
        var streams: [(name: String, batch: Int64)] = []
        guard !batches.isEmpty else { return streams }
        for (batch, lines) in zip(batches, try await lines(of: batches)) {
            let names = Set(ArchivedBatches.events(lines, of: batch) { _ in true }.map(\.stream))
            streams += names.map { ($0, batch.firstPosition) }
        }
        return streams
    }

    private static func events(
        _ lines: [UInt8], of batch: Commit, where isWanted: (EventView) -> Bool
    ) -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        lines.withUnsafeBytes { lines in
            EventLines.forEach(
                in: lines, batch.lastPosition - batch.firstPosition + 1, partition: batch.partition,
                firstPosition: batch.firstPosition, recordedAt: batch.recordedAt
            ) { if isWanted($0) { events.append($0.recorded) } }
        }
        return events
    }

    private func lines(of batches: [Commit]) async throws(EventLogError) -> [[UInt8]] {
        let archive = try await opened()
        do throws(BackupError) {
            return try await archive.lines(of: batches)
        } catch {
            // It may be elsewhere the next time.
            self.archive = nil
            throw .unavailable(reader.told("\(error)", as: DatabaseTrouble.archiveAway))
        }
    }

    private func opened() async throws(EventLogError) -> BatchArchive {
        if let archive { return archive }
        guard let row = try await reader.execute(Statements.folder, []).first else {
            throw .unavailable(
                reader.told("tiffin.archive does not say where events were archived", as: DatabaseTrouble.archiveAway))
        }
        let archive = BatchArchive(row["folder"])
        self.archive = archive
        return archive
    }
}

private enum Statements {
    private static let columns = "first_position, last_position, content_digest, chain_digest, recorded_at"

    static let folder = Statement("archive_folder", "SELECT folder FROM tiffin.archive")

    static let batches = Statement(
        "archived_batches",
        "SELECT \(columns) FROM tiffin.batches WHERE partition = $1 AND first_position = ANY ($2)", [.int2, .int8Array])

    static let batchesOf = Statement(
        "archived_batches_of",
        """
        SELECT \(columns) FROM tiffin.batches_of($1, $2) AS found (position) JOIN tiffin.batches AS b
            ON b.partition = $1 AND b.first_position = found.position
        WHERE b.events IS NULL AND b.first_position BETWEEN $3 AND \(LogHead.maximumPosition) ORDER BY b.first_position
        """, [.int2, .text, .int8])

    static let behindIndex = Statement(
        "archived_behind_index",
        """
        SELECT \(columns), reached
        FROM (SELECT coalesce((SELECT i FROM tiffin.indexed_up_to($1) AS i), 0) AS reached) AS r CROSS JOIN LATERAL (
            SELECT * FROM tiffin.batches WHERE partition = $1 AND first_position > reached
            ORDER BY first_position LIMIT $2) AS b
        WHERE events IS NULL ORDER BY first_position
        """, [.int2, .int4])
}
