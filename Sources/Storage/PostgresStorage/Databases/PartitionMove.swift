package import EventLog
package import EventLoop
internal import Foundation
internal import Postgres
internal import Projections

/// Moves a partition from one database of a log to another, while servers use it.
///
/// It keeps no state of its own: the heads say how far it has come, so it can be killed anywhere and run again. The
/// decision on partitions in several databases says why it opens none in two places, and removes nothing that is
/// needed, even if it stands still for a week in between.
@LoopActor
package final class PartitionMove {
    /// How far it has come.
    package enum Step: String, CaseIterable, Sendable {
        /// Some batches are copied.
        case copying
        /// Those that there were are copied.
        case copied
        /// Some rows of the read models are copied.
        case readModels = "read-models"
        /// All rows are copied, and nearly all batches.
        case closing
        /// The old head takes nothing any more.
        case closed
        /// Everything is copied.
        case opening
        /// The new head takes what comes.
        case opened
        /// A part of what was left behind is removed.
        case removing
    }

    /// The most bytes of batches or rows that are copied at once, about, and how many of them.
    private static let bytesAtOnce: Int64 = 4 << 20
    private static let rowsAtOnce: Int64 = 2_000
    /// How many batches are indexed or removed at once.
    private static let batchesAtOnce: Int32 = 1_000
    /// So much may be left to copy when the old head is closed.
    private static let eventsLeft: Int64 = 500
    /// In so many rounds more was written than this, at most: a head that is written faster than it is copied is closed
    /// all the same.
    private static let rounds = 10
    /// How long to wait between opening the new head and removing the old copy, in milliseconds: by then every server
    /// that looks has seen it.
    package static let pause: UInt64 = 500
    /// How long to wait for the target's standbys, in seconds.
    private static let standbyPatience = 30

    private struct Place {
        let name: String
        let connection: PostgresConnection
    }

    private let partition: Int
    private let target: Place
    private let others: [Place]
    private let pause: UInt64
    private let onStep: @LoopActor (Step) -> Void
    private let progress: @LoopActor (_ done: Int64, _ total: Int64) -> Void

    private init(
        _ partition: Int, to target: Place, _ others: [Place], pause: UInt64,
        onStep: @escaping @LoopActor (Step) -> Void,
        progress: @escaping @LoopActor (Int64, Int64) -> Void
    ) {
        self.pause = pause
        self.partition = partition
        self.target = target
        self.others = others
        self.onStep = onStep
        self.progress = progress
    }

    /// What was done.
    package struct Outcome: Sendable {
        /// Where the partition was; nil if it was in its new place already.
        package let source: String?
        /// Where it ended when it was moved.
        package let head: LogHead
        /// For how long nobody could write, in nanoseconds; 0 if it was closed before.
        package let closed: UInt64
    }

    /// Moves a partition.
    ///
    /// - Parameters:
    ///   - name: the database that it goes to.
    ///   - pause: how long to wait before the old copy is removed, in milliseconds.
    ///   - onStep: called as soon as a step is reached, for some of them several times.
    ///   - progress: called with the position up to which it is copied, and where it ends.
    /// - Throws: if it cannot be moved there. It can be tried again.
    package static func run(
        _ partition: Int, to name: String, in databases: LogDatabases, pause: UInt64 = PartitionMove.pause,
        onStep: @escaping @LoopActor (Step) -> Void = { _ in },
        progress: @escaping @LoopActor (Int64, Int64) -> Void = { _, _ in }
    ) async throws -> Outcome {
        var places: [Place] = []
        defer { for place in places { place.connection.close() } }
        for database in databases.named {
            // As the database's own user: servers may add to the log, and not copy or remove what is in it.
            let connection: PostgresConnection
            do {
                connection = try await PostgresConnection.connect(database.address, applicationName: "tiffin move")
            } catch {
                throw MoveError("\(database.name): \(error)")
            }
            places.append(Place(name: database.name, connection: connection))
            let stored = try await connection.execute(Partitioning.stored).first
            guard let stored, let partitioning = Partitioning(stored) else {
                throw MoveError("database '\(database.name)' has no log: run tiffin migrate with the map")
            }
            if let problem = Partitioning.problem(with: stored, named: database.name) { throw MoveError(problem) }
            guard (0..<partitioning.count).contains(partition) else {
                throw MoveError("the log has partitions 0 to \(partitioning.count - 1)")
            }
        }
        guard let target = places.first(where: { $0.name == name }) else {
            let names = places.map { "'\($0.name)'" }.joined(separator: ", ")
            throw MoveError("the map has no database '\(name)', but \(names)")
        }
        return try await PartitionMove(
            partition, to: target, places.filter { $0.name != name }, pause: pause, onStep: onStep, progress: progress
        ).run()
    }

    private var number: Parameter { .int2(Int16(partition)) }

    // MARK: The steps

    private func run() async throws -> Outcome {
        // Read before the source is seen closed: whoever opens the target, or opened it meanwhile, raises its epoch.
        let began = try await head(of: target)
        var outcome: Outcome
        if began.isOpen {
            outcome = Outcome(source: nil, head: began.head, closed: 0)
        } else {
            outcome = try await copyAndOpen(began)
            onStep(.opened)
            await LoopTimer.pause(milliseconds: pause)
        }
        try await awaitStandbys()
        for place in others { try await remove(from: place, try await close(forgotten: place)) }
        return outcome
    }

    private func copyAndOpen(_ began: PlacedHead) async throws -> Outcome {
        let (source, isOpen) = try await findSource(began)
        try await dropOtherLog(source)
        var keysSince = "-infinity"
        if isOpen {
            try await copyBatches(from: source)
            onStep(.copied)
            keysSince = try await source.connection.execute(Statements.keysSince)[0]["since"]
            try await copyKeys(from: source, since: "-infinity")
            try await copyReadModels(from: source)
            for _ in 0..<PartitionMove.rounds where try await copyBatches(from: source) > PartitionMove.eventsLeft {}
            try await index()
            onStep(.closing)
        }
        let closedAt = LoopActor.now
        let end = try await close(source)
        onStep(.closed)
        try await copyBatches(from: source)
        try await copyKeys(from: source, since: keysSince)
        onStep(.opening)
        try await open(at: end, began)
        return Outcome(source: source.name, head: end.head, closed: isOpen ? LoopActor.now - closedAt : 0)
    }

    private func head(of place: Place) async throws -> PlacedHead {
        try PlacedHead(try await place.connection.execute(Statements.head, [number]).first, partition, place.name)
    }

    /// Where the partition lives; or where it was open last, if it was closed for this target.
    private func findSource(_ target: PlacedHead) async throws -> (Place, isOpen: Bool) {
        var newest: (place: Place, head: PlacedHead)?
        var open: [Place] = []
        for place in others {
            let head = try await head(of: place)
            if head.isOpen { open.append(place) }
            if head.epoch > newest?.head.epoch ?? .min { newest = (place, head) }
        }
        guard open.count < 2 else {
            throw MoveError("it is in two databases: \(open.map { "'\($0.name)'" }.joined(separator: " and "))")
        }
        if let source = open.first { return (source, true) }
        guard let newest else { throw MoveError("the map names only one database") }
        let last = target.epoch > newest.head.epoch ? (self.target, target) : newest
        guard last.1.movedTo == self.target.name else {
            throw MoveError("it is on its way from '\(last.0.name)' to '\(last.1.movedTo ?? "")': finish that first")
        }
        return (newest.place, false)
    }

    /// Drops what the target has of the partition unless it is the beginning of the source's log. It may have been moved
    /// away from there, and after a fork it may be of another log.
    private func dropOtherLog(_ source: Place) async throws {
        let head = try await head(of: target)
        guard head.position > 0 else { return }
        if try await has(head, target), try await has(head, source) { return }
        try await remove(from: target, head)
        _ = try await target.connection.execute(
            Statements.empty, [number, .int8(head.epoch), .bytes(Digest.zero.bytes)])
    }

    /// Whether the batches of a database lead to where a head says that it ends.
    private func has(_ head: PlacedHead, _ place: Place) async throws -> Bool {
        try await place.connection.execute(
            Statements.hasPoint, [number, .int8(head.position), .bytes(head.digest.bytes)])[0]["has_point"]
    }

    private func close(_ source: Place) async throws -> PlacedHead {
        try await source.connection.transaction { [partition, number, target] transaction in
            let rows = try await transaction.execute(Statements.lockHead, [number])
            var head = try PlacedHead(rows.first, partition, source.name)
            if head.isOpen {
                _ = try await transaction.execute(Statements.close, [number, .text(target.name)])
                head.movedTo = target.name
            }
            guard head.movedTo == target.name else {
                throw MoveError("somebody else moves it to '\(head.movedTo ?? "")'")
            }
            return head
        }
    }

    private func open(at end: PlacedHead, _ began: PlacedHead) async throws {
        let copied = try await head(of: target)
        guard copied.head == end.head else {
            throw MoveError(
                "the copy ends at position \(copied.position) with digest \(copied.digest), and the partition at "
                    + "\(end.position) with \(end.digest): it stays closed; run tiffin audit")
        }
        let opened = try await target.connection.execute(
            Statements.open,
            [
                number, .int8(end.position), .bytes(end.digest.bytes), .int8(began.epoch),
                .int8(max(began.epoch, end.epoch) + 1),
            ])
        guard opened.affectedCount == 1 else { throw MoveError("somebody else has moved it meanwhile") }
    }

    /// Waits until the target's standbys have everything, if it says where they are. One that takes over without it would
    /// have nothing of the partition, or only its beginning.
    private func awaitStandbys() async throws {
        let row = try await target.connection.execute(Statements.standbys)[0]
        let (end, standbys): (String, [String]) = (row["end"], row["behind"])
        for _ in 0..<PartitionMove.standbyPatience {
            let behind = try await target.connection.execute(Statements.behind, [.text(end), .array(standbys)])
            if behind.isEmpty { return }
            await LoopTimer.pause(milliseconds: 1_000)
        }
        throw MoveError(
            "it is in '\(target.name)', whose standbys do not have it yet: run this again to remove the old copy")
    }

    // MARK: Copying

    /// Copies the batches that the target lacks. Returns how many events they have.
    @discardableResult
    private func copyBatches(from source: Place) async throws -> Int64 {
        let first = try await head(of: target)
        var reached = first
        let goal = try await head(of: source).position
        while true {
            let rows = try await source.connection.execute(
                CopiedJSON.batches,
                [number, .int8(reached.position), .int8(PartitionMove.rowsAtOnce), .int8(PartitionMove.bytesAtOnce)])
            guard !rows.isEmpty else { return reached.position - first.position }
            reached = try await write(rows.map { $0["row"] }, after: reached)
            progress(reached.position, max(goal, reached.position))
            onStep(.copying)
        }
    }

    private func write(_ batches: [String], after reached: PlacedHead) async throws -> PlacedHead {
        try await target.connection.transaction { [partition, number, target] transaction in
            let rows = try await transaction.execute(Statements.lockHead, [number])
            let found = try PlacedHead(rows.first, partition, target.name)
            guard found == reached, !found.isOpen else { throw MoveError("somebody else moves it, too") }
            let added = try await transaction.execute(
                CopiedJSON.addBatches, [.int8(found.position), .bytes(found.digest.bytes), .array(batches)])[0]
            guard !(added["is_broken"]) else {
                throw MoveError(
                    "the batches after position \(found.position) do not continue the chain: run tiffin audit")
            }
            var head = found
            head.position = added["last_position"]
            head.digest = added.digest("chain_digest") ?? .zero
            _ = try await transaction.execute(
                Statements.advance, [number, .int8(head.position), .bytes(head.digest.bytes)])
            return head
        }
    }

    /// Has the target know which streams are in which batches.
    private func index() async throws {
        let limit = Parameter.int4(PartitionMove.batchesAtOnce)
        while try await target.connection.execute(Statements.index, [number, limit])[0]["is_behind"] {}
    }

    /// Copies customers' keys that were made since then. One that was destroyed in either place stays destroyed.
    private func copyKeys(from source: Place, since: String) async throws {
        var last = ""
        while true {
            let rows = try await source.connection.execute(
                Statements.keys, [number, .text(last), .text(since), .int8(PartitionMove.rowsAtOnce)])
            guard let end = rows.last else { return }
            last = end["customer"]
            _ = try await target.connection.execute(Statements.addKeys, [.array(rows.map { $0["row"] as String })])
        }
    }

    /// Copies the rows of the read models, as those of a new generation: servers that have another one then begin to use
    /// it, as after a rebuild.
    private func copyReadModels(from source: Place) async throws {
        try await guarded(target, try await head(of: target)) { [self] in try await removeReadModels($0) }
        try await source.connection.transaction { [self] transaction in
            _ = try await transaction.execute(ReadModelStatements.oneSnapshot, [])
            var checkpoints: [String] = []
            for projection in ReadModel.projections {
                defer { onStep(.readModels) }
                let found = try await transaction.execute(
                    Statements.checkpoint, [number, .text(projection.name)])
                guard let found = found.first else { continue }
                let (old, new): (Int32, Int32) = (found["generation"], found["next"])
                try await copyRows(of: projection.table, projection.columns[0].name, old, new, transaction)
                let quarantine = try await transaction.execute(
                    Statements.quarantine, [number, .text(projection.name), .int4(old), .int4(new)])
                try await add(quarantine.map { $0["row"] }, to: "quarantine")
                checkpoints.append(found["row"])
            }
            // These come last: rows without a checkpoint are used by nobody.
            try await add(checkpoints, to: "projection_checkpoints")
        }
    }

    private func copyRows(
        of table: String, _ key: String, _ old: Int32, _ new: Int32, _ transaction: Transaction
    ) async throws {
        var last = Parameter.null
        while true {
            let rows = try await transaction.execute(
                Statements.rows(of: table, key),
                [
                    number, .int4(old), .int4(new), last, .int8(PartitionMove.rowsAtOnce),
                    .int8(PartitionMove.bytesAtOnce),
                ])
            guard let end = rows.last else { return }
            last = .text(end["key"])
            try await add(rows.map { $0["row"] }, to: table)
        }
    }

    private func add(_ rows: [String], to table: String) async throws {
        guard !rows.isEmpty else { return }
        _ = try await target.connection.execute(CopiedJSON.add(to: table), [.array(rows)])
    }

    // MARK: Removing

    /// The head of a database where the partition does not live. A standby that took over may have lost that it was
    /// closed; then it is closed again.
    private func close(forgotten place: Place) async throws -> PlacedHead {
        let (old, new) = (try await head(of: place), try await head(of: target))
        guard new.isOpen else { throw MoveError("somebody else has moved it on meanwhile") }
        guard old.isOpen else { return old }
        guard new.epoch > old.epoch, try await has(old, target) else {
            throw MoveError("it is open in '\(place.name)', too, with other events: run tiffin audit")
        }
        return try await close(place)
    }

    /// Removes what a database has of the partition, which does not live there. Newest batches go first, so whoever
    /// reads there finds that the log lacks what was read, and never that something is missing in between.
    private func remove(from place: Place, _ head: PlacedHead) async throws {
        var isLeft = true
        while isLeft {
            isLeft = try await guarded(place, head) { [number] transaction in
                try await transaction.execute(
                    Statements.removeBatches, [number, .int4(PartitionMove.batchesAtOnce)]
                ).affectedCount > 0
            }
            if isLeft { onStep(.removing) }
        }
        try await guarded(place, head) { [self] transaction in
            try await removeReadModels(transaction)
            _ = try await transaction.execute(Statements.removeIndex, [number])
            _ = try await transaction.execute(Statements.removeTree, [number])
            if place.name != target.name { _ = try await transaction.execute(Statements.removeKeys, [number]) }
        }
    }

    private func removeReadModels(_ transaction: Transaction) async throws {
        for table in ["projection_checkpoints", "quarantine"] + ReadModel.projections.map(\.table) {
            _ = try await transaction.execute(Statements.removeRows(of: table), [number])
        }
    }

    /// Runs a transaction while the partition does not live in a database, and has not since its head was read.
    private func guarded<Result: Sendable>(
        _ place: Place, _ head: PlacedHead, _ body: @LoopActor (Transaction) async throws -> Result
    ) async throws -> Result {
        try await place.connection.transaction { [number] transaction in
            guard try await transaction.execute(Statements.lockClosed, [number, .int8(head.epoch)]).first != nil else {
                throw MoveError("somebody else has moved it to '\(place.name)' meanwhile")
            }
            return try await body(transaction)
        }
    }
}

