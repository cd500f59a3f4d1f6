internal import Domain
package import EventLog
internal import EventLoop
internal import Postgres
package import Projections

extension PostgresReadModelStore {
    /// The read model as it was last saved, with its digests. It is empty if nothing was saved, or if what is stored
    /// does not follow from the log.
    @LoopActor
    package func restore(partition: Int, log: any EventLog) async throws(Failure) -> SavedReadModel {
        try await PostgresReadModelStore.failing {
            var restored = SavedReadModel.nothing(partition)
            guard let stored = try await read(partition, log, &restored) else { return restored }
            if let fault = try await stored.quarantine.fault(
                upTo: stored.model.position,
                read: { try await log.read(stream: $0, partition: partition, afterVersion: 0, limit: $1) })
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
                let (model, quarantine) = try await PostgresReadModelStore.model(
                    of: active, at: position, partition, transaction)
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

    /// The read model of some projections' rows; its other projections are empty.
    ///
    /// - Throws: `UnreadableRow` if a row is not what a projection writes; ``OtherRows`` if the rows are not those that
    ///   were saved.
    @concurrent
    nonisolated static func model(
        of stored: [RegisteredProjection: StoredCheckpoint], at position: Int64, _ partition: Int,
        _ transaction: Transaction
    ) async throws -> (ReadModel, StoredQuarantine) {
        var model = ReadModel(partition: partition)
        var quarantine = StoredQuarantine()
        var digests = ReadModel.Digests()
        for (projection, checkpoint) in stored {
            let query = ReadModelStatements.restored(projection, checkpoint.generation, partition: partition)
            try await transaction.copy(query, projection.columns.map(\.kind.elementType)) { rows in
                try model.restore(rows, of: projection, &digests)
            }
            quarantine.add(
                try await StoredProjections(transaction).quarantined(
                    projection, checkpoint.generation, partition: partition), of: projection)
        }
        try model.restore(position: position, quarantined: quarantine.entries, &digests)
        // Another version of a projection has other digests, and its rows are rebuilt soon.
        for (projection, checkpoint) in stored.sorted(by: { $0.key.name < $1.key.name })
        where checkpoint.version == projection.version && checkpoint.digest != digests[projection].bytes {
            throw OtherRows(projection: projection, generation: checkpoint.generation, partition: partition)
        }
        return (model, quarantine)
    }
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
