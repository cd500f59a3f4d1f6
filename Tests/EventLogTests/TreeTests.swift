import Domain
import EventLog
import EventLogContract
import SeededRandom
import Testing

@Suite struct TreeTests {
    /// Sizes at which nodes are whole, and beside them.
    private static let sizes: [Int64] = [1, 2, 3, 255, 256, 257, 511, 512, 513, 1_000]

    private static func failure(_ body: () async throws(Prover.Failure) -> some Any) async -> Prover.Failure? {
        do throws(Prover.Failure) {
            _ = try await body()
            return nil
        } catch {
            return error
        }
    }

    // MARK: RFC 9162

    @Test(arguments: [false, true])
    func `Roots and proofs are those of RFC 9162, at every size up to 300`(_ keepsNodes: Bool) async throws {
        let log = BatchLog(300, keepsNodes: keepsNodes)
        var random = SeededGenerator(seed: 9_162)
        let inputs = log.commits.map(referenceLeaf)
        for size in 1...300 {
            let earlier = random.number(0..<size + 1)
            let growth = try await Prover(log).growth(of: 0, head: Int64(size), since: Int64(earlier))
            #expect(growth.head.size == Int64(size))
            #expect(growth.head.root == referenceRoot(inputs[..<size]))
            #expect(growth.head.digest == log.commits[size - 1].chainDigest)
            #expect(growth.path == referencePath(size - 1, inputs[..<size]).map(\.neighbour))
            #expect(growth.since?.root == referenceRoot(inputs[..<earlier]))
            #expect(growth.since?.path == (earlier == 0 ? [] : referenceProof(earlier, inputs[..<size])))

            let index = random.number(0..<size)
            let receipt = try await Prover(log).receipt(
                for: .cart("c"), version: Int64(index + 1), head: Int64(size))
            #expect(
                receipt.tree
                    == Receipt.Tree(
                        index: Int64(index), size: Int64(size), root: growth.head.root,
                        path: referencePath(index, inputs[..<size]).map(\.neighbour)))
        }
    }

    @Test func `The tree of a log is what a fold over its batches makes`() async throws {
        let log = BatchLog(1_000, keepsNodes: true)
        var fold = TreeFold()
        #expect(fold.root == referenceRoot([]))
        for commit in log.commits {
            _ = fold.take(commit)
            guard Self.sizes.contains(fold.size) else { continue }
            #expect(fold.root == referenceRoot(log.commits.prefix(Int(fold.size)).map(referenceLeaf)[...]))
            #expect(try await Prover(log).growth(of: 0, head: fold.size).head.root == fold.root)
        }
    }

    /// Leaves, roots and proofs that the tests of Certificate Transparency publish.
    private static let published = [
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
    ]
    private static let publishedRoots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]
    private static let publishedProofs: [(earlier: Int64, size: Int64, path: [String])] = [
        (1, 1, []),
        (
            1, 8,
            [
                "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
            ]
        ),
        (
            6, 8,
            [
                "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            ]
        ),
        (
            2, 5,
            [
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            ]
        ),
    ]

    @Test func `Published trees and proofs hold`() throws {
        let leaves = Self.published.map { text in
            let digits = Array(text)
            return MerkleTree.leaf(
                stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16)! })
        }
        let roots = try Self.publishedRoots.map { try #require(Digest(hexadecimal: $0)) }
        for size in 1...8 { #expect(MerkleTree.root(leaves.prefix(size)) == roots[size - 1]) }
        for (earlier, size, texts) in Self.publishedProofs {
            let path = try texts.map { try #require(Digest(hexadecimal: $0)) }
            let (old, new) = ((earlier, roots[Int(earlier) - 1]), (size, roots[Int(size) - 1]))
            #expect(MerkleTree.isConsistent(old, with: new, path: path))
            #expect(!MerkleTree.isConsistent(old, with: (size, roots[0]), path: path) || size == 1)
        }
    }

    // MARK: Tampering

    @Test(arguments: SeededGenerator.seeds)
    func `A proof of growth that was tampered with is refused`(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let log = BatchLog(300, keepsNodes: true)
        for _ in 0..<20 {
            let size = random.number(2..<301)
            let earlier = random.number(1..<size)
            let original = try await Prover(log).growth(of: 0, head: Int64(size), since: Int64(earlier))
            func expectRefused(_ change: (inout TreeGrowth) -> Void) {
                var changed = original
                change(&changed)
                guard changed != original else { return }
                #expect(throws: Receipt.Fault.self) { try changed.verify() }
            }
            expectRefused { $0.head.root = random.flippingABit(of: original.head.root) }
            expectRefused { $0.head.digest = random.flippingABit(of: original.head.digest) }
            expectRefused { $0.head.position += 1 }
            expectRefused { $0.head.size += 1 }
            expectRefused { $0.since?.root = random.flippingABit(of: original.since!.root) }
            expectRefused { $0.since?.size = 0 }
            expectRefused { $0.since?.size = Int64(size) }
            for place in original.path.indices {
                expectRefused { $0.path[place] = random.flippingABit(of: original.path[place]) }
                expectRefused { $0.path.remove(at: place) }
            }
            let steps = original.since!.path.count
            for place in 0..<steps {
                expectRefused { $0.since!.path[place] = random.flippingABit(of: original.since!.path[place]) }
                expectRefused { $0.since!.path.remove(at: place) }
            }
            expectRefused { $0.since!.path.append(.zero) }
            expectRefused { $0.path.append(.zero) }
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `A receipt of a tree that was tampered with is refused`(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let log = BatchLog(300, keepsNodes: true)
        for _ in 0..<20 {
            let version = Int64(random.number(2..<300))
            let original = try await Prover(log).receipt(for: .cart("c"), version: version)
            func expectRefused(_ change: (inout Receipt) -> Void) throws {
                var changed = original
                change(&changed)
                guard changed != original else { return }
                // What follows from the event is not in the text.
                let read = try Receipt(json: changed.json)
                #expect(throws: Receipt.Fault.self) { try read.verified() }
            }
            try expectRefused { $0.event.payload.append(0x20) }
            try expectRefused { $0.event.metadata.append(0x20) }
            try expectRefused { $0.event.version += 1 }
            try expectRefused { $0.event.position += 1 }
            try expectRefused { $0.event.recordedAt = Timestamp(millisecondsSinceEpoch: 0) }
            try expectRefused {
                $0.batch.previousChainDigest = random.flippingABit(of: original.batch.previousChainDigest)
            }
            try expectRefused {
                $0.batch.firstPosition += 1
                $0.batch.lastPosition += 1
                $0.event.position += 1
            }
            try expectRefused { $0.tree!.root = random.flippingABit(of: original.tree!.root) }
            try expectRefused { $0.tree!.index += 1 }
            try expectRefused { $0.tree!.index -= 1 }
            try expectRefused { $0.tree!.size = $0.tree!.index }
            for place in original.tree!.path.indices {
                try expectRefused { $0.tree!.path[place] = random.flippingABit(of: original.tree!.path[place]) }
                try expectRefused { $0.tree!.path.remove(at: place) }
            }
        }
    }

    // MARK: Logs

    @Test func `A receipt has at most 2 KB after 100,000 batches, and needs a few hundred of them`() async throws {
        let log = BatchLog(100_000, keepsNodes: true)
        for version: Int64 in [1, 70_000, 99_999, 100_000] {
            let before = await log.read
            let receipt = try await Prover(log).receipt(for: .cart("c"), version: version)
            #expect(receipt.json.count <= 2_048)
            #expect((receipt.tree?.path.count ?? .max) <= 17)
            #expect(await log.read - before < 2_000)
        }
        #expect(await !log.wasGrown)
        let growth = try await Prover(log).growth(of: 0, since: 77_777)
        #expect(growth.json.count <= 2_048)
    }

    @Test func `Nodes that are wrong are made again, and decide nothing`() async throws {
        let sound = BatchLog(1_000, keepsNodes: true)
        let receipts = try await Self.versions(of: sound)
        for (number, node) in sound.nodes.enumerated() {
            for damage in BatchLog.Damage.allCases {
                for isMended in [true, false] {
                    let log = BatchLog(1_000, keepsNodes: true)
                    await log.damage(number, damage, isMended: isMended)
                    #expect(try await Self.versions(of: log) == receipts, "\(damage) of \(node)")
                    // A tree that ends earlier is right, too.
                    let isWrong = damage != .missing || number < sound.nodes.count - 1
                    #expect(await log.wasGrown == isWrong, "\(damage) of \(node)")
                }
            }
        }
    }

    private static func versions(of log: BatchLog) async throws -> [Receipt] {
        var receipts: [Receipt] = []
        for version: Int64 in [1, 256, 257, 700, 768, 769, 1_000] {
            receipts.append(try await Prover(log).receipt(for: .cart("c"), version: version))
        }
        return receipts
    }

    @Test func `What was never so is refused`() async throws {
        let log = BatchLog(10, keepsNodes: false)
        #expect(
            await Self.failure { () throws(Prover.Failure) in
                try await Prover(log).growth(of: 0, since: 11)
            } == .unsuitableSize(10))
        #expect(
            await Self.failure { () throws(Prover.Failure) in
                try await Prover(log).growth(of: 0, head: 11)
            } == .unsuitableHead("the log ends at 10"))
        let empty = try await Prover(InMemoryEventLog()).growth(of: 0, since: 0)
        #expect(empty.head.size == 0 && empty.head.root == MerkleTree.root([]))
        try empty.verify()
    }
}

/// A log of one stream, with an event a batch.
private actor BatchLog: EventLog {
    enum Damage: CaseIterable {
        case digest, treeDigest, position, missing
    }

    nonisolated let partitioning = Partitioning(count: 1)
    nonisolated let commits: [Commit]
    nonisolated let nodes: [TreeNode]
    private var kept: [TreeNode]
    private var isMended = true
    /// How many batches and nodes were read.
    private(set) var read = 0
    private(set) var wasGrown = false

    init(_ count: Int, keepsNodes: Bool) {
        var (commits, nodes, chain, fold): ([Commit], [TreeNode], Digest, TreeFold) = ([], [], .zero, TreeFold())
        for position in 1...Int64(count) {
            let event = BatchLog.event(position)
            let content = MerkleTree.leaf(event.canonicalBytes)
            chain = chain.chained(to: content)
            let commit = Commit(
                partition: 0, firstPosition: position, lastPosition: position, contentDigest: content,
                chainDigest: chain, recordedAt: event.recordedAt)
            commits.append(commit)
            if keepsNodes { nodes += fold.take(commit) }
        }
        self.commits = commits
        self.nodes = nodes
        kept = nodes
    }

    private static func event(_ position: Int64) -> RecordedEvent {
        RecordedEvent(
            partition: 0, position: position, stream: "cart-c", version: position,
            kind: EventKind(name: "cart.itemAdded", schemaVersion: 1),
            payload: Array(
                #"{"outlet":"tea-room","currency":"GBP","line":"tea","item":"tea","name":"Tea","quantity":\#(position)}"#
                    .utf8), metadata: Array("{}".utf8),
            recordedAt: Timestamp(millisecondsSinceEpoch: 1_795_271_922_294 + position))
    }

    /// - Parameter isMended: whether growing the tree helps.
    func damage(_ number: Int, _ damage: Damage, isMended: Bool) {
        self.isMended = isMended
        switch damage {
        case .digest: kept[number].digest = .zero
        // A node above level 1 has none.
        case .treeDigest where kept[number].level == 1: kept[number].treeDigest = .zero
        case .position where kept[number].level == 1: kept[number].lastPosition -= 1
        default: kept.remove(at: number)
        }
        // Only the last of them is looked at, whatever is asked; the others are looked at where they are used.
        if damage == .treeDigest, number < nodes.count - 1 { kept[nodes.count - 1].treeDigest = .zero }
    }

    func treeNode(of partition: Int, upTo position: Int64) -> TreeNode? {
        read += 1
        return kept.filter { $0.level == 1 && $0.lastPosition <= position }.max { $0.lastPosition < $1.lastPosition }
    }

    func treeNodes(of partition: Int, level: Int, numbers: Range<Int64>) -> [TreeNode] {
        read += numbers.count
        return kept.filter { $0.level == level && numbers.contains($0.number) }
    }

    func growTree(of partition: Int, anew: Bool) {
        wasGrown = true
        if isMended { kept = nodes }
    }

    func commits(partition: Int, after position: Int64, limit: Int) -> [Commit] {
        let found = commits.dropFirst(Int(position)).prefix(limit)
        read += found.count
        return Array(found)
    }

    func heads() -> [LogHead] {
        [LogHead(partition: 0, position: Int64(commits.count), digest: commits[commits.count - 1].chainDigest)]
    }

    func read(partition: Int, after position: Int64, limit: Int) -> [RecordedEvent] {
        (position + 1...position + Int64(limit)).map(BatchLog.event)
    }

    func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int, seen: LogPoint
    ) -> [RecordedEvent] { version < commits.count ? [BatchLog.event(version + 1)] : [] }

    func append(_ batch: EventBatch, seen: LogPoint) throws(EventLogError) -> AppendReceipt {
        throw .unavailable("only for reading")
    }

    func appendNext(_ batch: EventBatch, after point: LogPoint) -> LogPoint? { nil }

    func outcome(of batch: EventBatch, since seen: LogPoint) -> AppendReceipt? { nil }

    func follow(
        partition: Int, after point: LogPoint, limit: Int
    ) -> FollowingEvents { FollowingEvents(events: [], end: point) }
}
