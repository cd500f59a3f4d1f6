/// The Merkle tree over the batches of a partition, as RFC 9162 defines it, up to the end of one of them.
///
/// It reads what it needs: nodes that the log keeps, and batches where there are none. Each node that is used is compared
/// with what it is made of, or by the root over all of them.
struct LogTree {
    /// Why there is no tree.
    enum Failure: Error {
        /// What the log keeps of the tree does not follow from its batches.
        case wrongNodes
        /// The batches do not lead to the end; why, for an operator.
        case damaged(String)
        /// The log cannot be read.
        case unavailable(EventLogError)
    }

    /// How many batches are read at once.
    private static let pageCommits = 1_000

    private let log: any EventLog
    private let partition: Int
    /// Where it ends.
    private let end: LogPoint
    /// How many leaves it has.
    private(set) var size: Int64 = 0
    /// How many nodes of level 1 are the log's.
    private var kept: Int64 = 0
    /// Those that follow, as long as the log does not keep them.
    private var made: [TreeNode] = []
    /// The leaves behind the last node of level 1.
    private var rest: [Digest] = []
    /// What was read: 256 leaves or nodes, the last ones fewer.
    private var blocks: [Block: [Digest]] = [:]

    /// The leaves, or nodes of a level, from `number * 256` on.
    private struct Block: Hashable {
        var level: Int
        var number: Int64
    }

    /// The tree up to a batch that ends at a point.
    ///
    /// - Parameter usesNodes: whether to use what the log keeps of it, or only its batches.
    init(
        _ log: any EventLog, partition: Int, end: LogPoint, usesNodes: Bool
    ) async throws(Failure) {
        self.log = log
        self.partition = partition
        self.end = end
        var last: TreeNode?
        if usesNodes {
            last = try await reading { log async throws(EventLogError) in
                try await log.treeNode(of: partition, upTo: end.position)
            }
        }
        if let last {
            guard last.level == 1, (0..<LogHead.maximumPosition / TreeNode.width).contains(last.number) else {
                throw .wrongNodes
            }
            kept = last.number + 1
            size = kept * TreeNode.width
            guard try await root(0, size) == last.treeDigest else { throw .wrongNodes }
            // The root does not say where the batches end.
            _ = try await block(0, last.number)
        }
        try await readRest(after: last?.lastPosition ?? 0)
        // What was read so far lacks those that were made.
        if !made.isEmpty { blocks = [:] }
        if rest.isEmpty, size > 0, let digest = end.digest {
            let last = MerkleTree.leaf(endingAt: end.position, chain: digest)
            guard try await digests(0, size - 1, 1) == [last] else { throw .wrongNodes }
        }
    }

    /// Reads the batches that no node of the log has.
    private mutating func readRest(after start: Int64) async throws(Failure) {
        var position = start
        var chain: Digest? = start == 0 ? .zero : nil
        while position < end.position {
            let page = try await commits(after: position, limit: LogTree.pageCommits)
            guard !page.isEmpty else { throw .damaged("no batch has the event at position \(position + 1)") }
            for commit in page where position < end.position {
                guard commit.firstPosition == position + 1, commit.lastPosition >= commit.firstPosition,
                    commit.lastPosition <= end.position
                else { throw .damaged("no batch begins at position \(position + 1)") }
                try LogTree.check([commit], after: chain)
                (position, chain) = (commit.lastPosition, commit.chainDigest)
                if position == end.position, let digest = end.digest, commit.chainDigest != digest {
                    throw .damaged("the chain at position \(position) is \(commit.chainDigest), not \(digest)")
                }
                rest.append(commit.leaf)
                size += 1
                guard rest.count == Int(TreeNode.width) else { continue }
                made.append(
                    TreeNode(
                        level: 1, number: kept + Int64(made.count), lastPosition: position,
                        digest: MerkleTree.root(rest), treeDigest: .zero))
                rest = []
            }
        }
    }

    // MARK: Proofs

    /// Which leaf a batch is.
    mutating func index(of commit: Commit) async throws(Failure) -> Int64 {
        var (position, index): (Int64, Int64) = (0, 0)
        if let node = made.last(where: { $0.lastPosition < commit.firstPosition }) {
            (position, index) = (node.lastPosition, (node.number + 1) * TreeNode.width)
        } else if kept > 0 {
            let node = try await reading { log async throws(EventLogError) in
                try await log.treeNode(of: partition, upTo: commit.firstPosition - 1)
            }
            if let node { (position, index) = (node.lastPosition, (node.number + 1) * TreeNode.width) }
        }
        // Behind the last node before it there are fewer than 256.
        let before = try await commits(after: position, limit: Int(TreeNode.width))
        guard let place = before.firstIndex(where: { $0.firstPosition == commit.firstPosition }) else {
            throw kept > 0 ? .wrongNodes : .damaged("no batch begins at position \(commit.firstPosition)")
        }
        index += Int64(place)
        guard index < size else { throw .wrongNodes }
        guard try await digests(0, index, 1) == [commit.leaf] else { throw .wrongNodes }
        return index
    }

    /// The digests that lead from a leaf to the root (RFC 9162 section 2.1.3.1).
    mutating func path(to index: Int64) async throws(Failure) -> [Digest] {
        var path: [Digest] = []
        var (first, end) = (Int64(0), size)
        while end - first > 1 {
            let split = first + LogTree.split(end - first)
            if index < split {
                path.append(try await root(split, end))
                end = split
            } else {
                path.append(try await root(first, split))
                first = split
            }
        }
        return path.reversed()
    }