/// Why a partition was not moved, or not to the end.
package struct MoveError: Error, CustomStringConvertible {
    /// What is wrong, for an operator.
    package let description: String

    init(_ description: String) { self.description = description }
}

extension PlacedHead {
    fileprivate init(_ row: Row?, _ partition: Int, _ place: String) throws(MoveError) {
        guard let row else { throw MoveError("tiffin.log_head of '\(place)' has no row for it") }
        self.init(
            partition: partition, position: row["position"], digest: row.digest("digest") ?? .zero, epoch: row["epoch"],
            movedTo: row["moved_to"])
    }
}

private enum Statements {
    private static let columns = "SELECT position, digest, epoch, moved_to FROM tiffin.log_head WHERE partition = $1"

    static let head = Statement("move_head", columns, [.int2])
    static let lockHead = Statement("move_lock_head", "\(columns) FOR UPDATE", [.int2])

    static let close = Statement(
        "close_head", "UPDATE tiffin.log_head SET moved_to = $2 WHERE partition = $1", [.int2, .text])

    static let open = Statement(
        "open_head",
        """
        UPDATE tiffin.log_head SET moved_to = NULL, epoch = $5
        WHERE partition = $1 AND moved_to IS NOT NULL AND position = $2 AND digest = $3 AND epoch = $4
        """, [.int2, .int8, .bytea, .int8, .int8])

