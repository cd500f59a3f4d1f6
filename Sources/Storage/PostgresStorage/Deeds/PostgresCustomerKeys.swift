package import Domain
package import EventLog
package import EventLoop
internal import Postgres

/// Customers' keys in the schema `tiffin` of a database.
@LoopActor
package final class PostgresCustomerKeys: CustomerKeys {
    /// How long the database may say nothing while it forgets a customer and a server waits: rewriting a table of
    /// fifteen million keys takes as long.
    static let silenceWhileForgetting = Duration.seconds(60)

    private let connection: LazyConnection
    private let database: String
    private let isReadOnly: Bool
    private let hasRoom: @LoopActor () -> Bool
    /// Whether clients wait.
    private let isServing: Bool
    private var trouble: DatabaseTrouble

    /// The keys in a migrated database.
    ///
    /// - Parameters:
    ///   - database: a `postgres://` URL, or libpq's keywords and values.
    ///   - isReadOnly: whether it is only for reading, by a user who may have no right to keys: then they are
    ///     unknown.
    ///   - hasRoom: whether the database's disk has room. Without it, no key is made.
    ///   - report: given where clients wait for keys, as in `PostgresEventLog.open`.
    package init(
        _ database: String, isReadOnly: Bool = false, hasRoom: @escaping @LoopActor () -> Bool = { true },
        report: (@LoopActor (String) -> Void)? = nil
    ) {
        connection = LazyConnection(
            database, name: "tiffin keys", isReadOnly: isReadOnly, deadlines: report == nil ? nil : .reading,
            hasRoom: hasRoom, report: report)
        self.database = database
        self.isReadOnly = isReadOnly
        self.hasRoom = hasRoom
        isServing = report != nil
        trouble = DatabaseTrouble(listener: report)
    }

    /// How its connection is, for `INFO`.
    package var connectionLine: (name: String, value: String) { connection.line }

    /// Closes the connection.
    package func close() { connection.close() }

    package func makeKey(of customer: Identifier, partition: Int) async throws(EventLogError) -> CustomerKey {
        let rows = try await connection.execute(
            Statements.make,
            [.int2(Int16(partition)), .text(customer.rawValue), .bytes(SealingKey.random().bytes)], needsRoom: true)
        return CustomerKey(rows[0])
    }

    package func key(of customer: Identifier, partition: Int) async throws(EventLogError) -> CustomerKey {
        if isReadOnly {
            let mayRead: Bool? = try await connection.execute(Statements.mayRead, [])[0]["may_read"]
            guard mayRead == true else { return .unknown }
        }
        let rows = try await connection.execute(
            Statements.read, [.int2(Int16(partition)), .text(customer.rawValue)])
        return rows.first.map { CustomerKey($0) } ?? .unknown
    }

    /// See `CustomerKeys`. The database's user has to own the table of keys.
    @LoopActor
    package func destroyKeys(
        of customers: Set<Identifier>, for metadata: EventMetadata
    ) async throws(EventLogError) -> Forgetting {
        // Rewriting the table removes the destroyed keys, and a database that runs out of room ends.
        guard hasRoom() else { throw .unavailable(DatabaseTrouble.full) }
        let keys: ForgottenKeys
        do throws(PostgresError) {
            keys = try await forgottenKeys()
        } catch {
            throw .unavailable(told(error))
        }
        defer { keys.close() }
        do {
            return try await keys.destroy(of: customers, metadata)
        } catch let error as PostgresError {
            throw error.kind == .connection ? .outcomeUnknown(told(error)) : .unavailable(told(error))
        } catch {
            throw .unavailable("\(error)")
        }
    }

    @LoopActor
    package func removeRemainders() async -> String? {
        guard hasRoom() else { return DatabaseTrouble.full }
        do throws(PostgresError) {
            let keys = try await forgottenKeys()
            defer { keys.close() }
            return try await keys.removeOldRows()
        } catch {
            return isServing ? told(error) : error.message
        }
    }

    @LoopActor
    private func forgottenKeys() async throws(PostgresError) -> ForgottenKeys {
        try await ForgottenKeys(
            in: database, silence: isServing ? PostgresCustomerKeys.silenceWhileForgetting : nil)
    }

    private func told(_ error: PostgresError) -> String { trouble.told(error, on: "tiffin forget") }
}

extension CustomerKey {
    fileprivate init(_ row: Row) {
        guard let key: UnsafeRawBufferPointer = row["key"] else {
            self = .destroyed
            return
        }
        self = SealingKey(key).map(CustomerKey.known) ?? .unknown
    }
}

private enum Statements {
    static let make = Statement("make_key", "SELECT key FROM tiffin.customer_key($1, $2, $3)", [.int2, .text, .bytea])

    static let read = Statement(
        "read_key", "SELECT key FROM tiffin.customer_keys WHERE partition = $1 AND customer = $2", [.int2, .text])

    // Null if there is no such table yet.
    static let mayRead = Statement(
        "may_read_keys", "SELECT has_table_privilege(to_regclass('tiffin.customer_keys'), 'SELECT') AS may_read")
}
