// The read models in PostgreSQL: their rows, written in one transaction with the position up to which they were
// folded. So a restart continues exactly there, and SQL sees every row as of that position.

internal import Domain
package import EventLog
package import EventLoop
internal import Postgres
package import Projections

/// Saves and restores read models in the schema `tiffin`.
@LoopActor
package final class PostgresReadModelStore: ReadModelStore {
    package typealias Failure = ReadModelStoreFailure

    /// Runs a body, and has whatever it throws in the words of a failure.
    static func failing<Result>(_ body: () async throws -> Result) async throws(Failure) -> Result {
        do {
            return try await body()
        } catch let failure as Failure {
            throw failure
        } catch let error as PostgresError where error.sqlState.isDamage {
            let tables = ReadModel.projections.map(\.table) + ["projection_checkpoints", "quarantine"]
            throw Failure(
                "\(error). Where that is one of the tables of saved rows, they are made again from the log after "
                    + "'TRUNCATE \(tables.map { "tiffin.\($0)" }.joined(separator: ", "))' while no server runs",
                isDamage: true)
        } catch {
            throw Failure("\(error)")
        }
    }

    /// How long the database may say nothing while all rows of a table are read or removed.
    nonisolated static let patienceForAllRows = Duration.seconds(300)

    private let database: String
    private let hasRoom: @LoopActor () -> Bool
    private let report: (@LoopActor (String) -> Void)?
    private let kept: KeptConnection
    /// Clients wait for what is read by keys, so it waits for nothing else.
    let reading: KeptConnection
    /// All rows are gone through on a connection of its own.
    let surveying: KeptConnection

    /// A store in a migrated database.
    ///
    /// - Parameters:
    ///   - hasRoom: whether the database's disk has room. Without it, nothing is saved.
    ///   - report: given by a server, which goes on when the database says nothing: it learns of that. Without it, a
    ///     statement may take as long as it takes.
    package convenience init(
        _ database: String, hasRoom: @escaping @LoopActor () -> Bool = { true },
        report: (@LoopActor (String) -> Void)? = nil
    ) {
        self.init(
            database, hasRoom, report, name: "tiffin projections", report == nil ? .none : .background)
    }

    private init(
        _ database: String, _ hasRoom: @escaping @LoopActor () -> Bool, _ report: (@LoopActor (String) -> Void)?,
        name: String, _ deadlines: KeptConnection.Deadlines
    ) {
        self.database = database
        self.hasRoom = hasRoom
        self.report = report
        let connection = { name, deadlines in
            KeptConnection(database, name: name, rights: .role("tiffin_server"), deadlines: deadlines, report: report)
        }
        kept = connection(name, deadlines)
        reading = connection("tiffin rows", report == nil ? .none : .reading)
        surveying = connection("tiffin survey", report == nil ? .none : .rebuilding)
    }

    /// Another store in the same database, for a rebuild.
    private func withOwnConnection() -> PostgresReadModelStore {
        PostgresReadModelStore(
            database, hasRoom, report, name: "tiffin rebuild", report == nil ? .none : .rebuilding)
    }

    /// How its connections are, for `INFO`.
    package var connectionLines: [(name: String, value: String)] { [kept, reading, surveying].map(\.line) }

    /// Closes the connections.
    package func close() { for connection in [kept, reading, surveying] { connection.close() } }

    /// Runs a transaction on the connection, after those of other partitions.
    ///
    /// - Parameter patience: how long the database may say nothing, where that is longer than usual.
    func transaction<Result: Sendable>(
        patience: Duration = .zero, _ body: @LoopActor (Transaction) async throws -> Result
    ) async throws -> Result {
        try await kept.transaction(patience: patience, body)
    }

    // MARK: Saving

    @LoopActor
    package func save(
        _ checkpoint: Checkpoint, since saved: Int64, after chain: Digest?, into expected: ReadModel.Generations,
        replaces: Bool
    ) async throws(Failure) -> SavedCheckpoint {
        guard hasRoom() else { throw Failure("the database's disk is full") }
        return try await PostgresReadModelStore.failing {
            let patience = replaces ? PostgresReadModelStore.patienceForAllRows : .zero
            return try await transaction(patience: patience) { transaction in
                var pending = checkpoint
                let stored = StoredProjections(transaction)
                let partition = pending.partition
                // There has to be a row to lock: two servers may save for the first time at once.
                try await stored.reserve(partition: partition)
                let active = try await stored.lock(partition: partition)
                let point = LogPoint(position: pending.position, digest: chain)
                guard try await stored.hasPoint(point, partition: partition) else {
                    return SavedCheckpoint(.forked, pending, expected)
                }
                guard expected.allSatisfy({ active[$0.key]?.generation == $0.value }) else {
                    return SavedCheckpoint(.superseded, pending, expected)
                }
                var used = active.mapValues(\.generation)
                if replaces {
                    for projection in active.keys {
                        used[projection] = try await stored.nextGeneration(of: projection, partition: partition)
                    }
                } else {
                    guard used == expected, active.allSatisfy({ $0.value.isOurs(of: $0.key) }) else {
                        return SavedCheckpoint(.superseded, pending, expected)
                    }
                    guard active.values.allSatisfy({ $0.position >= saved }) else {
                        return SavedCheckpoint(.lost, pending, expected)
                    }
                    guard active.values.allSatisfy({ $0.position < pending.position }) else {
                        return SavedCheckpoint(.another, pending, expected)
                    }
                }
                guard try await stored.read(&pending) else {
                    return SavedCheckpoint(.contradicted, pending, expected)
                }
                try await stored.write(&pending, into: used)
                for (projection, checkpoint) in active {
                    let digest = pending.digests[projection]
                    if replaces {
                        try await stored.delete(projection, checkpoint.generation, partition: partition)
                        try await stored.activate(
                            projection, used[projection] ?? 1, partition: partition, at: pending.position, digest)
                    } else {
                        try await stored.advance(projection, partition: partition, to: pending.position, digest)
                    }
                }
                return SavedCheckpoint(.saved, pending, used)
            }
        }
    }

    @LoopActor
    package func generations(of partition: Int) async throws(Failure) -> ReadModel.Generations {
        try await PostgresReadModelStore.failing {
            let active = try await transaction { try await StoredProjections($0).known(.active, of: partition) }
            return active.isEmpty ? ReadModel.firstGenerations : active.mapValues(\.generation)
        }
    }

    @LoopActor
    package func rebuild(
        _ projections: Set<RegisteredProjection>, of partition: Int, from log: any EventLog,
        progress: @escaping @Sendable (Int64, Int64) -> Void
    ) async throws(Failure) -> RebuildReport? {
        let own = withOwnConnection()
        defer { own.close() }
        return try await Rebuild(projections, store: own, log: log).run(partition: partition, progress: progress)
    }
}

