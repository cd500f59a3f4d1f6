internal import EventLog

/// Checks what the log keeps of the tree over a partition against its batches.
struct TreeCheck {
    private let source: any AuditSource
    private let partition: Int
    /// Where the log ends.
    private let head: Int64
    /// Whether the rows can be read.
    private let isStoredReadable: Bool
    private var fold = TreeFold()
    private var position: Int64 = 0
    private var digest = Digest.zero
    /// The stored nodes of level 1 go so far; nil before they were looked for.
    private var kept: Int64?
    private(set) var findings = Findings()

    init(_ source: any AuditSource, _ head: StoredHead, isStoredReadable: Bool) {
        self.source = source
        partition = head.partition
        self.head = head.position
        self.isStoredReadable = isStoredReadable
    }

    /// What the log is, by its batches.
    var treeHead: TreeHead {
        TreeHead(partition: partition, size: fold.size, root: fold.root, position: position, digest: digest)
    }

    /// Takes the next batches, in the order of their first positions.
    mutating func take(_ commits: [Commit]) async throws {
        for commit in commits
        where commit.firstPosition > position && commit.firstPosition <= head
            && commit.lastPosition >= commit.firstPosition && commit.lastPosition <= LogHead.maximumPosition
        {
            (position, digest) = (commit.lastPosition, commit.chainDigest)
            for node in fold.take(commit) where isStoredReadable { try await compare(node) }
        }
    }

    private mutating func compare(_ node: TreeNode) async throws {
        if kept == nil { kept = try await source.keptTreeNodes(partition: partition) }
        // In nodes of level 1.
        var end = node.number + 1
        for _ in 1..<node.level { end *= TreeNode.width }
        guard let kept, end <= kept else { return }
        let stored = try await source.treeNodes(
            partition: partition, level: node.level, numbers: node.number..<node.number + 1)
        guard stored != [node] else { return }
        found(node, stored.isEmpty ? "is missing" : "does not follow from the batches")
    }

    /// Looks for rows that no batches lead to.
    mutating func finish() async throws {
        guard isStoredReadable else { return }
        for node in try await source.strayTreeNodes(partition: partition, size: fold.size) {
            found(node, "is over batches that the log does not have")
        }
    }

    private mutating func found(_ node: TreeNode, _ problem: String) {
        findings.add(
            Finding(
                .difference, partition: partition, position: nil,
                subject: "node \(node.number) of level \(node.level) in tree_nodes",
                problem
                    + ": empty the table, and servers fill it again"))
    }
}
