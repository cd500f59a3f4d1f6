package import EventLog
package import EventLoop
internal import Foundation
internal import Postgres

/// Copies a log to a folder, while servers write: batches once, as they never change, and the tables beside them each
/// time. It can be killed at any time and run again.
@LoopActor
package enum LogBackup {
    /// About how many bytes a file has.
    private static let pieceBytes = 16 << 20
    private static let rowsAtOnce: Int64 = 2_000
    private static let bytesAtOnce: Int64 = 4 << 20

    /// The tables that the log does not give back, in the order in which they can be filled. Read models, the index of
    /// streams and the tree follow from the log; who serves it does not matter later.
    static let tables = [
        "user_revision", "users", "relays", "relay_cursors", "relay_deliveries", "customer_keys", "pictures",
        "pending_deeds", "signed_heads",
    ]

    /// What was done.
    package struct Outcome: Sendable {
        /// Where the log ended.
        package let heads: [LogHead]
        /// How many events were not in the folder before.
        package let events: Int64
    }

    /// Copies what the folder lacks.
    ///
    /// - Parameters:
    ///   - database: of a log that is in one database.
    ///   - time: RFC 3339.
    ///   - progress: called with how many events are in the folder, and how many there are.
    /// - Throws: if the folder has another log, or one that went on otherwise.
    package static func run(
        _ database: String, to path: String, at time: String, progress: (Int64, Int64) -> Void
    ) async throws -> Outcome {
        let folder = try BackupFolder(making: path)
        let connection = try await PostgresConnection.connect(database, applicationName: "tiffin backup")
        defer { connection.close() }
        return try await connection.transaction { transaction in
            _ = try await transaction.execute(ReadModelStatements.oneSnapshot)
            var list = try await list(of: transaction, in: folder)
            let before = list.moment
            let ends = try await transaction.execute(Statements.ends).map { row in
                BackupFolder.End(
                    partition: row["partition"], position: row["position"],
                    digest: (row.digest("digest") ?? .zero).description, epoch: row["epoch"])
            }
            let total = ends.reduce(0) { $0 + $1.position }
            var done = list.reached.reduce(0) { $0 + $1.position }
            let began = done
            for end in ends {
                try await copyBatches(up: end, transaction, folder, &list) {
                    done += $0
                    progress(done, total)
                }
            }
            let number =
                (before?.tables.compactMap { Int($0.name.split(separator: ".").dropFirst().first ?? "") }.max() ?? 0)
                + 1
            var pieces: [BackupFolder.Piece] = []
            for table in tables { pieces += try await copy(table, number, transaction, folder) }
            // Batches stay as they were copied, at whatever migration: a table takes of a row the columns that it has.
            list.migration = try await migration(of: transaction)
            list.moment = BackupFolder.Moment(time: time, ends: ends, tables: pieces)
            try folder.keep(list)
            folder.removeOthers(list)
            return Outcome(heads: ends.map(LogHead.init), events: done - began)
        }
    }

    private static func migration(of transaction: Transaction) async throws -> Int {
        try await transaction.execute(Statements.migration)[0]["number"]
    }

    /// The folder's list, if it is of this log.
    static func list(
        of transaction: Transaction, in folder: BackupFolder
    ) async throws -> BackupFolder.List {
        guard let row = try await transaction.execute(Partitioning.stored).first, let partitioning = Partitioning(row)
        else { throw BackupError("the database has no log") }
        if let problem = Partitioning.problem(with: row, named: nil) { throw BackupError(problem) }
        let migration = try await migration(of: transaction)
        let made = BackupFolder.List(
            migration: migration, partitions: partitioning.count, placement: partitioning.rule.rawValue)
        guard let list = try folder.list() else { return made }
        guard list.partitions == made.partitions, list.placement == made.placement else {
            throw BackupError("the folder has a backup of another log")
        }
        guard list.migration <= migration else {
            throw BackupError(
                "the folder has a backup of migration \(list.migration), and the database is at \(migration): begin another"
            )
        }
        for end in list.reached {
            let found = try await transaction.execute(
                Statements.hasPoint,
                [
                    .int2(Int16(clamping: end.partition)), .int8(end.position),
                    .bytes(Digest(hexadecimal: end.digest)?.bytes ?? []),
                ])
            guard found[0]["has_point"] else {
                throw BackupError(
                    "partition \(end.partition): the database does not have what the folder has up to position "
                        + "\(end.position). It has lost its newest events, or has another log: begin another folder")
            }
        }
        return list
    }

    private static func copyBatches(
        up end: BackupFolder.End, _ transaction: Transaction, _ folder: BackupFolder, _ list: inout BackupFolder.List,
        progress: (Int64) -> Void
    ) async throws {
        let index = list.reached.firstIndex { $0.partition == end.partition }
        var reached =
            index.map { list.reached[$0] }
            ?? BackupFolder.End(
                partition: end.partition, position: 0, digest: Digest.zero.description, epoch: 0)
        if index == nil { list.reached.append(reached) }
        while reached.position < end.position {
            var (rows, bytes) = ([String](), 0)
            let first = reached.position + 1
            while bytes < pieceBytes, reached.position < end.position {
                let page = try await transaction.execute(
                    Statements.batches,
                    [
                        .int2(Int16(clamping: end.partition)), .int8(reached.position), .int8(rowsAtOnce),
                        .int8(bytesAtOnce),
                    ])
                guard let last = page.last else {
                    throw BackupError(
                        "partition \(end.partition): there is no batch behind position \(reached.position)")
                }
                for row in page {
                    guard !(row["is_archived"]) else {
                        throw BackupError(
                            "partition \(end.partition): events behind position \(reached.position) are in an archive "
                                + "alone. Copy that folder, and back up to the copy")
                    }
                    let text: String = row["row"]
                    bytes += text.utf8.count
                    rows.append(text)
                }
                reached.position = last["last_position"]
                reached.digest = (last.digest("chain_digest") ?? .zero).description
            }
            let name = BackupFolder.nameOfBatches(of: end.partition, from: first)
            list.batches.append(
                BackupFolder.Piece(
                    name: name, table: "batches", partition: end.partition, first: first,
                    digest: try folder.write(rows, to: name)))
            list.reached[list.reached.firstIndex { $0.partition == end.partition } ?? 0] = reached
            try folder.keep(list)
            progress(reached.position - first + 1)
        }
        guard reached.position == end.position, reached.digest == end.digest else {
            throw BackupError("partition \(end.partition): its batches do not lead to its head: run tiffin audit")
        }
    }

    private static func copy(
        _ table: String, _ number: Int, _ transaction: Transaction, _ folder: BackupFolder
    ) async throws -> [BackupFolder.Piece] {
        try await transaction.runScript(
            "DECLARE copied NO SCROLL CURSOR FOR SELECT to_json(t)::text AS row FROM tiffin.\(table) AS t")
        var pieces: [BackupFolder.Piece] = []
        var (rows, bytes, isAtEnd) = ([String](), 0, false)
        while !isAtEnd {
            let page = try await transaction.execute(Statements.fetch)
            isAtEnd = page.isEmpty
            for row in page {
                let text: String = row["row"]
                bytes += text.utf8.count
                rows.append(text)
            }
            guard bytes >= pieceBytes || isAtEnd, !rows.isEmpty else { continue }
            let name = "tables/\(table).\(number).\(pieces.count + 1).jsonl"
            pieces.append(BackupFolder.Piece(name: name, table: table, digest: try folder.write(rows, to: name)))
            (rows, bytes) = ([], 0)
        }
        try await transaction.runScript("CLOSE copied")
        return pieces
    }
}

extension LogHead {
    init(_ end: BackupFolder.End) {
        self.init(
            partition: end.partition, position: end.position, digest: Digest(hexadecimal: end.digest) ?? .zero)
    }
}

private enum Statements {
    static let migration = Statement(
        "newest_migration", "SELECT coalesce(max(number), 0) AS number FROM tiffin.migrations")

    static let ends = Statement(
        "backup_ends", "SELECT partition, position, digest, epoch FROM tiffin.log_head ORDER BY partition")

    static let hasPoint = Statement(
        "backup_point", "SELECT $2 = 0 OR tiffin.has_point($1, $2, $3) AS has_point", [.int2, .int8, .bytea])

    static let batches = CopiedJSON.batches

    // Pictures are large.
    static let fetch = Statement("backup_rows", "FETCH 20 FROM copied")
}
