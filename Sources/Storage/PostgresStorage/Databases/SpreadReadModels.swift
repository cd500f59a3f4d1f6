internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// Read models that are saved beside their partitions, in several databases.
@LoopActor
final class SpreadReadModels: ReadModelStore {
    private let stores: [PostgresReadModelStore]
    private let places: PartitionPlaces

    init(_ stores: [PostgresReadModelStore], _ places: PartitionPlaces) {
        self.stores = stores
        self.places = places
    }

    private func store(of partition: Int) -> PostgresReadModelStore { stores[places[partition]] }

    @LoopActor
    func restore(_ empty: ReadModel, log: any EventLog) async throws(ReadModelStoreFailure) -> SavedReadModel {
        try await store(of: empty.partition).restore(empty, log: log)
    }

    @LoopActor
    func survey(_ empty: ReadModel) async throws(ReadModelStoreFailure) -> ReadModelSurvey {
        try await store(of: empty.partition).survey(empty)
    }

    @LoopActor
    func rows(
        of projection: RegisteredProjection, with keys: [Identifier], in partition: Int
    ) async throws(ReadModelStoreFailure) -> KeyedRows {
        try await store(of: partition).rows(of: projection, with: keys, in: partition)
    }

    @LoopActor
    func orders(
        _ filter: OrderFilter, before position: Int64, in partition: Int
    ) async throws(ReadModelStoreFailure) -> KeyedRows {
        try await store(of: partition).orders(filter, before: position, in: partition)
    }

    @LoopActor
    func save(
        _ checkpoint: Checkpoint, since saved: Int64, after chain: Digest?, into generations: ReadModel.Generations,
        replaces: Bool
    ) async throws(ReadModelStoreFailure) -> SavedCheckpoint {
        try await store(of: checkpoint.partition).save(
            checkpoint, since: saved, after: chain, into: generations, replaces: replaces)
    }

    @LoopActor
    func generations(of partition: Int) async throws(ReadModelStoreFailure) -> ReadModel.Generations {
        try await store(of: partition).generations(of: partition)
    }

    @LoopActor
    func rebuild(
        _ projections: Set<RegisteredProjection>, of partition: Int, from log: any EventLog,
        progress: @escaping @Sendable (Int64, Int64) -> Void
    ) async throws(ReadModelStoreFailure) -> RebuildReport? {
        try await store(of: partition).rebuild(projections, of: partition, from: log, progress: progress)
    }
}
