package import EventLog
package import EventLoop
internal import Postgres
package import Projections

/// Everything that a server or a tool has of a log: in one database, or in several.
@LoopActor
package final class LogStorage {
    /// How often a server looks for what is to be recorded in another database, in milliseconds.
    private static let deliveryMilliseconds: UInt64 = 10_000

    /// The log.
    package let log: any EventLog
    /// The same, for reads that may take long.
    package let history: any EventLog
    /// What customers' texts are sealed with.
    package let keys: any CustomerKeys
    /// Where read models are saved.
    package let store: any ReadModelStore

    private let logs: [PostgresEventLog]
    private let histories: [PostgresEventLog]
    private let keyTables: [PostgresCustomerKeys]
    private let stores: [PostgresReadModelStore]
    /// nil with one database.
    private let places: PartitionPlaces?
    private var delivery: LoopTimer?
    private var look: LoopTimer?

    private init(
        _ databases: LogDatabases, _ logs: [PostgresEventLog], _ places: PartitionPlaces?, isReadOnly: Bool,
        hasRoom: @escaping @LoopActor () -> Bool, report: (@LoopActor (String) -> Void)?
    ) {
        self.logs = logs
        self.places = places
        let reports = databases.reports(to: report)
        histories = zip(databases.addresses, reports).map { address, report in
            report.map { PostgresEventLog.history(address, logs[0].partitioning, report: $0) }
                ?? PostgresEventLog.reader(address, logs[0].partitioning)
        }
        keyTables = zip(databases.addresses, reports).map {
            PostgresCustomerKeys($0, isReadOnly: isReadOnly && report == nil, hasRoom: hasRoom, report: $1)
        }
        stores = zip(databases.addresses, reports).map { PostgresReadModelStore($0, hasRoom: hasRoom, report: $1) }
        guard let places else {
            (log, history, keys, store) = (logs[0], histories[0], keyTables[0], stores[0])
            return
        }
        log = SpreadLog(logs, places)
        history = SpreadLog(histories, places)
        let silence = report == nil ? nil : PostgresCustomerKeys.silenceWhileForgetting
        keys = SpreadKeys(keyTables, places, SpreadForgetting(databases: databases, silence: silence))
        store = SpreadReadModels(stores, places)
    }

    /// The log in migrated databases.
    ///
    /// - Parameters:
    ///   - isReadOnly: whether it is only for reading, by a user who may have no other right, or on a replica.
    ///   - hasRoom: whether the database's disk has room. Without it, nothing is written.
    ///   - report: given by a server: it learns the whole of each failure, and errors say only what clients may know.
    /// - Throws: if a database is away, is another one than the map says, or if a partition is in two or in none.
    package static func open(
        _ databases: LogDatabases, isReadOnly: Bool = false, hasRoom: @escaping @LoopActor () -> Bool = { true },
        report: (@LoopActor (String) -> Void)? = nil
    ) async throws -> LogStorage {
        let reports = databases.reports(to: report)
        var logs: [PostgresEventLog] = []
        do {
            for (index, address) in databases.addresses.enumerated() {
                let name = databases.named.isEmpty ? nil : databases.named[index].name
                do throws(EventLogError) {
                    logs.append(
                        try await PostgresEventLog.open(
                            address, named: name, isReadOnly: isReadOnly, hasRoom: hasRoom, report: reports[index]))
                } catch {
                    throw name.map { DatabaseMapError("database '\($0)': \(error)") } ?? error
                }
            }
            var places: PartitionPlaces?
            if !databases.named.isEmpty {
                guard logs.allSatisfy({ $0.partitioning == logs[0].partitioning }) else {
                    throw DatabaseMapError("the databases are of different logs: they have other partitions")
                }
                var heads: [[PlacedHead]] = []
                for log in logs { heads.append(try await log.placedHeads()) }
                places = try PartitionPlaces(databases.named.map(\.name), logs, heads, report: report)
            }
            let storage = LogStorage(
                databases, logs, places, isReadOnly: isReadOnly, hasRoom: hasRoom, report: report)
            if let report, let places { storage.work(databases, places, isReadOnly: isReadOnly, report) }
            return storage
        } catch {
            for log in logs { log.close() }
            throw error
        }
    }

    /// Records what is to be recorded in another database, now and then. With one partition, nobody else looks where it
    /// lives.
    private func work(
        _ databases: LogDatabases, _ places: PartitionPlaces, isReadOnly: Bool,
        _ report: @escaping @LoopActor (String) -> Void
    ) {
        if log.partitionCount == 1 {
            look = LoopTimer(milliseconds: 200, repeating: true) { LoopActor.task { await places.look() } }
        }
        guard !isReadOnly else { return }
        var (isDelivering, trouble, hasForked) = (false, "", false)
        (log as? SpreadLog)?.onFork = { hasForked = true }
        let deliver = { @LoopActor in
            guard !isDelivering else { return }
            isDelivering = true
            LoopActor.task {
                defer { isDelivering = false }
                let (silence, repeats) = (PostgresCustomerKeys.silenceWhileForgetting, hasForked)
                hasForked = false
                do {
                    if repeats { try await PendingDeeds.repeatForgetting(in: databases, silence: silence) }
                    try await PendingDeeds.deliver(in: databases, silence: silence)
                    trouble = ""
                } catch {
                    hasForked = hasForked || repeats
                    // It takes the owner of the tables, as `tiffin forget` and `tiffin user` do, who see to it as well.
                    if (error as? PostgresError)?.sqlState == .insufficientPrivilege { return }
                    if trouble != "\(error)" { report("what was done beside the log is not recorded yet: \(error)") }
                    trouble = "\(error)"
                }
            }
        }
        deliver()
        delivery = LoopTimer(milliseconds: LogStorage.deliveryMilliseconds, repeating: true, deliver)
    }

    /// Where a partition's read models are saved.
    package func store(of partition: Int) -> PostgresReadModelStore { stores[places?[partition] ?? 0] }

    /// Damage that no append of the log's own can have caused.
    package func damage() async throws(EventLogError) -> [String] {
        guard let places else { return try await logs[0].damage() }
        var found: [String] = []
        for (place, log) in logs.enumerated() {
            found += try await log.damage(of: (0..<log.partitionCount).filter { places[$0] == place })
        }
        return found
    }

    /// The version of the first database's PostgreSQL.
    package var serverVersion: String? { logs[0].serverVersion }

    /// How its connections are, for `INFO`. Those of several databases have their names behind them.
    package var connectionLines: [(name: String, value: String)] {
        var lines: [(name: String, value: String)] = []
        for index in logs.indices {
            let own =
                logs[index].connectionLines + histories[index].connectionLines + [keyTables[index].connectionLine]
                + stores[index].connectionLines
            let ending = places.map { "_\($0.names[index])" } ?? ""
            lines += own.map { ($0.name + ending, $0.value) }
        }
        return lines + (places?.lines ?? [])
    }

    /// Closes the connections.
    package func close() {
        delivery?.cancel()
        look?.cancel()
        for log in logs + histories { log.close() }
        for keys in keyTables { keys.close() }
        for store in stores { store.close() }
    }
}

extension LogDatabases {
    /// Who learns of trouble in each of the databases.
    @LoopActor
    fileprivate func reports(
        to report: (@LoopActor (String) -> Void)?
    ) -> [(@LoopActor (String) -> Void)?] {
        guard let report else { return addresses.map { _ in nil } }
        if named.isEmpty { return [report] }
        return named.map { database in { report("\(database.name): \($0)") } }
    }
}
