public import TextFormats

/// A proof of what a partition is, and that it goes on from what it was. docs/audit.md describes it as JSON.
public struct TreeGrowth: Equatable, Sendable {
    /// What it is.
    public var head: TreeHead
    /// The digests that lead from the last batch's leaf to the root: so the root covers where the log ends.
    public var path: [Digest]
    /// What it was; nil if that was not asked.
    public var since: Since?

    /// An earlier head.
    public struct Since: Equatable, Sendable {
        /// How many batches the log had.
        public var size: Int64
        /// The root over them.
        public var root: Digest
        /// What shows that the later tree begins with the earlier one.
        public var path: [Digest]

        /// An earlier head.
        public init(size: Int64, root: Digest, path: [Digest]) {
            self.size = size
            self.root = root
            self.path = path
        }
    }

    /// A proof.
    public init(head: TreeHead, path: [Digest], since: Since?) {
        self.head = head
        self.path = path
        self.since = since
    }

    /// Checks every step.
    ///
    /// - Throws: the first one that fails.
    public func verify() throws(Receipt.Fault) {
        guard (0...head.position).contains(head.size), (head.size == 0) == (head.position == 0) else {
            throw Receipt.Fault(.numbers, "\(head.size) batches do not end at position \(head.position)")
        }
        if head.size == 0 {
            guard head.root == MerkleTree.root([]), head.digest == .zero, path.isEmpty else {
                throw Receipt.Fault(.tree, "a log without batches has another root and digest")
            }
        } else {
            let leaf = MerkleTree.leaf(endingAt: head.position, chain: head.digest)
            let root = MerkleTree.root(from: leaf, at: Int(head.size - 1), of: Int(head.size), path: path)
            guard root == head.root else {
                throw Receipt.Fault(.tree, "the last batch and its path do not lead to the root \(head.root)")
            }
        }
        guard let since else { return }
        guard
            MerkleTree.isConsistent((since.size, since.root), with: (head.size, head.root), path: since.path)
        else {
            throw Receipt.Fault(
                .tree, "the tree over \(head.size) batches does not begin with that over \(since.size)")
        }
    }

    // MARK: JSON

    /// The proof as JSON text, in one line.
    public var json: [UInt8] {
        var writer = JSONWriter(reservingCapacity: 1_024)
        writer.beginObject()
        writer.field("tree", 1)
        writer.field("partition", head.partition)
        writer.field("position", head.position)
        writer.field("digest", head.digest.description)
        writer.field("size", head.size)
        writer.field("root", head.root.description)
        writer.field("path", path.base64)
        writer.key("since")
        if let since {
            writer.beginObject()
            writer.field("size", since.size)
            writer.field("root", since.root.description)
            writer.field("path", since.path.base64)
            writer.endObject()
        } else {
            writer.null()
        }
        writer.endObject()
        return writer.bytes
    }
}

extension TreeGrowth {
    /// The schema of ``json``.
    public static let schema = JSONSchema.object([
        .member("tree", .integer, "the number of its form"), .member("partition", .count), .member("position", .count),
        .member("digest", .string), .member("size", .count), .member("root", .string),
        .member("path", .string, "base64"),
        .member(
            "since",
            .object([.member("size", .count), .member("root", .string), .member("path", .string, "base64")])
                .named("EarlierTree").orNull),
    ]).named("LogTree")
}
