/// A proof, independent of the log, that one event is in it: the event, its place in the tree over its batch, and the
/// batch's place in the tree over its partition, or the chain of batches from there to a head. docs/audit.md describes it
/// as JSON, field by field.
///
/// A receipt is a claim. ``verified()`` checks it against the digests that it contains; whether these are the log's
/// must be known from elsewhere, by a head or an anchor that was kept.
public struct Receipt: Equatable, Sendable {
    /// The most batches between that of the event and the head. A receipt that would need more is not linked to the
    /// head: each takes 67 bytes, 7 MB at this bound.
    public static let maximumLinks = 100_000
    /// The most partitions of a log that a receipt can come from.
    public static let maximumPartitions = 1 << 15

    /// What determines, with the stream, the partition of the event.
    public var partitioning: Partitioning
    /// The event.
    public var event: RecordedEvent
    /// The batch that it was recorded with.
    public var batch: Batch
    /// The batches from there to a head; nil if there are too many, or there is a tree.
    public var head: Head?
    /// The batch's place in the tree over its partition; nil in a receipt of links.
    public var tree: Tree?
    /// The tree's root, as the log's signer and witnesses have signed it; nil if nobody has.
    public var signedHead: SignedNote?

    /// What a receipt contains of a batch.
    public struct Batch: Equatable, Sendable {
        /// The position of its first event.
        public var firstPosition: Int64
        /// The position of its last event.
        public var lastPosition: Int64
        /// The place of the receipt's event among the batch's, from 0.
        public var index: Int
        /// How many events it has.
        public var size: Int
        /// The digests that lead from the event's own to the content digest; see
        /// ``MerkleTree/path(to:in:)``.
        public var path: [Digest]
        /// The root of the tree over its events.
        public var contentDigest: Digest
        /// The chain before it.
        public var previousChainDigest: Digest
        /// The chain up to it.
        public var chainDigest: Digest

        /// What a receipt contains of a batch.
        public init(
            firstPosition: Int64, lastPosition: Int64, index: Int, size: Int, path: [Digest], contentDigest: Digest,
            previousChainDigest: Digest, chainDigest: Digest
        ) {
            self.firstPosition = firstPosition
            self.lastPosition = lastPosition
            self.index = index
            self.size = size
            self.path = path
            self.contentDigest = contentDigest
            self.previousChainDigest = previousChainDigest
            self.chainDigest = chainDigest
        }
    }

    /// A head, and the batches that lead to it.
    public struct Head: Equatable, Sendable {
        /// The content digests of all batches after that of the event, up to the head.
        public var links: [Digest]
        /// The position of the last event of the last of them.
        public var position: Int64
        /// The chain up to there.
        public var digest: Digest

        /// A head, and the batches that lead to it.
        public init(links: [Digest], position: Int64, digest: Digest) {
            self.links = links
            self.position = position
            self.digest = digest
        }
    }

    /// The place of a batch in the tree over its partition.
    public struct Tree: Equatable, Sendable {
        /// How many batches are before it.
        public var index: Int64
        /// How many batches the tree has.
        public var size: Int64
        /// The root over them.
        public var root: Digest
        /// The digests that lead from the batch's leaf to the root.
        public var path: [Digest]

        /// A place.
        public init(index: Int64, size: Int64, root: Digest, path: [Digest]) {
            self.index = index
            self.size = size
            self.root = root
            self.path = path
        }
    }

    /// What leads from the event's batch to a head.
    public enum Form: String, CaseIterable, Sendable {
        /// The tree over the partition: short, however long the log is.
        case tree
        /// The same, up to the newest head that is signed.
        case signed
        /// The digest of each batch between them: for a head of which only the chain's digest is known.
        case links
    }

    /// A receipt for an event.
    public init(partitioning: Partitioning, event: RecordedEvent, batch: Batch, head: Head?, tree: Tree? = nil) {
        self.partitioning = partitioning
        self.event = event
        self.batch = batch
        self.head = head
        self.tree = tree
    }
}
