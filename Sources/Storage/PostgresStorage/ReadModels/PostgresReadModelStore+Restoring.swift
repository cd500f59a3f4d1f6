package import Domain
package import EventLog
internal import EventLoop
internal import Postgres
package import Projections

extension PostgresReadModelStore {
    /// The read model as it was last saved, with its digests. It is empty if nothing was saved, or if what is stored
    /// does not follow from the log, or cannot be read because it is damaged.
    package func restore(_ empty: ReadModel, log: any EventLog) async throws(Failure) -> SavedReadModel {
        try await PostgresReadModelStore.failing {
            var restored = SavedReadModel.nothing(empty)
            let found: Stored?
            do {
                found = try await read(empty.partition, log, &restored)
            } catch let error as PostgresError where error.sqlState.isDamage {
                // The next checkpoint replaces these, if it is still known which they are.
                if let generations = try? await generations(of: empty.partition) { restored.generations = generations }
                restored.reject(because: "the saved rows of partition \(empty.partition) cannot be read: \(error)")
                return restored
            }
            guard let stored = found else { return restored }
            if let fault = try await stored.quarantine.fault(
                upTo: stored.model.position,
                read: { try await log.read(stream: $0, partition: empty.partition, afterVersion: 0, limit: $1) })
            {
                restored.reject(because: fault)
            } else {
                restored.take(stored.model, stored.active)
            }
            return restored
        }
    }

    private struct Stored: Sendable {
        var model: ReadModel
        var quarantine: StoredQuarantine
        var active: [RegisteredProjection: StoredCheckpoint]
    }

    /// Reads what is stored; nil if nothing is, or it is rejected.
    private func read(_ partition: Int, _ log: any EventLog, _ restored: inout SavedReadModel) async throws -> Stored? {
        let began = restored
        let patience = PostgresReadModelStore.patienceForAllRows
        let (result, stored) = try await transaction(patience: patience) { transaction in
            // One snapshot for all reads, so that the rows belong to the checkpoint, whatever others save meanwhile.
            _ = try await transaction.execute(ReadModelStatements.oneSnapshot, [])
            let stored = StoredProjections(transaction)
            let active = try await stored.known(.active, of: partition)
            var restored = began
            guard !active.isEmpty else { return (restored, Stored?.none) }
            restored.generations = active.mapValues(\.generation)
            let positions = Set(active.values.map(\.position))
            guard active.count == ReadModel.projections.count, positions.count == 1, let position = positions.first
            else {
                restored.reject(because: "the read models of partition \(partition) were saved at different positions")
                return (restored, nil)
            }
            guard position != 0 else { return (restored, nil) }
            guard position > 0 else {
                restored.reject(because: "the read models of partition \(partition) are saved at position \(position)")
                return (restored, nil)
            }
            let point = LogPoint(position: position, digest: active.values.first?.chain)
            guard try await stored.hasPoint(point, partition: partition) else {
                let end = try await log.end(of: partition).position
                restored.reject(
                    because:
                        "the read models of partition \(partition) are saved up to position \(position), and the log "
                        + (position > end ? "ends at \(end)" : "is not the one that they were made from"))
                return (restored, nil)
            }
            do {
                var (model, quarantine) = try await PostgresReadModelStore.model(
                    of: active, at: position, restored.model, .held, transaction)
                model.leaveCartsStored()
                return (restored, Stored(model: model, quarantine: quarantine, active: active))
            } catch let error where error is OtherRows || error is UnreadableRow {
                restored.reject(because: "\(error)")
                return (restored, nil)
            } catch let error as PostgresError where error.sqlState == .invalidBinaryRepresentation {
                restored.reject(because: "the read models of partition \(partition): \(error.message)")
                return (restored, nil)
            }
        }
        restored = result
        return stored
    }

    package func survey(_ empty: ReadModel) async throws(Failure) -> ReadModelSurvey {
        try await PostgresReadModelStore.failing {
            var empty = empty
            empty.leaveOrdersStored(upTo: .max)
            return try await surveying.transaction(patience: PostgresReadModelStore.patienceForAllRows) {
                [empty] transaction in
                _ = try await transaction.execute(ReadModelStatements.oneSnapshot, [])
                let active = try await StoredProjections(transaction).known(.active, of: empty.partition)
                    .filter(\.key.isReadByKey)
                do {
                    let position = active.values.first?.position ?? 0
                    return .sound(
                        try await PostgresReadModelStore.model(of: active, at: position, empty, .all, transaction).model
                    )
                } catch let error where error is OtherRows || error is UnreadableRow {
                    return .damaged("\(error)")
                } catch let error as PostgresError where error.sqlState == .invalidBinaryRepresentation {
                    return .damaged("the read models of partition \(empty.partition): \(error.message)")
                }
            }
        }
    }

