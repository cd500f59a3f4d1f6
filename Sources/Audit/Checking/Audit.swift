internal import Domain
public import EventLog
public import Projections

/// One pass over the log: digests and chain, histories, books, and the stored read models.
public struct Audit: Sendable {
    /// What an audit found of one partition.
    public struct PartitionReport: Sendable {
        /// The partition.
        public var partition: Int
        /// Where it stood when the audit began.
        public var head: LogHead
        /// Events that were read.
        public var eventCount: Int64
        /// Batches whose digests were recomputed.
        public var commitCount: Int
        /// Carts and orders whose books were held against each other.
        public var cartCount: Int
        /// See ``cartCount``.
        public var orderCount: Int
        /// The position at which stored rows were compared; nil where they were not.
        public var comparedAt: Int64?
        /// Rows that were compared.
        public var comparedRows: [ProjectionName: Int]
        /// Why rows were not compared, if so.
        public var remark: String?
        /// What is not as it has to be.
        public var findings: Findings
        /// The read models as of the head.
        public var model: ReadModel
    }

    private let source: any AuditSource

    /// An audit of what the source reads.
    public init(_ source: any AuditSource) {
        self.source = source
    }

    /// Audits every partition, one after the other.
    ///
    /// - Parameter progress: is told the partition, the position that has been reached, and where it ends.
    @concurrent
    public func run(progress: @Sendable (Int, Int64, Int64) -> Void) async throws -> [PartitionReport] {
        var reports: [PartitionReport] = []
        for head in try await source.heads() {
            reports.append(try await audit(head.partition, progress))
        }
        return reports
    }

    private func audit(
        _ partition: Int, _ progress: (Int, Int64, Int64) -> Void
    ) async throws -> PartitionReport {
        try await source.beginMoment()
        let checkpoints = try await source.checkpoints(partition: partition)
        guard let head = try await source.heads().first(where: { $0.partition == partition }) else {
            throw AuditError("partition \(partition) has no head any more")
        }
        let report = try await audit(head, checkpoints, progress)
        try await source.endMoment()
        return report
    }

    private func audit(
        _ head: LogHead, _ checkpoints: [StoredCheckpoint],
        _ progress: (Int, Int64, Int64) -> Void
    ) async throws -> PartitionReport {
        var pass = Pass(partition: head.partition)
        var stored = StoredRows(source, partition: head.partition)
        var (comparedAt, remark) = StoredRows.position(of: checkpoints)
        if let position = comparedAt, position > head.position {
            stored.report(
                "the read models", "are saved up to \(position), and the log ends at \(head.position)")
            (comparedAt, remark) = (nil, "the read models are ahead of the log")
        }
        if let position = comparedAt {
            try await pass.read(source, upTo: position) { progress(head.partition, $0, head.position) }
            await pass.fold.goTo(position)
            try await stored.compare(pass.fold.model, checkpoints)
        }
        try await pass.read(source, upTo: head.position) { progress(head.partition, $0, head.position) }
        let model = await pass.fold.model
        pass.finish(head, model)
        var findings = pass.findings
        findings.add(stored.findings)
        return PartitionReport(
            partition: head.partition, head: head, eventCount: pass.eventCount, commitCount: pass.commitCount,
            cartCount: pass.cartCount, orderCount: pass.orderCount, comparedAt: comparedAt,
            comparedRows: stored.compared, remark: remark, findings: findings, model: model)
    }
}

/// Why there was no audit.
public struct AuditError: Error, CustomStringConvertible {
    /// What went wrong.
    public let description: String

    /// What went wrong.
    public init(_ description: String) { self.description = description }
}

/// What goes along the log once.
private struct Pass {
    /// Batches that are read at once.
    private static let commitLimit = 2_000

    let partition: Int
    let fold: ModelFold
    private var chain: ChainCheck
    private var books: Books
    private(set) var eventCount: Int64 = 0

    init(partition: Int) {
        self.partition = partition
        fold = ModelFold(partition: partition)
        chain = ChainCheck(partition: partition)
        books = Books(partition: partition)
    }

    var commitCount: Int { chain.commitCount }
    var cartCount: Int { books.cartCount }
    var orderCount: Int { books.orderCount }

    var findings: Findings {
        var findings = chain.findings
        findings.add(books.findings)
        return findings
    }

    mutating func read(
        _ source: any AuditSource, upTo end: Int64,
        progress: (Int64) -> Void
    ) async throws {
        let reader = PageReader(source: source, partition: partition, hashes: true)
        try await reader.read(after: chain.position, upTo: end) { page in
            guard let last = page.events.last else { return }
            while chain.knownUpTo < last.position {
                let commits = try await source.commits(
                    partition: partition, after: chain.knownUpTo, limit: Pass.commitLimit)
                guard !commits.isEmpty else { break }
                chain.take(commits)
            }
            async let folded: Void = fold.take(page)
            take(page)
            await folded
            progress(last.position)
        }
    }

    private mutating func take(_ page: PreparedPage) {
        // Not event by event: that would copy each, and both folds would count references to the same objects.
        let events = page.events.span
        for index in events.indices {
            chain.take(page.leaves[index], at: events[index].position)
            books.take(events[index])
        }
        eventCount += Int64(page.events.count)
    }

    mutating func finish(_ head: LogHead, _ model: ReadModel) {
        chain.finish(head)
        books.finish(model.cartCounts)
    }
}
