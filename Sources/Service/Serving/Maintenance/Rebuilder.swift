internal import Application
internal import EventLog
internal import EventLoop
internal import Measurement
internal import Projections
internal import Synchronization
internal import TextFormats

/// Rebuilds the stored rows of a projection where an admin asks for it: one projection at a time, one partition after
/// the other, while everybody is served. Each server then takes over the new rows by itself, as `CheckpointKeeper` has it.
@LoopActor
final class Rebuilder {
    /// Rebuilds a projection in a partition. Gives how many rows are not as before; nil where nothing was saved yet.
    /// It says how far it is: the position that it has reached, and the one to reach.
    typealias Work =
        @Sendable (RegisteredProjection, _ partition: Int, _ progress: @escaping @Sendable (Int64, Int64) -> Void)
        async throws -> Int?

    private enum State: String {
        case none, running, done, failed
    }

    /// How far a pass is, as other threads say.
    private final class Reached: Sendable {
        private let place = Mutex((position: Int64(0), goal: Int64(0)))

        var value: (position: Int64, goal: Int64) { place.withLock { $0 } }

        func note(_ position: Int64, _ goal: Int64) { place.withLock { $0 = (position, goal) } }
    }

    private let partitions: Int
    private let work: Work?
    private let logger: Logger
    private var task: Task<Void, Never>?

    // The last rebuild.
    private var state = State.none
    private var projection: RegisteredProjection?
    private var partition = 0
    private var reached = Reached()
    private var differenceCount = 0
    private var trouble: String?

    /// - Parameter work: nil where no rows are stored.
    init(partitions: Int, logger: Logger, _ work: Work?) {
        self.partitions = partitions
        self.work = work
        self.logger = logger
    }

    /// A rebuilder of the rows in a store.
    convenience init(partitions: Int, logger: Logger, _ store: (any ReadModelStore)?, _ log: any EventLog) {
        guard let store else {
            self.init(partitions: partitions, logger: logger, nil)
            return
        }
        self.init(partitions: partitions, logger: logger) { @LoopActor projection, partition, progress in
            try await store.rebuild([projection], of: partition, from: log, progress: progress)?.differenceCount
        }
    }

    /// Begins to rebuild a projection.
    ///
    /// - Parameter asker: who wants it, for the operator.
    /// - Throws: `BUSY` while one is being rebuilt.
    func begin(_ projection: RegisteredProjection, for asker: String) throws(Failure) {
        guard let work else { throw .unavailable("this server stores no rows") }
        guard task == nil else {
            let other = self.projection?.name ?? "a projection"
            throw Failure(.busy, "\(other) is being rebuilt; try again when that is done")
        }
        state = .running
        self.projection = projection
        (partition, differenceCount, trouble) = (0, 0, nil)
        reached = Reached()
        logger.info("\(asker): \(projection) is being rebuilt")
        // An ordinary task: what is folded for it is folded on another thread.
        task = Task { @LoopActor [self] in
            defer { task = nil }
            do {
                try await rebuild(projection, work)
                state = .done
                let changes = differenceCount == 1 ? "1 row differs" : "\(differenceCount) rows differ"
                logger.info("\(projection) was rebuilt: \(changes) from before")
            } catch {
                state = .failed
                trouble = Task.isCancelled ? "the server stopped" : "\(error)"
                logger.error("\(projection) could not be rebuilt: partition \(partition): \(trouble ?? "")")
            }
        }
    }

    private func rebuild(_ projection: RegisteredProjection, _ work: Work) async throws {
        var hasAnythingHappened = false
        for partition in 0..<partitions {
            self.partition = partition
            reached = Reached()
            guard let count = try await work(projection, partition, { [reached] in reached.note($0, $1) }) else {
                continue
            }
            hasAnythingHappened = true
            differenceCount += count
        }
        if !hasAnythingHappened { throw ReadModelStoreFailure.nothingHappened }
    }

    /// Gives up what is under way: the database is as it was before.
    func stop() async {
        task?.cancel()
        await task?.value
    }

    // MARK: How it is

    /// The last rebuild, for `INFO`.
    var facts: [Fact] {
        guard let projection else {
            return [Fact("rebuild", [Fact("state", State.none.rawValue)]), Fact("rebuild_trouble", "none")]
        }
        let (position, goal) = reached.value
        return [
            Fact(
                "rebuild",
                [
                    Fact("state", state.rawValue), Fact("projection", projection.name), Fact("partition", partition),
                    Fact("position", position), Fact("goal", goal), Fact("changed_rows", differenceCount),
                ]),
            Fact("rebuild_trouble", trouble ?? "none"),
        ]
    }

    /// The last rebuild as JSON: `{"projection":"orders","state":"running"}`.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("projection", projection?.name)
        writer.field("state", state.rawValue)
        writer.endObject()
        return writer.bytes
    }
}
