internal import Domain
internal import EventLog
internal import Projections

/// Checks the events of a partition against the digests of its batches, and these against its head.
///
/// No stored value is taken for granted: positions may be any numbers, in any order.
struct ChainCheck {
    /// The chain so far; a partition begins with zeros.
    private var chain = Digest.zero
    private(set) var position: Int64 = 0
    private(set) var commitCount = 0
    private(set) var findings = Findings()
    private let partition: Int
    /// The events whose batch has not been closed yet, from ``firstPending`` on without gaps.
    private var pending: (leaves: [Digest], times: [Timestamp]) = ([], [])
    private var firstPending: Int64 = 1
    /// Batches that were read. Those before `nextCommit` are closed.
    private var commits: [Commit] = []
    private var nextCommit = 0
    private var lastCommitted: Int64 = 0
    /// Where the last batch that was read begins.
    private(set) var lastFirstPosition: Int64 = 0
    private var hasAllCommits = false

    init(partition: Int) {
        self.partition = partition
    }

    private mutating func found(_ position: Int64?, _ subject: String, _ message: String) {
        findings.add(Finding(.tampering, partition: partition, position: position, subject: subject, message))
    }

    /// The chain at a position up to which everything was taken; nil if no batch ends there.
    func chain(at position: Int64) -> Digest? { lastCommitted == position ? chain : nil }

    // MARK: Taking rows

    /// Whether there may be batches that begin up to a position and have not been read.
    func needsCommits(upTo position: Int64) -> Bool { !hasAllCommits && lastFirstPosition <= position }

    /// Takes the next batches, in the order of their first positions.
    ///
    /// - Parameter areLast: whether no batch follows them.
    mutating func take(_ new: [Commit], areLast: Bool) {
        commits = Array(commits[nextCommit...]) + new
        nextCommit = 0
        lastFirstPosition = new.last?.firstPosition ?? lastFirstPosition
        hasAllCommits = areLast
    }

    /// Takes the next event.
    mutating func take(_ leaf: Digest, at next: Int64, _ recordedAt: Timestamp) {
        guard next > position else { return found(next, "event \(next)", "is in the log twice") }
        if next - 1 > position {
            missing(position + 1...next - 1, before: next)
            pending = ([], [])
        }
        position = next
        if pending.leaves.isEmpty { firstPending = position }
        pending.leaves.append(leaf)
        pending.times.append(recordedAt)
        while nextCommit < commits.count, commits[nextCommit].end <= position { closeBatch() }
    }

    /// Events are missing. If a batch has too few lines, it is unknown which ones.
    private mutating func missing(_ positions: ClosedRange<Int64>, before next: Int64) {
        var first = positions.lowerBound
        let started = commits[nextCommit...].first {
            $0.isPossible && $0.firstPosition < first && first <= $0.lastPosition && $0.lastPosition < next
        }
        if let started, firstPending <= started.firstPosition, !pending.leaves.isEmpty {
            let count = started.lastPosition - started.firstPosition + 1
            found(
                started.firstPosition, "batch \(started.firstPosition)–\(started.lastPosition)",
                "has \(first - started.firstPosition) of its \(count) events: the others were removed")
            first = started.lastPosition + 1
        }
        guard first < next else { return }
        found(first, "events \(first)–\(next - 1)", "are missing from the log; \(next) follows")
    }

    // MARK: Closing batches

    private mutating func closeBatch() {
        let commit = commits[nextCommit]
        nextCommit += 1
        commitCount += 1
        let subject = "batch \(commit.firstPosition)–\(commit.lastPosition)"
        if commit.isPossible {
            if commit.firstPosition - 1 != lastCommitted {
                found(
                    lastCommitted + 1, subject,
                    commit.firstPosition - 1 > lastCommitted
                        ? "follows event \(lastCommitted): the batch between them is missing"
                        : "overlaps with the batch before it")
            }
            lastCommitted = max(lastCommitted, commit.lastPosition)
            compareEvents(with: commit, subject)
        } else {
            found(
                commit.firstPosition, subject, "is impossible: a batch has 1 to \(EventBatch.maximumEvents) events")
        }
        if commit.microseconds != 0 {
            found(
                commit.firstPosition, subject,
                "was recorded \(commit.microseconds) µs after a millisecond: digests do not cover that, and no "
                    + "server writes it")
        }
        if chain.chained(to: commit.contentDigest) != commit.chainDigest {
            found(
                commit.firstPosition, subject,
                "does not continue the chain: its digest was changed, or a batch before it was removed or replaced")
        }
        // The next batch is compared with the stored digest, so that one break is reported once.
        chain = commit.chainDigest
    }

    private mutating func compareEvents(with commit: Commit, _ subject: String) {
        let start = Int(commit.firstPosition - firstPending)
        let end = Int(commit.lastPosition - firstPending) + 1
        guard start >= 0, end <= pending.leaves.count else { return }
        if MerkleTree.root(pending.leaves[start..<end]) != commit.contentDigest {
            found(
                commit.firstPosition, subject,
                end - start == 1
                    ? "does not match its digest: its event was changed"
                    : "does not match its digest: its events or their order were changed")
        }
        if let index = pending.times[start..<end].firstIndex(where: { $0 != commit.recordedAt }) {
            found(
                firstPending + Int64(index), subject,
                "was recorded at \(commit.recordedAt.rfc3339), and its event \(firstPending + Int64(index)) at "
                    + pending.times[index].rfc3339)
        }
        pending.leaves.removeFirst(end)
        pending.times.removeFirst(end)
        firstPending = commit.end + 1
    }

    // MARK: The end

    /// Checks the end: every event and batch up to the head was taken.
    mutating func finish(_ head: StoredHead, strays: [StrayRow]) {
        while nextCommit < commits.count, commits[nextCommit].firstPosition <= head.position { closeBatch() }
        checkValues(of: head)
        if position < head.position {
            found(
                position + 1, "the end", "is missing: the head is at \(head.position), and the log ends at \(position)")
        }
        if lastCommitted < position {
            found(lastCommitted + 1, "events \(lastCommitted + 1)–\(position)", "belong to no batch")
        } else if lastCommitted > position, position == head.position {
            found(position, "the batches", "go on to \(lastCommitted), beyond the end of the log")
        }
        if chain != head.head.digest {
            found(head.position, "the head", "has the digest \(head.head.digest), and the batches lead to \(chain)")
        }
        for row in strays {
            found(
                row.position, row.subject,
                row.position > head.position
                    ? "is behind the head, which is at \(head.position)" : "is before the first position")
        }
    }

    private mutating func checkValues(of head: StoredHead) {
        if head.position < 0 { found(nil, "the head", "is at \(head.position), before the first position") }
        if head.digest.count != Digest.length {
            found(nil, "the head", "has a digest of \(head.digest.count) bytes instead of \(Digest.length)")
        }
        if head.epoch < 0 || head.epoch == Int64.max {
            found(nil, "the head", "has the epoch \(head.epoch), which no partition reaches")
        }
    }
}

extension Commit {
    /// Whether a log can have such a batch.
    fileprivate var isPossible: Bool {
        firstPosition >= 1 && lastPosition >= firstPosition && lastPosition < Int64.max
            && lastPosition - firstPosition < Int64(EventBatch.maximumEvents)
    }

    /// The last event that has to be read before the batch can be checked.
    fileprivate var end: Int64 { isPossible ? lastPosition : firstPosition }
}
