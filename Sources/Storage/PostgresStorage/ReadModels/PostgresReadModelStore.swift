// The read models in PostgreSQL: their rows, written in one transaction with the position up to which they were
// folded. So a restart continues exactly there, and SQL sees every row as of that position.

internal import Domain
package import EventLog
package import EventLoop
internal import Postgres
package import Projections

/// Saves and restores read models in the schema `tiffin`.
@LoopActor
package final class PostgresReadModelStore {
    /// The outcome of a checkpoint.
    package enum Outcome: Sendable {
        /// Its rows are in the database.
        case saved
        /// Another server's checkpoint is as new: nothing was written.
        case another
        /// A rebuild has replaced the rows that it continues with another generation: nothing was written.
        case superseded
        /// The log is not the one that the rows were folded from: nothing was written.
        case forked
    }

    /// The generation of each projection's rows.
    package typealias Generations = [RegisteredProjection: Int32]

    /// The generations of rows that have never been rebuilt.
    package nonisolated static let firstGenerations = Generations(
        uniqueKeysWithValues: ReadModel.projections.map { ($0, 1) })

    /// Why a read model was not saved or restored.
    package struct Failure: Error, CustomStringConvertible {
        /// What went wrong, for an operator.
        package let description: String

        /// What went wrong, for an operator.
        package init(_ description: String) { self.description = description }
    }

    /// Runs a body, and has whatever it throws in the words of a failure.
    static func failing<Result>(_ body: () async throws -> Result) async throws(Failure) -> Result {
        do {
            return try await body()
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure("\(error)")
        }
    }

    /// Why there is nothing to rebuild.
    package nonisolated static let nothingHappened = Failure("nothing to rebuild: nothing has happened yet")

    /// How long the database may say nothing while all rows of a table are read or removed.
    nonisolated static let patienceForAllRows = Duration.seconds(300)

    private let database: String
    private let hasRoom: @LoopActor () -> Bool
    private let report: (@LoopActor (String) -> Void)?
    private let kept: KeptConnection

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
        kept = KeptConnection(
            database, name: name, rights: .role("tiffin_server"), deadlines: deadlines, report: report)
    }

    /// Another store in the same database, for a rebuild.
    package func withOwnConnection() -> PostgresReadModelStore {
        PostgresReadModelStore(
            database, hasRoom, report, name: "tiffin rebuild", report == nil ? .none : .rebuilding)
    }

    /// How its connection is, for `INFO`.
    package var connectionLine: (name: String, value: String) { kept.line }

    /// Closes the connection.
    package func close() { kept.close() }

    /// Runs a transaction on the connection, after those of other partitions.
    ///
    /// - Parameter patience: how long the database may say nothing, where that is longer than usual.
    func transaction<Result: Sendable>(
        patience: Duration = .zero, _ body: @LoopActor (Transaction) async throws -> Result
    ) async throws -> Result {
        try await kept.transaction(patience: patience, body)
    }

    // MARK: Saving

    /// Writes a checkpoint's rows and position, unless another server has saved one that is as new.
    ///
    /// - Parameters:
    ///   - chain: the log's chain up to the checkpoint's position; nil if it is not known.
    ///   - generations: those of the rows that the checkpoint continues. If it replaces them, they become those of
    ///     the new rows.
    ///   - replaces: whether the checkpoint holds every row, and what is stored was rejected.
    package func save(
        _ checkpoint: inout Checkpoint, after chain: Digest?, into generations: inout Generations, replaces: Bool
    ) async throws(Failure) -> Outcome {
        guard hasRoom() else { throw Failure("the database's disk is full") }
        do {
            let (taken, expected) = (checkpoint, generations)
            let patience = replaces ? PostgresReadModelStore.patienceForAllRows : .zero
            let (outcome, saved, used) = try await transaction(patience: patience) { transaction in
                var pending = taken
                let stored = StoredProjections(transaction)
                let partition = pending.partition
                // There has to be a row to lock: two servers may save for the first time at once.
                try await stored.reserve(partition: partition)
                let active = try await stored.lock(partition: partition)
                let point = LogPoint(position: pending.position, digest: chain)
                guard try await stored.hasPoint(point, partition: partition) else {
                    return (Outcome.forked, pending, expected)
                }
                guard expected.allSatisfy({ active[$0.key]?.generation == $0.value }) else {
                    return (Outcome.superseded, pending, expected)
                }
                var used = active.mapValues(\.generation)
                if replaces {
                    for projection in active.keys {
                        used[projection] = try await stored.nextGeneration(of: projection, partition: partition)
                    }
                } else {
                    guard used == expected, active.allSatisfy({ $0.value.isOurs(of: $0.key) }) else {
                        return (Outcome.superseded, pending, expected)
                    }
                    guard active.values.allSatisfy({ $0.position < pending.position }) else {
                        return (Outcome.another, pending, expected)
                    }
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
                return (Outcome.saved, pending, used)
            }
            checkpoint = saved
            generations = used
            return outcome
        } catch {
            throw Failure("\(error)")
        }
    }

    /// The generations that servers begin with and save to.
    package func generations(of partition: Int) async throws(Failure) -> Generations {
        try await PostgresReadModelStore.failing {
            let active = try await transaction { try await StoredProjections($0).known(.active, of: partition) }
            return active.isEmpty ? PostgresReadModelStore.firstGenerations : active.mapValues(\.generation)
        }
    }
}

extension StoredProjections {
    /// Writes a checkpoint's rows and quarantined streams, for the projections that have an entry in `generations`.
    @LoopActor
    func write(
        _ checkpoint: inout Checkpoint, into generations: PostgresReadModelStore.Generations
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