    static let advance = Statement(
        "advance_copy", "UPDATE tiffin.log_head SET position = $2, digest = $3 WHERE partition = $1",
        [.int2, .int8, .bytea])

    static let hasPoint = Statement(
        "move_has_point", "SELECT tiffin.has_point($1, $2, $3) AS has_point", [.int2, .int8, .bytea])

    static let standbys = Statement(
        "standbys",
        """
        SELECT e.lsn::text AS end, ARRAY(
            SELECT application_name FROM pg_stat_replication WHERE flush_lsn < e.lsn) AS behind
        FROM (SELECT pg_current_wal_flush_lsn()) AS e (lsn)
        """)

    // One that is lost meanwhile is waited for as well.
    static let behind = Statement(
        "standbys_behind",
        """
        SELECT n FROM unnest($2) AS n WHERE NOT EXISTS (
            SELECT FROM pg_stat_replication WHERE application_name = n AND flush_lsn >= $1::pg_lsn)
        """, [.text, .textArray])

    static let index = Statement(
        "index_copy", "SELECT is_behind FROM tiffin.index_streams($1, $2)", [.int2, .int4])

    // Whoever makes a key does so within seconds.
    static let keysSince = Statement(
        "keys_since", "SELECT (clock_timestamp() - interval '10 minutes')::text AS since")

