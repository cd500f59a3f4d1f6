package import Domain
internal import EventLog
package import EventLoop
internal import Postgres

/// Takes the events of old batches out of a database that has them in the folder of a backup, too. Nothing leaves the
/// database before it was read in the folder as servers will read it. It can be killed at any time and run again.
@LoopActor
package enum LogArchive {
    private static let eventsAtOnce: Int64 = 20_000

    /// What was done.
    package struct Outcome: Sendable {
        /// How many events left the database.
        package var archived: Int64 = 0
        /// How many had left it before, and were read in the folder now.
        package var checked: Int64 = 0
        /// When the oldest batch that is still in the database was recorded, of the first of each partition; nil if none is.
        package var oldest: Timestamp?
    }

    /// Archives what was recorded before a time, as far as the folder has it, and has servers look for it in the folder.
    ///
    /// - Parameters:
    ///   - database: of a log that is in one database.
    ///   - path: the absolute path of a backup's folder.
    ///   - time: nil to archive nothing more, and only to read what was archived.
    ///   - progress: called with how many events were looked at, and how many there are to look at.
    /// - Throws: if the folder has another log, if a file is damaged, or if a batch is.
    package static func run(
        _ database: String, to path: String, before time: Timestamp?, progress: (Int64, Int64) -> Void
    ) async throws -> Outcome {
        guard try BackupFolder(at: path).list() != nil else {
            throw BackupError("\(path) has no backup: make one there first")
        }
        let folder = try BackupFolder(making: path)
        defer { withExtendedLifetime(folder) {} }
        let connection = try await PostgresConnection.connect(database, applicationName: "tiffin archive")
        defer { connection.close() }
        let list = try await connection.transaction { try await LogBackup.list(of: $0, in: folder) }
        let archive = BatchArchive(path)
        var parts: [(partition: Int, begin: Int64, goal: Int64)] = []
        for partition in 0..<list.partitions {
            // What the index has not, nobody finds by its stream later but by reading all of the archive.
            while try await connection.execute(Statements.index, [.int2(Int16(clamping: partition))])[0]["is_behind"]
                as Bool? ?? false
            {}
            let reached = list.reached.first { $0.partition == partition }?.position ?? 0
            let row = try await connection.execute(
                Statements.part,
                [
                    .int2(Int16(clamping: partition)), .int8(reached),
                    time.map { .int8($0.millisecondsSinceEpoch) } ?? .null, .text(path),
                ])[0]
            guard row["archived"] <= reached else {
                throw BackupError(
                    "partition \(partition): the folder ends at position \(reached), and events up to position "
                        + "\(row["archived"] as Int64) are not in the database any more")
            }
            parts.append((partition, row["begin"], row["goal"]))
        }
        let total = parts.reduce(0) { $0 + max($1.goal - $1.begin, 0) }
        var outcome = Outcome()
        for (partition, begin, goal) in parts {
            var position = begin
            while position < goal {
                position = try await connection.transaction { transaction in
                    try await step(transaction, archive, partition, after: position, to: goal, path, &outcome)
                }
                progress(outcome.archived + outcome.checked, total)
            }
            let next = try await connection.execute(
                Statements.next, [.int2(Int16(clamping: partition)), .int8(max(begin, goal))])
            if let time: Timestamp = next.first?["recorded_at"] { outcome.oldest = min(outcome.oldest ?? time, time) }
        }
        _ = try await connection.execute(Statements.keepFolder, [.text(path)])
        return outcome
    }

    /// Archives some batches behind a position. Returns where they end.
    private static func step(
        _ transaction: Transaction, _ archive: BatchArchive, _ partition: Int, after position: Int64, to goal: Int64,
        _ path: String, _ outcome: inout Outcome
    ) async throws -> Int64 {
        let rows = try await transaction.execute(
            Statements.batches,
            [.int2(Int16(clamping: partition)), .int8(position), .int8(goal), .int8(eventsAtOnce)])
        let batches = PostgresEventLog.commits(rows, partition)
        guard let last = batches.last else { return goal }
        let lines = try await archive.lines(of: batches)
        var (firsts, texts): ([Int64], [[UInt8]]) = ([], [])
        for (number, row) in rows.enumerated() {
            let count = batches[number].lastPosition - batches[number].firstPosition + 1
            guard !(row["is_archived"]) else {
                outcome.checked += count
                continue
            }
            outcome.archived += count
            firsts.append(batches[number].firstPosition)
            texts.append(lines[number])
        }
        if !firsts.isEmpty {
            // Before the first event leaves: no older version may serve the database from then on.
            _ = try await transaction.execute(Statements.endOfOlderVersions)
            _ = try await transaction.execute(Statements.keepFolder, [.text(path)])
            let archived = try await transaction.execute(
                Statements.archive, [.int2(Int16(clamping: partition)), .array(firsts), .array(utf8: texts)])
            guard archived.affectedCount == firsts.count else {
                throw BackupError(
                    "partition \(partition): a batch at position \(firsts[0]) or after it is damaged, in the database or in "
                        + "the folder: run tiffin audit")
            }
        }
        return max(last.firstPosition, last.lastPosition)
    }
}

