package import Domain
package import EventLog
package import EventLoop
internal import Foundation
internal import Postgres

/// Deeds of a log in several databases. The first database has users, relays and the orders to forget, and its
/// transaction says what is to be recorded; then that is appended where its partition lives. So neither is ever there
/// without the other for long, whenever a process ends.
@LoopActor
package enum PendingDeeds {
    /// Says what is to be recorded, in the transaction that does it.
    static func add(_ events: [NewEvent], _ metadata: EventMetadata, in transaction: Transaction) async throws {
        for event in events {
            var event = event
            // By its id it is known whether it was recorded. A customer is forgotten once.
            let isOnce = event.stream.category == .customer
            let id = isOnce ? "\(event.stream)" : "deed-\(String(UInt64.random(in: .min ... .max), radix: 36))"
            var metadata = metadata
            if !isOnce { metadata.flow = Text(id) }
            event.metadata = metadata.encoded()
            _ = try await transaction.execute(
                Statements.add,
                [
                    .text(id), .text("\(event.stream)"), .text(event.kind.name), .int4(Int32(event.kind.schemaVersion)),
                    .text(String(decoding: event.payload, as: UTF8.self)),
                    .text(String(decoding: event.metadata, as: UTF8.self)),
                ])
        }
    }

    /// Records what is to be recorded, in the order in which it was done. Customers are forgotten in every database
    /// first. To do it twice, or at the same time as another process, does no harm.
    ///
    /// - Parameter silence: how long a database may say nothing; nil for as long as it takes.
    /// - Throws: if a database is away or a partition is on its way. What is left is done by the next call.
    package static func deliver(in databases: LogDatabases, silence: Duration? = nil) async throws {
        guard !databases.named.isEmpty else { return }
        let first = try await connect(databases.first, silence)
        defer { first.close() }
        let pending = try await first.execute(Statements.pending)
        guard !pending.isEmpty else { return }
        guard let partitioning = Partitioning(try await first.execute(Partitioning.stored)[0]) else {
            throw DeedError("tiffin.partition_count is damaged")
        }
        let deeds = try pending.map { row throws(DeedError) in
            guard let stream = StreamName(row["stream"] as String) else {
                throw DeedError("tiffin.pending_deeds is damaged")
            }
            let event = NewEvent(
                stream: stream, version: 0,
                kind: EventKind(name: row["kind"], schemaVersion: row["schema_version"]),
                payload: Array((row["payload"] as String).utf8), metadata: Array((row["metadata"] as String).utf8))
            return (id: row["id"] as String, event: event)
        }
        let customers = deeds.map(\.event.stream).filter { $0.category == .customer }.map(\.id)
        if !customers.isEmpty {
            _ = try await SpreadForgetting.destroyKeys(of: Set(customers), in: databases, silence)
        }
        var places: [PostgresConnection] = []
        defer { for place in places { place.close() } }
        for database in databases.addresses { places.append(try await connect(database, silence)) }
        for deed in deeds {
            try await record(deed.event, partitioning.partition(of: deed.event.stream), in: places)
            _ = try await first.execute(Statements.remove, [.text(deed.id)])
        }
    }

    /// Has customers be forgotten again who were lately. A database that has lost its newest changes may have their keys
    /// again, or lack that they were forgotten; the others know.
    static func repeatForgetting(in databases: LogDatabases, silence: Duration?) async throws {
        var customers: Set<Identifier> = []
        for database in databases.addresses {
            let connection = try await connect(database, silence)
            defer { connection.close() }
            for row in try await connection.execute(Statements.lately) {
                if let customer = Identifier(row["customer"] as String) { customers.insert(customer) }
            }
        }
        guard !customers.isEmpty else { return }
        let first = try await connect(databases.first, silence)
        defer { first.close() }
        let orders = customers.sorted().map { (id: $0, event: Deed.Event.customerForgotten) }
        try await first.transaction { transaction in
            try await DeedRecorder.record(
                orders, EventMetadata(commandID: nil, fingerprint: nil, actor: "tiffin"), in: transaction)
        }
    }

    private static func connect(
        _ database: String, _ silence: Duration?
    ) async throws(PostgresError) -> PostgresConnection {
        let connection = try await PostgresConnection.connect(
            database, applicationName: "tiffin deeds",
            connectTimeout: (silence == nil ? KeptConnection.Deadlines.none : .background).connecting)
        connection.answerDeadline = silence
        return connection
    }

    private static func record(_ event: NewEvent, _ partition: Int, in places: [PostgresConnection]) async throws {
        for connection in places {
            let isRecorded = try await connection.transaction { transaction in
                let place = [Parameter.int2(Int16(partition))]
                guard try await transaction.execute(Statements.lockOpen, place)[0]["is_open"] else { return false }
                let metadata = String(decoding: event.metadata, as: UTF8.self)
                let isOnce = event.stream.category == .customer
                let found = try await transaction.execute(
                    Statements.isRecorded, place + [.text("\(event.stream)"), isOnce ? .null : .text(metadata)])
                if !(found[0]["is_recorded"]) { try await DeedRecorder.append([event], to: partition, in: transaction) }
                return true
            }
            if isRecorded { return }
        }
        throw DeedError("partition \(partition) is on its way to another database")
    }
}

