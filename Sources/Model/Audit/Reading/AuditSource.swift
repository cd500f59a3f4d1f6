// Audit: derives everything from the log again, and compares it with what is stored and shown.
//
// It promises:
// - it changes nothing, needs only the right to read, and works while servers write, and on a replica;
// - it ends, whatever the tables hold;
// - memory grows with what the read models and carts hold, not with the length of the log;
// - it reports whatever differs, with the first event from which it does.

public import Domain
public import EventLog
public import Projections

/// What an audit reads.
public protocol AuditSource: Sendable {
    /// Which partitions the log says it has, and what belongs to them; nil if it does not say.
    func partitioning() async throws -> Partitioning?

    /// The rows of `log_head`, as they are stored.
    func heads() async throws -> [StoredHead]

    /// The partitions that have batches.
    func partitions() async throws -> [Int]

    /// The events of a partition after a position, in order, at most `limit`.
    func page(partition: Int, after position: Int64, limit: Int) async throws -> EventPage

    /// The events of a stream, in order, at most `limit`.
    func events(partition: Int, stream: StreamName, limit: Int) async throws -> [RecordedEvent]

    /// The batches of a partition that begin after a position, ordered by where they begin, at most `limit`.
    func commits(partition: Int, behind position: Int64, limit: Int) async throws -> [Commit]

    /// Batches that are never read: before the first position, or after the head. Only the first ones, as many as a
    /// report has room for.
    func strays(partition: Int, head: Int64) async throws -> [StrayRow]

    /// What somebody has changed about the tables of the projections. Then nothing can be read from them.
    func changedColumns() async throws -> [ChangedColumn]

    /// Functions, views and the like that are not as the migrations made them.
    func schemaFaults() async throws -> [SchemaFault]

    /// What is said of the events in batches, and is wrong, wherever the events are.
    func batchFaults(partition: Int) async throws -> BatchFaults

    /// How many nodes of level 1 are kept of the tree over a partition: one more than the highest number among them.
    func keptTreeNodes(partition: Int) async throws -> Int64

    /// Nodes that are kept of a level, in the order of their numbers.
    func treeNodes(partition: Int, level: Int, numbers: Range<Int64>) async throws -> [TreeNode]

    /// Nodes that are kept and that no tree over so many batches has. Only the first ones, as many as a report has room
    /// for.
    func strayTreeNodes(partition: Int, size: Int64) async throws -> [TreeNode]

    /// How far each generation of each projection of a partition is stored, and the digest of its rows.
    func checkpoints(partition: Int) async throws -> [StoredCheckpoint]

    /// The generations of a projection that have rows or streams in quarantine, whatever checkpoints say.
    func generations(of projection: RegisteredProjection, partition: Int) async throws -> [Int32]

    /// The stored rows of a generation of a projection after a key, in the order of their keys, as many as are read
    /// at once; nil if there are no more.
    ///
    /// - Parameter isWhole: whether to read columns that no restart needs, too.
    func rows(
        of projection: RegisteredProjection, _ generation: Int32, partition: Int, after key: String?, isWhole: Bool
    ) async throws -> (any Projections.StoredRows)?

    /// The streams of a partition that a generation of a projection does not show, as they are stored.
    func quarantined(
        _ projection: RegisteredProjection, _ generation: Int32, partition: Int
    ) async throws -> [CorruptEvent]

    /// The deeds beside the log, as the tables show them, whose streams belong to a partition; nil where the tables may
    /// not be read.
    func deeds(partition: Int) async throws -> StoredDeeds?

    /// The keys of customers in a partition, or the marks there that they are forgotten; nil where the table of keys may
    /// not be read.
    func keys(of customers: [Identifier], partition: Int) async throws -> [Identifier: StoredKey]?

    /// Until ``endSnapshot()``, everything except events is read as it is now.
    func beginSnapshot() async throws

    func endSnapshot() async throws
}

extension AuditSource {
    /// For a log that says nothing of what its batches hold.
    public func batchFaults(partition: Int) async throws -> BatchFaults { BatchFaults() }

    /// For a log that keeps no nodes.
    public func keptTreeNodes(partition: Int) async throws -> Int64 { 0 }

    /// For a log that keeps no nodes.
    public func treeNodes(partition: Int, level: Int, numbers: Range<Int64>) async throws -> [TreeNode] { [] }

    /// For a log that keeps no nodes.
    public func strayTreeNodes(partition: Int, size: Int64) async throws -> [TreeNode] { [] }
}

/// A row of `log_head`, whatever it holds.
public struct StoredHead: Equatable, Sendable {
    /// The partition.
    public var partition: Int
    /// The position of the last event.
    public var position: Int64
    /// The chain over every batch up to there; 32 bytes unless somebody changed it.
    public var digest: [UInt8]
    /// How often a batch was declared lost.
    public var epoch: Int64

    /// A row of `log_head`.
    public init(partition: Int, position: Int64, digest: [UInt8], epoch: Int64) {
        self.partition = partition
        self.position = position
        self.digest = digest
        self.epoch = epoch
    }

    /// The row as a head. A digest of another length becomes zeros.
    public var head: LogHead {
        LogHead(partition: partition, position: position, digest: Digest(digest) ?? .zero)
    }
}

/// A column that is not as the migrations made it.
public struct ChangedColumn: Equatable, Sendable {
    /// The table and the column.
    public var name: String
    /// What it is instead, such as `is a bigint instead of an integer`.
    public var change: String

    /// A column.
    public init(_ name: String, _ change: String) {
        self.name = name
        self.change = change
    }
}

/// A row of the log at a position that no reader gets to.
public struct StrayRow: Equatable, Sendable {
    /// What it is, such as `batch 48–50`.
    public var subject: String
    /// Its position, or the first one of a batch.
    public var position: Int64

    /// A row of the log.
    public init(subject: String, position: Int64) {
        self.subject = subject
        self.position = position
    }
}

/// What is said of the events in batches, and is wrong. Only the first ones, about as many as a report has room for.
public struct BatchFaults: Equatable, Sendable {
    /// Rows that the index of streams lacks, or has and should not have, up to where it reaches.
    public var index: [IndexFault] = []
    /// Batches that say that they hold only carts, and hold other events: servers may pass over those.
    public var falseCarts: [BatchBounds] = []

    /// None.
    public init() {}
}

/// Where a batch begins and ends, whatever its row holds.
public struct BatchBounds: Equatable, Sendable {
    /// The position of its first event.
    public var first: Int64
    /// The position of its last event.
    public var last: Int64

    /// A batch.
    public init(first: Int64, last: Int64) {
        self.first = first
        self.last = last
    }
}

/// Something in the schema that is not as the migrations made it.
public struct SchemaFault: Equatable, Sendable {
    /// What it is, such as `function tiffin.append`.
    public var subject: String
    /// What is wrong with it.
    public var message: String
    /// Whether it could not be compared.
    public var isUnknown: Bool

    /// Something in the schema.
    public init(_ subject: String, _ message: String, isUnknown: Bool = false) {
        self.subject = subject
        self.message = message
        self.isUnknown = isUnknown
    }
}

/// A row of the index of streams that is missing, or that leads to nothing.
public struct IndexFault: Equatable, Sendable {
    /// The stream that the index has no row of; nil where a row leads to a batch without its stream.
    public var stream: String?
    /// Where the batch begins.
    public var position: Int64

    /// A row.
    public init(stream: String?, position: Int64) {
        self.stream = stream
        self.position = position
    }
}
