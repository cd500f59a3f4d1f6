internal import Domain
public import EventLog
public import Projections

/// One pass over the log that checks digests and chain, histories, carts against orders, and the stored read models.
public struct Audit: Sendable {
    /// What an audit found.
    public struct Report: Sendable {
        /// One for each row of `log_head`.
        public var partitions: [PartitionReport] = []
        /// What is wrong with the log as a whole.
        public var findings = Findings()

        /// How many findings there are, of the log and of every partition.
        public var findingCount: Int { partitions.reduce(findings.count) { $0 + $1.findings.count } }
        /// Which kinds of findings there are.
        public var kinds: Set<Finding.Kind> { partitions.reduce(findings.kinds) { $0.union($1.findings.kinds) } }
    }

    /// What an audit found in one partition.
    public struct PartitionReport: Sendable {
        /// The partition.
        public var partition: Int
        /// Where it stood when the audit began.
        public var head: LogHead
        /// What the log was then, by its batches.
        public var tree: TreeHead
        /// The number of events read.
        public var eventCount: Int64
        /// The number of batches whose digests were recomputed.
        public var commitCount: Int
        /// The number of carts folded.
        public var cartCount: Int
        /// The number of orders compared with their carts.
        public var orderCount: Int
        /// The position at which stored rows were compared; nil where they were not.
        public var comparedAt: Int64?
        /// The number of rows in use that were compared.
        public var comparedRows: [RegisteredProjection: Int]
        /// The number of other rows that were compared, such as those of the generation before.
        public var otherRows: Int
        /// Why no rows were compared, if so.
        public var remark: String?
        /// What is wrong.
        public var findings: Findings
        /// The read models as of the head.
        public var model: ReadModel
    }

    private let source: any AuditSource
    private let openCartLimit: Int

    /// An audit of what the source reads.
    public init(_ source: any AuditSource) { self.init(source, openCartLimit: HistoryCheck.maximumOpenCarts) }

    /// - Parameter openCartLimit: the most open carts that are checked in one pass.
    init(_ source: any AuditSource, openCartLimit: Int) {
        self.source = source
        self.openCartLimit = openCartLimit
    }

    /// Audits every partition, one after the other.
    ///
    /// - Parameter progress: receives the partition, the position reached, and the last position.
    @concurrent
    public func run(progress: @Sendable (Int, Int64, Int64) -> Void) async throws -> Report {
        let heads = try await source.heads()
        var report = Report()
        var placement = PlacementCheck(
            try await source.partitioning(), heads: heads.map(\.partition),
            withEvents: try await source.partitions())
        let changes = try await source.changedColumns()
        var services: [ServiceCheck] = []
        var claims = ClaimCheck()
        for head in heads {
            report.partitions.append(
                try await audit(
                    head.partition, isStoredReadable: changes.isEmpty, &placement, &services, &claims, progress))
        }
        claims.finish(Dictionary(heads.map { ($0.partition, $0.position) }) { first, _ in first })
        for (index, check) in services.enumerated() {
            report.partitions[index].findings.add(check.findings(beside: services))
        }
        report.findings = placement.findings
        report.findings.add(claims.findings)
        for change in changes {
            report.findings.add(
                Finding(.difference, partition: 0, position: nil, subject: change.name, change.change))
        }
        for fault in try await source.schemaFaults() {
            report.findings.add(
                Finding(
                    fault.isUnknown ? .unknown : .difference, partition: 0, position: nil, subject: fault.subject,
                    fault.message))
        }
        return report
    }

    private func audit(
        _ partition: Int, isStoredReadable: Bool, _ placement: inout PlacementCheck, _ services: inout [ServiceCheck],
        _ claims: inout ClaimCheck, _ progress: (Int, Int64, Int64) -> Void
    ) async throws -> PartitionReport {
        try await source.beginSnapshot()
        guard let head = try await source.heads().first(where: { $0.partition == partition }) else {
            throw AuditError("partition \(partition) lost its head while the audit ran")
        }
        let report = try await audit(
            head, isStoredReadable: isStoredReadable, &placement, &services, &claims, progress)
        try await source.endSnapshot()
        return report
    }

    private func audit(
        _ head: StoredHead, isStoredReadable: Bool, _ placement: inout PlacementCheck, _ services: inout [ServiceCheck],
        _ claims: inout ClaimCheck, _ progress: (Int, Int64, Int64) -> Void
    ) async throws -> PartitionReport {
        var pass = Pass(
            source, head, placement.partitioning, openCartLimit: openCartLimit, isStoredReadable: isStoredReadable,
            claims)
        var stored = StoredRows(source, partition: head.partition)
        let generations = isStoredReadable ? try await stored.generations(upTo: head.position) : []
        for position in Set(generations.map(\.position)).sorted() {
            try await pass.read(upTo: position) { progress(head.partition, $0, head.position) }
            await pass.fold.goTo(position)
            try await stored.compare(
                generations.filter { $0.position == position }, await pass.fold.model, pass.chain(at: position))
        }
        try await pass.read(upTo: head.position) { progress(head.partition, $0, head.position) }
        let model = await pass.fold.model
        try await pass.finish(head, model) { progress(head.partition, $0, head.position) }
        placement.add(pass.histories.streams, in: head.partition)
        services.append(pass.histories.services)
        claims = pass.histories.claims
        var findings = pass.findings
        findings.add(stored.findings)
        if let deeds = try await source.deeds(partition: head.partition) {
            findings.add(pass.histories.deeds.findings(deeds, partition: head.partition))
        }
        let faults = try await source.batchFaults(partition: head.partition)
        for fault in faults.index { findings.add(fault.finding(in: head.partition)) }
        for batch in faults.falseCarts {
            findings.add(
                Finding(
                    .difference, partition: head.partition, position: batch.first,
                    subject: "batch \(batch.first)–\(batch.last)",
                    "says that it holds only carts, and holds other events: servers pass over it"))
        }
        return PartitionReport(
            partition: head.partition, head: head.head, tree: pass.tree.treeHead, eventCount: pass.eventCount,
            commitCount: pass.commitCount,
            cartCount: pass.histories.cartCount, orderCount: pass.histories.orderCount,
            comparedAt: generations.first(where: \.isActive)?.position ?? generations.last?.position,
            comparedRows: stored.compared, otherRows: stored.comparedOthers,
            remark: isStoredReadable
                ? "no read model has been saved yet" : "the tables are not what the migrations made",
            findings: findings, model: model)
    }
}

