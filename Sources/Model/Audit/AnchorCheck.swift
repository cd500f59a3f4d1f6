public import EventLog

/// Checks whether a log is still the one that anchors were taken of.
public enum AnchorCheck {
    /// An anchor that does not hold.
    public struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        /// The anchor.
        public var anchor: Anchor
        /// Why, in a sentence without a full stop.
        public var reason: String
        /// Whether the log as it is now ends, or goes on otherwise, behind what earlier anchors vouch for: so does a log
        /// that lost its newest batches when a standby took over, or a backup was restored.
        public var isLoss = false

        /// The anchor and the reason, as people read them.
        public var description: String { "\(anchor) does not hold: \(reason)" }
    }

    /// The anchors that do not hold in a log: no batch ends at their position with their digest. Only batches are
    /// compared here; an audit of the whole log shows whether these follow from the events.
    ///
    /// A log does not tell whether its end was lost or replaced. A log that was changed before that, or whose digests
    /// do not fit, was tampered with.
    public static func faults(of anchors: [Anchor], in log: any EventLog) async throws(EventLogError) -> [Fault] {
        let heads = try await log.heads()
        var faults: [Fault] = []
        /// The last position of each partition whose anchor holds.
        var held: [Int: Int64] = [:]
        for anchor in anchors {
            if let reason = try await reason(against: anchor, in: log, heads) {
                faults.append(Fault(anchor: anchor, reason: reason))
            } else {
                held[anchor.partition] = max(held[anchor.partition] ?? 0, anchor.position)
            }
        }
        for index in faults.indices {
            let anchor = faults[index].anchor
            let last = held[anchor.partition] ?? 0
            let end = heads.first { $0.partition == anchor.partition }?.position
            let isBehind = end.map { anchor.position > max($0, last) } ?? false
            faults[index].isLoss = isBehind || (end != nil && last > 0 && last < anchor.position)
        }
        return faults
    }

    private static func reason(
        against anchor: Anchor, in log: any EventLog, _ heads: [LogHead]
    ) async throws(EventLogError) -> String? {
        guard let head = heads.first(where: { $0.partition == anchor.partition }) else {
            return "the log has no such partition"
        }
        guard anchor.position > 0 else {
            return anchor.digest == .zero ? nil : "the chain begins with zeros, not with \(anchor.digest)"
        }
        guard anchor.position <= head.position else { return "the log ends at \(head.position)" }
        let commits = try await log.commits(partition: anchor.partition, after: anchor.position - 1, limit: 1)
        guard let commit = commits.first, commit.lastPosition == anchor.position else { return "no batch ends there" }
        guard commit.chainDigest == anchor.digest else {
            return "the chain there is \(commit.chainDigest), and was \(anchor.digest)"
        }
        guard let tree = anchor.tree else { return nil }
        // A root covers no more than the chain does, but it is what receipts are compared with.
        let growth: TreeGrowth
        do throws(Prover.Failure) {
            growth = try await Prover(log, mendsTree: false).growth(of: anchor.partition, head: anchor.position)
        } catch {
            guard case .unavailable(let error) = error else { return "the log has no tree up to there" }
            throw error
        }
        guard growth.head.size == tree.size, growth.head.root == tree.root else {
            return "the tree over its \(growth.head.size) batches has the root \(growth.head.root), and the one over "
                + "\(tree.size) had \(tree.root)"
        }
        return nil
    }
}
