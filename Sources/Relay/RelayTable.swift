public import EventLoop
internal import Postgres

/// How far a relay is in a partition.
struct RelayCursor: Equatable {
    /// The position up to which it is done.
    var position: Int64 = 0
    /// The mark of the event there; nil where anything may stand there.
    var mark: String?
}

/// A relay's secret and cursors in PostgreSQL. It belongs to one process at a time.
@LoopActor
public final class RelayTable {
    private static let patience = Duration.seconds(10)

    private let name: String
    private let kept: KeptConnection
    /// The connection that keeps others from being this relay.
    private var locked: PostgresConnection?

    /// A relay of that name, in a migrated database.
    public init(_ database: String, name: String) {
        self.name = name
        kept = KeptConnection(
            database, name: "tiffin relay \(name)", rights: .own,
            deadlines: KeptConnection.Deadlines(connecting: RelayTable.patience, answer: RelayTable.patience))
    }

    /// The secret, which is made if there is none yet.
    ///
    /// - Parameter isAlone: whether no other process may be this relay.
    public func secret(isAlone: Bool = true) async throws -> WebhookSecret {
        let connection = isAlone ? try await connected() : try await kept.connected()
        defer { if !isAlone { kept.close() } }
        _ = try await connection.execute(Statements.add, [.text(name), .bytes(WebhookSecret.random().bytes)])
        let rows = try await connection.execute(Statements.secret, [.text(name)])
        guard rows.count == 1 else { throw RelayError("relay '\(name)' was removed") }
        return WebhookSecret(Array(rows.bytes(0, 0)))
    }

    /// The cursors that are known, by their partitions.
    func cursors() async throws -> [Int: RelayCursor] {
        let rows = try await connected().execute(Statements.cursors, [.text(name)])
        return Dictionary(
            (0..<rows.count).map { row in
                let mark = rows.isNull(row, 2) ? nil : rows.text(row, 2)
                return (Int(rows.int2(row, 0)), RelayCursor(position: rows.int8(row, 1), mark: mark))
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Keeps a cursor. It is durable when this returns.
    func save(_ cursor: RelayCursor, of partition: Int) async throws {
        _ = try await connected().execute(
            Statements.save,
            [
                .text(name), .int2(Int16(clamping: partition)), .int8(cursor.position),
                cursor.mark.map { .text($0) } ?? .null,
            ])
    }

    private func connected() async throws -> PostgresConnection {
        let made = try await kept.connected()
        guard made !== locked else { return made }
        guard try await made.execute(Statements.lock, [.text(name)]).bool(0, 0) else {
            kept.close()
            throw RelayError("another process is relay '\(name)' already")
        }
        locked = made
        return made
    }
}

private enum Statements {
    static let lock = Statement(
        "lock_relay", "SELECT pg_try_advisory_lock(hashtextextended('tiffin relay ' || $1, 0))", [.text])

    static let add = Statement(
        "add_relay", "INSERT INTO tiffin.relays (name, secret) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
        [.text, .bytea])

    static let secret = Statement("relay_secret", "SELECT secret FROM tiffin.relays WHERE name = $1", [.text])

    static let cursors = Statement(
        "relay_cursors", "SELECT partition, position, event FROM tiffin.relay_cursors WHERE relay = $1", [.text])

    static let save = Statement(
        "save_relay_cursor",
        """
        INSERT INTO tiffin.relay_cursors VALUES ($1, $2, $3, $4)
        ON CONFLICT (relay, partition) DO UPDATE SET position = excluded.position, event = excluded.event
        """, [.text, .int2, .int8, .text])
}
