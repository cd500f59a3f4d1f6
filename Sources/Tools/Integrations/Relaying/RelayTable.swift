package import Domain
package import EventLog
package import EventLoop
internal import Postgres
internal import PostgresStorage

/// How far a relay is in a partition.
struct RelayCursor: Equatable {
    /// The position up to which it is done.
    var position: Int64 = 0
    /// The mark of the event there; nil where anything may stand there.
    var mark: String?
}

/// A relay's secret and cursors in PostgreSQL. It belongs to one process at a time.
///
/// That there is one, and where somebody has it go on, is recorded in the log, in the same transaction.
@LoopActor
package final class RelayTable {
    private static let patience = Duration.seconds(10)

    private let id: Identifier
    private var name: String { id.rawValue }
    private let metadata: EventMetadata
    private let kept: KeptConnection
    /// The connection that keeps others from being this relay.
    private var locked: PostgresConnection?

    /// A relay of that name, in a migrated database.
    ///
    /// - Parameter metadata: of the events that record what is done to it.
    package init(_ database: String, name: Identifier, for metadata: EventMetadata) {
        id = name
        self.metadata = metadata
        kept = KeptConnection(
            database, name: "tiffin relay \(name)", rights: .own,
            deadlines: KeptConnection.Deadlines(connecting: RelayTable.patience, answer: RelayTable.patience))
    }

    /// The secret, which is made if there is none yet.
    ///
    /// - Parameter isAlone: whether no other process may be this relay.
    package func secret(isAlone: Bool = true) async throws -> WebhookSecret {
        let connection = isAlone ? try await connected() : try await kept.connected()
        defer { if !isAlone { kept.close() } }
        try await connection.transaction { transaction in
            let added = try await transaction.execute(
                Statements.add, [.text(name), .bytes(WebhookSecret.random().bytes)])
            guard added.affectedCount == 1 else { return }
            try await DeedRecorder.record([(id, .relayPut)], metadata, in: transaction)
        }
        let rows = try await connection.execute(Statements.secret, [.text(name)])
        guard let row = rows.first else { throw RelayError("relay '\(name)' was removed") }
        return WebhookSecret(row["secret"])
    }

    /// The cursors that are known, by their partitions.
    func cursors() async throws -> [Int: RelayCursor] {
        let rows = try await connected().execute(Statements.cursors, [.text(name)])
        return Dictionary(
            uniqueKeysWithValues: rows.map {
                ($0["partition"], RelayCursor(position: $0["position"], mark: $0["event"]))
            })
    }

    /// Keeps a cursor. It is durable when this returns.
    func save(_ cursor: RelayCursor, of partition: Int) async throws {
        _ = try await connected().execute(Statements.save, parameters(cursor, partition))
    }

    /// Notes why a partition does not get on; nil once all is well again.
    func note(_ failure: String?, of cursor: RelayCursor, in partition: Int) async throws {
        _ = try await connected().execute(
            Statements.note,
            [
                .text(name), .int2(Int16(clamping: partition)), .int8(cursor.position),
                failure.map { .text($0) } ?? .null,
            ])
    }

    /// Has the relay go on behind another position, in some partitions.
    func move(to position: Int64, in partitions: [Int]) async throws {
        try await connected().transaction { transaction in
            for partition in partitions {
                let cursor = RelayCursor(position: position)
                _ = try await transaction.execute(Statements.save, parameters(cursor, partition))
            }
            for partition in partitions {
                try await DeedRecorder.record(
                    [(id, .relayMoved(partition: Int64(partition), position: position))], metadata, in: transaction)
            }
        }
    }

    private func parameters(_ cursor: RelayCursor, _ partition: Int) -> [Parameter] {
        [
            .text(name), .int2(Int16(clamping: partition)), .int8(cursor.position),
            cursor.mark.map { .text($0) } ?? .null,
        ]
    }

    private func connected() async throws -> PostgresConnection {
        let made = try await kept.connected()
        guard made !== locked else { return made }
        guard try await made.execute(Statements.lock, [.text(name)])[0]["is_free"] else {
            kept.close()
            throw RelayError("another process is relay '\(name)' already")
        }
        locked = made
        return made
    }
}

private enum Statements {
    static let lock = Statement(
        "lock_relay", "SELECT pg_try_advisory_lock(hashtextextended('tiffin relay ' || $1, 0)) AS is_free",
        [.text])

    static let add = Statement(
        "add_relay", "INSERT INTO tiffin.relays (name, secret) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
        [.text, .bytea])

    static let secret = Statement("relay_secret", "SELECT secret FROM tiffin.relays WHERE name = $1", [.text])

    static let cursors = Statement(
        "relay_cursors", "SELECT partition, position, event FROM tiffin.relay_cursors WHERE relay = $1", [.text])

    static let save = Statement(
        "save_relay_cursor",
        """
        INSERT INTO tiffin.relay_cursors (relay, partition, position, event) VALUES ($1, $2, $3, $4)
        ON CONFLICT (relay, partition) DO UPDATE SET position = excluded.position, event = excluded.event
        """, [.text, .int2, .int8, .text])

    static let note = Statement(
        "note_relay_failure",
        """
        INSERT INTO tiffin.relay_cursors (relay, partition, position, failure, failed_at)
        VALUES ($1, $2, $3, $4, CASE WHEN $4 IS NOT NULL THEN now() END)
        ON CONFLICT (relay, partition) DO UPDATE SET failure = excluded.failure, failed_at = excluded.failed_at
        """, [.text, .int2, .int8, .text])
}
