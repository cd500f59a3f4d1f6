import Domain
import EventLog
import EventLoop
import Projections
import Testing

@testable import Serving

/// A store in memory, which refuses what it is told to refuse.
@LoopActor
private final class StagedStore: ReadModelStore {
    /// What becomes of the next checkpoints; those behind them are saved.
    var outcomes: [Result<SavedCheckpoint.Outcome, ReadModelStoreFailure>] = []
    /// The digests of the rows that are stored, by projection and key.
    private(set) var rows: [RegisteredProjection: [Identifier: Digest]] = [:]
    private(set) var position: Int64 = 0
    private(set) var attempts = 0
    private(set) var replacements = 0

    @LoopActor
    func restore(_ empty: ReadModel, log: any EventLog) async throws(ReadModelStoreFailure) -> SavedReadModel {
        .nothing(empty)
    }

    @LoopActor
    func survey(_ empty: ReadModel) async throws(ReadModelStoreFailure) -> ReadModelSurvey { .sound(empty) }

    @LoopActor
    func rows(
        of projection: RegisteredProjection, with keys: [Identifier], in partition: Int
    ) async throws(ReadModelStoreFailure) -> KeyedRows {
        throw ReadModelStoreFailure("it tells only digests")
    }

    @LoopActor
    func orders(
        _ filter: OrderFilter, before position: Int64, in partition: Int
    ) async throws(ReadModelStoreFailure) -> KeyedRows {
        throw ReadModelStoreFailure("it tells only digests")
    }

    @LoopActor
    func save(
        _ checkpoint: Checkpoint, since saved: Int64, after chain: Digest?, into generations: ReadModel.Generations,
        replaces: Bool
    ) async throws(ReadModelStoreFailure) -> SavedCheckpoint {
        attempts += 1
        let outcome = outcomes.isEmpty ? (saved > position ? .lost : .saved) : try outcomes.removeFirst().get()
        guard case .saved = outcome else { return SavedCheckpoint(outcome, checkpoint, generations) }
        if replaces { replacements += 1 }
        var checkpoint = checkpoint
        while let slice = checkpoint.nextSlice() {
            for row in slice.rows { rows[slice.projection, default: [:]][row.key] = row.digest }
        }
        position = checkpoint.position
        return SavedCheckpoint(.saved, checkpoint, generations)
    }

    @LoopActor
    func generations(of partition: Int) async throws(ReadModelStoreFailure) -> ReadModel.Generations {
        ReadModel.firstGenerations
    }

    @LoopActor
    func rebuild(
        _ projections: Set<RegisteredProjection>, of partition: Int, from log: any EventLog,
        progress: @escaping @Sendable (Int64, Int64) -> Void
    ) async throws(ReadModelStoreFailure) -> RebuildReport? { nil }

    /// It is as it was before anything was saved, like a standby that did not have the checkpoint yet.
    func lose() {
        rows = [:]
        position = 0
    }

    /// Whether it has exactly the rows that the log gives, folded from its beginning.
    func holds(all log: any EventLog) async throws -> Bool {
        var model = ReadModel(partition: 0)
        try await model.fold(log, upTo: try await log.end(of: 0).position)
        var checkpoint = model.takeCheckpoint(since: ReadModel.Digests())
        var count = 0
        while let slice = checkpoint.nextSlice() {
            for row in slice.rows {
                count += 1
                guard rows[slice.projection]?[row.key] == row.digest else { return false }
            }
        }
        return position == checkpoint.position && count == rows.values.reduce(0) { $0 + $1.count }
    }
}

