// The read models in PostgreSQL: their rows, written in one transaction with the position up to which they
// were folded. So a restart continues exactly there, and SQL sees every row as of that position.

internal import Domain
internal import EventLog
public import EventLoop
internal import Postgres
public import Projections

/// Saves and restores read models in the schema `tiffin`.
@LoopActor
public final class PostgresReadModelStore {
    /// What became of a checkpoint.
    public enum Outcome: Sendable {
        /// Its rows are in the database.
        case saved
        /// Another server's checkpoint is as new: nothing was written.
        case another
    }

    /// A read model as it was last saved.
    public struct Restored: Sendable {
        /// The read model; empty where nothing could be restored.
        public var model: ReadModel
        /// The digests of its saved rows.
        public var digests: ReadModel.Digests
        /// Why it is empty though something was saved.
        public var note: String?

        /// An empty read model.
        public static func nothing(_ partition: Int, note: String? = nil) -> Restored {
            Restored(model: ReadModel(partition: partition), digests: ReadModel.Digests(), note: note)
        }
    }

    /// Why a read model was not saved or restored.
    public struct Failure: Error, CustomStringConvertible {
        /// What went wrong, for an operator.
        public let description: String
    }

    /// The most rows that are read at once.
    static let readLimit: Int64 = 10_000

    private let database: String
    private var connection: PostgresConnection?
    /// Whether somebody has the connection, and who waits for it: each partition saves one checkpoint at a time.
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// A store in a migrated database.
    public init(_ database: String) {
        self.database = database
    }

    /// Closes the connection.
    public func close() {
        connection?.close()
        connection = nil
    }

    private func connected() async throws(PostgresError) -> PostgresConnection {
        if let connection, connection.isOpen { return connection }
        let made = try await PostgresConnection.connect(database, applicationName: "tiffin projections")
        do throws(PostgresError) {
            _ = try await made.execute(Statement("set_role", "SET ROLE tiffin_server"), [])
        } catch {
            made.close()
            throw error
        }
        connection = made
        return made
    }

    /// Runs a transaction on the connection, after those of other partitions.
    private func transaction<Result: Sendable>(
        _ body: @LoopActor (Transaction) async throws -> Result
    ) async throws -> Result {
        if isTaken { await withCheckedContinuation { waiting.append($0) } }
        isTaken = true
        defer { if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() } }
        return try await connected().transaction(body)
    }

    // MARK: Saving

    /// Writes a checkpoint's rows and position, unless another server's are as new.
    public func save(_ checkpoint: inout Checkpoint) async throws(Failure) -> Outcome {
        let partition = Int16(checkpoint.partition)
        do {
            let taken = checkpoint
            let (outcome, saved) = try await transaction { transaction in
                var pending = taken
                // There has to be something to lock: two servers may save for the first time at once.
                _ = try await transaction.execute(
                    Statements.reserve, [.int2(partition), .array([OutletHome.name, CartCounts.name])])
                let rows = try await transaction.execute(Statements.lock, [.int2(partition)])
                // Rows that another version of a projection wrote are never as new as ours.
                let isNewer = (0..<rows.count).allSatisfy { row in
                    rows.int8(row, 0) < pending.position
                        || !PostgresReadModelStore.isCurrent(rows.text(row, 1), rows.int4(row, 2))
                }
                guard isNewer else { return (Outcome.another, pending) }
                while let slice = pending.nextSlice() {
                    try await PostgresReadModelStore.write(slice, partition, transaction)
                }
                for (projection, event) in pending.quarantined {
                    _ = try await transaction.execute(
                        Statements.quarantine,
                        [
                            .int2(partition), .text(projection), .text(event.stream), .int8(event.position),
                            .text(event.reason),
                        ])
                }
                for (name, version, digest) in [
                    (OutletHome.name, OutletHome.version, pending.digests.outletHome.bytes),
                    (CartCounts.name, CartCounts.version, pending.digests.cartCounts.bytes),
                ] {
                    _ = try await transaction.execute(
                        Statements.checkpoint,
                        [
                            .int2(partition), .text(name), .int4(Int32(version)), .int8(pending.position),
                            .bytes(digest),
                        ])
                }
                return (Outcome.saved, pending)
            }
            checkpoint = saved
            return outcome
        } catch {
            throw Failure(description: "\(error)")
        }
    }

    private static func isCurrent(_ projection: String, _ version: Int32) -> Bool {
        [OutletHome.name: OutletHome.version, CartCounts.name: CartCounts.version][projection] == Int(version)
    }

    private static func write(
        _ slice: Checkpoint.Slice, _ partition: Int16, _ transaction: Transaction
    ) async throws(PostgresError) {
        switch slice {
        case .outletHome(let rows):
            _ = try await transaction.execute(
                Statements.outletHome,
                [
                    .int2(partition), .array(rows.map(\.outlet.rawValue)), .array(rows.map(\.revision)),
                    .array(utf8: rows.map(\.document)), .array(utf8: rows.map(\.snapshot)),
                ])
        case .cartCounts(let rows):
            _ = try await transaction.execute(
                Statements.cartCounts,
                [.int2(partition), .array(rows.map(\.cart.rawValue)), .array(rows.map(\.count))])
        }
    }

    // MARK: Restoring

    /// The read model as it was last saved, with its digests: an empty one where nothing was, where it was saved
    /// by another version of a projection, or where a saved row cannot be read.
    public func restore(partition: Int) async throws(Failure) -> Restored {
        do {
            return try await transaction { transaction in
                // One snapshot for all, so that the rows are those of the checkpoint whatever others save.
                _ = try await transaction.execute(Statements.oneSnapshot, [])
                return try await PostgresReadModelStore.restore(partition, transaction)
            }
        } catch {
            throw Failure(description: "\(error)")
        }
    }

    private static func restore(
        _ partition: Int, _ transaction: Transaction
    ) async throws -> Restored {
        let key = Parameter.int2(Int16(partition))
        let rows = try await transaction.execute(Statements.checkpoints, [key])
        var positions: Set<Int64> = []
        var digests = ReadModel.Digests()
        var names: Set<String> = []
        for row in 0..<rows.count {
            let digest = SetDigest(rows.bytes(row, 3))
            switch (rows.text(row, 0), Int(rows.int4(row, 1)), digest) {
            case (OutletHome.name, OutletHome.version, let digest?): digests.outletHome = digest
            case (CartCounts.name, CartCounts.version, let digest?): digests.cartCounts = digest
            default: continue
            }
            names.insert(rows.text(row, 0))
            positions.insert(rows.int8(row, 2))
        }
        guard rows.count > 0 else { return .nothing(partition) }
        guard names.count == 2, positions.count == 1, let position = positions.first else {
            return .nothing(partition, note: "the read models were saved by another version: folding the log anew")
        }

        var model = ReadModel(partition: partition)
        do {
            var outlet = ""
            while case let rows = try await next(Statements.outletHomeRows, key, outlet, transaction), rows.count > 0 {
                outlet = rows.text(rows.count - 1, 0)
                try model.restore(
                    .outletHome(
                        (0..<rows.count).compactMap { row in
                            Identifier(utf8: rows.bytes(row, 0)).map {
                                OutletHomeRow(
                                    outlet: $0, revision: rows.int8(row, 1), document: [],
                                    snapshot: Array(rows.bytes(row, 2)))
                            }
                        }))
            }
            var cart = ""
            while case let rows = try await next(Statements.cartCountRows, key, cart, transaction), rows.count > 0 {
                cart = rows.text(rows.count - 1, 0)
                try model.restore(
                    .cartCounts(
                        (0..<rows.count).compactMap { row in
                            Identifier(utf8: rows.bytes(row, 0)).map {
                                CartCountRow(cart: $0, count: rows.int4(row, 1))
                            }
                        }))
            }
        } catch let error as CorruptSnapshot {
            return .nothing(partition, note: "\(error): folding the log anew")
        }
        let quarantined = try await transaction.execute(Statements.quarantined, [key])
        model.restore(
            position: position,
            quarantined: (0..<quarantined.count).map { row in
                (
                    quarantined.text(row, 0),
                    CorruptEvent(
                        partition: partition, position: quarantined.int8(row, 2), stream: quarantined.text(row, 1),
                        reason: quarantined.text(row, 3))
                )
            })
        return Restored(model: model, digests: digests)
    }

    private static func next(
        _ statement: Statement, _ partition: Parameter, _ after: String, _ transaction: Transaction
    ) async throws(PostgresError) -> Rows {
        try await transaction.execute(statement, [partition, .text(after), .int8(readLimit)])
    }
}

