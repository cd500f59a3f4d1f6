extension Receipt {
    /// Checks the receipt, from the event upwards, and returns what follows from it.
    ///
    /// - Throws: the first step that fails.
    public func verified() throws(Fault) -> Proof {
        try checkNumbers()
        try checkPartition()
        try checkPath()
        let chain = try chain()
        try checkTree()
        try checkSignedHead()
        return Proof(chain: chain)
    }

    /// What a receipt proves.
    public struct Proof: Equatable, Sendable {
        /// The chain up to the event's batch, and up to each later one, to the head.
        public let chain: [Digest]
    }

    /// A step in which a receipt does not hold.
    public struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        /// The steps, in the order in which they are checked.
        public enum Step: String, Sendable {
            /// The positions, and the numbers of events and batches, agree with each other.
            case numbers
            /// The event is in the partition that its stream belongs to.
            case partition
            /// The event and its path make the content digest.
            case path
            /// The chain before the batch and its content make the chain up to it.
            case chain
            /// The later batches lead to the head.
            case links
            /// The chain up to the batch, and its path, make the root over the partition.
            case tree
            /// The chain, or the tree, has a digest that is known from elsewhere, or was signed.
            case head
            /// Several receipts are of the events of one order, in one tree.
            case order
        }

        /// The step.
        public var step: Step
        /// What is wrong, in a sentence without a full stop.
        public var description: String

        /// A step that fails, and why.
        public init(_ step: Step, _ description: String) {
            self.step = step
            self.description = description
        }
    }

    // MARK: Steps

    /// No digest covers these numbers: they are checked against each other, and against what a log can have.
    private func checkNumbers() throws(Fault) {
        func expect(_ condition: Bool, _ problem: @autoclosure () -> String) throws(Fault) {
            guard condition else { throw Fault(.numbers, problem()) }
        }
        let (first, last) = (batch.firstPosition, batch.lastPosition)
        try expect(1 <= first && first <= last, "a batch cannot go from position \(first) to \(last)")
        try expect(
            last - first == Int64(batch.size) - 1,
            "a batch from position \(first) to \(last) does not have \(batch.size) events")
        try expect(
            (0..<batch.size).contains(batch.index),
            "a batch of \(batch.size) events has no event \(batch.index), counted from 0")
        try expect(
            event.position == first + Int64(batch.index),
            "event \(batch.index) of the batch, counted from 0, is not at position \(event.position)")
        try expect(
            (1...event.position).contains(event.version),
            "version \(event.version) of a stream cannot be at position \(event.position)")
        try expect(
            (first == 1) == (batch.previousChainDigest == .zero),
            "the chain digest before a batch is zeros for the first batch, and only for that")
        if let tree {
            // Each batch before has at least one event.
            try expect(
                0 <= tree.index && tree.index < tree.size && tree.index < first && (tree.index == 0) == (first == 1),
                "a batch from position \(first) on is not batch \(tree.index), counted from 0, of \(tree.size)")
        }
        guard let head else { return }
        try expect(
            head.position >= last && (head.position == last) == head.links.isEmpty
                && head.position - last >= Int64(head.links.count),
            "\(head.links.count) batches cannot lead from position \(last) to \(head.position)")
    }

    private func checkPartition() throws(Fault) {
        guard let stream = StreamName(event.stream) else {
            throw Fault(.partition, "'\(event.stream)' is not the name of a stream")
        }
        let partition = partitioning.partition(of: stream)
        guard event.partition == partition else {
            throw Fault(
                .partition,
                "of \(partitioning.count) partitions, \(event.stream) belongs in \(partition), not in \(event.partition)"
            )
        }
    }

    private func checkPath() throws(Fault) {
        let leaf = MerkleTree.leaf(event.canonicalBytes)
        guard let root = MerkleTree.root(from: leaf, at: batch.index, of: batch.size, path: batch.path) else {
            throw Fault(
                .path,
                "a tree of \(batch.size) has no path of \(batch.path.count) digests to event \(batch.index), counted from 0"
            )
        }
        guard root == batch.contentDigest else {
            throw Fault(
                .path, "the event and its path lead to \(root), not to the content digest \(batch.contentDigest)")
        }
    }

    private func chain() throws(Fault) -> [Digest] {
        var digest = batch.previousChainDigest.chained(to: batch.contentDigest)
        guard digest == batch.chainDigest else {
            throw Fault(
                .chain,
                "the chain before the batch and its content lead to \(digest), not to its chain digest \(batch.chainDigest)"
            )
        }
        var chain = [digest]
        guard let head else { return chain }
        chain.reserveCapacity(head.links.count + 1)
        for link in head.links {
            digest = digest.chained(to: link)
            chain.append(digest)
        }
        guard digest == head.digest else {
            throw Fault(.links, "the later batches lead to \(digest), not to the head \(head.digest)")
        }
        return chain
    }

    private func checkTree() throws(Fault) {
        guard let tree else { return }
        let leaf = MerkleTree.leaf(endingAt: batch.lastPosition, chain: batch.chainDigest)
        let root = MerkleTree.root(from: leaf, at: Int(tree.index), of: Int(tree.size), path: tree.path)
        guard let root else {
            throw Fault(
                .tree,
                "a tree of \(tree.size) has no path of \(tree.path.count) digests to batch \(tree.index), counted from 0"
            )
        }
        guard root == tree.root else {
            throw Fault(.tree, "the batch and its path lead to \(root), not to the root \(tree.root)")
        }
    }

    /// What is signed is this tree. Whose signatures these are, only keys from elsewhere tell.
    private func checkSignedHead() throws(Fault) {
        guard let tree, let signedHead else { return }
        guard let head = SignedHead(text: signedHead.text), head.size == tree.size, head.root == tree.root,
            head.origin.hasSuffix("/\(event.partition)")
        else { throw Fault(.head, "what is signed is not the root over this tree") }
    }
}