@Suite(.timeLimit(.minutes(1))) struct CheckpointKeeperTests {
    init() { LoopActor.startInBackground() }

    @Test @LoopActor func `rows that say nothing of carts are not saved, even by who is to decide them from now on`()
        async throws
    {
        let store = StagedStore()
        try await Rooms.with(store: store) { rooms in
            let worker = rooms.partitions[0]
            worker.start()
            worker.keeper.isOwner = false
            worker.passOverCarts()
            await rooms.open("o")
            #expect(!worker.readModel.knowsCarts && worker.position > 0)
            worker.keeper.isOwner = true
            await worker.keeper.stop()
            #expect(store.attempts == 0)
        }
    }

    @Test @LoopActor func `what is left unsaved is saved at the end, and nothing twice`() async throws {
        let store = StagedStore()
        try await Rooms.with(store: store) { rooms in
            let keeper = rooms.partitions[0].keeper
            await rooms.open("o", items: 3)
            await rooms.add(2, to: "c", at: "o")
            await keeper.stop()
            let holdsAll = try await store.holds(all: rooms.log)
            #expect(store.attempts == 1 && holdsAll)
            #expect(keeper.savedPosition == rooms.partitions[0].position)
            await keeper.stop()
            #expect(store.attempts == 1)
        }
    }

    @Test @LoopActor func `no model is taken over from a log that has lost what this one knows`() async throws {
        let store = StagedStore()
        let log = InMemoryEventLog()
        try await Rooms.with(on: log, store: store) { rooms in
            let worker = rooms.partitions[0]
            await rooms.open("o", items: 3)
            await rooms.add(2, to: "c", at: "o")
            await rooms.add(1, to: "c", at: "o")
            await log.lose(batches: 1)
            store.outcomes = [.success(.lost)]
            await worker.keeper.stop()
            #expect(store.attempts == 1)
            #expect(worker.readModel.cartCounts.count(of: "c") == 3)
        }
    }

    @Test(arguments: [
        Result<SavedCheckpoint.Outcome, ReadModelStoreFailure>.success(.another), .success(.superseded),
        .success(.forked), .failure(ReadModelStoreFailure("the disk is full")),
    ])
    @LoopActor func `what was not saved is in the next checkpoint`(
        outcome: Result<SavedCheckpoint.Outcome, ReadModelStoreFailure>
    ) async throws {
        let store = StagedStore()
        try await Rooms.with(store: store) { rooms in
            let keeper = rooms.partitions[0].keeper
            await rooms.open("o", items: 3)
            await rooms.add(2, to: "c", at: "o")
            store.outcomes = [outcome]
            await keeper.stop()
            #expect(store.attempts == 1 && store.position == 0 && keeper.savedPosition == 0)
            await rooms.add(1, to: "c", at: "o")
            await rooms.add(1, to: "d", at: "o")
            await keeper.stop()
            let holdsAll = try await store.holds(all: rooms.log)
            #expect(store.attempts == 2 && holdsAll)
            let told = try rooms.lines.text().contains("could not be saved: the disk is full")
            if case .failure = outcome { #expect(told) } else { #expect(!told) }
        }
    }

    @Test @LoopActor func `rows that a database has lost are saved again`() async throws {
        let store = StagedStore()
        try await Rooms.with(store: store) { rooms in
            let keeper = rooms.partitions[0].keeper
            await rooms.open("o", items: 3)
            await rooms.add(2, to: "c", at: "o")
            await keeper.stop()
            #expect(keeper.savedPosition == rooms.partitions[0].position)
            store.lose()
            await rooms.add(1, to: "d", at: "o")
            await keeper.stop()
            #expect(store.position == 0 && keeper.savedPosition == 0)
            await keeper.stop()
            let holdsAll = try await store.holds(all: rooms.log)
            #expect(holdsAll)
        }
    }

    @Test @LoopActor func `nothing is saved into rows that contradict the log`() async throws {
        let store = StagedStore()
        try await Rooms.with(store: store) { rooms in
            let keeper = rooms.partitions[0].keeper
            await rooms.open("o")
            keeper.rebuild(ReadModel.projections)
            await keeper.stop()
            #expect(store.attempts == 0 && store.replacements == 0)
        }
    }
}