private enum Statements {
    static let reserve = Statement(
        "reserve_checkpoints",
        """
        INSERT INTO tiffin.projection_checkpoints (partition, projection, version, position, digest)
        SELECT $1, name, 0, 0, '' FROM unnest($2) AS name ON CONFLICT DO NOTHING
        """, [.int2, .textArray])

    static let lock = Statement(
        "lock_checkpoints",
        "SELECT position, projection, version FROM tiffin.projection_checkpoints WHERE partition = $1 FOR UPDATE",
        [.int2])

    static let checkpoint = Statement(
        "save_checkpoint",
        """
        INSERT INTO tiffin.projection_checkpoints (partition, projection, version, position, digest)
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT (partition, projection) DO UPDATE
        SET version = EXCLUDED.version, position = EXCLUDED.position, digest = EXCLUDED.digest
        """, [.int2, .text, .int4, .int8, .bytea])

    static let outletHome = Statement(
        "save_outlet_home",
        """
        INSERT INTO tiffin.outlet_home (partition, outlet, revision, document, snapshot)
        SELECT $1, r.* FROM unnest($2, $3, $4, $5) AS r ON CONFLICT (partition, outlet) DO UPDATE
        SET revision = EXCLUDED.revision, document = EXCLUDED.document, snapshot = EXCLUDED.snapshot
        """, [.int2, .textArray, .int8Array, .textArray, .textArray])

    static let cartCounts = Statement(
        "save_cart_counts",
        """
        INSERT INTO tiffin.cart_counts (partition, cart, count)
        SELECT $1, r.* FROM unnest($2, $3) AS r
        ON CONFLICT (partition, cart) DO UPDATE SET count = EXCLUDED.count
        """, [.int2, .textArray, .int4Array])

    static let quarantine = Statement(
        "save_quarantine",
        "INSERT INTO tiffin.quarantine VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
        [.int2, .text, .text, .int8, .text])

    static let oneSnapshot = Statement("one_snapshot", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")

    static let checkpoints = Statement(
        "checkpoints",
        "SELECT projection, version, position, digest FROM tiffin.projection_checkpoints WHERE partition = $1",
        [.int2])

    static let outletHomeRows = Statement(
        "outlet_home_rows",
        """
        SELECT outlet, revision, snapshot FROM tiffin.outlet_home
        WHERE partition = $1 AND outlet > $2 ORDER BY outlet LIMIT $3
        """, [.int2, .text, .int8])

    static let cartCountRows = Statement(
        "cart_count_rows",
        "SELECT cart, count FROM tiffin.cart_counts WHERE partition = $1 AND cart > $2 ORDER BY cart LIMIT $3",
        [.int2, .text, .int8])

    static let quarantined = Statement(
        "quarantined", "SELECT projection, stream, position, reason FROM tiffin.quarantine WHERE partition = $1",
        [.int2])
}
