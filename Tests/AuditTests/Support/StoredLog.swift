import Audit
import Domain
import EventLog
import EventLogContract
import Projections

/// The tables of a log as an audit reads them. Tests change them as the owner of the database could.
struct StoredLog: AuditSource {
    var storedPartitioning: Partitioning? = Partitioning(count: 1)
    var storedHeads: [StoredHead] = []
    var events: [RecordedEvent] = []
    var commits: [Commit] = []
    var storedCheckpoints: [StoredCheckpoint] = []
    var storedDeeds: StoredDeeds?
    var batchFaults = BatchFaults()
    var treeNodes: [TreeNode] = []
    /// The quarantine of the projection `cart_counts`.
    var quarantinedCarts: [CorruptEvent] = []

    /// A log of this many carts, with three batches each.
    static func of(
        carts: Int, partitions: Int, by rule: Partitioning.Rule = .slots
    ) async throws -> StoredLog {
        let log = InMemoryEventLog(partitionCount: partitions, by: rule)
        let partitioning = log.partitioning
        for number in 0..<carts {
            let cart = StreamName.cart("c\(number)")
            for mark in 0..<3 {
                var writer = LogWriter(log, partition: partitioning.partition(of: cart))
                try await writer.catchUp()
                _ = try await writer.append([Array(repeating: cart, count: 1 + (number + mark) % 3)], marks: [mark])
            }
        }
        var stored = StoredLog()
        stored.storedPartitioning = partitioning
        for head in try await log.heads() {
            stored.storedHeads.append(
                StoredHead(
                    partition: head.partition, position: head.position, digest: head.digest.bytes, epoch: 0))
            stored.events += try await log.read(partition: head.partition, after: 0, limit: .max)
            stored.commits += try await log.commits(partition: head.partition, after: 0, limit: .max)
        }
        return stored
    }

    /// The audit's findings.
    var findings: [Finding] {
        get async throws {
            let report = try await Audit(self).run { _, _, _ in }
            return report.findings.kept + report.partitions.flatMap(\.findings.kept)
        }
    }

    /// The audit's findings of tampering.
    var tampering: [String] {
        get async throws {
            try await findings.filter { $0.kind == .tampering }.map { "\($0.subject) \($0.message)" }
        }
    }

    // MARK: AuditSource

    func changedColumns() -> [ChangedColumn] { [] }

    func partitioning() -> Partitioning? { storedPartitioning }

    func heads() -> [StoredHead] { storedHeads.sorted { $0.partition < $1.partition } }

    func partitions() -> [Int] { Set(events.map(\.partition) + commits.map(\.partition)).sorted() }

    func page(partition: Int, after position: Int64, limit: Int) -> EventPage {
        let behind = events.filter { $0.partition == partition && $0.position > position }
        return EventPage(partition: partition, Array(behind.sorted { $0.position < $1.position }.prefix(limit)))
    }

    func commits(partition: Int, behind position: Int64, limit: Int) -> [Commit] {
        let behind = commits.filter { $0.partition == partition && $0.firstPosition > position }
        return Array(behind.sorted { $0.firstPosition < $1.firstPosition }.prefix(limit))
    }

    func strays(partition: Int, head: Int64) -> [StrayRow] {
        let positions =
            events.filter { $0.partition == partition }.map(\.position)
            + commits.filter { $0.partition == partition }.map(\.firstPosition)
        return positions.filter { $0 < 1 || $0 > head }.map { StrayRow(subject: "row \($0)", position: $0) }
    }

    func events(partition: Int, stream: StreamName, limit: Int) -> [RecordedEvent] { [] }
    func checkpoints(partition: Int) -> [StoredCheckpoint] { storedCheckpoints }
    func generations(of projection: RegisteredProjection, partition: Int) -> [Int32] { [] }
    func schemaFaults() -> [SchemaFault] { [] }
    func batchFaults(partition: Int) -> BatchFaults { batchFaults }
    func rows(
        of projection: RegisteredProjection, _ generation: Int32, partition: Int, after key: String?, isWhole: Bool
    ) -> (any StoredRows)? { nil }
    func quarantined(_ projection: RegisteredProjection, _ generation: Int32, partition: Int) -> [CorruptEvent] {
        projection.name == CartCounts.name ? quarantinedCarts : []
    }
    func keptTreeNodes(partition: Int) -> Int64 {
        treeNodes.lazy.filter { $0.level == 1 }.map(\.number).max().map { $0 + 1 } ?? 0
    }
    func treeNodes(partition: Int, level: Int, numbers: Range<Int64>) -> [TreeNode] {
        treeNodes.filter { $0.level == level && numbers.contains($0.number) }
    }
    func strayTreeNodes(partition: Int, size: Int64) -> [TreeNode] {
        treeNodes.filter { $0.level != 1 || $0.number >= size / TreeNode.width }
    }
    func deeds(partition: Int) -> StoredDeeds? { storedDeeds }
    func keys(of customers: [Identifier], partition: Int) -> [Identifier: StoredKey]? { nil }
    func beginSnapshot() {}
    func endSnapshot() {}
}
