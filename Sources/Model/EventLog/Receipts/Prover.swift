public import Domain

/// Makes receipts, and proofs that a log goes on from what it was.
public struct Prover: Sendable {
    /// How many events are read from the log at once.
    private static let pageEvents = 500
    /// How many batches are read from the log at once.
    private static let pageCommits = 1_000

    private let log: any EventLog
    private let maximumLinks: Int
    private let mendsTree: Bool

    /// Why there is no receipt.
    public enum Failure: Error, Equatable, Sendable {
        /// There is no such event.
        case noSuchEvent
        /// No receipt can be linked to the requested position; why, in a sentence without a full stop.
        case unsuitableHead(String)
        /// Between the event and the requested position there are more batches than a receipt may have.
        case tooManyLinks(Int)
        /// The log has only so many batches.
        case unsuitableSize(Int64)
        /// No head is signed that has the event.
        case notSigned
        /// The order has more events than are proven at once.
        case tooManyEvents
        /// The log does not match its digests; what is wrong, for an operator.
        case damaged(String)
        /// The log cannot be read.
        case unavailable(EventLogError)
    }

    /// A prover of a log's events.
    ///
    /// - Parameters:
    ///   - maximumLinks: how many batches may lie between an event's and the head of its receipt.
    ///   - mendsTree: whether what the log keeps of a tree is made again where it is wrong.
    public init(_ log: any EventLog, maximumLinks: Int = Receipt.maximumLinks, mendsTree: Bool = true) {
        self.log = log
        self.maximumLinks = maximumLinks
        self.mendsTree = mendsTree
    }

    /// A receipt for the event with that version in a stream. It reads the event's batch, and a few hundred digests more;
    /// for links, the digests of every later batch, in pages.
    ///
    /// - Parameters:
    ///   - head: the position up to which the tree, or the links, go, where a batch must end. If nil, the present end of
    ///     the log. Links that would be too many to get there are left out.
    ///   - form: what leads from the event's batch to there.
    @concurrent
    public func receipt(
        for stream: StreamName, version: Int64, head: Int64? = nil, form: Receipt.Form = .tree
    ) async throws(Failure) -> Receipt {
        guard version >= 1 else { throw .noSuchEvent }
        let partition = log.partitioning.partition(of: stream)
        let found = try await reading { () async throws(EventLogError) in
            try await log.read(stream: stream, partition: partition, afterVersion: version - 1, limit: 1)
        }
        guard let event = found.first, event.version == version else { throw .noSuchEvent }
        let commit = try await self.commit(of: event)
        var end = head
        var signedHead: SignedNote?
        if form == .signed {
            guard head == nil else {
                throw .unsuitableHead("cannot go with FORM signed, which ends where the signed head does")
            }
            let published = try await reading { () async throws(EventLogError) in
                try await log.signedHead(of: partition)
            }
            guard let published, published.position >= commit.lastPosition, let note = SignedNote(published.note)
            else { throw .notSigned }
            (end, signedHead) = (published.position, note)
        }
        let receipt = try await receipt(of: event, commit, to: try await target(end, after: commit), form, signedHead)
        if form == .links, receipt.head == nil, head != nil { throw .tooManyLinks(maximumLinks) }
        return receipt
    }

    /// A proof of all events of an order, in one tree: the newest that is signed, if it has all of them, or else up to the
    /// present end of the log.
    @concurrent
    public func proof(of order: Identifier) async throws(Failure) -> OrderProof {
        let stream = StreamName(.order, order)
        let partition = log.partitioning.partition(of: stream)
        let events = try await reading { () async throws(EventLogError) in
            try await log.read(
                stream: stream, partition: partition, afterVersion: 0, limit: OrderProof.maximumEvents + 1)
        }
        guard let last = events.last else { throw .noSuchEvent }
        guard events.count <= OrderProof.maximumEvents else { throw .tooManyEvents }
        let commit = try await self.commit(of: last)
        let published = try await reading { () async throws(EventLogError) in
            try await log.signedHead(of: partition)
        }
        if let published, published.position >= commit.lastPosition, let note = SignedNote(published.note) {
            do throws(Failure) {
                return try await proof(
                    of: order, events, to: try await target(published.position, after: commit), .signed, note)
            } catch {
                guard error == .notSigned else { throw error }
            }
        }
        return try await proof(of: order, events, to: try await target(nil, after: commit), .tree, nil)
    }

    private func proof(
        of order: Identifier, _ events: [RecordedEvent], to target: LogHead, _ form: Receipt.Form,
        _ signedHead: SignedNote?
    ) async throws(Failure) -> OrderProof {
        var receipts: [Receipt] = []
        for event in events {
            receipts.append(try await receipt(of: event, try await commit(of: event), to: target, form, signedHead))
        }
        let proof = OrderProof(of: order, receipts)
        do throws(Receipt.Fault) {
            try proof.verify()
        } catch {
            throw .damaged(error.description)
        }
        return proof
    }