private enum Statements {
    static let index = Statement("archive_index", "SELECT is_behind FROM tiffin.index_streams($1, 1000)", [.int2])

    // Up to where batches are archived, and up to where they are to be: before the first one that is not old enough, as far
    // as the folder goes. In the folder where they are looked for already, those that are there need not be read again.
    static let part = Statement(
        "archive_part",
        """
        SELECT archived, CASE WHEN $3::bigint IS NOT NULL AND EXISTS (SELECT FROM tiffin.archive WHERE folder = $4)
                THEN archived ELSE 0 END AS begin,
            CASE WHEN $3::bigint IS NULL THEN archived ELSE (
                SELECT coalesce(max(last_position), 0) FROM tiffin.batches
                WHERE partition = $1 AND last_position <= $2 AND first_position < coalesce((
                    SELECT min(first_position) FROM tiffin.batches WHERE partition = $1 AND first_position > archived
                        AND recorded_at >= to_timestamp($3::double precision / 1000)), \(LogHead.maximumPosition)))
            END AS goal
        FROM (
            SELECT coalesce(max(last_position), 0) AS archived FROM tiffin.batches
            WHERE partition = $1 AND events IS NULL) AS a
        """, [.int2, .int8, .int8, .text])

    static let batches = Statement(
        "archive_batches",
        """
        SELECT first_position, last_position, content_digest, chain_digest, recorded_at, is_archived FROM (
            SELECT *, sum(last_position - first_position + 1) OVER (ORDER BY first_position) AS count,
                row_number() OVER (ORDER BY first_position) AS number
            FROM (
                SELECT *, events IS NULL AS is_archived FROM tiffin.batches
                WHERE partition = $1 AND first_position > $2 AND last_position <= $3
                ORDER BY first_position LIMIT $4) AS b) AS b
        WHERE count <= $4 OR number = 1 ORDER BY first_position
        """, [.int2, .int8, .int8, .int8])

    static let next = Statement(
        "archive_next",
        """
        SELECT recorded_at FROM tiffin.batches WHERE partition = $1 AND first_position > $2
        ORDER BY first_position LIMIT 1
        """, [.int2, .int8])

    static let archive = Statement(
        "archive_events",
        """
        UPDATE tiffin.batches AS b SET events = NULL FROM unnest($2, $3) AS f (first_position, events)
        WHERE b.partition = $1 AND b.first_position = f.first_position AND b.events = f.events
        """, [.int2, .int8Array, .textArray])

    static let endOfOlderVersions = Statement(
        "archive_versions", "UPDATE tiffin.migrations SET served_since = number WHERE name = 'archive'")

    static let keepFolder = Statement(
        "archive_keep_folder",
        """
        INSERT INTO tiffin.archive (folder) VALUES ($1) ON CONFLICT (single) DO UPDATE SET folder = excluded.folder
        """, [.text])
}
