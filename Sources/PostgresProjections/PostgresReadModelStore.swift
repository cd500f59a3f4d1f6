// The read models in PostgreSQL: their rows, written in one transaction with the position up to which they
// were folded. So a restart continues exactly there, and SQL sees every row as of that position.

internal import Domain
internal import EventLog
public import EventLoop
internal import Postgres
public import Projections

/// Saves and restores read models in the schema `tiffin`.
@LoopActor
public final class PostgresReadModelStore {
    /// What became of a checkpoint.
    public enum Outcome: Sendable {
        /// Its rows are in the database.
        case saved
        /// Another server's checkpoint is as new: nothing was written.
        case another
        /// Rows of another generation have taken the place of those that it continues: nothing was written.
        case superseded
    }

    /// The generation of each projection's rows.
    public typealias Generations = [ProjectionName: Int32]

    /// The generations of rows that nobody has made anew.
    public nonisolated static let firstGenerations: Generations = [.outletHome: 1, .cartCounts: 1]

    /// Why a read model was not saved or restored.
    public struct Failure: Error, CustomStringConvertible {
        /// What went wrong, for an operator.
        public let description: String

        /// What went wrong, for an operator.
        public init(_ description: String) { self.description = description }
    }

    private let database: String
    private var connection: PostgresConnection?
    /// Whether somebody has the connection, and who waits for it: each partition saves one checkpoint at a time.
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// A store in a migrated database.
    public init(_ database: String) {
        self.database = database
    }

    /// Another store in the same database.
    public func withOwnConnection() -> PostgresReadModelStore { PostgresReadModelStore(database) }

    /// Closes the connection.
    public func close() {
        connection?.close()
        connection = nil
    }

    private func connected() async throws(PostgresError) -> PostgresConnection {
        if let connection, connection.isOpen { return connection }
        let made = try await PostgresConnection.connect(database, applicationName: "tiffin projections")
        do throws(PostgresError) {
            _ = try await made.execute(Statement("set_role", "SET ROLE tiffin_server"), [])
        } catch {
            made.close()
            throw error
        }
        connection = made
        return made
    }

    /// Runs a transaction on the connection, after those of other partitions.
    func transaction<Result: Sendable>(
        _ body: @LoopActor (Transaction) async throws -> Result
    ) async throws -> Result {
        if isTaken { await withCheckedContinuation { waiting.append($0) } }
        isTaken = true
        defer { if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() } }
        return try await connected().transaction(body)
    }

    // MARK: Saving

    /// Writes a checkpoint's rows and position, unless another server's are as new.
    ///
    /// - Parameter generations: those of the rows that the checkpoint continues.
    public func save(
        _ checkpoint: inout Checkpoint, into generations: Generations
    ) async throws(Failure) -> Outcome {
        let partition = checkpoint.partition
        do {
            let taken = checkpoint
            let (outcome, saved) = try await transaction { transaction in
                var pending = taken
                // There has to be something to lock: two servers may save for the first time at once.
                _ = try await transaction.execute(
                    Statements.reserve,
                    [.int2(Int16(partition)), .array(ProjectionName.allCases.map(\.rawValue))])
                let active = try await StoredGeneration.lock(.active, of: partition, transaction)
                guard active.mapValues(\.generation) == generations, active.allSatisfy({ $0.value.isOurs(of: $0.key) })
                else { return (Outcome.superseded, pending) }
                guard active.values.allSatisfy({ $0.position < pending.position }) else {
                    return (Outcome.another, pending)
                }
                while let slice = pending.nextSlice() {
                    try await slice.write(partition, generations[slice.projection] ?? 1, transaction)
                }
                for (projection, event) in pending.quarantined {
                    guard let name = ProjectionName(rawValue: projection) else { continue }
                    try await event.write(partition, name, generations[name] ?? 1, transaction)
                }
                for name in ProjectionName.allCases {
                    _ = try await transaction.execute(
                        Statements.checkpoint,
                        [
                            .int2(Int16(partition)), .text(name.rawValue), .int4(Int32(name.version)),
                            .int8(pending.position), .bytes(pending.digests[name].bytes),
                        ])
                }
                return (Outcome.saved, pending)
            }
            checkpoint = saved
            return outcome
        } catch {
            throw Failure("\(error)")
        }
    }

    /// The generations that servers begin with and save to.
    public func generations(of partition: Int) async throws(Failure) -> Generations {
        do {
            let active = try await transaction { try await StoredGeneration.read(.active, of: partition, $0) }
            return active.isEmpty ? PostgresReadModelStore.firstGenerations : active.mapValues(\.generation)
        } catch {
            throw Failure("\(error)")
        }
    }
}
