internal import Domain
public import EventLog
internal import Projections

/// What a receipt proves, as people read it.
public struct ReceiptVerdict: Equatable, Sendable {
    /// Whether the receipt proves what it claims.
    public var isProven: Bool
    /// The result in a sentence, then a line for each step that was checked; or the first step that failed.
    public var lines: [String]
    /// Of these, the lines of what it was compared with.
    let comparisons: [String]

    /// Checks a receipt.
    ///
    /// - Parameters:
    ///   - head: a chain digest of the log, which the receipt's chain must have; or the root of its tree.
    ///   - anchors: anchors of the log; those between the event's batch and the head must hold, and there must be one. Of
    ///     a tree, those of its size, or of the event's batch.
    ///   - logs: keys of the log, one of which must have signed the head.
    ///   - witnesses: keys of witnesses, each of which must have cosigned it.
    public init(
        of receipt: Receipt, head: Digest? = nil, anchors: [Anchor]? = nil, logs: [NoteVerifier] = [],
        witnesses: [NoteVerifier] = []
    ) {
        do throws(Receipt.Fault) {
            let proof = try receipt.verified()
            var comparisons: [String] = []
            if let head { comparisons.append(try receipt.compare(proof, with: head)) }
            if let anchors { comparisons += try receipt.compare(proof, with: anchors) }
            comparisons += try receipt.compareSignatures(logs, witnesses)
            isProven = true
            self.comparisons = comparisons.isEmpty ? [receipt.withoutComparison] : comparisons
            lines = [receipt.sentence] + (receipt.steps + self.comparisons).map { "  \($0)" }
        } catch {
            isProven = false
            comparisons = []
            lines = ["not proven, at the \(error.step.rawValue): \(error)"]
        }
    }
}

extension Receipt {
    // MARK: Comparing

    fileprivate func compare(_ proof: Proof, with known: Digest) throws(Fault) -> String {
        if let tree {
            if known == tree.root { return "the root is the given digest" }
            guard known == batch.chainDigest else {
                throw Fault(.head, "neither the root nor the chain up to the event's batch is \(known)")
            }
            return "the given digest is that of the chain up to the event's batch"
        }
        guard let index = proof.chain.firstIndex(of: known) else {
            throw Fault(.head, "the chain from the event's batch \(whereTo) never has the digest \(known)")
        }
        guard head != nil, index == proof.chain.count - 1 else {
            return "the given digest is that of the chain \(Receipt.batches(index)) after the event's"
        }
        return "the head has the given digest"
    }

    fileprivate func compare(_ proof: Proof, with anchors: [Anchor]) throws(Fault) -> [String] {
        if let tree { return try compare(tree, with: anchors.filter { $0.partition == event.partition }) }
        var indices: [Digest: Int] = [:]
        for (index, digest) in proof.chain.enumerated() { indices[digest] = index }
        let end = head?.position ?? batch.lastPosition
        var met: [Anchor] = []
        var least = (position: batch.lastPosition, index: 0)
        for anchor in anchors.filter({ $0.partition == event.partition }).sorted(by: { $0.position < $1.position }) {
            try checkBefore(anchor)
            guard (batch.lastPosition...end).contains(anchor.position) else { continue }
            // Every batch has at least one event, so the chain moves no faster than positions do, and reaches its
            // last digest only at the head.
            guard let index = indices[anchor.digest],
                anchor.position == least.position
                    ? index == least.index
                    : index > least.index
                        && Int64(index - least.index) <= anchor.position - least.position,
                (anchor.position == end) == (index == proof.chain.count - 1)
            else { throw Fault(anchor, contradicts: "the receipt's chain has another digest there") }
            least = (anchor.position, index)
            met.append(anchor)
        }
        guard !met.isEmpty else {
            let place = end > batch.lastPosition ? "positions \(batch.lastPosition) to \(end)" : "position \(end)"
            throw Fault(.head, "no anchor of partition \(event.partition) is at \(place)")
        }
        return met.map { "\($0) holds" }
    }

    private func compare(_ tree: Tree, with anchors: [Anchor]) throws(Fault) -> [String] {
        var met: [Anchor] = []
        for anchor in anchors {
            try checkBefore(anchor)
            if anchor.position == batch.lastPosition {
                guard anchor.digest == batch.chainDigest else {
                    throw Fault(anchor, contradicts: "the chain up to the batch has another digest")
                }
                met.append(anchor)
            }
            guard let known = anchor.tree, known.size == tree.size else { continue }
            guard known.root == tree.root else {
                throw Fault(anchor, contradicts: "the tree over \(tree.size) batches has another root")
            }
            if met.last != anchor { met.append(anchor) }
        }
        guard !met.isEmpty else {
            throw Fault(
                .head,
                "no anchor of partition \(event.partition) is at position \(batch.lastPosition), or of the tree over "
                    + "\(Receipt.batches(tree.size)): LOG.PROVE with HEAD and the position of an anchor gives the receipt "
                    + "that fits it")
        }
        return met.map { "\($0) holds" }
    }

