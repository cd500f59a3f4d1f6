import Audit
import Domain
import EventLog
import EventLogContract
import SeededRandom
import Testing

@Suite struct ReceiptVerdictTests {
    private static let time = Timestamp(millisecondsSinceEpoch: 1_772_366_400_250)

    /// A log of one stream in batches of these sizes.
    private static func log(_ sizes: [Int]) async throws -> InMemoryEventLog {
        let log = InMemoryEventLog()
        var writer = LogWriter(log)
        for (mark, size) in sizes.enumerated() {
            _ = try await writer.append([Array(repeating: .cart("c"), count: size)], marks: [mark])
            try await writer.catchUp()
        }
        return log
    }

    private static func anchors(_ log: InMemoryEventLog) async throws -> [Anchor] {
        try await log.commits(partition: 0, after: 0, limit: .max).map {
            Anchor(partition: 0, position: $0.lastPosition, digest: $0.chainDigest, time: time)
        }
    }

    // MARK: Words

    @Test func `A proof is one sentence with every number, and a line for each step`() async throws {
        let log = try await Self.log([2, 5, 1, 2])
        let receipt = try await Prover(log).receipt(for: .cart("c"), version: 4, form: .links)
        let verdict = ReceiptVerdict(of: receipt)
        #expect(verdict.isProven)
        let head = try await log.heads()[0].digest
        #expect(
            verdict.lines[0]
                == "proven: the event cart.cleared, version 4 of cart-c, recorded 2023-11-14T22:13:20.124Z, is event 2 "
                + "of the 5 at positions 3 to 7, and that batch is part of the log whose head at position 10 is \(head)"
        )
        #expect(verdict.lines.joined(separator: "\n").contains("2 batches later, the chain has the head's digest"))
        #expect(verdict.lines.joined(separator: "\n").contains("nothing from elsewhere was compared"))

        var last = try await Prover(log).receipt(for: .cart("c"), version: 8, head: 8, form: .links)
        #expect(ReceiptVerdict(of: last).lines.joined(separator: "\n").contains("is alone in its batch at position 8,"))
        #expect(
            ReceiptVerdict(of: last).lines.joined(separator: "\n").contains("the batch is the last one before the head")
        )
        last.head = nil
        #expect(
            ReceiptVerdict(of: last).lines.joined(separator: "\n").contains(
                "whose chain at position 8 is \(last.batch.chainDigest)"))
    }

    @Test func `A refusal names the step that fails first`() async throws {
        var receipt = try await Prover(try await Self.log([2, 5])).receipt(for: .cart("c"), version: 4, form: .links)
        receipt.event.payload += [0x20]
        receipt.head?.digest = .zero
        let verdict = ReceiptVerdict(of: receipt)
        #expect(!verdict.isProven)
        #expect(
            verdict.lines.joined(separator: "\n").hasPrefix("not proven, at the path: the event and its path lead to "))
    }

    // MARK: What is known from elsewhere

    @Test func `The chain must contain the known digest`() async throws {
        let log = try await Self.log([2, 5, 1, 2])
        let chain = try await log.commits(partition: 0, after: 0, limit: .max).map(\.chainDigest)
        let receipt = try await Prover(log).receipt(for: .cart("c"), version: 4, form: .links)
        for (index, digest) in chain.enumerated() {
            #expect(ReceiptVerdict(of: receipt, head: digest).isProven == (index >= 1))
        }
        #expect(
            ReceiptVerdict(of: receipt, head: chain[3]).lines.joined(separator: "\n").contains(
                "the head has the given digest"))
        #expect(
            ReceiptVerdict(of: receipt, head: chain[2]).lines.joined(separator: "\n").contains(
                "that of the chain 1 batch after"))
        #expect(!ReceiptVerdict(of: receipt, head: receipt.batch.contentDigest).isProven)
        var unlinked = receipt
        unlinked.head = nil
        for (index, digest) in chain.enumerated() {
            #expect(ReceiptVerdict(of: unlinked, head: digest).isProven == (index == 1))
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `A log's anchors confirm its receipts, and another log's contradict them`(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let sizes = (0..<random.number(2..<9)).map { _ in random.number(1..<5) }
        let log = try await Self.log(sizes)
        let all = try await Self.anchors(log)
        let version = Int64(random.number(1..<Int(all.last!.position) + 1))
        let receipt = try await Prover(log).receipt(
            for: .cart("c"), version: version, head: random.pick(all.filter { $0.position >= version }).position,
            form: .links)
        let end = receipt.head!.position
        let onTheWay = { (anchor: Anchor) in (receipt.batch.lastPosition...end).contains(anchor.position) }

        let some = all.filter { _ in random.chance(50) }.shuffled(using: &random)
        let verdict = ReceiptVerdict(of: receipt, anchors: some + some)
        #expect(verdict.isProven == some.contains(where: onTheWay), "\(verdict.lines.joined(separator: "\n"))")
        #expect(
            verdict.lines.count { $0.hasSuffix(" holds") } == 2 * some.count(where: onTheWay))

        for index in all.indices {
            var changed = all
            // This receipt says nothing about where the chain begins, and about what comes after the head.
            let isTouched = onTheWay(all[index]) || all[index].position == receipt.batch.firstPosition - 1
            changed[index].digest = Digest.of(all[index].digest.bytes)
            #expect(ReceiptVerdict(of: receipt, anchors: changed).isProven == !isTouched)
        }
    }

    @Test func `An anchor inside the batch, or with another batch's digest, contradicts the receipt`() async throws {
        let log = try await Self.log([1, 4, 2, 2])
        let anchors = try await Self.anchors(log)
        let receipt = try await Prover(log).receipt(for: .cart("c"), version: 3, form: .links)
        #expect(ReceiptVerdict(of: receipt, anchors: anchors).isProven)
        let digests: [(Int64, Digest)] = [
            (3, anchors[1].digest), (6, anchors[2].digest), (7, anchors[1].digest), (9, anchors[2].digest),
        ]
        for (position, digest) in digests {
            let anchor = Anchor(partition: 0, position: position, digest: digest, time: Self.time)
            let verdict = ReceiptVerdict(of: receipt, anchors: [anchor])
            // Between two batches, a receipt alone cannot tell one position from another.
            #expect(verdict.isProven == (position == 6), "\(position)")
            #expect(!ReceiptVerdict(of: receipt, anchors: anchors + [anchor]).isProven, "\(position)")
        }
        for anchors in [[], [Anchor(partition: 1, position: 7, digest: anchors[2].digest, time: Self.time)]] {
            let verdict = ReceiptVerdict(of: receipt, anchors: anchors)
            #expect(verdict.lines == ["not proven, at the head: no anchor of partition 0 is at positions 5 to 9"])
        }
    }
}
