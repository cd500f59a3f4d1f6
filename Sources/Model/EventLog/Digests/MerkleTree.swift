/// Merkle trees as RFC 9162 section 2.1 defines them, and RFC 6962 before it: leaves and inner nodes are hashed with
/// different prefixes, so that neither can pass for the other.
///
/// Pairing neighbours level by level, and moving an odd last one up unchanged, gives the same tree as the RFC's
/// recursive split at the largest power of two.
public enum MerkleTree {
    static let leafPrefix: UInt8 = 0x00
    private static let nodePrefix: UInt8 = 0x01

    /// The digest of one leaf.
    public static func leaf(_ bytes: [UInt8]) -> Digest { Digest.of([leafPrefix] + bytes) }

    /// The root over the leaves, in order. The root over no leaves is the digest of no bytes.
    public static func root(_ leaves: some Collection<Digest>) -> Digest {
        var level = Array(leaves)
        guard !level.isEmpty else { return Digest.of([]) }
        var digests = DigestMaker()
        while level.count > 1 { goUp(&level, &digests) }
        return level[0]
    }

    /// The digest of two neighbours.
    static func node(_ left: Digest, _ right: Digest) -> Digest {
        var digests = DigestMaker()
        return node(left, right, &digests)
    }

    private static func node(_ left: Digest, _ right: Digest, _ digests: inout DigestMaker) -> Digest {
        withUnsafeTemporaryAllocation(byteCount: 1 + 2 * Digest.length, alignment: 1) { bytes in
            var next = bytes.baseAddress!
            next.write(nodePrefix)
            left.withUnsafeBytes { next.write($0) }
            right.withUnsafeBytes { next.write($0) }
            digests.add(UnsafeRawBufferPointer(bytes))
        }
        return digests.finish()
    }

    /// Replaces a level by the one above it.
    private static func goUp(_ level: inout [Digest], _ digests: inout DigestMaker) {
        let count = level.count
        for pair in 0..<count / 2 { level[pair] = node(level[2 * pair], level[2 * pair + 1], &digests) }
        if count % 2 == 1 { level[count / 2] = level[count - 1] }
        level.removeLast(count / 2)
    }

    // MARK: Proofs

    /// The audit path of a leaf (RFC 6962 section 2.1.1): the digests that lead from the leaf to the root,
    /// beginning with the leaf's neighbour.
    public static func path(to index: Int, in leaves: [Digest]) -> [Digest] {
        precondition(leaves.indices.contains(index), "there is no such leaf")
        var path: [Digest] = []
        var digests = DigestMaker()
        var level = leaves
        var index = index
        while level.count > 1 {
            let neighbour = index ^ 1
            if neighbour < level.count { path.append(level[neighbour]) }
            goUp(&level, &digests)
            index /= 2
        }
        return path
    }

    /// The root that a leaf and its path lead to; nil if no tree with this many leaves has such a path to that leaf.
    ///
    /// A path says on which side the leaf lies at each step. Numbers of leaves with the same steps cannot be told
    /// apart.
    public static func root(from leaf: Digest, at index: Int, of count: Int, path: [Digest]) -> Digest? {
        guard count > 0, (0..<count).contains(index) else { return nil }
        var rest = path[...]
        var digest = leaf
        var (index, width) = (index, count)
        var digests = DigestMaker()
        while width > 1 {
            if index ^ 1 < width {
                guard let neighbour = rest.popFirst() else { return nil }
                digest = index & 1 == 0 ? node(digest, neighbour, &digests) : node(neighbour, digest, &digests)
            }
            index /= 2
            width = width / 2 + width % 2
        }
        return rest.isEmpty ? digest : nil
    }
}
