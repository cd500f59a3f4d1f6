/// Makes receipts from a log.
public struct Prover: Sendable {
    /// How many events are read from the log at once.
    private static let pageEvents = 500
    /// How many batches are read from the log at once.
    private static let pageCommits = 1_000

    private let log: any EventLog
    private let maximumLinks: Int

    /// Why there is no receipt.
    public enum Failure: Error, Equatable, Sendable {
        /// There is no such event.
        case noSuchEvent
        /// No receipt can be linked to the requested position; why, in a sentence without a full stop.
        case unsuitableHead(String)
        /// Between the event and the requested position there are more batches than a receipt may have.
        case tooManyLinks(Int)
        /// The log does not match its digests; what is wrong, for an operator.
        case damaged(String)
        /// The log cannot be read.
        case unavailable(EventLogError)
    }

    /// A prover of a log's events.
    ///
    /// - Parameter maximumLinks: how many batches may lie between an event's and the head of its receipt.
    public init(_ log: any EventLog, maximumLinks: Int = Receipt.maximumLinks) {
        self.log = log
        self.maximumLinks = maximumLinks
    }

    /// A receipt for the event with that version in a stream. It reads the event's batch and the digests of every
    /// later one, in pages, in the background.
    ///
    /// - Parameter head: the position to link the receipt to, where a batch must end. If nil, the receipt is linked
    ///   to the present head of the log, or to nothing if that is too far.
    @concurrent
    public func receipt(
        for stream: StreamName, version: Int64, head: Int64? = nil
    ) async throws(Failure) -> Receipt {
        guard version >= 1 else { throw .noSuchEvent }
        let partition = log.partitioning.partition(of: stream)
        let found = try await reading { () async throws(EventLogError) in
            try await log.read(stream: stream, partition: partition, afterVersion: version - 1, limit: 1)
        }
        guard let event = found.first, event.version == version else { throw .noSuchEvent }
        guard (1...LogHead.maximumPosition).contains(event.position) else {
            throw .damaged("no event can have the position \(event.position)")
        }
        // A receipt has the payload as text: bytes that are not UTF-8 would change in it.
        guard String(validating: event.payload, as: UTF8.self) != nil,
            String(validating: event.metadata, as: UTF8.self) != nil
        else { throw .damaged("the event at position \(event.position) is not UTF-8") }

        let commit = try await self.commit(of: event)
        let target = try await target(head, after: commit)
        let batch = try await batch(of: event, commit)
        let links = try await links(from: commit, to: target)
        if links == nil, head != nil { throw .tooManyLinks(maximumLinks) }
        let receipt = Receipt(
            partitioning: log.partitioning, event: event, batch: batch,
            head: links.map { Receipt.Head(links: $0, position: target.position, digest: target.digest) })
        do throws(Receipt.Fault) {
            _ = try receipt.verified()
        } catch {
            throw .damaged(error.description)
        }
        return receipt
    }

    // MARK: Parts

    private func commit(of event: RecordedEvent) async throws(Failure) -> Commit {
        guard let commit = try await commits(event.partition, after: event.position - 1, limit: 1).first,
            (commit.firstPosition...max(commit.firstPosition, commit.lastPosition)).contains(event.position)
        else { throw .damaged("no batch has the event at position \(event.position)") }
        return commit
    }

    /// The head that the receipt is linked to.
    private func target(_ requested: Int64?, after commit: Commit) async throws(Failure) -> LogHead {
        let heads = try await reading { () async throws(EventLogError) in try await log.heads() }
        guard let head = heads.first(where: { $0.partition == commit.partition }), head.position >= commit.lastPosition
        else { throw .damaged("the log's head lies before position \(commit.lastPosition)") }
        guard let requested else { return head }
        guard requested <= head.position else { throw .unsuitableHead("the log ends at \(head.position)") }
        guard requested >= commit.lastPosition else {
            throw .unsuitableHead("the event is in the batch that ends at \(commit.lastPosition)")
        }
        guard let last = try await commits(commit.partition, after: requested - 1, limit: 1).first else {
            throw .damaged("no batch has the event at position \(requested)")
        }
        guard last.lastPosition == requested else {
            throw .unsuitableHead("no batch ends there; the next one ends at \(last.lastPosition)")
        }
        return LogHead(partition: commit.partition, position: requested, digest: last.chainDigest)
    }

    /// The path to the event in the tree over its batch. The whole batch is read.
    private func batch(of event: RecordedEvent, _ commit: Commit) async throws(Failure) -> Receipt.Batch {
        let size = commit.lastPosition - commit.firstPosition + 1
        guard size <= EventBatch.maximumEvents else {
            throw .damaged("the batch at position \(commit.firstPosition) is larger than a batch can be")
        }
        var leaves: [Digest] = []
        while leaves.count < size {
            let after = commit.firstPosition - 1 + Int64(leaves.count)
            let limit = min(Prover.pageEvents, Int(size) - leaves.count)
            let page = try await reading { () async throws(EventLogError) in
                try await log.read(partition: commit.partition, after: after, limit: limit)
            }
            guard !page.isEmpty, page.map(\.position) == (1...Int64(page.count)).map({ after + $0 }) else {
                throw .damaged("there is no event at position \(after + 1)")
            }
            leaves += page.map { MerkleTree.leaf($0.canonicalBytes) }
        }
        var previous = Digest.zero
        if commit.firstPosition > 1 {
            guard let before = try await commits(commit.partition, after: commit.firstPosition - 2, limit: 1).first,
                before.lastPosition == commit.firstPosition - 1
            else { throw .damaged("no batch ends at position \(commit.firstPosition - 1)") }
            previous = before.chainDigest
        }
        let index = Int(event.position - commit.firstPosition)
        return Receipt.Batch(
            firstPosition: commit.firstPosition, lastPosition: commit.lastPosition, index: index, size: leaves.count,
            path: MerkleTree.path(to: index, in: leaves), contentDigest: commit.contentDigest,
            previousChainDigest: previous, chainDigest: commit.chainDigest)
    }

    /// The content digests of all batches up to the target; nil if there are too many.
    private func links(from commit: Commit, to target: LogHead) async throws(Failure) -> [Digest]? {
        var links: [Digest] = []
        var position = commit.lastPosition
        while position < target.position {
            let page = try await commits(commit.partition, after: position, limit: Prover.pageCommits)
            guard !page.isEmpty else { throw .damaged("no batch has the event at position \(position + 1)") }
            for next in page where position < target.position {
                guard next.firstPosition == position + 1, next.lastPosition >= next.firstPosition,
                    next.lastPosition <= target.position
                else { throw .damaged("no batch begins at position \(position + 1)") }
                guard links.count < maximumLinks else { return nil }
                links.append(next.contentDigest)
                position = next.lastPosition
            }
        }
        return links
    }

    // MARK: Reading

    private func commits(_ partition: Int, after position: Int64, limit: Int) async throws(Failure) -> [Commit] {
        try await reading { () async throws(EventLogError) in
            try await log.commits(partition: partition, after: position, limit: limit)
        }
    }

    private func reading<Value>(
        _ body: () async throws(EventLogError) -> Value
    ) async throws(Failure) -> Value {
        do throws(EventLogError) {
            return try await body()
        } catch {
            throw .unavailable(error)
        }
    }
}
