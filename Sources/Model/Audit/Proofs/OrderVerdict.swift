internal import Domain
public import EventLog

/// What the proof of an order proves, as people read it.
public struct OrderVerdict: Equatable, Sendable {
    /// Whether its events are in the log, and its money follows from them.
    public var isProven: Bool
    /// The result in a sentence, then a line for each step; or the first step that failed.
    public var lines: [String]

    /// Checks a proof: each receipt with what is known of the log, as a ``ReceiptVerdict`` does, and the arithmetic.
    public init(
        of proof: OrderProof, head: Digest? = nil, anchors: [Anchor]? = nil, logs: [NoteVerifier] = [],
        witnesses: [NoteVerifier] = []
    ) {
        isProven = false
        do throws(Receipt.Fault) {
            try proof.verify()
        } catch {
            lines = ["not proven, at the \(error.step.rawValue): \(error)"]
            return
        }
        var comparisons: [String] = []
        for receipt in proof.receipts {
            let verdict = ReceiptVerdict(of: receipt, head: head, anchors: anchors, logs: logs, witnesses: witnesses)
            guard verdict.isProven else {
                lines = verdict.lines
                return
            }
            comparisons = verdict.comparisons
        }
        do throws(OrderFault) {
            let steps = try OrderReckoning.steps(of: proof.receipts.map(\.event))
            isProven = true
            lines =
                [proof.sentence] + steps.map { "  \($0)" } + [
                    "  that the order did not go on after that, only the log shows"
                ]
                + comparisons.map { "  \($0)" }
        } catch {
            lines = ["not proven, by the arithmetic: \(error.description)"]
        }
    }
}

extension OrderProof {
    fileprivate var sentence: String {
        let tree = receipts.first?.tree.map {
            "whose tree over \($0.size == 1 ? "1 batch" : "\($0.size) batches") has the root \($0.root)"
        }
        return
            "proven: the \(receipts.count.counted("event")) of order \(order) \(receipts.count == 1 ? "is" : "are") in the log "
            + (tree ?? "")
    }
}
