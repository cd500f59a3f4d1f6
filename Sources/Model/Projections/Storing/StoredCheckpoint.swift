public import EventLog

/// A row of `projection_checkpoints`: how far a generation of a projection's rows goes.
public struct StoredCheckpoint: Equatable, Sendable {
    /// The projection's name.
    public var projection: String
    /// The generation of its rows.
    public var generation: Int32
    /// The version of the projection that made the rows; 0 if nothing has been saved.
    public var version: Int
    /// The position of the last event in the rows; 0 if nothing has been saved.
    public var position: Int64
    /// The digest of the rows; empty if nothing has been saved.
    public var digest: [UInt8]
    /// The chain of the log up to the position; nil where it was not known.
    public var chain: Digest?
    /// Whether servers begin with its rows and save to them. If not, it is kept to go back to.
    public var isActive: Bool

    /// A row of `projection_checkpoints`.
    public init(
        projection: String, generation: Int32, version: Int, position: Int64, digest: [UInt8], chain: Digest? = nil,
        isActive: Bool = true
    ) {
        self.projection = projection
        self.generation = generation
        self.version = version
        self.position = position
        self.digest = digest
        self.chain = chain
        self.isActive = isActive
    }
}

extension StoredCheckpoint {
    /// Whether this program can continue from it.
    public func isOurs(of projection: RegisteredProjection) -> Bool { version == projection.version || position == 0 }
}
