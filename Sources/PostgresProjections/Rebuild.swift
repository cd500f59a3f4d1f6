public import EventLog
internal import EventLoop
internal import Postgres
public import Projections

/// Makes stored rows of projections anew from the log, beside those that servers use, and puts them in their place.
///
/// Servers go on reading and saving meanwhile: only their checkpoints wait, from when the new rows have caught up
/// until the switch. Everything is written in one transaction. Where it fails, is cancelled or killed, the database
/// is as it was.
public struct Rebuild: Sendable {
    /// What became of a projection's rows.
    public struct Change: Sendable {
        /// The projection.
        public var projection: ProjectionName
        /// The generation that is active now.
        public var generation: Int32
        /// How many of its rows are not as they were in the generation before.
        public var differenceCount: Int
        /// The keys of the first few of those.
        public var examples: [String]
    }

    /// What was done in a partition.
    public struct Report: Sendable {
        /// The position that the rows are of, the new ones and those they took the place of.
        public var position: Int64
        /// One for each projection.
        public var changes: [Change]
    }

    /// So many events may be missing when servers' checkpoints begin to wait.
    private static let lastStretch: Int64 = 10_000

    private let store: PostgresReadModelStore
    private let log: any EventLog
    private let projections: Set<ProjectionName>

    /// - Parameters:
    ///   - store: whose connection is used for nothing else meanwhile.
    ///   - projections: those whose rows are made anew.
    public init(_ projections: Set<ProjectionName>, store: PostgresReadModelStore, log: any EventLog) {
        self.projections = projections
        self.store = store
        self.log = log
    }

    // MARK: What can be done

    /// Folds the log from its beginning, and switches to what comes of it.
    ///
    /// - Parameter progress: is told the position that has been reached, and the one that is to be.
    @concurrent
    public func run(
        partition: Int, progress: @escaping @Sendable (Int64, Int64) -> Void = { _, _ in }
    ) async throws(PostgresReadModelStore.Failure) -> Report {
        try await failing {
            let active = try await generations(.active, of: partition)
            let prepared = try await catchUp(ReadModel(partition: partition), with: active, progress)
            return try await store.transaction { transaction in
                try await self.replace(active, prepared, transaction)
            }
        }
    }

    /// Takes up the generation before the active one again, brought up to date.
    @concurrent
    public func undo(
        partition: Int, progress: @escaping @Sendable (Int64, Int64) -> Void = { _, _ in }
    ) async throws(PostgresReadModelStore.Failure) -> Report {
        try await failing {
            let active = try await generations(.active, of: partition)
            let previous = try await generations(.previous, of: partition)
            for name in projections {
                guard let kept = previous[name] else {
                    throw PostgresReadModelStore.Failure("no generation of \(name.rawValue) is kept to go back to")
                }
                guard kept.version == name.version else {
                    throw PostgresReadModelStore.Failure(
                        "generation \(kept.generation) of \(name.rawValue) was made by version \(kept.version), and "
                            + "this program has version \(name.version): only that one can go back to it")
                }
            }
            let positions = Set(previous.values.map(\.position))
            guard positions.count == 1, let position = positions.first else {
                throw PostgresReadModelStore.Failure("they were put aside at different positions: undo one by one")
            }
            let kept = try await store.transaction { transaction in
                try await PostgresReadModelStore.model(of: previous, at: position, partition, transaction)
            }
            let prepared = try await catchUp(kept, with: active, progress)
            return try await store.transaction { transaction in
                try await self.exchange(active, previous, prepared, transaction)
            }
        }
    }

    // MARK: Steps

    /// Folds the log up to where servers have saved, as long as that is far away.
    private func catchUp(
        _ model: consuming ReadModel, with active: [ProjectionName: StoredGeneration],
        _ progress: @escaping @Sendable (Int64, Int64) -> Void
    ) async throws -> ReadModel {
        var model = model
        var end = try position(of: active)
        while true {
            let goal = end
            try await model.fold(log, upTo: goal) { progress($0, goal) }
            end = try position(of: try await generations(.active, of: model.partition))
            guard end - model.position > Rebuild.lastStretch else { return model }
        }
    }

    @concurrent
    private func replace(
        _ active: [ProjectionName: StoredGeneration], _ prepared: ReadModel, _ transaction: Transaction
    ) async throws -> Report {
        var model = prepared
        let key = Parameter.int2(Int16(model.partition))
        var new: [ProjectionName: Int32] = [:]
        for name in projections {
            let newest = try await transaction.execute(Statements.newestGeneration, [key, .text(name.rawValue)])
            new[name] = newest.int4(0, 0) + 1
        }
        var digests = try await write(&model, since: ReadModel.Digests(), into: new, transaction)
        try await reach(active, &model, transaction)
        digests = try await write(&model, since: digests, into: new, transaction)

        var report = Report(position: model.position, changes: [])
        let previous = try await StoredGeneration.read(.previous, of: model.partition, transaction)
        for (name, generation) in new {
            let old = active[name]?.generation ?? 0
            report.changes.append(try await difference(name, old, generation, model.partition, transaction))
            if let kept = previous[name] { try await delete(name, kept.generation, model.partition, transaction) }
            _ = try await transaction.execute(Statements.retire, [key, .text(name.rawValue)])
            _ = try await transaction.execute(
                Statements.activate,
                [
                    key, .text(name.rawValue), .int4(Int32(name.version)), .int8(model.position),
                    .bytes(digests[name].bytes), .int4(generation),
                ])
        }
        return report
    }