extension StoredProjections {
    /// Reads the stored rows that a checkpoint counts from. Returns whether they are as the log has them.
    @LoopActor
    func read(_ checkpoint: inout Checkpoint) async throws -> Bool {
        for projection in ReadModel.projections where projection.isReadByKey {
            var keys = checkpoint.unread(of: projection)[...]
            while !keys.isEmpty {
                let some = Array(keys.prefix(ReadModel.keysAtOnce))
                keys = keys.dropFirst(some.count)
                let rows = try await rows(of: projection, with: some, partition: checkpoint.partition)
                await StoredProjections.read(rows.rows, of: projection, some, into: &checkpoint)
            }
            guard checkpoint.unread(of: projection).isEmpty else { return false }
        }
        return true
    }

    @concurrent
    private nonisolated static func read(
        _ rows: any StoredRows, of projection: RegisteredProjection, _ keys: [Identifier],
        into checkpoint: inout Checkpoint
    ) async {
        checkpoint.read(rows, of: projection, keys)
    }

    /// Writes a checkpoint's rows and quarantined streams, for the projections that have an entry in `generations`.
    @LoopActor
    func write(
        _ checkpoint: inout Checkpoint, into generations: ReadModel.Generations
    ) async throws(PostgresError) {
        while let slice = await StoredProjections.nextSlice(of: &checkpoint) {
            guard let generation = generations[slice.projection] else { continue }
            try await write(slice, generation, partition: checkpoint.partition)
        }
        for (projection, event) in checkpoint.quarantined {
            guard let generation = generations[projection] else { continue }
            try await write(event, projection, generation, partition: checkpoint.partition)
        }
    }

    /// The next rows, made on another thread: it takes long to make a large one.
    @concurrent
    private nonisolated static func nextSlice(of checkpoint: inout Checkpoint) async -> Checkpoint.Slice? {
        checkpoint.nextSlice()
    }
}
