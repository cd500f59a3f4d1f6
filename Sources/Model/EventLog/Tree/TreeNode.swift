/// A root over 256 batches, or over 256 such nodes, that a log keeps so that a proof need not read every batch: the node
/// `number` of level `level` has the leaves from `number * 256^level` to before `(number + 1) * 256^level`.
///
/// Nodes are derived from the batches, behind the log, and never decide against it.
public struct TreeNode: Equatable, Sendable {
    /// How many nodes one of the next level has, and leaves one of level 1.
    public static let width: Int64 = 256

    /// 1 for the nodes over batches.
    public var level: Int
    /// Its place among those of its level, from 0.
    public var number: Int64
    /// Where its last batch ends.
    public var lastPosition: Int64
    /// The root over its leaves.
    public var digest: Digest
    /// The root over all leaves up to its last one; zeros above level 1. It follows from the nodes before, so none of
    /// them can change unnoticed.
    public var treeDigest: Digest

    /// A node.
    public init(level: Int, number: Int64, lastPosition: Int64, digest: Digest, treeDigest: Digest) {
        self.level = level
        self.number = number
        self.lastPosition = lastPosition
        self.digest = digest
        self.treeDigest = treeDigest
    }
}

/// What a log was at some size: the root of the tree over its first batches, and the last of these.
public struct TreeHead: Equatable, Sendable {
    /// The partition.
    public var partition: Int
    /// The number of batches.
    public var size: Int64
    /// The root over them. It covers everything else but the partition.
    public var root: Digest
    /// Where the last of them ends; 0 if there is none.
    public var position: Int64
    /// The chain up to there.
    public var digest: Digest

    /// A head.
    public init(partition: Int, size: Int64, root: Digest, position: Int64, digest: Digest) {
        self.partition = partition
        self.size = size
        self.root = root
        self.position = position
        self.digest = digest
    }
}

extension MerkleTree {
    /// The leaf of a batch in the tree over a partition: it covers where the batch ends, and the chain up to there.
    public static func leaf(endingAt position: Int64, chain: Digest) -> Digest {
        leaf(withUnsafeBytes(of: position.bigEndian) { Array($0) } + chain.bytes)
    }

    /// Whether a path shows that the tree over `size` leaves with that root begins with the one over `earlier` leaves (RFC
    /// 9162 section 2.1.4.2).
    public static func isConsistent(
        _ earlier: (size: Int64, root: Digest), with later: (size: Int64, root: Digest), path: [Digest]
    ) -> Bool {
        guard earlier.size >= 0, earlier.size <= later.size else { return false }
        // A tree without leaves is the beginning of every tree.
        if earlier.size == 0 { return path.isEmpty && earlier.root == root([]) }
        if earlier.size == later.size { return path.isEmpty && earlier.root == later.root }
        var rest = path[...]
        var (first, last) = (earlier.size - 1, later.size - 1)
        while first & 1 == 1 { (first, last) = (first >> 1, last >> 1) }
        // The largest part that both have whole is the earlier tree itself, or comes first in the path.
        guard var old = first == 0 ? earlier.root : rest.popFirst() else { return false }
        var new = old
        while last > 0 {
            if first & 1 == 1 || first == last {
                guard let left = rest.popFirst() else { return false }
                (old, new) = (node(left, old), node(left, new))
                while first & 1 == 0, first > 0 { (first, last) = (first >> 1, last >> 1) }
            } else {
                guard let right = rest.popFirst() else { return false }
                new = node(new, right)
            }
            (first, last) = (first >> 1, last >> 1)
        }
        return rest.isEmpty && old == earlier.root && new == later.root
    }
}