    fileprivate func compareSignatures(
        _ logs: [NoteVerifier], _ witnesses: [NoteVerifier]
    ) throws(Fault) -> [String] {
        guard !logs.isEmpty || !witnesses.isEmpty else { return [] }
        guard let signedHead, let head = SignedHead(text: signedHead.text) else {
            throw Fault(
                .head, "nobody has signed it: LOG.PROVE gives a signed receipt once tiffin sign has signed the event")
        }
        var signers: [String] = []
        for key in logs + witnesses {
            switch key.find(in: signedHead) {
            case .forged: throw Fault(.head, "there is a signature that says it is of \(key.name), and is not")
            case .missing where key.kind == .signer: break
            case .missing: throw Fault(.head, "witness \(key.name) has not cosigned it")
            case .signed(nil):
                guard head.origin == SignedHead.origin(of: event.partition, in: key.name) else {
                    throw Fault(.head, "\(key.name) has signed it as the head of \(head.origin)")
                }
                signers.append("\(key.name) has signed the root")
            case .signed(let seconds?):
                // Up to the end of the year 9999.
                let time = Timestamp(millisecondsSinceEpoch: 1_000 * Int64(min(seconds, 253_402_300_799)))
                signers.append("\(key.name) has cosigned the root at \(time.rfc3339)")
            }
        }
        guard logs.isEmpty || logs.contains(where: { $0.find(in: signedHead) == .signed(at: nil) }) else {
            throw Fault(.head, "\(logs.map(\.name).joined(separator: " and ")) has not signed it")
        }
        return signers
    }

    /// Compares an anchor that lies before the end of the event's batch.
    private func checkBefore(_ anchor: Anchor) throws(Fault) {
        if anchor.position == batch.firstPosition - 1, anchor.digest != batch.previousChainDigest {
            throw Fault(anchor, contradicts: "the chain before the batch has another digest")
        }
        if (batch.firstPosition..<batch.lastPosition).contains(anchor.position) {
            throw Fault(anchor, contradicts: "a batch ended there, in the middle of the event's batch")
        }
    }

    // MARK: Words

    fileprivate var sentence: String {
        let place =
            batch.size == 1
            ? "is alone in its batch at position \(event.position)"
            : "is event \(batch.index + 1) of the \(batch.size) at positions \(batch.firstPosition) to "
                + "\(batch.lastPosition)"
        let log =
            tree.map { "whose tree over \(Receipt.batches($0.size)) has the root \($0.root)" }
            ?? head.map { "whose head at position \($0.position) is \($0.digest)" }
            ?? "whose chain at position \(batch.lastPosition) is \(batch.chainDigest)"
        return "proven: the event \(event.kind.name), version \(event.version) of \(event.stream), recorded "
            + "\(event.recordedAt.rfc3339), \(place), and that batch is part of the log \(log)"
    }

    fileprivate var steps: [String] {
        var steps = [
            "the positions\(tree == nil ? ", which no digest covers," : "") agree, and the stream belongs to partition \(event.partition) of "
                + "\(partitioning.count)",
            "the event and the \(batch.path.count.counted("digest")) of its path lead to the content digest "
                + "\(batch.contentDigest)",
            "this and the chain digest before it, \(batch.previousChainDigest), lead to the chain digest "
                + "\(batch.chainDigest)",
        ]
        if let tree {
            steps.append(
                "its end and that chain digest are leaf \(tree.index + 1) of the \(tree.size), which with the "
                    + "\(tree.path.count.counted("digest")) of its path leads to the root")
        }
        switch head {
        case _ where tree != nil: break
        case let head? where head.links.isEmpty: steps.append("the batch is the last one before the head")
        case let head?: steps.append("\(Receipt.batches(head.links.count)) later, the chain has the head's digest")
        case nil: steps.append("the receipt is not linked to a head")
        }
        return steps
    }

    fileprivate var withoutComparison: String {
        if let signedHead {
            let names = signedHead.signatures.map(\.name).joined(separator: ", ")
            return "the root is said to be signed by \(names): --log and --witness verify that"
        }
        return "nothing from elsewhere was compared: this is proven for the log that has this digest, and --head or "
            + "--anchor show whether that is yours"
    }

    private var whereTo: String { head == nil ? "on" : "to the head" }

    private static func batches(_ count: some BinaryInteger) -> String { count == 1 ? "1 batch" : "\(count) batches" }
}

extension Receipt.Fault {
    fileprivate init(_ anchor: Anchor, contradicts reason: String) {
        self.init(.head, "\(anchor) contradicts it: \(reason)")
    }
}