    /// The root over the first leaves.
    mutating func root(of earlier: Int64) async throws(Failure) -> Digest {
        earlier == 0 ? MerkleTree.root([]) : try await root(0, earlier)
    }

    /// What shows that the tree begins with the one over fewer leaves (RFC 9162 section 2.1.4.1).
    mutating func path(since earlier: Int64) async throws(Failure) -> [Digest] {
        guard earlier > 0, earlier < size else { return [] }
        var path: [Digest] = []
        var (first, end) = (Int64(0), size)
        while earlier != end {
            let split = first + LogTree.split(end - first)
            if earlier <= split {
                path.append(try await root(split, end))
                end = split
            } else {
                path.append(try await root(first, split))
                first = split
            }
        }
        // The earlier tree itself, which its reader has, is left out.
        if first > 0 { path.append(try await root(first, end)) }
        return path.reversed()
    }

    /// The largest power of two below a number from 2 on.
    private static func split(_ count: Int64) -> Int64 { 1 << Int64(63 - (count - 1).leadingZeroBitCount) }

    // MARK: Nodes

    /// The root over some leaves, of which there is at least one. The first is a multiple of a power of two that is no less
    /// than their number, as in every tree that RFC 9162 splits.
    private mutating func root(_ first: Int64, _ end: Int64) async throws(Failure) -> Digest {
        // From the largest nodes down: what is left at each level is less than one node of it.
        var parts: [[Digest]] = []
        var place = first
        while place < end {
            var (level, width): (Int, Int64) = (0, 1)
            while width <= (end - place) / TreeNode.width { (level, width) = (level + 1, width * TreeNode.width) }
            let count = (end - place) / width
            parts.append(try await digests(level, place / width, Int(count)))
            place += count * width
        }
        var root = MerkleTree.root(parts.removeLast())
        while let part = parts.popLast() { root = MerkleTree.root(part + [root]) }
        return root
    }

    /// Leaves or nodes of a level, all of one block.
    private mutating func digests(_ level: Int, _ first: Int64, _ count: Int) async throws(Failure) -> [Digest] {
        let number = first / TreeNode.width
        let block = try await block(level, number)
        let start = Int(first - number * TreeNode.width)
        guard start + count <= block.count else { throw .wrongNodes }
        return Array(block[start..<start + count])
    }

    private mutating func block(_ level: Int, _ number: Int64) async throws(Failure) -> [Digest] {
        let key = Block(level: level, number: number)
        if let known = blocks[key] { return known }
        let block = level == 0 ? try await leaves(number) : try await nodes(level, number)
        blocks[key] = block
        return block
    }

    private mutating func leaves(_ number: Int64) async throws(Failure) -> [Digest] {
        if number == kept + Int64(made.count) { return rest }
        let start = number == 0 ? 0 : try await node(number - 1).lastPosition
        let commits = try await commits(after: start, limit: Int(TreeNode.width))
        try LogTree.check(commits, after: start == 0 ? .zero : nil)
        let leaves = commits.map(\.leaf)
        let node = try await node(number)
        guard leaves.count == Int(TreeNode.width), commits.last?.lastPosition == node.lastPosition,
            MerkleTree.root(leaves) == node.digest
        else { throw .wrongNodes }
        return leaves
    }

    /// Fails unless each batch continues the chain of the one before.
    private static func check(_ commits: [Commit], after chain: Digest?) throws(Failure) {
        var chain = chain
        for commit in commits {
            if let chain, chain.chained(to: commit.contentDigest) != commit.chainDigest {
                throw .damaged("the batch at position \(commit.firstPosition) does not continue the chain")
            }
            chain = commit.chainDigest
        }
    }

    /// A node of level 1.
    private func node(_ number: Int64) async throws(Failure) -> TreeNode {
        if number >= kept { return made[Int(number - kept)] }
        return try await keptNodes(1, number, 1)[0]
    }

    private mutating func nodes(_ level: Int, _ number: Int64) async throws(Failure) -> [Digest] {
        /// How many leaves a node has.
        let width = (0..<level).reduce(1) { width, _ in width * TreeNode.width }
        let first = number * TreeNode.width
        let last = min(first + TreeNode.width, size / width)
        // Those that the log has whole.
        let own = max(first, min(last, kept * TreeNode.width / width))
        var digests = own > first ? try await keptNodes(level, first, own - first).map(\.digest) : []
        for number in own..<max(own, last) {
            digests.append(
                level == 1 ? made[Int(number - kept)].digest : MerkleTree.root(try await block(level - 1, number)))
        }
        return digests
    }

    private func keptNodes(_ level: Int, _ first: Int64, _ count: Int64) async throws(Failure) -> [TreeNode] {
        let nodes = try await reading { log async throws(EventLogError) in
            try await log.treeNodes(of: partition, level: level, numbers: first..<first + count)
        }
        guard nodes.map(\.number) == Array(first..<first + count) else { throw .wrongNodes }
        return nodes
    }

    // MARK: Reading

    private func commits(after position: Int64, limit: Int) async throws(Failure) -> [Commit] {
        try await reading { log async throws(EventLogError) in
            try await log.commits(partition: partition, after: position, limit: limit)
        }
    }

    private func reading<Value>(
        _ body: (any EventLog) async throws(EventLogError) -> Value
    ) async throws(Failure) -> Value {
        do throws(EventLogError) {
            return try await body(log)
        } catch {
            throw .unavailable(error)
        }
    }
}

extension Commit {
    /// The batch's leaf in the tree over its partition.
    public var leaf: Digest { MerkleTree.leaf(endingAt: lastPosition, chain: chainDigest) }
}
