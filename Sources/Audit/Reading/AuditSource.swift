// Audit: everything derived from the log anew, and held against what is stored and shown.
//
// It promises:
// - it changes nothing, needs no more than the right to read, and works while servers write, and on a replica;
// - memory grows with what the read models and carts hold, and not with the length of the log;
// - whatever differs is named with the first event from which it does.

public import EventLog
public import Projections

/// What an audit reads.
public protocol AuditSource: Sendable {
    /// Where each partition stands, by what its head says.
    func heads() async throws -> [LogHead]

    /// The events of a partition after a position, in order, at most `limit`.
    func page(partition: Int, after position: Int64, limit: Int) async throws -> EventPage

    /// The events of a stream, in order, at most `limit`.
    func events(partition: Int, stream: StreamName, limit: Int) async throws -> [RecordedEvent]

    /// The batches of a partition that end after a position, in order, at most `limit`.
    func commits(partition: Int, after position: Int64, limit: Int) async throws -> [Commit]

    /// Up to where each projection of a partition is stored, and the digest of its rows.
    func checkpoints(partition: Int) async throws -> [StoredCheckpoint]

    /// The stored rows of a projection behind a key, in the order of their keys, as many as are read at once; nil
    /// where there are no more.
    func rows(of projection: ProjectionName, partition: Int, after key: String) async throws -> Checkpoint.Slice?

    /// The streams of a partition that a projection shows to nobody, as they are stored.
    func quarantined(partition: Int) async throws -> [(projection: String, event: CorruptEvent)]

    /// From here until ``endMoment()``, heads, batches, checkpoints and rows are read as they are now.
    func beginMoment() async throws

    /// See ``beginMoment()``.
    func endMoment() async throws
}

/// A row of `projection_checkpoints`.
public struct StoredCheckpoint: Equatable, Sendable {
    /// The projection's name.
    public var projection: String
    /// The version of the projection that made the rows.
    public var version: Int
    /// The position of the last event in the rows.
    public var position: Int64
    /// The digest of the rows.
    public var digest: [UInt8]

    /// A row of `projection_checkpoints`.
    public init(projection: String, version: Int, position: Int64, digest: [UInt8]) {
        self.projection = projection
        self.version = version
        self.position = position
        self.digest = digest
    }
}