extension IndexFault {
    fileprivate func finding(in partition: Int) -> Finding {
        guard let stream else {
            return Finding(
                .difference, partition: partition, position: position, subject: "a row of stream_index",
                "leads to batch \(position), which has nothing of its stream")
        }
        return Finding(
            .difference, partition: partition, position: position, subject: "stream_index",
            "has no row of '\(stream)' in the batch from \(position) on: servers make it again when they notice")
    }
}

/// Why an audit could not run.
public struct AuditError: Error, CustomStringConvertible {
    /// What went wrong.
    public let description: String

    /// What went wrong.
    public init(_ description: String) { self.description = description }
}

/// Goes through the events of a partition once.
private struct Pass {
    /// The most batches read at once.
    private static let commitLimit = 2_000

    private let source: any AuditSource
    private let partition: Int
    let fold: ModelFold
    private var chain: ChainCheck
    private(set) var tree: TreeCheck
    private(set) var histories: HistoryCheck
    private var keys: KeyCheck
    private(set) var eventCount: Int64 = 0

    init(
        _ source: any AuditSource, _ head: StoredHead, _ partitioning: Partitioning, openCartLimit: Int,
        isStoredReadable: Bool, _ claims: ClaimCheck
    ) {
        self.source = source
        partition = head.partition
        tree = TreeCheck(source, head, isStoredReadable: isStoredReadable)
        fold = ModelFold(partition: partition)
        chain = ChainCheck(partition: partition)
        keys = KeyCheck(source, partition: partition)
        histories = HistoryCheck(partition: partition, partitioning, openCartLimit: openCartLimit, claims)
    }

    var commitCount: Int { chain.commitCount }

    /// The chain at a position that the pass has read up to; nil if no batch ends there.
    func chain(at position: Int64) -> Digest? { chain.chain(at: position) }

    var findings: Findings {
        var findings = chain.findings
        findings.add(tree.findings)
        findings.add(histories.findings)
        findings.add(keys.findings)
        return findings
    }

    mutating func read(upTo end: Int64, progress: (Int64) -> Void) async throws {
        let (source, partition) = (source, partition)
        let pages = PreparedPage.readAhead(of: partition, from: source, hashes: true)
        // A page may be folded later than it is checked, so that neither waits for the other at every page.
        var folds: [Task<Void, Never>] = []
        try await pages.forEachPage(after: chain.position, upTo: end) { page in
            guard let last = page.events.last else { return }
            try await readCommits(upTo: last.position)
            if folds.count == Pass.foldsBehind { await folds.removeFirst().value }
            folds.append(
                Task { [fold, previous = folds.last] in
                    await previous?.value
                    await fold.take(page)
                })
            take(page)
            try await keys.finishPage()
            progress(last.position)
        }
        await folds.last?.value
    }

    /// How many pages may wait to be folded.
    private static let foldsBehind = 2

    private mutating func readCommits(upTo position: Int64) async throws {
        while chain.needsCommits(upTo: position) {
            let limit = Pass.commitLimit
            let commits = try await source.commits(partition: partition, behind: chain.lastFirstPosition, limit: limit)
            chain.take(commits, areLast: commits.count < limit)
            try await tree.take(commits)
        }
    }

    private mutating func take(_ page: PreparedPage) {
        // Not event by event: that would copy each, and both folds would count references to the same objects.
        let events = page.events.span
        for index in events.indices {
            chain.take(page.leaves[index], at: events[index].position, events[index].recordedAt)
            histories.take(events[index])
            if case .success(let event) = events[index].decoded { keys.take(event) }
        }
        eventCount += Int64(page.events.count)
    }

    mutating func finish(_ head: StoredHead, _ model: ReadModel, progress: (Int64) -> Void) async throws {
        try await readCommits(upTo: head.position)
        chain.finish(head, strays: try await source.strays(partition: partition, head: head.position))
        try await tree.finish()
        histories.finishClaims(model)
        while histories.finishPass(model.cartCounts) {
            let pages = PreparedPage.readAhead(
                of: partition, from: source, hashes: false, where: histories.isWanted)
            try await pages.forEachPage(after: 0, upTo: head.position) { page in
                let events = page.events.span
                for index in events.indices { histories.take(events[index]) }
                if let last = page.events.last { progress(last.position) }
            }
        }
    }
}
