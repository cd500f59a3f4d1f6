package import Domain
package import EventLog
package import EventLoop
internal import Postgres
package import PostgresStorage

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
    /// How long another connection may go on being this relay: that of a killed process ends once PostgreSQL has noticed.
    private static let tries = (count: 50, pause: Duration.milliseconds(100))

    private let id: Identifier
    private var name: String { id.rawValue }
    private let databases: LogDatabases
    private let metadata: EventMetadata
    private let kept: KeptConnection
    /// The connection that keeps others from being this relay.
    private var locked: PostgresConnection?

    /// A relay of that name, in the first of a log's migrated databases.
    ///
    /// - Parameter metadata: of the events that record what is done to it.
    package init(_ databases: LogDatabases, name: Identifier, for metadata: EventMetadata) {
        id = name
        self.databases = databases
        self.metadata = metadata
        kept = KeptConnection(
            databases.first, name: "tiffin relay \(name)", rights: .own,
            deadlines: KeptConnection.Deadlines(connecting: RelayTable.patience, answer: RelayTable.patience))
    }

    /// The secret, which is made if there is none yet, with a place in front of the first event of each partition.
    ///
    /// - Parameters:
    ///   - isAlone: whether no other process may be this relay.
    ///   - remakes: whether it is made again where the log has the relay.
    package func secret(isAlone: Bool = true, remakes: Bool = false) async throws -> WebhookSecret {
        let connection = isAlone ? try await connected() : try await kept.connected()
        defer { if !isAlone { kept.close() } }
        try await connection.transaction { transaction in
            let added = try await transaction.execute(
                Statements.add, [.text(name), .bytes(WebhookSecret.random().bytes)])
            guard added.affectedCount == 1 else { return }
            if !remakes, try await isInLog() {
                throw RelayError(
                    "tiffin.relays has lost relay '\(name)', which is in the log, with its secret and its places. "
                        + "'--from <position>' goes on there in every partition, with another secret")
            }
            _ = try await transaction.execute(Statements.begin, [.text(name)])
            try await DeedRecorder.record([(id, .relayPut)], metadata, in: transaction)
        }
        let rows = try await connection.execute(Statements.secret, [.text(name)])
        guard let row = rows.first else { throw RelayError("relay '\(name)' was removed") }
        return WebhookSecret(row["secret"])
    }

    /// Whether the log has anything of the relay.
    private func isInLog() async throws -> Bool {
        for database in databases.addresses {
            let connection = try await PostgresConnection.connect(database, applicationName: kept.name)
            defer { connection.close() }
            connection.answerDeadline = RelayTable.patience
            let stream = StreamName(.relay, id)
            if try await connection.execute(Statements.isInLog, [.text("\(stream)")])[0]["is_in_log"] { return true }
        }
        return false
    }

    /// The cursors that are known, by their partitions.
    func cursors() async throws -> [Int: RelayCursor] {
        let rows = try await connected().execute(Statements.cursors, [.text(name)])
        return Dictionary(
            uniqueKeysWithValues: rows.map {
                ($0["partition"], RelayCursor(position: $0["position"], mark: $0["event"]))
            })
    }

    /// What is held back in a partition, by positions, and how much is set aside.
    ///
    /// - Parameter now: on the clock that says when something is due, in milliseconds.
    func heldBack(in partition: Int, now: Int64) async throws -> (deliveries: [HeldBack.Delivery], setAside: Int) {
        let rows = try await connected().execute(Statements.heldBack, [.text(name), .int2(Int16(clamping: partition))])
        let held = rows.filter { !$0["is_set_aside"] }
        return (
            held.map { row in
                HeldBack.Delivery(
                    position: row["position"], stream: row["stream"], mark: row["event"], attempts: row["attempts"],
                    refusals: row["refusals"], refusedSince: (row["refused_for"] as Int64?).map { now - $0 },
                    due: now + (row["wait"] as Int64))
            }, rows.count - held.count
        )
    }

    /// Keeps that an event is held back or set aside, and a cursor behind it.
    ///
    /// - Parameters:
    ///   - answer: what failed, if it was posted.
    ///   - wait: how long it is until it is posted again, in milliseconds.
    func hold(
        _ delivery: HeldBack.Delivery, in partition: Int, _ cursor: RelayCursor, answer: String?, wait: UInt64,
        setsAside: Bool = false
    ) async throws {
        _ = try await connected().execute(
            Statements.hold,
            [
                .text(name), .int2(Int16(clamping: partition)), .int8(cursor.position), .text(delivery.mark),
                .text(delivery.stream), .int4(Int32(clamping: delivery.attempts)),
                .int4(Int32(clamping: delivery.refusals)), answer.map { .text($0) } ?? .null,
                .int8(Int64(clamping: wait)), .bool(setsAside),
                delivery.refusedSince == nil ? .null : .int8(delivery.refusedFor),
            ])
    }

    /// Keeps another attempt at an event that is held back.
    func retry(
        _ delivery: HeldBack.Delivery, in partition: Int, answer: String, wait: UInt64, setsAside: Bool
    ) async throws {
        _ = try await connected().execute(
            Statements.retry,
            [
                .text(name), .int2(Int16(clamping: partition)), .int8(delivery.position),
                .int4(Int32(clamping: delivery.attempts)), .int4(Int32(clamping: delivery.refusals)), .text(answer),
                .int8(Int64(clamping: wait)), .bool(setsAside),
            ])
    }

    /// Keeps that an event is no longer held back.
    func remove(_ position: Int64, in partition: Int) async throws {
        _ = try await connected().execute(
            Statements.remove, [.text(name), .int2(Int16(clamping: partition)), .int8(position)])
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

    /// Has the relay go on behind another position, in some partitions. What is held back up to there stays.
    func move(to position: Int64, in partitions: [Int]) async throws {
        try await connected().transaction { transaction in
            for partition in partitions {
                let cursor = RelayCursor(position: position)
                _ = try await transaction.execute(Statements.save, parameters(cursor, partition))
                _ = try await transaction.execute(
                    Statements.removeBehind, [.text(name), .int2(Int16(clamping: partition)), .int8(position)])
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
        for _ in 0..<RelayTable.tries.count {
            if try await made.execute(Statements.lock, [.text(name)])[0]["is_free"] {
                locked = made
                return made
            }
            try await Task.sleep(for: RelayTable.tries.pause)
        }
        kept.close()
        throw RelayError("another process is relay '\(name)' already")
    }
}

extension RelayTable {
    /// What is held back and set aside, as lines for an operator. Other processes may be this relay.
    package func list() async throws -> [String] {
        let connection = try await kept.connected()
        defer { kept.close() }
        let rows = try await connection.execute(Statements.list, [.text(name)])
        /// The first of each stream that is held back: the others wait for it.
        var first: [String: Int64] = [:]
        return rows.map { row in
            let (partition, position): (Int, Int64) = (row["partition"], row["position"])
            let (attempts, answer): (Int, String?) = (row["attempts"], row["answer"])
            let event = "\(partition)-\(position) \(row["event"] as String)"
            let stream = "\(partition) \(row["stream"] as String)"
            let last = (row["tried_at"] as Timestamp?).map { ", the last at \($0.rfc3339)" } ?? ""
            let tries = "\(attempts.counted("attempt"))\(last)\(answer.map { ": \($0)" } ?? "")"
            if let time: Timestamp = row["set_aside_at"] { return "\(event): set aside at \(time.rfc3339), \(tries)" }
            if let earlier = first[stream] { return "\(event): waits for \(partition)-\(earlier)" }
            first[stream] = position
            let next = (row["next_at"] as Timestamp?).map { ", next at \($0.rfc3339)" } ?? ""
            return "\(event): held back\(next), \(tries)"
        }
    }

    /// Has an event that is held back or set aside be posted again, whatever was tried before. The process that is this
    /// relay does so.
    package func sendAgain(_ position: Int64, in partition: Int) async throws {
        let connection = try await kept.connected()
        defer { kept.close() }
        let changed = try await connection.execute(
            Statements.again, [.text(name), .int2(Int16(clamping: partition)), .int8(position)])
        guard changed.affectedCount == 1 else { throw unknown(position, partition) }
    }

    /// Leaves out an event that is held back or set aside, and records it in the log.
    package func skip(_ position: Int64, in partition: Int, because reason: Text) async throws {
        let connection = try await kept.connected()
        defer { kept.close() }
        try await connection.transaction { transaction in
            let removed = try await transaction.execute(
                Statements.remove, [.text(name), .int2(Int16(clamping: partition)), .int8(position)])
            guard removed.affectedCount == 1 else { throw unknown(position, partition) }
            let deed = Deed.Event.relaySkipped(partition: Int64(partition), position: position, reason: reason)
            try await DeedRecorder.record([(id, deed)], metadata, in: transaction)
        }
    }

    private func unknown(_ position: Int64, _ partition: Int) -> RelayError {
        RelayError("relay '\(name)' neither holds back event \(partition)-\(position), nor has set it aside")
    }
}

private enum Statements {
    static let heldBack = Statement(
        "relay_held_back",
        """
        SELECT position, stream, event, attempts, refusals, set_aside_at IS NOT NULL AS is_set_aside,
            coalesce(ceil(extract(epoch FROM greatest(next_at - now(), interval '0')) * 1000), 0)::bigint AS wait,
            floor(extract(epoch FROM greatest(now() - refused_at, interval '0')) * 1000)::bigint AS refused_for
        FROM tiffin.relay_deliveries WHERE relay = $1 AND partition = $2 ORDER BY position
        """, [.text, .int2])

    // One statement, so that both are kept or neither.
    static let hold = Statement(
        "hold_relay_delivery",
        """
        WITH held AS (
            INSERT INTO tiffin.relay_deliveries
                (relay, partition, position, event, stream, attempts, refusals, answer, tried_at, next_at, set_aside_at,
                    refused_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, CASE WHEN $6 > 0 THEN now() END,
                CASE WHEN $6 > 0 AND NOT $10 THEN now() + $9 * interval '1 millisecond' END, CASE WHEN $10 THEN now() END,
                now() - $11 * interval '1 millisecond')
            ON CONFLICT DO NOTHING
        )
        INSERT INTO tiffin.relay_cursors (relay, partition, position, event) VALUES ($1, $2, $3, $4)
        ON CONFLICT (relay, partition) DO UPDATE SET position = excluded.position, event = excluded.event
        """, [.text, .int2, .int8, .text, .text, .int4, .int4, .text, .int8, .bool, .int8])

    // What was sent again or skipped meanwhile is left alone.
    static let retry = Statement(
        "retry_relay_delivery",
        """
        UPDATE tiffin.relay_deliveries SET attempts = $4, refusals = $5, answer = $6, tried_at = now(),
            next_at = CASE WHEN NOT $8 THEN now() + $7 * interval '1 millisecond' END,
            set_aside_at = CASE WHEN $8 THEN now() END,
            refused_at = CASE WHEN $5 > 0 THEN coalesce(refused_at, now()) END
        WHERE relay = $1 AND partition = $2 AND position = $3 AND attempts = $4 - 1
        """, [.text, .int2, .int8, .int4, .int4, .text, .int8, .bool])

    static let remove = Statement(
        "remove_relay_delivery",
        "DELETE FROM tiffin.relay_deliveries WHERE relay = $1 AND partition = $2 AND position = $3",
        [.text, .int2, .int8])

    static let removeBehind = Statement(
        "remove_relay_deliveries",
        "DELETE FROM tiffin.relay_deliveries WHERE relay = $1 AND partition = $2 AND position > $3",
        [.text, .int2, .int8])

    static let list = Statement(
        "list_relay_deliveries",
        """
        SELECT partition, position, stream, event, attempts, answer, tried_at, next_at, set_aside_at
        FROM tiffin.relay_deliveries WHERE relay = $1 ORDER BY partition, position
        """, [.text])

    static let again = Statement(
        "send_relay_delivery_again",
        """
        UPDATE tiffin.relay_deliveries
        SET attempts = 0, refusals = 0, refused_at = NULL, next_at = now(), set_aside_at = NULL
        WHERE relay = $1 AND partition = $2 AND position = $3
        """, [.text, .int2, .int8])

    static let lock = Statement(
        "lock_relay", "SELECT pg_try_advisory_lock(hashtextextended('tiffin relay ' || $1, 0)) AS is_free",
        [.text])

    static let add = Statement(
        "add_relay", "INSERT INTO tiffin.relays (name, secret) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
        [.text, .bytea])

    static let begin = Statement(
        "begin_relay",
        """
        INSERT INTO tiffin.relay_cursors (relay, partition, position)
        SELECT $1, n, 0 FROM tiffin.partition_count AS c, generate_series(0, c.count - 1) AS n
        """, [.text])

    static let isInLog = Statement(
        "relay_is_in_log", "SELECT EXISTS (SELECT FROM tiffin.events_of($1)) AS is_in_log", [.text])

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
