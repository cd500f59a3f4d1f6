// What an audit reads, in PostgreSQL: by a user who may read and nothing else, or on a replica.

public import Audit
internal import Domain
public import EventLog
public import EventLoop
internal import Postgres
internal import PostgresEventLog
public import Projections

/// The log and the read models in the schema `tiffin` of a database.
@LoopActor
public final class PostgresAuditSource: AuditSource {
    /// The most rows that are read at once.
    private static let rowLimit: Int64 = 5_000
    /// Documents are larger.
    private static let outletLimit: Int64 = 200

    private let log: PostgresEventLog
    /// The log itself, for whoever looks only at that.
    public var eventLog: any EventLog { log }
    /// For everything but events, which are read beside it.
    private let connection: PostgresConnection

    private init(log: PostgresEventLog, connection: PostgresConnection) {
        self.log = log
        self.connection = connection
    }

    /// Connects.
    ///
    /// - Parameter database: a `postgres://` URL, or libpq's keywords and values.
    public static func open(_ database: String) async throws -> PostgresAuditSource {
        let log = try await PostgresEventLog.open(database, isReadOnly: true)
        do {
            let connection = try await PostgresConnection.connect(database, applicationName: "tiffin audit")
            _ = try await connection.execute(Statements.readOnly, [])
            return PostgresAuditSource(log: log, connection: connection)
        } catch {
            log.close()
            throw error
        }
    }

    /// Closes the connections.
    public func close() {
        log.close()
        connection.close()
    }

    /// The number of partitions.
    public var partitionCount: Int { log.partitionCount }

    // MARK: The log

    /// See `AuditSource`.
    public func heads() async throws -> [LogHead] {
        let rows = try await connection.execute(Statements.heads, [])
        return (0..<rows.count).map { row in
            LogHead(
                partition: Int(rows.int2(row, 0)), position: rows.int8(row, 1),
                digest: Digest(rows.bytes(row, 2)) ?? .zero)
        }
    }

    /// See `AuditSource`.
    public func page(partition: Int, after position: Int64, limit: Int) async throws -> EventPage {
        try await log.page(partition: partition, after: position, limit: limit)
    }

    /// See `AuditSource`.
    public func events(partition: Int, stream: StreamName, limit: Int) async throws -> [RecordedEvent] {
        try await log.read(stream: stream, partition: partition, afterVersion: 0, limit: limit)
    }

    /// See `AuditSource`.
    public func commits(partition: Int, after position: Int64, limit: Int) async throws -> [Commit] {
        try await log.commits(partition: partition, after: position, limit: limit)
    }

    // MARK: The read models

    /// See `AuditSource`.
    public func checkpoints(partition: Int) async throws -> [StoredCheckpoint] {
        let rows = try await connection.execute(Statements.checkpoints, [.int2(Int16(partition))])
        return (0..<rows.count).map { row in
            StoredCheckpoint(
                projection: rows.text(row, 0), version: Int(rows.int4(row, 1)), position: rows.int8(row, 2),
                digest: Array(rows.bytes(row, 3)))
        }
    }

    /// See `AuditSource`.
    public func rows(
        of projection: ProjectionName, partition: Int, after key: String
    ) async throws -> Checkpoint.Slice? {
        let partition = Parameter.int2(Int16(partition))
        switch projection {
        case .outletHome:
            let rows = try await connection.execute(
                Statements.outlets, [partition, .text(key), .int8(PostgresAuditSource.outletLimit)])
            guard rows.count > 0 else { return nil }
            return .outletHome(
                try (0..<rows.count).map { row in
                    OutletHomeRow(
                        outlet: try PostgresAuditSource.identifier(rows.bytes(row, 0)), revision: rows.int8(row, 1),
                        document: Array(rows.bytes(row, 2)), snapshot: Array(rows.bytes(row, 3)))
                })
        case .cartCounts:
            let rows = try await connection.execute(
                Statements.carts, [partition, .text(key), .int8(PostgresAuditSource.rowLimit)])
            guard rows.count > 0 else { return nil }
            return .cartCounts(
                try (0..<rows.count).map { row in
                    CartCountRow(
                        cart: try PostgresAuditSource.identifier(rows.bytes(row, 0)), count: rows.int4(row, 1))
                })
        }
    }

    /// See `AuditSource`.
    public func quarantined(partition: Int) async throws -> [(projection: String, event: CorruptEvent)] {
        let rows = try await connection.execute(Statements.quarantined, [.int2(Int16(partition))])
        return (0..<rows.count).map { row in
            (
                rows.text(row, 0),
                CorruptEvent(
                    partition: partition, position: rows.int8(row, 2), stream: rows.text(row, 1),
                    reason: rows.text(row, 3))
            )
        }
    }

    private nonisolated static func identifier(_ bytes: UnsafeRawBufferPointer) throws -> Identifier {
        guard let identifier = Identifier(utf8: bytes) else {
            throw AuditError(
                "a stored row has the key '\(String(decoding: bytes.prefix(100), as: UTF8.self))', which is none")
        }
        return identifier
    }

    // MARK: Moments

    /// See `AuditSource`.
    public func beginMoment() async throws { _ = try await connection.execute(Statements.beginMoment, []) }

    /// See `AuditSource`.
    public func endMoment() async throws { _ = try await connection.execute(Statements.endMoment, []) }
}

private enum Statements {
    static let readOnly = Statement("read_only", "SET default_transaction_read_only = on")

    static let beginMoment = Statement("begin_moment", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    static let endMoment = Statement("end_moment", "COMMIT")

    static let heads = Statement(
        "heads", "SELECT partition, position, digest FROM tiffin.log_head ORDER BY partition")

    static let checkpoints = Statement(
        "checkpoints",
        """
        SELECT projection, version, position, digest FROM tiffin.projection_checkpoints
        WHERE partition = $1 AND state = 'active'
        """, [.int2])

    /// The generation that servers use, as an expression.
    private static func active(_ projection: ProjectionName) -> String {
        """
        (SELECT generation FROM tiffin.projection_checkpoints
         WHERE partition = $1 AND projection = '\(projection.rawValue)' AND state = 'active')
        """
    }

    static let outlets = Statement(
        "outlets",
        """
        SELECT outlet, revision, document, snapshot FROM tiffin.outlet_home_rows
        WHERE partition = $1 AND generation = \(active(.outletHome)) AND outlet > $2 ORDER BY outlet LIMIT $3
        """, [.int2, .text, .int8])

    static let quarantined = Statement(
        "quarantined",
        """
        SELECT q.projection, q.stream, q.position, q.reason
        FROM tiffin.quarantine AS q
             JOIN tiffin.projection_checkpoints AS c USING (partition, projection, generation)
        WHERE q.partition = $1 AND c.state = 'active'
        """, [.int2])

    static let carts = Statement(
        "carts",
        """
        SELECT cart, count FROM tiffin.cart_count_rows
        WHERE partition = $1 AND generation = \(active(.cartCounts)) AND cart > $2 ORDER BY cart LIMIT $3
        """, [.int2, .text, .int8])
}
