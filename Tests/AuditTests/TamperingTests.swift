import Audit
import Domain
import EventLog
import EventLogContract
import Projections
import SeededRandom
import Testing

@Suite struct TamperingTests {
    /// A number that a server would never have written.
    private static func number(_ random: inout SeededGenerator, near value: Int64) -> Int64 {
        random.pick([.min, -1, 0, 1, value &- 1, value &+ 1, 1 << 40, .max - 1, .max])
    }

    /// Changes one value or row. Returns false where nothing was changed.
    private static func tamper(with log: inout StoredLog, _ random: inout SeededGenerator) -> Bool {
        let before = log
        let event = random.below(log.events.count)
        let commit = random.below(log.commits.count)
        let head = random.below(log.storedHeads.count)
        func change(_ value: inout Int64) { value = number(&random, near: value) }
        func change(_ time: inout Timestamp) {
            time = Timestamp(millisecondsSinceEpoch: number(&random, near: time.millisecondsSinceEpoch))
        }
        switch random.below(16) {
        case 0: change(&log.events[event].position)
        case 1: change(&log.events[event].version)
        case 2: change(&log.events[event].recordedAt)
        case 3: log.events[event].payload = random.pick([[], Array("{".utf8), Array(#"{"count":-1}"#.utf8)])
        case 4: log.events[event].stream = random.pick(["", "cart-", "cart-x", "\u{1b}"])
        case 5: log.events[event].kind.schemaVersion = random.pick([Int(Int32.min), -1, 0, 2, Int(Int32.max)])
        case 6: log.events[event].partition = random.pick([-1, 0, 1, 7])
        case 7: log.events.remove(at: event)
        case 8: change(&log.commits[commit].firstPosition)
        case 9: change(&log.commits[commit].lastPosition)
        case 10: change(&log.commits[commit].recordedAt)
        case 11: log.commits[commit].contentDigest = .zero
        case 12: log.commits[commit].chainDigest = .zero
        case 13: log.commits.remove(at: commit)
        case 14: change(&log.storedHeads[head].position)
        default: log.storedHeads[head].digest = random.pick([[], [0], Array(repeating: 1, count: 33)])
        }
        return log.events != before.events || log.commits != before.commits || log.storedHeads != before.storedHeads
    }

    @Test(arguments: SeededGenerator.seeds)
    func `An audit ends and finds whatever was changed in the log`(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let log = try await StoredLog.of(carts: random.number(1...9), partitions: random.number(1...3))
        #expect(try await log.tampering == [])
        for _ in 0..<20 {
            var changed = log
            guard Self.tamper(with: &changed, &random) else { continue }
            #expect(try await !changed.tampering.isEmpty)
            // And any number of changes together never end the audit early.
            for _ in 0..<random.below(5) where !changed.events.isEmpty && !changed.commits.isEmpty {
                _ = Self.tamper(with: &changed, &random)
            }
            _ = try await changed.tampering
        }
    }

    @Test func `Another number of partitions is found by the partitions that the streams are in`() async throws {
        var log = try await StoredLog.of(carts: 20, partitions: 3)
        log.storedPartitioning = Partitioning(count: 4)
        log.storedHeads.append(StoredHead(partition: 3, position: 0, digest: Digest.zero.bytes, epoch: 0))
        let findings = try await log.tampering
        #expect(findings.first == "partition_count is 4, and the streams lie as in a log of 3 partitions")
        #expect(findings.dropFirst().allSatisfy { $0.contains("belongs to partition") })
    }

    @Test(arguments: Partitioning.Rule.allCases)
    func `Another rule for partitions is found by the partitions that the streams are in`(
        _ rule: Partitioning.Rule
    ) async throws {
        var log = try await StoredLog.of(carts: 20, partitions: 3, by: rule)
        #expect(try await log.tampering == [])
        let (stored, name) = rule == .slots ? (Partitioning.Rule.sha256, "SHA-256") : (.slots, "slots")
        log.storedPartitioning = Partitioning(count: 3, by: stored)
        #expect(
            try await log.tampering.first
                == "partition_count is 3 by \(name), and the streams lie as in a log of 3 partitions by "
                + (rule == .slots ? "slots" : "SHA-256"))
    }

    @Test func `Head rows that are missing, and some too many, are found`() async throws {
        var log = try await StoredLog.of(carts: 20, partitions: 3)
        log.storedHeads.append(StoredHead(partition: 3, position: 0, digest: Digest.zero.bytes, epoch: 0))
        #expect(try await log.tampering == ["log_head has a row of partition 3, in a log of 3 partitions"])
        log.storedHeads.removeAll { $0.partition == 1 || $0.partition == 3 }
        #expect(try await log.tampering == ["log_head has no row of partition 1"])
        log.storedPartitioning = nil
        #expect(try await log.tampering.contains("partition_count has no row"))
        #expect(try await StoredLog().tampering == ["log_head has no row of partition 0"])
    }

    @Test func `Exchanged partitions are found though every digest is right`() async throws {
        var log = try await StoredLog.of(carts: 20, partitions: 2)
        for index in log.events.indices { log.events[index].partition = 1 - log.events[index].partition }
        for index in log.commits.indices { log.commits[index].partition = 1 - log.commits[index].partition }
        for index in log.storedHeads.indices {
            log.storedHeads[index].partition = 1 - log.storedHeads[index].partition
        }
        let findings = try await log.tampering
        #expect(findings.count == 2)
        for (index, finding) in findings.enumerated() {
            #expect(finding.contains("belongs to partition \(1 - index) of 2, and "))
        }
    }

    @Test func `A batch that says that it holds only carts, and holds others, is a difference`() async throws {
        var log = try await StoredLog.of(carts: 3, partitions: 1)
        let before = try await log.findings
        log.batchFaults.falseCarts = [BatchBounds(first: 2, last: 4)]
        let added = try await log.findings.filter { !before.contains($0) }
        #expect(
            added == [
                Finding(
                    .difference, partition: 0, position: 2, subject: "batch 2–4",
                    "says that it holds only carts, and holds other events: servers pass over it")
            ])
    }

    @Test func `A stored quarantine is of the stream with the same bytes`() async throws {
        var log = StoredLog()
        log.storedHeads = [StoredHead(partition: 0, position: 1, digest: Digest.zero.bytes, epoch: 0)]
        log.events = [
            RecordedEvent(
                partition: 0, position: 1, stream: "cart-K", version: 1,
                kind: EventKind(name: "cart.cleared", schemaVersion: 1), payload: Array("{".utf8),
                metadata: Array("{}".utf8), recordedAt: Timestamp(millisecondsSinceEpoch: 0))
        ]
        log.storedCheckpoints = ReadModel.projections.map {
            StoredCheckpoint(
                projection: $0.name, generation: 1, version: $0.version, position: 1, digest: SetDigest().bytes)
        }
        func quarantineFindings(_ stream: String) async throws -> [String] {
            log.quarantinedCarts = [CorruptEvent(partition: 0, position: 1, stream: stream, reason: "")]
            return try await log.findings.map(\.message).filter { $0.contains("quarantine") }
        }
        #expect(try await quarantineFindings("cart-K") == [])
        // The Kelvin sign is a K to those who compare texts.
        #expect(
            try await quarantineFindings("cart-\u{212A}") == [
                "is quarantined by cart_counts, and the log says nothing against it",
                "is damaged, and missing from the quarantine of cart_counts",
            ])
    }

