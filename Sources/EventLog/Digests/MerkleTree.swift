/// The Merkle tree over a batch, as RFC 6962 section 2.1 defines it: leaves and inner nodes are hashed with
/// different prefixes, so that neither can pass for the other.
public enum MerkleTree {
    private static let leafPrefix: UInt8 = 0x00
    private static let nodePrefix: UInt8 = 0x01

    /// The digest of one leaf.
    public static func leaf(_ bytes: [UInt8]) -> Digest { Digest.of([leafPrefix] + bytes) }

    /// The root over the leaves, in order. The root over none is the digest of no bytes.
    public static func root(_ leaves: [Digest]) -> Digest {
        guard !leaves.isEmpty else { return Digest.of([]) }
        // Pairing neighbours level by level, an odd last one going up as it is, gives the same tree as the
        // RFC's recursive split at the largest power of two.
        var level = leaves
        while level.count > 1 {
            level = stride(from: 0, to: level.count, by: 2).map { index in
                index + 1 < level.count
                    ? Digest.of([nodePrefix] + level[index].bytes + level[index + 1].bytes) : level[index]
            }
        }
        return level[0]
    }
}