    static let keys = Statement(
        "copied_keys",
        """
        SELECT customer, to_json(k)::text AS row FROM tiffin.customer_keys AS k
        WHERE partition = $1 AND customer > $2 AND (created_at >= $3::timestamptz OR forgotten_at >= $3::timestamptz)
        ORDER BY customer LIMIT $4
        """, [.int2, .text, .text, .int8])

    static let addKeys = Statement(
        "add_keys",
        """
        INSERT INTO tiffin.customer_keys AS old
        SELECT k.* FROM unnest($1) AS r (row)
            CROSS JOIN LATERAL json_populate_record(NULL::tiffin.customer_keys, r.row::json) AS k
        ON CONFLICT (partition, customer) DO UPDATE SET key = NULL, forgotten_at = excluded.forgotten_at
        WHERE excluded.key IS NULL AND old.key IS NOT NULL
        """, [.textArray])

    static let checkpoint = Statement(
        "copied_checkpoint",
        """
        SELECT c.generation, n.next, (to_jsonb(c) || jsonb_build_object('generation', n.next))::text AS row
        FROM tiffin.projection_checkpoints AS c CROSS JOIN LATERAL (
            SELECT max(generation) + 1 AS next FROM tiffin.projection_checkpoints
            WHERE partition = $1 AND projection = $2) AS n
        WHERE c.partition = $1 AND c.projection = $2 AND c.state = 'active' AND c.position > 0
        """, [.int2, .text])