    @Test func `What a log keeps of its tree is compared with its batches`() async throws {
        var log = try await StoredLog.of(carts: 175, partitions: 1)
        var fold = TreeFold()
        for commit in log.commits { log.treeNodes += fold.take(commit) }
        #expect(log.treeNodes.count == 2)
        /// What is said of nodes. The histories are none that happen.
        func found(_ log: StoredLog) async throws -> [String] {
            try await log.findings.filter { $0.subject.hasSuffix("tree_nodes") && $0.kind == .difference }.map {
                "\($0.subject) \($0.message)"
            }
        }
        let advice = ": empty the table, and servers fill it again"
        log.treeNodes[0].treeDigest = .zero
        log.treeNodes.append(TreeNode(level: 1, number: 9, lastPosition: 9, digest: .zero, treeDigest: .zero))
        #expect(
            try await found(log) == [
                "node 0 of level 1 in tree_nodes does not follow from the batches\(advice)",
                "node 9 of level 1 in tree_nodes is over batches that the log does not have\(advice)",
            ])
        log.treeNodes.removeLast()
        log.treeNodes.removeFirst()
        #expect(try await found(log) == ["node 0 of level 1 in tree_nodes is missing\(advice)"])
        // A tree that ends earlier is one that servers have not brought up to the end yet.
        log.treeNodes = []
        let report = try await Audit(log).run { _, _, _ in }
        #expect(!report.partitions[0].findings.kept.contains { $0.subject.hasSuffix("tree_nodes") })
        #expect(report.partitions.map(\.tree.root) == [fold.root])
        #expect(report.partitions.map(\.tree.digest) == [log.commits.last?.chainDigest])
    }
}
