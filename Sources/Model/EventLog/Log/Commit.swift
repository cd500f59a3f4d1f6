public import Domain

/// A batch in the log: where its events are, and how it extended the chain.
public struct Commit: Equatable, Sendable {
    /// The partition.
    public var partition: Int
    /// The position of its first event.
    public var firstPosition: Int64
    /// The position of its last event.
    public var lastPosition: Int64
    /// The root of the Merkle tree over its events' canonical bytes.
    public var contentDigest: Digest
    /// The chain over every batch of the partition up to this one.
    public var chainDigest: Digest
    /// When it was made, by the writer's clock.
    public var recordedAt: Timestamp
    /// The microseconds of the stored time beyond its milliseconds; 0 as a log writes it. Digests cover only the
    /// milliseconds.
    public var microseconds: Int64

    /// A batch in the log.
    public init(
        partition: Int, firstPosition: Int64, lastPosition: Int64, contentDigest: Digest, chainDigest: Digest,
        recordedAt: Timestamp, microseconds: Int64 = 0
    ) {
        self.partition = partition
        self.firstPosition = firstPosition
        self.lastPosition = lastPosition
        self.contentDigest = contentDigest
        self.chainDigest = chainDigest
        self.recordedAt = recordedAt
        self.microseconds = microseconds
    }
}

extension Digest {
    /// The chain after a batch with that content, if this is the chain before it.
    public func chained(to content: Digest) -> Digest { Digest.of(bytes + content.bytes) }
}
