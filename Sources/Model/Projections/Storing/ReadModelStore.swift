public import Domain
public import EventLog

/// Where the read models of a log are saved.
public protocol ReadModelStore: AnyObject, Sendable {
    /// The read model as it was last saved, with its digests. It is empty if nothing was saved, or if what is stored
    /// does not follow from the log. Rows that are read by their keys stay where they are, but for the newest orders and
    /// those that are open.
    ///
    /// - Parameter empty: an empty one of the partition, which holds only some carts and orders.
    func restore(
        _ empty: ReadModel, log: any EventLog
    ) async throws(ReadModelStoreFailure) -> SavedReadModel

    /// Goes through the rows that are read by their keys, so that it is known which there are, and compares them with
    /// their digest. Returns a read model that they were restored into, at their position.
    ///
    /// - Parameter empty: as before.
    func survey(_ empty: ReadModel) async throws(ReadModelStoreFailure) -> ReadModelSurvey

    /// Reads rows by their keys, as of the newest checkpoint of the active generation.
    ///
    /// - Parameter keys: at most ``ReadModel/keysAtOnce``.
    func rows(
        of projection: RegisteredProjection, with keys: [Identifier], in partition: Int
    ) async throws(ReadModelStoreFailure) -> KeyedRows

    /// Reads rows of orders that were placed before a position, the newest first, as of the newest checkpoint of the active
    /// generation: at most ``StoredOrders/readAtOnce``. All that meet the filter are among them, and others.
    func orders(
        _ filter: OrderFilter, before position: Int64, in partition: Int
    ) async throws(ReadModelStoreFailure) -> KeyedRows

    /// Writes a checkpoint's rows and position, unless another server has saved one that is as new.
    ///
    /// - Parameters:
    ///   - saved: the position of the checkpoint that it continues; 0 if there is none.
    ///   - chain: the log's chain up to the checkpoint's position; nil if it is not known.
    ///   - generations: those of the rows that the checkpoint continues.
    ///   - replaces: whether the checkpoint holds every row, and what is stored was rejected.
    func save(
        _ checkpoint: Checkpoint, since saved: Int64, after chain: Digest?, into generations: ReadModel.Generations,
        replaces: Bool
    ) async throws(ReadModelStoreFailure) -> SavedCheckpoint

    /// The generations that servers begin with and save to.
    func generations(of partition: Int) async throws(ReadModelStoreFailure) -> ReadModel.Generations

    /// Folds the log from its beginning, and switches to the resulting rows. If nothing has been saved yet, the rows of
    /// every projection are saved. Returns nil if nothing has happened yet.
    ///
    /// - Parameter progress: receives the position that has been reached, and the one to reach.
    func rebuild(
        _ projections: Set<RegisteredProjection>, of partition: Int, from log: any EventLog,
        progress: @escaping @Sendable (Int64, Int64) -> Void
    ) async throws(ReadModelStoreFailure) -> RebuildReport?
}

/// Why a read model was not saved, restored or rebuilt.
public struct ReadModelStoreFailure: Error, CustomStringConvertible {
    /// Why there is nothing to rebuild.
    public static let nothingHappened = ReadModelStoreFailure("nothing to rebuild: nothing has happened yet")

    /// What went wrong, for an operator.
    public let description: String
    /// Whether something stored cannot be read: only an operator can help.
    public let isDamage: Bool

    /// What went wrong, for an operator.
    public init(_ description: String, isDamage: Bool = false) {
        self.description = description
        self.isDamage = isDamage
    }
}

/// What became of a checkpoint.
public struct SavedCheckpoint: Sendable {
    /// What happened to its rows.
    public enum Outcome: Sendable {
        /// They are in the database.
        case saved
        /// Another server's checkpoint is as new: nothing was written.
        case another
        /// A rebuild has replaced the rows that it continues with another generation: nothing was written.
        case superseded
        /// The log is not the one that the rows were folded from: nothing was written.
        case forked
        /// Stored rows that it continues are not as the log has them: nothing was written. They are unread in it.
        case contradicted
        /// The rows that it continues are not in the database, as after a switch to a standby that did not have them yet:
        /// nothing was written.
        case lost
    }

    /// What happened to its rows.
    public var outcome: Outcome
    /// The checkpoint, with the digests of its rows where they were written.
    public var checkpoint: Checkpoint
    /// The generations that its rows belong to.
    public var generations: ReadModel.Generations

    /// What became of a checkpoint.
    public init(_ outcome: Outcome, _ checkpoint: Checkpoint, _ generations: ReadModel.Generations) {
        self.outcome = outcome
        self.checkpoint = checkpoint
        self.generations = generations
    }
}

/// Rows that were read by their keys.
public struct KeyedRows: Sendable {
    /// The generation that they belong to, and the position of its checkpoint.
    public let generation: Int32
    public let position: Int64
    /// Those that there are.
    public let rows: any StoredRows

    /// Rows that were read by their keys.
    public init(generation: Int32, position: Int64, rows: any StoredRows) {
        self.generation = generation
        self.position = position
        self.rows = rows
    }
}

/// What going through stored rows led to.
public enum ReadModelSurvey: Sendable {
    /// They are those that were saved.
    case sound(ReadModel)
    /// They are not, for this reason.
    case damaged(String)
}

/// What a rebuild did in a partition.
public struct RebuildReport: Sendable {
    /// What happened to a projection's rows.
    public struct Change: Sendable {
        /// The projection.
        public var projection: RegisteredProjection
        /// The generation that is active now.
        public var generation: Int32
        /// How many of its rows differ from the generation before.
        public var differenceCount: Int
        /// The keys of the first few of those.
        public var examples: [String]

        public init(
            projection: RegisteredProjection, generation: Int32, differenceCount: Int, examples: [String]
        ) {
            self.projection = projection
            self.generation = generation
            self.differenceCount = differenceCount
            self.examples = examples
        }
    }

    /// The position of the new rows, and of those that they replaced.
    public var position: Int64
    /// One for each projection.
    public var changes: [Change]
    /// Whether nothing had been saved before: then every projection was saved, as all are saved together.
    public var isFirst: Bool

    public init(position: Int64, changes: [Change], isFirst: Bool = false) {
        self.position = position
        self.changes = changes
        self.isFirst = isFirst
    }

    /// How many rows differ from those before.
    public var differenceCount: Int { changes.reduce(0) { $0 + $1.differenceCount } }
}

extension ReadModel {
    /// The generation of each projection's rows.
    public typealias Generations = [RegisteredProjection: Int32]

    /// The most rows that are read by their keys at once.
    public static let keysAtOnce = 2_000

    /// The generations of rows that have never been rebuilt.
    public static let firstGenerations = Generations(uniqueKeysWithValues: projections.map { ($0, 1) })
}
