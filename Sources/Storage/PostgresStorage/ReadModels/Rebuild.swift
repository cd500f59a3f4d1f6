package import EventLog
internal import EventLoop
internal import Postgres
package import Projections

/// Rebuilds stored rows of projections from the log, beside those that servers use, and then replaces these.
///
/// Servers go on reading and saving meanwhile. Only their checkpoints wait, from when the new rows have caught up
/// until the switch. Everything is written in one transaction: if it fails, is cancelled or killed, the database is
/// unchanged.
package struct Rebuild: Sendable {
    /// How many events may be missing when servers' checkpoints begin to wait.
    private static let lastStretch: Int64 = 10_000

    package typealias Failure = ReadModelStoreFailure

    private let store: PostgresReadModelStore
    private let log: any EventLog
    private let projections: Set<RegisteredProjection>

    /// - Parameters:
    ///   - store: its connection must not be used for anything else meanwhile.
    ///   - projections: those whose rows are rebuilt.
    package init(_ projections: Set<RegisteredProjection>, store: PostgresReadModelStore, log: any EventLog) {
        self.projections = projections
        self.store = store
        self.log = log
    }

    // MARK: What can be done

    /// Folds the log from its beginning, and switches to the resulting rows. If nothing has been saved yet, the rows of
    /// every projection are saved. Returns nil if nothing has happened yet.
    ///
    /// - Parameter progress: receives the position that has been reached, and the one to reach.
    @concurrent
    package func run(
        partition: Int, progress: @escaping @Sendable (Int64, Int64) -> Void = { _, _ in }
    ) async throws(Failure) -> RebuildReport? {
        try await PostgresReadModelStore.failing {
            guard let active = try await active(of: partition) else {
                return try await saveFirst(partition, progress)
            }
            let prepared = try await catchUp(ReadModel(partition: partition), with: active, progress)
            return try await store.transaction { transaction in
                try await self.replace(active, prepared, transaction)
            }
        }
    }

    /// Goes back to the generation before the active one, brought up to date. Returns nil if nothing has been saved.
    @concurrent
    package func undo(
        partition: Int, progress: @escaping @Sendable (Int64, Int64) -> Void = { _, _ in }
    ) async throws(Failure) -> RebuildReport? {
        try await PostgresReadModelStore.failing {
            guard let active = try await active(of: partition) else { return nil }
            let previous = try await store.transaction { transaction in
                try await StoredProjections(transaction).known(.previous, of: partition)
            }.filter { projections.contains($0.key) }
            for projection in projections {
                guard let kept = previous[projection] else {
                    throw Failure("no generation of \(projection) is kept to go back to")
                }
                guard kept.version == projection.version else {
                    throw Failure(
                        "generation \(kept.generation) of \(projection) was made by version \(kept.version), and only "
                            + "that version can go back to it; this program has version \(projection.version)")
                }
            }
            let positions = Set(previous.values.map(\.position))
            guard positions.count == 1, let position = positions.first else {
                throw Failure(
                    "the projections were replaced at different positions: undo one at a time")
            }
            let kept: ReadModel
            do {
                (kept, _) = try await store.transaction { transaction in
                    try await PostgresReadModelStore.model(
                        of: previous, at: position, ReadModel(partition: partition), .all, transaction)
                }
            } catch let error as OtherRows {
                throw Failure("\(error): they cannot be gone back to")
            }
            let prepared = try await catchUp(kept, with: active, progress)
            return try await store.transaction { transaction in
                try await self.exchange(active, previous, prepared, transaction)
            }
        }
    }

    // MARK: Steps

    /// Saves every row, where nothing has been saved. Rows without a checkpoint, which somebody may have left there, are
    /// not used: these get a generation of their own.
    private func saveFirst(
        _ partition: Int, _ progress: @escaping @Sendable (Int64, Int64) -> Void
    ) async throws -> RebuildReport? {
        let end = try await log.end(of: partition)
        guard end.position > 0 else { return nil }
        var model = ReadModel(partition: partition)
        try await model.fold(log, upTo: end.position) { progress($0, end.position) }
        let checkpoint = model.takeCheckpoint(since: ReadModel.Digests())
        var generations = ReadModel.firstGenerations
        for (projection, generation) in try await store.generations(of: partition) {
            generations[projection] = generation
        }
        let saved = try await store.save(checkpoint, since: 0, after: end.digest, into: generations, replaces: true)
        switch saved.outcome {
        case .saved:
            let changes = ReadModel.projections.map { projection in
                RebuildReport.Change(
                    projection: projection, generation: saved.generations[projection] ?? 1, differenceCount: 0,
                    examples: [])
            }
            return RebuildReport(position: end.position, changes: changes, isFirst: true)
        case .another, .superseded:
            throw Failure("another rebuild was faster: nothing was changed")
        case .forked, .contradicted, .lost:
            throw Failure("the log is not the one that was read: nothing was changed")
        }
    }

    /// Folds the log up to where servers have saved, until little is missing.
    private func catchUp(
        _ model: consuming ReadModel, with active: [RegisteredProjection: StoredCheckpoint],
        _ progress: @escaping @Sendable (Int64, Int64) -> Void
    ) async throws -> ReadModel {
        var model = model
        var end = try await position(of: active, model.partition)
        while true {
            let goal = end
            try await model.fold(log, upTo: goal) { progress($0, goal) }
            guard let active = try await self.active(of: model.partition) else { return model }
            end = try await position(of: active, model.partition)
            guard end - model.position > Rebuild.lastStretch else { return model }
        }
    }

    @concurrent
    private func replace(
        _ active: [RegisteredProjection: StoredCheckpoint], _ prepared: ReadModel, _ transaction: Transaction
    ) async throws -> RebuildReport {
        var model = prepared
        let partition = model.partition
        let stored = await StoredProjections(transaction)
        var new: [RegisteredProjection: Int32] = [:]
        for projection in projections {
            new[projection] = try await stored.nextGeneration(of: projection, partition: partition)
        }
        var digests = try await write(&model, since: ReadModel.Digests(), into: new, stored)
        try await reach(active, &model, stored)
        digests = try await write(&model, since: digests, into: new, stored)

        var report = RebuildReport(position: model.position, changes: [])
        let previous = try await stored.known(.previous, of: partition)
        for (projection, generation) in new {
            let change = try await change(projection, active, generation, partition, stored)
            report.changes.append(change)
            if let kept = previous[projection] {
                try await stored.delete(projection, kept.generation, partition: partition)
            }
            if let old = active[projection], try await isWorthKeeping(old, projection, change, partition, transaction) {
                try await stored.retire(projection, partition: partition)
            } else if let old = active[projection] {
                try await stored.delete(projection, old.generation, partition: partition)
            }
            try await stored.activate(
                projection, generation, partition: partition, at: model.position, digests[projection])
        }
        return report
    }

    /// Whether somebody may want to go back to rows that are replaced: not to those of another version, which only that
    /// version can use, nor to rows that were altered after they were saved.
    private func isWorthKeeping(
        _ old: StoredCheckpoint, _ projection: RegisteredProjection, _ change: RebuildReport.Change, _ partition: Int,
        _ transaction: Transaction
    ) async throws -> Bool {
        guard old.version == projection.version else { return false }
        guard change.differenceCount > 0 else { return true }
        do {
            _ = try await PostgresReadModelStore.model(
                of: [projection: old], at: old.position, ReadModel(partition: partition), .all, transaction)
            return true
        } catch is OtherRows, is UnreadableRow {
            return false
        } catch let error as PostgresError where error.sqlState == .invalidBinaryRepresentation {
            return false
        }
    }

    @concurrent
    private func exchange(
        _ active: [RegisteredProjection: StoredCheckpoint], _ previous: [RegisteredProjection: StoredCheckpoint],
        _ prepared: ReadModel, _ transaction: Transaction
    ) async throws -> RebuildReport {
        var model = prepared
        let partition = model.partition
        let stored = await StoredProjections(transaction)
        var digests = ReadModel.Digests()
        for (projection, kept) in previous { digests[projection] = SetDigest(kept.digest) ?? SetDigest() }
        try await reach(active, &model, stored)
        let generations = previous.mapValues(\.generation)
        digests = try await write(&model, since: digests, into: generations, stored)

        var report = RebuildReport(position: model.position, changes: [])
        for (projection, generation) in generations {
            report.changes.append(try await change(projection, active, generation, partition, stored))
            try await stored.exchange(projection, partition: partition)
            try await stored.advance(projection, partition: partition, to: model.position, digests[projection])
        }
        return report
    }

    /// Keeps servers from saving until the transaction ends, and folds what they have saved so far.
    private func reach(
        _ active: [RegisteredProjection: StoredCheckpoint], _ model: inout ReadModel, _ stored: StoredProjections
    ) async throws {
        let locked = try await stored.lock(partition: model.partition)
        guard locked.mapValues(\.generation) == active.mapValues(\.generation) else {
            throw Failure("another rebuild was faster: nothing was changed")
        }
        let end = try await position(of: locked, model.partition)
        guard model.position <= end else {
            throw Failure("the rows went back to position \(end) meanwhile: nothing was changed")
        }
        try await model.fold(log, upTo: end)
    }

    /// Writes the rows that changed since they were last written, and returns the digests of all.
    private func write(
        _ model: inout ReadModel, since digests: ReadModel.Digests, into generations: [RegisteredProjection: Int32],
        _ stored: StoredProjections
    ) async throws -> ReadModel.Digests {
        var checkpoint = model.takeCheckpoint(since: digests)
        try await stored.write(&checkpoint, into: generations)
        try Task.checkCancellation()
        model.saved(checkpoint)
        return checkpoint.digests
    }

    private func change(
        _ projection: RegisteredProjection, _ active: [RegisteredProjection: StoredCheckpoint], _ generation: Int32,
        _ partition: Int, _ stored: StoredProjections
    ) async throws -> RebuildReport.Change {
        let (count, examples) = try await stored.difference(
            projection, active[projection]?.generation ?? 0, generation, partition: partition)
        return RebuildReport.Change(
            projection: projection, generation: generation, differenceCount: count, examples: examples)
    }

    // MARK: Parts

    /// The generations that servers use; nil if they have not saved anything yet.
    private func active(of partition: Int) async throws -> [RegisteredProjection: StoredCheckpoint]? {
        let found = try await store.transaction { transaction in
            try await StoredProjections(transaction).known(.active, of: partition)
        }
        return found.values.contains { $0.position > 0 } ? found : nil
    }

    /// Where servers have saved: the rows of all projections are at one position.
    private func position(
        of active: [RegisteredProjection: StoredCheckpoint], _ partition: Int
    ) async throws -> Int64 {
        let positions = Set(active.values.map(\.position))
        let head = try await log.head(of: partition).position
        guard active.count == ReadModel.projections.count, positions.count == 1, let position = positions.first,
            position <= head
        else {
            throw Failure(
                "the saved rows have impossible positions: a server folds the log again when it starts")
        }
        return position
    }
}