/// Forgets customers in every database of a log. The order to do so comes first, and stays until all have done it.
@LoopActor
struct SpreadForgetting {
    let databases: LogDatabases
    /// How long a database may say nothing; nil for as long as it takes.
    let silence: Duration?

    func destroyKeys(
        of customers: Set<Identifier>, for metadata: EventMetadata
    ) async throws(EventLogError) -> Forgetting {
        do {
            let first = try await PostgresConnection.connect(
                databases.first, applicationName: "tiffin forget",
                connectTimeout: (silence == nil ? KeptConnection.Deadlines.none : .background).connecting)
            defer { first.close() }
            first.answerDeadline = silence
            try await first.transaction { transaction in
                try await DeedRecorder.record(
                    customers.sorted().map { ($0, .customerForgotten) }, metadata, in: transaction)
            }
        } catch let error as PostgresError where error.kind == .connection {
            throw .outcomeUnknown("the first database cannot be reached")
        } catch {
            throw .unavailable("\(error)")
        }
        do {
            let forgetting = try await SpreadForgetting.destroyKeys(of: customers, in: databases, silence)
            try await PendingDeeds.deliver(in: databases, silence: silence)
            return forgetting
        } catch {
            throw .outcomeUnknown("not every database has done it yet: servers go on until all have")
        }
    }

    /// Destroys keys in each of the databases, and records nothing.
    static func destroyKeys(
        of customers: Set<Identifier>, in databases: LogDatabases, _ silence: Duration?
    ) async throws -> Forgetting {
        var outcomes: [Forgetting.Outcome] = []
        for database in databases.addresses {
            let keys = try await ForgottenKeys(in: database, silence: silence)
            defer { keys.close() }
            let found = try await keys.destroy(of: customers, nil).outcomes
            outcomes =
                outcomes.isEmpty
                ? found
                : zip(outcomes, found).map { one, other in
                    Forgetting.Outcome(
                        customer: one.customer, destroyedKeys: one.destroyedKeys + other.destroyedKeys,
                        forgottenBefore: [one.forgottenBefore, other.forgottenBefore].compactMap(\.self).min())
                }
        }
        return Forgetting(outcomes)
    }
}

extension LogDatabases {
    /// Destroys the keys of customers, and removes what they have left behind, for an operator.
    @LoopActor
    package func forget(
        _ customers: Set<Identifier>, for metadata: EventMetadata
    ) async throws(EventLogError) -> Forgetting {
        let tables = addresses.map { PostgresCustomerKeys($0) }
        defer { for table in tables { table.close() } }
        if named.isEmpty { return try await tables[0].forget(customers, for: metadata) }
        let forgetting = SpreadForgetting(databases: self, silence: nil)
        var done = try await forgetting.destroyKeys(of: customers, for: metadata)
        if done.outcomes.contains(where: \.wasKnown) {
            for table in tables { done.remainder = await table.removeRemainders() ?? done.remainder }
        }
        return done
    }
}

private enum Statements {
    static let add = Statement(
        "add_pending_deed",
        """
        INSERT INTO tiffin.pending_deeds VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp()) ON CONFLICT DO NOTHING
        """, [.text, .text, .text, .int4, .text, .text])

    static let pending = Statement(
        "pending_deeds",
        """
        SELECT id, stream, kind, schema_version, payload, metadata FROM tiffin.pending_deeds
        ORDER BY ordered_at, id LIMIT 10000
        """)

    static let lately = Statement(
        "forgotten_lately",
        """
        SELECT DISTINCT customer FROM tiffin.customer_keys
        WHERE forgotten_at > clock_timestamp() - interval '1 day'
        """)

    static let remove = Statement("remove_pending_deed", "DELETE FROM tiffin.pending_deeds WHERE id = $1", [.text])

    static let lockOpen = Statement(
        "lock_open_head",
        "SELECT moved_to IS NULL AS is_open FROM tiffin.log_head WHERE partition = $1 FOR UPDATE", [.int2])

    static let isRecorded = Statement(
        "is_recorded",
        """
        SELECT EXISTS (
            SELECT FROM tiffin.events_of($2) AS e WHERE e.partition = $1 AND ($3 IS NULL OR e.metadata = $3))
            AS is_recorded
        """, [.int2, .text, .text])
}