    static let quarantine = Statement(
        "copied_quarantine",
        """
        SELECT (to_jsonb(q) || jsonb_build_object('generation', $4::integer))::text AS row FROM tiffin.quarantine AS q
        WHERE partition = $1 AND projection = $2 AND generation = $3
        """, [.int2, .text, .int4, .int4])

    static func rows(of table: String, _ key: String) -> Statement {
        Statement(
            "copied_\(table)",
            """
            SELECT key, row FROM (
                SELECT key, row, sum(octet_length(row)) OVER (ORDER BY key) - octet_length(row) AS bytes_before FROM (
                    SELECT \(key) AS key, (to_jsonb(t) || jsonb_build_object('generation', $3::integer))::text AS row
                    FROM tiffin.\(table) AS t
                    WHERE partition = $1 AND generation = $2 AND \(key) >= coalesce($4, '')
                        AND \(key) IS DISTINCT FROM $4
                    ORDER BY \(key) LIMIT $5) AS t) AS t
            WHERE bytes_before < $6 ORDER BY key
            """, [.int2, .int4, .int4, .text, .int8, .int8])
    }

    static let lockClosed = Statement(
        "lock_closed_head",
        "SELECT FROM tiffin.log_head WHERE partition = $1 AND epoch = $2 AND moved_to IS NOT NULL FOR UPDATE",
        [.int2, .int8])

    static let empty = Statement(
        "empty_head",
        """
        UPDATE tiffin.log_head SET position = 0, digest = $3
        WHERE partition = $1 AND epoch = $2 AND moved_to IS NOT NULL
        """, [.int2, .int8, .bytea])

    static let removeBatches = Statement(
        "remove_batches",
        """
        DELETE FROM tiffin.batches WHERE partition = $1 AND first_position >= (
            SELECT min(first_position) FROM (
                SELECT first_position FROM tiffin.batches WHERE partition = $1
                ORDER BY first_position DESC LIMIT $2) AS b)
        """, [.int2, .int4])

    static let removeIndex = Statement(
        "remove_index", "DELETE FROM tiffin.stream_index WHERE partition = $1", [.int2])

    static let removeTree = Statement("remove_tree", "DELETE FROM tiffin.tree_nodes WHERE partition = $1", [.int2])

    // That a customer was forgotten stays there.
    static let removeKeys = Statement(
        "remove_keys", "DELETE FROM tiffin.customer_keys WHERE partition = $1 AND key IS NOT NULL", [.int2])

    static func removeRows(of table: String) -> Statement {
        Statement("move_remove_\(table)", "DELETE FROM tiffin.\(table) WHERE partition = $1", [.int2])
    }
}