    package func rows(
        of projection: RegisteredProjection, with keys: [Identifier], in partition: Int
    ) async throws(Failure) -> KeyedRows {
        try await PostgresReadModelStore.failing {
            try await StoredProjections(reading).rows(of: projection, with: keys, partition: partition)
        }
    }

    package func orders(
        _ filter: OrderFilter, before position: Int64, in partition: Int
    ) async throws(Failure) -> KeyedRows {
        try await PostgresReadModelStore.failing {
            try await StoredProjections(reading).orders(filter, before: position, partition: partition)
        }
    }

    /// Which rows are restored.
    enum Extent {
        /// Every one.
        case all
        /// Those that a server holds from its start on: of orders the newest and those that are open, and none of carts.
        case held
    }

    /// The read model of some projections' rows; its other projections are empty.
    ///
    /// - Parameters:
    ///   - empty: an empty one of the partition.
    ///   - extent: which rows are restored, and not only the streams in quarantine.
    /// - Throws: `UnreadableRow` if a row is not what a projection writes; ``OtherRows`` if the rows are not those that
    ///   were saved, as far as all of them are restored.
    @concurrent
    nonisolated static func model(
        of stored: [RegisteredProjection: StoredCheckpoint], at position: Int64, _ empty: ReadModel,
        _ extent: Extent, _ transaction: Transaction
    ) async throws -> (model: ReadModel, quarantine: StoredQuarantine) {
        var model = empty
        let partition = model.partition
        var quarantine = StoredQuarantine()
        var digests = ReadModel.Digests()
        var checked: [RegisteredProjection: StoredCheckpoint] = [:]
        for (projection, checkpoint) in stored {
            let rows = await StoredProjections(transaction)
            var floor: Int64?
            if extent == .all || !projection.isReadByKey {
                floor = 0
            } else if projection == ReadModel.orders {
                floor = try await rows.floorOfOrders(model.orderLimit, checkpoint.generation, partition: partition)
                model.leaveOrdersStored(upTo: floor ?? 0)
            }
            if let floor {
                let query = ReadModelStatements.restored(
                    projection, checkpoint.generation, partition: partition, after: floor)
                try await transaction.copy(query, projection.columns.map(\.kind.elementType)) { rows in
                    try model.restore(rows, of: projection, &digests)
                }
            }
            // Another version of a projection has other digests, and its rows are rebuilt soon.
            if floor == 0, checkpoint.version == projection.version { checked[projection] = checkpoint }
            quarantine.add(
                try await rows.quarantined(projection, checkpoint.generation, partition: partition), of: projection)
        }
        try model.restore(position: position, quarantined: quarantine.entries, &digests)
        for (projection, checkpoint) in checked.sorted(by: { $0.key.name < $1.key.name })
        where checkpoint.digest != digests[projection].bytes {
            throw OtherRows(projection: projection, generation: checkpoint.generation, partition: partition)
        }
        return (model, quarantine)
    }
}

/// The rows of a query that gives one without values where there are none.
struct FoundRows: Projections.StoredRows {
    private let rows: Rows
    let count: Int

    /// - Throws: if another value is null, which none can be.
    init(_ rows: Rows, columnCount: Int) throws(ReadModelStoreFailure) {
        self.rows = rows
        count = rows.isNull(0, 0) ? 0 : rows.count
        for row in 0..<count where (0..<columnCount).contains(where: { rows.isNull(row, $0) }) {
            throw ReadModelStoreFailure("a stored value is null")
        }
    }

    func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer { rows.bytes(row, column) }
    func int32(_ row: Int, _ column: Int) -> Int32 { rows.int4(row, column) }
    func int64(_ row: Int, _ column: Int) -> Int64 { rows.int8(row, column) }
}

/// Stored rows that do not match the digest saved with them.
struct OtherRows: Error, CustomStringConvertible {
    let projection: RegisteredProjection
    let generation: Int32
    let partition: Int

    var description: String {
        "the rows of \(projection) in partition \(partition), generation \(generation), are not those that were saved"
    }
}