    @concurrent
    private func exchange(
        _ active: [ProjectionName: StoredGeneration], _ previous: [ProjectionName: StoredGeneration],
        _ prepared: ReadModel, _ transaction: Transaction
    ) async throws -> Report {
        var model = prepared
        let key = Parameter.int2(Int16(model.partition))
        var digests = ReadModel.Digests()
        for (name, kept) in previous { digests[name] = kept.digest ?? SetDigest() }
        try await reach(active, &model, transaction)
        let generations = previous.mapValues(\.generation)
        digests = try await write(&model, since: digests, into: generations, transaction)

        var report = Report(position: model.position, changes: [])
        for (name, generation) in generations {
            let old = active[name]?.generation ?? 0
            report.changes.append(try await difference(name, old, generation, model.partition, transaction))
            _ = try await transaction.execute(Statements.exchange, [key, .text(name.rawValue)])
            _ = try await transaction.execute(
                Statements.checkpoint,
                [
                    key, .text(name.rawValue), .int4(Int32(name.version)), .int8(model.position),
                    .bytes(digests[name].bytes),
                ])
        }
        return report
    }

    /// Keeps servers from saving until the transaction ends, and folds what they have saved so far.
    private func reach(
        _ active: [ProjectionName: StoredGeneration], _ model: inout ReadModel, _ transaction: Transaction
    ) async throws {
        let locked = try await StoredGeneration.lock(.active, of: model.partition, transaction)
        guard locked.mapValues(\.generation) == active.mapValues(\.generation) else {
            throw PostgresReadModelStore.Failure("somebody else made a new generation meanwhile: nothing was changed")
        }
        let end = try position(of: locked)
        guard model.position <= end else {
            throw PostgresReadModelStore.Failure("the rows went back to position \(end) meanwhile: nothing was changed")
        }
        try await model.fold(log, upTo: end)
    }

    /// Writes the rows that changed since they were last written, and gives the digests of all.
    private func write(
        _ model: inout ReadModel, since digests: ReadModel.Digests, into generations: [ProjectionName: Int32],
        _ transaction: Transaction
    ) async throws -> ReadModel.Digests {
        var checkpoint = model.takeCheckpoint(since: digests)
        while let slice = checkpoint.nextSlice() {
            try Task.checkCancellation()
            guard let generation = generations[slice.projection] else { continue }
            try await slice.write(model.partition, generation, transaction)
        }
        for (projection, event) in checkpoint.quarantined {
            guard let name = ProjectionName(rawValue: projection), let generation = generations[name] else { continue }
            try await event.write(model.partition, name, generation, transaction)
        }
        model.saved(checkpoint)
        return checkpoint.digests
    }

    private func difference(
        _ name: ProjectionName, _ old: Int32, _ new: Int32, _ partition: Int, _ transaction: Transaction
    ) async throws -> Change {
        let statement =
            switch name {
            case .outletHome: Statements.outletDifference
            case .cartCounts: Statements.cartDifference
            }
        let rows = try await transaction.execute(statement, [.int2(Int16(partition)), .int4(old), .int4(new)])
        return Change(
            projection: name, generation: new, differenceCount: Int(rows.int8(0, 0)), examples: rows.textArray(0, 1))
    }

    private func delete(
        _ name: ProjectionName, _ generation: Int32, _ partition: Int, _ transaction: Transaction
    ) async throws {
        let key = [Parameter.int2(Int16(partition)), .int4(generation)]
        let rows =
            switch name {
            case .outletHome: Statements.deleteOutlets
            case .cartCounts: Statements.deleteCarts
            }
        _ = try await transaction.execute(rows, key)
        _ = try await transaction.execute(Statements.deleteQuarantine, key + [.text(name.rawValue)])
        _ = try await transaction.execute(
            Statements.deletePrevious, [.int2(Int16(partition)), .text(name.rawValue)])
    }

    // MARK: Parts

    private func generations(
        _ state: StoredGeneration.State, of partition: Int
    ) async throws -> [ProjectionName: StoredGeneration] {
        let found = try await store.transaction { try await StoredGeneration.read(state, of: partition, $0) }
        // The active rows of all projections count, as they have to be at one position.
        return state == .active ? found : found.filter { projections.contains($0.key) }
    }

    /// Where servers have saved: rows of all projections are at one position.
    private func position(of active: [ProjectionName: StoredGeneration]) throws -> Int64 {
        let positions = Set(active.values.map(\.position))
        guard active.count == ProjectionName.allCases.count, positions.count == 1, let position = positions.first,
            position > 0
        else {
            throw PostgresReadModelStore.Failure(
                "no read model has been saved yet that could be made anew: a server saves it when it has been quiet "
                    + "for a second, and when it stops")
        }
        return position
    }

    private func failing<Result>(
        _ body: () async throws -> Result
    ) async throws(PostgresReadModelStore.Failure) -> Result {
        do {
            return try await body()
        } catch let failure as PostgresReadModelStore.Failure {
            throw failure
        } catch {
            throw PostgresReadModelStore.Failure("\(error)")
        }
    }
}
