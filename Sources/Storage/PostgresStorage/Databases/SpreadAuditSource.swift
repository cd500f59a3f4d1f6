package import Audit
internal import Domain
package import EventLog
package import EventLoop
internal import Projections

/// What an audit reads, in one database or in several.
@LoopActor
package protocol StoredAuditSource: AuditSource {
    /// The log, for callers that need nothing else.
    var eventLog: any EventLog { get }

    /// Closes the connections.
    func close()
}

extension PostgresAuditSource: StoredAuditSource {}

/// Connects an audit to a log.
@LoopActor
package enum AuditSources {
    /// - Throws: if a database is away, or is another one than the map says.
    package static func open(_ databases: LogDatabases) async throws -> any StoredAuditSource {
        if databases.named.isEmpty { return try await PostgresAuditSource.open(databases.first) }
        var sources: [PostgresAuditSource] = []
        do {
            for database in databases.named {
                sources.append(try await PostgresAuditSource.open(database.address, named: database.name))
            }
            let spread = SpreadAuditSource(
                sources, try await LogStorage.open(databases, isReadOnly: true))
            _ = try await spread.heads()
            return spread
        } catch {
            for source in sources { source.close() }
            throw error
        }
    }
}

/// A log in several databases, for an audit: each partition is read where it lives when its snapshot begins.
@LoopActor
private final class SpreadAuditSource: StoredAuditSource {
    private let sources: [PostgresAuditSource]
    private let storage: LogStorage
    private var places: [Int: Int] = [:]

    init(_ sources: [PostgresAuditSource], _ storage: LogStorage) {
        self.sources = sources
        self.storage = storage
    }

    var eventLog: any EventLog { storage.log }

    func close() {
        for source in sources { source.close() }
        storage.close()
    }

    private func source(of partition: Int) -> PostgresAuditSource { sources[places[partition] ?? 0] }

    // MARK: The log

    @LoopActor
    func partitioning() async throws -> Partitioning? { try await sources[0].partitioning() }

    @LoopActor
    func heads() async throws -> [StoredHead] {
        var newest: [Int: (head: StoredHead, isOpen: Bool)] = [:]
        for (place, source) in sources.enumerated() {
            for found in try await source.placedHeads() {
                let partition = found.head.partition
                // On its way from one to another, it lives where it was open last.
                if let known = newest[partition],
                    known.isOpen && !found.isOpen
                        || known.isOpen == found.isOpen && known.head.epoch >= found.head.epoch
                {
                    continue
                }
                newest[partition] = found
                places[partition] = place
            }
        }
        return newest.values.map(\.head).sorted { $0.partition < $1.partition }
    }

    @LoopActor
    func partitions() async throws -> [Int] {
        var found: [Int] = []
        for (place, source) in sources.enumerated() {
            found += try await source.partitions().filter { places[$0] ?? place == place }
        }
        return Set(found).sorted()
    }

    @LoopActor
    func page(partition: Int, after position: Int64, limit: Int) async throws -> EventPage {
        try await source(of: partition).page(partition: partition, after: position, limit: limit)
    }

    @LoopActor
    func events(partition: Int, stream: StreamName, limit: Int) async throws -> [RecordedEvent] {
        try await source(of: partition).events(partition: partition, stream: stream, limit: limit)
    }

    @LoopActor
    func commits(partition: Int, behind position: Int64, limit: Int) async throws -> [Commit] {
        try await source(of: partition).commits(partition: partition, behind: position, limit: limit)
    }

    @LoopActor
    func strays(partition: Int, head: Int64) async throws -> [StrayRow] {
        try await source(of: partition).strays(partition: partition, head: head)
    }

    @LoopActor
    func batchFaults(partition: Int) async throws -> BatchFaults {
        try await source(of: partition).batchFaults(partition: partition)
    }

    @LoopActor
    func keptTreeNodes(partition: Int) async throws -> Int64 {
        try await source(of: partition).keptTreeNodes(partition: partition)
    }

    @LoopActor
    func treeNodes(partition: Int, level: Int, numbers: Range<Int64>) async throws -> [TreeNode] {
        try await source(of: partition).treeNodes(partition: partition, level: level, numbers: numbers)
    }

    @LoopActor
    func strayTreeNodes(partition: Int, size: Int64) async throws -> [TreeNode] {
        try await source(of: partition).strayTreeNodes(partition: partition, size: size)
    }

    // MARK: The read models

    @LoopActor
    func changedColumns() async throws -> [ChangedColumn] {
        var found: [ChangedColumn] = []
        for source in sources { found += try await source.changedColumns() }
        return found
    }

    @LoopActor
    func schemaFaults() async throws -> [SchemaFault] {
        var found: [SchemaFault] = []
        for source in sources { found += try await source.schemaFaults() }
        return found
    }

    @LoopActor
    func checkpoints(partition: Int) async throws -> [StoredCheckpoint] {
        try await source(of: partition).checkpoints(partition: partition)
    }

    @LoopActor
    func generations(of projection: RegisteredProjection, partition: Int) async throws -> [Int32] {
        try await source(of: partition).generations(of: projection, partition: partition)
    }

    @LoopActor
    func rows(
        of projection: RegisteredProjection, _ generation: Int32, partition: Int, after key: String?, isWhole: Bool
    ) async throws -> (any StoredRows)? {
        try await source(of: partition).rows(
            of: projection, generation, partition: partition, after: key, isWhole: isWhole)
    }

    @LoopActor
    func quarantined(
        _ projection: RegisteredProjection, _ generation: Int32, partition: Int
    ) async throws -> [CorruptEvent] {
        try await source(of: partition).quarantined(projection, generation, partition: partition)
    }

    // MARK: Beside the log

    @LoopActor
    func deeds(partition: Int) async throws -> StoredDeeds? {
        var all: StoredDeeds?
        for (place, source) in sources.enumerated() {
            let own = places.filter { $0.value == place }.map(\.key)
            guard let found = try await source.deeds(partition: partition, forgottenIn: own) else { return nil }
            // The first one has the users and the relays.
            if all == nil { all = found } else { all?.forgotten.merge(found.forgotten) { $0 + $1 } }
        }
        return all
    }

    @LoopActor
    func keys(of customers: [Identifier], partition: Int) async throws -> [Identifier: StoredKey]? {
        try await source(of: partition).keys(of: customers, partition: partition)
    }

    // MARK: Snapshots

    @LoopActor
    func beginSnapshot() async throws { for source in sources { try await source.beginSnapshot() } }

    @LoopActor
    func endSnapshot() async throws { for source in sources { try await source.endSnapshot() } }
}