    /// A receipt for an event that was read.
    ///
    /// - Parameters:
    ///   - target: where the tree or the links end.
    ///   - signedHead: what was signed of the tree up to there, for a signed receipt.
    private func receipt(
        of event: RecordedEvent, _ commit: Commit, to target: LogHead, _ form: Receipt.Form, _ signedHead: SignedNote?
    ) async throws(Failure) -> Receipt {
        // A receipt has the payload as text: bytes that are not UTF-8 would change in it.
        guard String(validating: event.payload, as: UTF8.self) != nil,
            String(validating: event.metadata, as: UTF8.self) != nil
        else { throw .damaged("the event at position \(event.position) is not UTF-8") }
        let batch = try await batch(of: event, commit)
        var receipt = Receipt(partitioning: log.partitioning, event: event, batch: batch, head: nil)
        switch form {
        case .tree, .signed:
            receipt.tree = try await withTree(to: target) { tree async throws(LogTree.Failure) in
                let index = try await tree.index(of: commit)
                return Receipt.Tree(
                    index: index, size: tree.size, root: try await tree.root(of: tree.size),
                    path: try await tree.path(to: index))
            }
        case .links:
            let links = try await links(from: commit, to: target)
            receipt.head = links.map { Receipt.Head(links: $0, position: target.position, digest: target.digest) }
        }
        do throws(Receipt.Fault) {
            _ = try receipt.verified()
        } catch {
            throw .damaged(error.description)
        }
        guard form == .signed else { return receipt }
        receipt.signedHead = signedHead
        // What is published proves itself, and says nothing against the log.
        guard (try? receipt.verified()) != nil else { throw .notSigned }
        return receipt
    }

    /// What a partition is, and a proof that it goes on from what it was.
    ///
    /// - Parameters:
    ///   - head: the position at which it is looked at, where a batch must end; the present end if nil.
    ///   - earlier: how many batches it had.
    @concurrent
    public func growth(
        of partition: Int, head: Int64? = nil, since earlier: Int64? = nil
    ) async throws(Failure) -> TreeGrowth {
        let target = try await target(head, in: partition, from: 0)
        let made = try await withTree(to: target) { tree async throws(LogTree.Failure) -> TreeGrowth? in
            let size = tree.size
            if let earlier, earlier > size { return nil }
            let head = TreeHead(
                partition: partition, size: size, root: try await tree.root(of: size), position: target.position,
                digest: target.digest)
            var growth = TreeGrowth(
                head: head, path: size > 0 ? try await tree.path(to: size - 1) : [], since: nil)
            if let earlier {
                growth.since = TreeGrowth.Since(
                    size: earlier, root: try await tree.root(of: earlier), path: try await tree.path(since: earlier))
            }
            return growth
        }
        guard let growth = made else {
            let size = try await withTree(to: target) { tree async throws(LogTree.Failure) in tree.size }
            throw .unsuitableSize(size)
        }
        do throws(Receipt.Fault) {
            try growth.verify()
        } catch {
            throw .damaged(error.description)
        }
        return growth
    }

    /// Reads the tree up to a batch. If what the log keeps of it is wrong, it is made again; if that is not possible, the
    /// batches alone are read.
    private func withTree<Value>(
        to target: LogHead, _ body: (inout LogTree) async throws(LogTree.Failure) -> Value
    ) async throws(Failure) -> Value {
        for attempt in 0...2 {
            do throws(LogTree.Failure) {
                var tree = try await LogTree(
                    log, partition: target.partition,
                    end: LogPoint(position: target.position, digest: target.digest), usesNodes: attempt < 2)
                return try await body(&tree)
            } catch {
                switch error {
                case .wrongNodes where attempt == 0 && mendsTree:
                    try? await log.growTree(of: target.partition, anew: true)
                case .wrongNodes: continue
                case .damaged(let problem): throw .damaged(problem)
                case .unavailable(let error): throw .unavailable(error)
                }
            }
        }
        throw .damaged("the batches of partition \(target.partition) are not those that were read before")
    }

    // MARK: Parts

    private func commit(of event: RecordedEvent) async throws(Failure) -> Commit {
        guard (1...LogHead.maximumPosition).contains(event.position) else {
            throw .damaged("no event can have the position \(event.position)")
        }
        guard let commit = try await commits(event.partition, after: event.position - 1, limit: 1).first,
            (commit.firstPosition...max(commit.firstPosition, commit.lastPosition)).contains(event.position)
        else { throw .damaged("no batch has the event at position \(event.position)") }
        return commit
    }

    /// The head that the receipt is linked to.
    private func target(_ requested: Int64?, after commit: Commit) async throws(Failure) -> LogHead {
        if let requested, requested < commit.lastPosition {
            throw .unsuitableHead("the event is in the batch that ends at \(commit.lastPosition)")
        }
        return try await target(requested, in: commit.partition, from: commit.lastPosition)
    }

    /// The end of a partition, or where a batch of it ends.
    ///
    /// - Parameter least: a position that the log has.
    private func target(
        _ requested: Int64?, in partition: Int, from least: Int64
    ) async throws(Failure) -> LogHead {
        let heads = try await reading { () async throws(EventLogError) in try await log.heads() }
        guard let head = heads.first(where: { $0.partition == partition }), head.position >= least
        else { throw .damaged("the log's head lies before position \(least)") }
        guard let requested else { return head }
        guard requested <= head.position else { throw .unsuitableHead("the log ends at \(head.position)") }
        guard let last = try await commits(partition, after: requested - 1, limit: 1).first else {
            throw .damaged("no batch has the event at position \(requested)")
        }
        guard last.lastPosition == requested else {
            throw .unsuitableHead("no batch ends there; the next one ends at \(last.lastPosition)")
        }
        return LogHead(partition: partition, position: requested, digest: last.chainDigest)
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
