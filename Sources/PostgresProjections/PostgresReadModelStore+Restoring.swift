internal import Domain
internal import EventLog
internal import EventLoop
internal import Postgres
public import Projections

extension PostgresReadModelStore {
    /// A read model as it was last saved.
    public struct Restored: Sendable {
        /// The read model; empty where nothing could be restored.
        public var model: ReadModel
        /// The digests of its saved rows.
        public var digests = ReadModel.Digests()
        /// The generations of its saved rows.
        public var generations = PostgresReadModelStore.firstGenerations
        /// The projections whose rows another version made. They can be served; nothing can be saved into them.
        public var outdated: Set<ProjectionName> = []
        /// Why it is not what was saved, or not what this version would have saved.
        public var note: String?

        /// An empty read model.
        public static func nothing(_ partition: Int, note: String? = nil) -> Restored {
            Restored(model: ReadModel(partition: partition), note: note)
        }

        /// Forgets what was restored, so that the log is folded from its beginning.
        public mutating func startAnew() {
            model = ReadModel(partition: model.partition)
            digests = ReadModel.Digests()
        }
    }

    /// The most carts, and outlets with their menus, that are read at once.
    private nonisolated static let cartLimit: Int64 = 10_000
    private nonisolated static let outletLimit: Int64 = 500

    /// The read model as it was last saved, with its digests: an empty one where nothing was, or where a saved row
    /// cannot be read.
    public func restore(partition: Int) async throws(Failure) -> Restored {
        do {
            return try await transaction { transaction in
                // One snapshot for all, so that the rows are those of the checkpoint whatever others save.
                _ = try await transaction.execute(Statements.oneSnapshot, [])
                let active = try await StoredGeneration.read(.active, of: partition, transaction)
                return try await PostgresReadModelStore.restore(active, of: partition, transaction)
            }
        } catch {
            throw Failure("\(error)")
        }
    }

    private nonisolated static func restore(
        _ active: [ProjectionName: StoredGeneration], of partition: Int, _ transaction: Transaction
    ) async throws -> Restored {
        var restored = Restored.nothing(partition)
        guard !active.isEmpty else { return restored }
        restored.generations = active.mapValues(\.generation)
        restored.outdated = Set(active.filter { !$0.value.isOurs(of: $0.key) }.map(\.key))
        let positions = Set(active.values.map(\.position))
        guard active.count == ProjectionName.allCases.count, positions.count == 1, let position = positions.first else {
            restored.note = "the read models were saved at different positions: folding the log anew"
            return restored
        }
        guard position > 0 else { return restored }
        do {
            restored.model = try await model(of: active, at: position, partition, transaction)
        } catch let error as CorruptSnapshot {
            restored.note = "\(error): folding the log anew"
            return restored
        }
        for (name, rows) in active { restored.digests[name] = rows.digest ?? SetDigest() }
        if !restored.outdated.isEmpty {
            let names = restored.outdated.map(\.rawValue).sorted().joined(separator: " and ")
            restored.note = "\(names) was saved by another version: it is served as it is, and made anew beside that"
        }
        return restored
    }

    /// The read model of some projections' rows; the others are empty in it.
    @concurrent
    nonisolated static func model(
        of stored: [ProjectionName: StoredGeneration], at position: Int64, _ partition: Int, _ transaction: Transaction
    ) async throws -> ReadModel {
        var model = ReadModel(partition: partition)
        var quarantined: [(String, CorruptEvent)] = []
        for (name, rows) in stored {
            var key = ""
            while let slice = try await slice(name, rows.generation, partition, after: &key, transaction) {
                try model.restore(slice)
            }
            let found = try await transaction.execute(
                Statements.quarantined, [.int2(Int16(partition)), .text(name.rawValue), .int4(rows.generation)])
            for row in 0..<found.count {
                let event = CorruptEvent(
                    partition: partition, position: found.int8(row, 1), stream: found.text(row, 0),
                    reason: found.text(row, 2))
                quarantined.append((name.rawValue, event))
            }
        }
        model.restore(position: position, quarantined: quarantined)
        return model
    }

    /// The rows behind a key, and nil where there are no more.
    private nonisolated static func slice(
        _ name: ProjectionName, _ generation: Int32, _ partition: Int, after key: inout String,
        _ transaction: Transaction
    ) async throws -> Checkpoint.Slice? {
        let place = [Parameter.int2(Int16(partition)), .int4(generation), .text(key)]
        switch name {
        case .outletHome:
            let rows = try await transaction.execute(Statements.outlets, place + [.int8(outletLimit)])
            guard rows.count > 0 else { return nil }
            key = rows.text(rows.count - 1, 0)
            return .outletHome(
                (0..<rows.count).compactMap { row in
                    Identifier(utf8: rows.bytes(row, 0)).map {
                        OutletHomeRow(
                            outlet: $0, revision: rows.int8(row, 1), document: [], snapshot: Array(rows.bytes(row, 2)))
                    }
                })
        case .cartCounts:
            let rows = try await transaction.execute(Statements.carts, place + [.int8(cartLimit)])
            guard rows.count > 0 else { return nil }
            key = rows.text(rows.count - 1, 0)
            return .cartCounts(
                (0..<rows.count).compactMap { row in
                    Identifier(utf8: rows.bytes(row, 0)).map { CartCountRow(cart: $0, count: rows.int4(row, 1)) }
                })
        }
    }
}
