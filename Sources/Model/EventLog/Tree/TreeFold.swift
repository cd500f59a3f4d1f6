/// The Merkle tree over the batches of a partition, as they come: it keeps fewer than 256 digests of each level.
public struct TreeFold: Sendable {
    /// The number of leaves.
    public private(set) var size: Int64 = 0
    /// The leaves behind the last node of level 1, the nodes of level 1 behind the last one of level 2, and so on.
    private var levels: [[Digest]] = []

    /// The tree over no batches.
    public init() {}

    /// The root over all leaves.
    public var root: Digest {
        var root: Digest?
        // What is left of a level above its last whole node is one more digest there.
        for level in levels where !level.isEmpty || root != nil {
            root = MerkleTree.root(level + (root.map { [$0] } ?? []))
        }
        return root ?? MerkleTree.root([])
    }

    /// Takes the next batch, and returns the nodes that it completes, from level 1 on.
    public mutating func take(_ commit: Commit) -> [TreeNode] {
        var nodes: [TreeNode] = []
        var (digest, number, level) = (commit.leaf, size, 0)
        size += 1
        while true {
            if level == levels.count { levels.append([]) }
            levels[level].append(digest)
            guard levels[level].count == Int(TreeNode.width) else { break }
            digest = MerkleTree.root(levels[level])
            levels[level] = []
            number /= TreeNode.width
            level += 1
            nodes.append(
                TreeNode(
                    level: level, number: number, lastPosition: commit.lastPosition, digest: digest, treeDigest: .zero))
        }
        if !nodes.isEmpty { nodes[0].treeDigest = root }
        return nodes
    }
}
