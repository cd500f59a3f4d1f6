package import EventLog
package import EventLoop
internal import Postgres

/// Makes a log of what a backup has, all of it or nothing.
@LoopActor
package struct LogRestore {
    private static let rowsAtOnce = 2_000
    private static let bytesAtOnce = 4 << 20

    private let folder: BackupFolder
    private let list: BackupFolder.List
    private let moment: BackupFolder.Moment

    /// A backup.
    ///
    /// - Throws: if there is none that is whole.
    package init(of path: String) throws {
        folder = BackupFolder(at: path)
        guard let list = try folder.list(), let moment = list.moment else {
            throw BackupError("\(path) has no backup that is whole")
        }
        // It is a file like any other: who wrote it is not known.
        guard (1...Migrations.maximumPartitions).contains(list.partitions),
            moment.ends.map(\.partition) == Array(0..<list.partitions),
            moment.ends.allSatisfy({ (0..<LogHead.maximumPosition).contains($0.epoch) }),
            moment.tables.allSatisfy({ LogBackup.tables.contains($0.table) })
        else { throw BackupError("\(path): its list says what no backup can") }
        self.list = list
        self.moment = moment
    }

    /// When the backup was made, RFC 3339.
    package var time: String { moment.time }
    /// Where the log ended then.
    package var heads: [LogHead] { moment.ends.map(LogHead.init) }
    /// How many partitions it has.
    package var partitions: Int { list.partitions }

    /// Fills a database, which has to have been migrated, and to have no events and no users.
    ///
    /// - Parameter progress: called with how many events are restored, and how many there are.
    package func run(into database: String, progress: (Int64, Int64) -> Void) async throws {
        let connection = try await PostgresConnection.connect(database, applicationName: "tiffin restore")
        defer { connection.close() }
        try await connection.transaction { transaction in
            try await prepare(transaction)
            let total = moment.ends.reduce(0) { $0 + $1.position }
            var done: Int64 = 0
            for end in moment.ends {
                try await fill(end, transaction) {
                    done += $0
                    progress(done, total)
                }
            }
            _ = try await transaction.execute(Statements.emptyRevision)
            for piece in moment.tables {
                let add = CopiedJSON.add(to: piece.table)
                for rows in LogRestore.pages(try folder.rows(of: piece)) {
                    _ = try await transaction.execute(add, [.array(rows)])
                }
            }
        }
    }

    private func prepare(_ transaction: Transaction) async throws {
        let row = try await transaction.execute(Statements.state)[0]
        guard !(row["is_used"]) else {
            throw BackupError("the database has a log with events or users: a backup is restored into a new one")
        }
        let migration: Int = row["migration"]
        guard migration == list.migration else {
            throw BackupError(
                "the backup is of migration \(list.migration), and this version has \(migration): restore it with the "
                    + "version that made it, and migrate then")
        }
        let count: Int = row["count"]
        guard count == list.partitions else {
            throw BackupError("the backup has \(list.partitions) partitions, and the database was made with \(count)")
        }
        _ = try await transaction.execute(Statements.place, [.text(list.placement)])
    }

    /// Adds the batches of a partition, and has its head say so. Servers that knew the log before it was restored must not
    /// take it for the one that they knew, so its epoch is a new one.
    private func fill(
        _ end: BackupFolder.End, _ transaction: Transaction, progress: (Int64) -> Void
    ) async throws {
        var (position, digest) = (Int64(0), Digest.zero)
        let pieces = list.batches.filter { $0.partition == end.partition && $0.first ?? .max <= end.position }
        for piece in pieces.sorted(by: { $0.first ?? 0 < $1.first ?? 0 }) {
            for rows in LogRestore.pages(try folder.rows(of: piece)) {
                let added = try await transaction.execute(
                    CopiedJSON.addBatches, [.int8(position), .bytes(digest.bytes), .array(rows)])[0]
                guard !(added["is_broken"] as Bool? ?? true) else {
                    throw BackupError("\(piece.name): its batches do not continue the chain at position \(position)")
                }
                let last: Int64 = added["last_position"]
                progress(last - position)
                (position, digest) = (last, added.digest("chain_digest") ?? .zero)
            }
        }
        guard position == end.position, digest.description == end.digest else {
            throw BackupError(
                "partition \(end.partition): the batches end at position \(position) with digest \(digest), and should at "
                    + "\(end.position) with \(end.digest)")
        }
        _ = try await transaction.execute(
            Statements.advance,
            [.int2(Int16(clamping: end.partition)), .int8(position), .bytes(digest.bytes), .int8(end.epoch + 1)])
    }

    /// The rows in parts of a size that a statement can take.
    private static func pages(_ rows: [String]) -> [[String]] {
        var (pages, page, bytes) = ([[String]](), [String](), 0)
        for row in rows {
            page.append(row)
            bytes += row.utf8.count
            guard page.count >= rowsAtOnce || bytes >= bytesAtOnce else { continue }
            pages.append(page)
            (page, bytes) = ([], 0)
        }
        return page.isEmpty ? pages : pages + [page]
    }
}

private enum Statements {
    static let state = Statement(
        "restore_state",
        """
        SELECT EXISTS (SELECT FROM tiffin.batches) OR EXISTS (SELECT FROM tiffin.users)
                OR EXISTS (SELECT FROM tiffin.customer_keys) AS is_used,
            (SELECT max(number) FROM tiffin.migrations) AS migration,
            (SELECT count FROM tiffin.partition_count) AS count
        """)

    static let place = Statement("restore_placement", "UPDATE tiffin.partition_count SET placement = $1", [.text])

    static let emptyRevision = Statement("restore_revision", "DELETE FROM tiffin.user_revision")

    static let advance = Statement(
        "restore_head",
        "UPDATE tiffin.log_head SET position = $2, digest = $3, epoch = $4 WHERE partition = $1",
        [.int2, .int8, .bytea, .int8])
}
