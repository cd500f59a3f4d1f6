internal import EventLog

/// Holds the events of a partition against the digests of its batches, and these against its head.
struct ChainCheck {
    /// What a partition begins with.
    private var chain = Digest.zero
    private(set) var position: Int64 = 0
    private(set) var commitCount = 0
    private(set) var findings = Findings()
    private let partition: Int
    /// Leaves of events whose batch has not been met yet, and where they begin.
    private var leaves: [Digest] = []
    private var firstLeaf: Int64 = 1
    /// Batches whose events have not been met yet.
    private var commits: [Commit] = []
    private var nextCommit = 0
    private var lastCommitted: Int64 = 0

    init(partition: Int) {
        self.partition = partition
    }

    private mutating func found(_ position: Int64?, _ subject: String, _ message: String) {
        findings.add(Finding(.tampering, partition: partition, position: position, subject: subject, message))
    }

    /// Takes the next batches in, in their order.
    mutating func take(_ new: [Commit]) {
        commits = Array(commits[nextCommit...]) + new
        nextCommit = 0
    }

    /// The last position that a batch is known for.
    var knownUpTo: Int64 { commits.last?.lastPosition ?? lastCommitted }

    /// Takes the leaf of the next event in.
    mutating func take(_ leaf: Digest, at next: Int64) {
        let expected = position + 1
        if next > expected {
            found(expected, "events \(expected)–\(next - 1)", "are missing from the log; \(next) follows")
            leaves = []
            firstLeaf = next
        } else if next < expected {
            return found(next, "event \(next)", "is in the log twice")
        }
        position = next
        if leaves.isEmpty { firstLeaf = position }
        leaves.append(leaf)
        closeBatches()
    }

    private mutating func closeBatches() {
        while nextCommit < commits.count, commits[nextCommit].lastPosition <= position {
            let commit = commits[nextCommit]
            nextCommit += 1
            close(commit)
        }
    }

    private mutating func close(_ commit: Commit) {
        commitCount += 1
        let subject = "batch \(commit.firstPosition)–\(commit.lastPosition)"
        if commit.firstPosition != lastCommitted + 1 {
            found(
                lastCommitted + 1, subject,
                commit.firstPosition > lastCommitted + 1
                    ? "follows upon \(lastCommitted): the batch between is missing"
                    : "overlaps with the batch before it")
        }
        lastCommitted = max(lastCommitted, commit.lastPosition)
        let start = Int(commit.firstPosition - firstLeaf)
        let end = Int(commit.lastPosition - firstLeaf) + 1
        if start >= 0, start < end, end <= leaves.count {
            if MerkleTree.root(leaves[start..<end]) != commit.contentDigest {
                let what =
                    end - start == 1
                    ? "is not the event that its digest covers"
                    : "are not the events that its digest covers: one of them was changed, or their order was"
                found(commit.firstPosition, subject, what)
            }
            leaves.removeFirst(end)
            firstLeaf = commit.lastPosition + 1
        }
        if chain.chained(to: commit.contentDigest) != commit.chainDigest {
            found(
                commit.firstPosition, subject,
                "does not continue the chain: its digest was changed, or a batch before it was removed or exchanged")
        }
        // From here on it is held against what is stored, so that one break is told once.
        chain = commit.chainDigest
    }

    /// Everything up to the head has been taken in.
    mutating func finish(_ head: LogHead) {
        while nextCommit < commits.count, commits[nextCommit].lastPosition <= head.position {
            close(commits[nextCommit])
            nextCommit += 1
        }
        if position < head.position {
            found(
                position + 1, "the end", "is missing: the head says \(head.position), and the log ends at \(position)")
        }
        if lastCommitted < position {
            found(lastCommitted + 1, "events \(lastCommitted + 1)–\(position)", "belong to no batch")
        } else if lastCommitted > position, position == head.position {
            found(position + 1, "the batches", "go on to \(lastCommitted), beyond the end of the log")
        }
        if chain != head.digest {
            found(head.position, "the head", "has the digest \(head.digest), and the batches lead to \(chain)")
        }
    }
}
