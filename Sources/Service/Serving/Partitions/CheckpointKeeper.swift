internal import Application
internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// Keeps the stored rows of a partition's read model in step with it: saves what has changed, replaces rows that are
/// not believed, rebuilds rows of another version, and serves from rows that another process has rebuilt.
@LoopActor
final class CheckpointKeeper {
    /// Memory is given back after so many events: that takes milliseconds.
    private static let eventsBetweenTrims: Int64 = 100_000
    /// The most events that are folded at once when a model takes the place of another.
    private static let tailLimit = 20_000
    /// How long to wait before something that failed is tried again, in nanoseconds.
    private static let retryInterval: UInt64 = 10_000_000_000
    /// How long all partitions together leave between two looks for rows that another process has rebuilt, in
    /// nanoseconds.
    private static let pauseBetweenLooksForRows: UInt64 = 300_000_000

    private let model: LiveModel
    private let follower: LogFollower
    private let store: (any ReadModelStore)?
    private let log: any EventLog
    private let logger: Logger
    private let latencies: LatencyMonitor
    /// Called with the outlets that look different when another model has replaced this one.
    private let onReplaced: @LoopActor (Set<Identifier>) -> Void

    /// Whether this server saves the partition's rows and keeps the log's index: of several, one does.
    var isOwner = true
    /// Has everything followed, where carts are passed over: a model that takes the place of another has to catch up.
    var followCarts: @LoopActor () -> Void = {}
    /// Events that will be folded.
    var eventsUnderWay: @LoopActor () -> [StreamVersion] = { [] }
    /// When to try again to learn what is in carts, and which there are.
    private var learnAt: UInt64 = 0
    private var surveyAt: UInt64 = 0
    /// Where rows were found not to be as the log has them: once they are saved again, all are compared with their digest.
    private var damageFoundAt: Int64?

    /// Up to where rows are saved, and their digests.
    private(set) var savedPosition: Int64
    private(set) var savedDigests: ReadModel.Digests
    /// Up to where the log's index of streams is known to reach.
    private var indexedPosition: Int64 = 0
    /// Up to where the log's tree was brought.
    private var grownPosition: Int64 = 0
    /// How often is looked for a node of the tree while it gets its batches, at most.
    private static let looksPerNode: Int64 = 8
    /// Up to where that index was compared with the log since the start; nil once all of it was.
    private var comparedPosition: Int64? = 0
    /// The most batches that are compared at once: some milliseconds of work for the database, once a second.
    private static let batchesComparedAtOnce = 100
    /// The generation of each projection that is saved to.
    private(set) var generations: ReadModel.Generations
    /// The projections whose rows another version made, or contradict the log: nothing is saved until they are rebuilt.
    private(set) var outdated: Set<RegisteredProjection>
    /// Whether what is stored is not believed, and is replaced by the next checkpoint, whoever is the owner: the owner may
    /// not have read it.
    private(set) var replacesRows: Bool

    /// A look at what is to be done, and a rebuild: at most one of each at a time.
    private var working: Task<Void, Never>?
    private var rebuilding: Task<Void, Never>?
    private var rebuildAt: UInt64 = 0
    /// When to look for rows of another generation: at the next look if it is known that there are some.
    private var replaceAt: UInt64 = 0
    /// The last position whose checkpoint another server had written already.
    private var positionOfAnother: Int64 = 0
    private var positionOfLastTrim: Int64
    private var schedule: CheckpointSchedule
    private var timer: LoopTimer?

    init(
        _ model: LiveModel, _ follower: LogFollower, restored: SavedReadModel,
        store: (any ReadModelStore)?, log: any EventLog, configuration: Configuration, logger: Logger,
        latencies: LatencyMonitor, onReplaced: @escaping @LoopActor (Set<Identifier>) -> Void
    ) {
        self.model = model
        self.follower = follower
        self.store = store
        self.log = log
        self.logger = logger
        self.latencies = latencies
        self.onReplaced = onReplaced
        savedPosition = restored.model.position
        savedDigests = restored.digests
        generations = restored.generations
        outdated = restored.outdated
        replacesRows = restored.isRejected && !configuration.isFollower
        positionOfLastTrim = restored.model.position
        schedule = CheckpointSchedule(
            maximumEvents: configuration.checkpointEvents,
            maximumWait: configuration.checkpointSeconds * 1_000_000_000,
            position: restored.model.position, now: LoopActor.now)
    }

    private var partition: Int { model.value.partition }
    private var position: Int64 { model.value.position }

    // MARK: Running

    /// Whether nothing is under way.
    var isIdle: Bool { working == nil && rebuilding == nil }

    func start() {
        timer = LoopTimer(milliseconds: 1_000, repeating: true) { [unowned self] in look() }
    }

    /// Saves what is not saved yet, once nothing else is under way.
    func stop() async {
        await abandon()
        if isOwner { await save() }
    }

    /// Saves nothing more.
    func abandon() async {
        timer?.cancel()
        timer = nil
        for task in [rebuilding, working] {
            task?.cancel()
            await task?.value
        }
    }

    private func look() {
        guard working == nil else { return }
        if isOwner, !model.value.followsCarts {
            guard LoopActor.now >= learnAt else { return }
            working = Task { @LoopActor [self] in
                await beginAnew()
                working = nil
            }
            return
        }
        guard let store else { return }
        if isOwner, !outdated.isEmpty { rebuildSoon(store) }
        let isDue =
            (isOwner || replacesRows)
            && schedule.isDue(at: position, saved: max(savedPosition, positionOfAnother), now: LoopActor.now)
        // An ordinary task: what is folded for it is folded on another thread.
        working = Task { @LoopActor [self] in
            await takeOverNewRows(store)
            await letGoOfOrders(store)
            defer { working = nil }
            guard isOwner || replacesRows else { return }
            do throws(EventLogError) {
                try await compareIndex()
                try await indexStreams()
            } catch {
                logger.debug("the streams could not be indexed: \(error)")
            }
            await settleDoubts()
            if isDue { await save() }
            await survey(store)
        }
    }

    // MARK: Saving

    /// Brings the log's index of streams up to the model, and its tree.
    private func indexStreams() async throws(EventLogError) {
        guard position > indexedPosition else { return }
        let reached = position
        try await log.indexStreams(of: partition)
        indexedPosition = reached
        // A batch has an event at least, so fewer events are hardly enough for another node.
        guard reached - grownPosition >= TreeNode.width / CheckpointKeeper.looksPerNode else { return }
        try await log.growTree(of: partition, anew: false)
        grownPosition = reached
    }

    /// Has the whole index of streams compared with the log once more.
    func comparesIndexAgain() { comparedPosition = 0 }

    /// Compares some batches with the log's index of streams, when nothing else is to be done.
    private func compareIndex() async throws(EventLogError) {
        guard position == indexedPosition, let after = comparedPosition else { return }
        let (missing, next) = try await log.mendIndex(
            of: partition, .batches(after: after, limit: CheckpointKeeper.batchesComparedAtOnce))
        comparedPosition = next
        guard missing > 0 else { return }
        logger.error("tiffin.stream_index lacked \(missing) rows: they were made again from the log")
    }

    private func save() async {
        // Rows that say nothing of carts would say that there are none.
        guard let store, outdated.isEmpty, position > savedPosition, model.value.followsCarts,
            model.value.doubtedCarts.isEmpty
        else { return }
        let taken = model.value.takeCheckpoint(since: savedDigests)
        let chain = follower.point.digest
        do {
            // The index first: if a server with these rows wrongly takes a stream for new, the index tells it.
            try await indexStreams()
            let began = LoopActor.now
            let saved = try await store.save(
                taken, since: savedPosition, after: chain, into: generations, replaces: replacesRows)
            let ended = LoopActor.now
            schedule.ended(ended, began: began)
            latencies.note(.checkpoint, nanoseconds: ended - began)
            guard case .saved = saved.outcome else {
                model.value.notSaved(saved.checkpoint)
                // Another server's rows are as new; ours are written when they are newer. Rows that were superseded are
                // taken over by the next look. Of a fork, the next batch or the next look at the log says so, too.
                switch saved.outcome {
                case .saved: break
                case .another: positionOfAnother = taken.position
                case .superseded, .forked: replaceAt = 0
                case .contradicted: try await contradicted(by: saved.checkpoint, in: store)
                // What is there is older, and the log has the rest.
                case .lost: await beginAnew()
                }
                return
            }
            model.value.saved(saved.checkpoint)
            generations = saved.generations
            replacesRows = false
            savedPosition = saved.checkpoint.position
            savedDigests = saved.checkpoint.digests
            giveBackMemory()
            logger.debug("checkpoint at \(savedPosition) saved in \((ended - began) / 1_000_000) ms")
        } catch {
            model.value.notSaved(taken)
            schedule.failed(LoopActor.now)
            logger.error("the checkpoint at \(taken.position) could not be saved: \(error)")
        }
    }

    /// Gives back what writing many rows took: it is not needed again soon.
    private func giveBackMemory() {
        guard savedPosition - positionOfLastTrim >= CheckpointKeeper.eventsBetweenTrims else { return }
        positionOfLastTrim = savedPosition
        ProcessResources.giveBackMemory()
    }

    // MARK: Rows of carts and orders

    /// Leaves orders to the database that have ended, once they are saved, by whomever.
    private func letGoOfOrders(_ store: any ReadModelStore) async {
        guard model.value.hasManyOrders else { return }
        var saved: Int64? = savedPosition
        if !isOwner { saved = try? await store.rows(of: ReadModel.orders, with: [], in: partition).position }
        guard let saved else { return }
        model.value.letGoOfOrders(savedUpTo: min(saved, position), except: Set(eventsUnderWay().map(\.stream)))
    }

    /// Goes through the stored rows of carts and orders, so that it is known which there are.
    private func survey(_ store: any ReadModelStore) async {
        let isWanted = damageFoundAt.map { savedPosition >= $0 } ?? !model.value.knowsCarts
        guard isWanted, isOwner, model.value.followsCarts, outdated.isEmpty, LoopActor.now >= surveyAt else { return }
        do {
            let began = LoopActor.now
            switch try await store.survey(model.value.emptied) {
            case .sound(let rows) where rows.position == savedPosition:
                model.value.learnRows(from: rows)
                damageFoundAt = nil
                logger.debug("carts and orders known after \((LoopActor.now - began) / 1_000_000) ms")
            case .sound:
                // Another server has saved since.
                await beginAnew()
            case .damaged(let reason):
                logger.error("\(reason): they are rebuilt")
                damageFoundAt = nil
                rebuild(ReadModel.projections.filter(\.isReadByKey))
            }
        } catch {
            surveyAt = LoopActor.now + CheckpointKeeper.retryInterval
            let message = "the rows of carts and orders cannot be read: \(error)"
            error.isDamage ? logger.error(message) : logger.debug(message)
        }
    }

    /// Streams are in the log that the read model does not have. A cart is made from its stream again; other rows are
    /// rebuilt.
    func contradicted(by streams: Set<StreamName>) {
        for stream in streams where stream.category == .cart { model.value.doubt(stream.id) }
        rebuild(
            ReadModel.projections.filter { projection in
                projection != ReadModel.carts && streams.contains { projection.follows($0.category) }
            })
    }

    /// Rows are not what a checkpoint counts from.
    private func contradicted(by checkpoint: Checkpoint, in store: any ReadModelStore) async throws {
        let carts = checkpoint.unread(of: ReadModel.carts)
        if try await store.rows(of: ReadModel.carts, with: [], in: partition).position == savedPosition {
            for cart in carts { model.value.doubt(cart) }
        } else {
            // Another server has saved since.
            await beginAnew()
        }
    }

    /// Makes the rows of carts again from their streams, where what is stored contradicts the log.
    private func settleDoubts() async {
        for (cart, last) in model.value.doubtedCarts {
            do throws(EventLogError) {
                let history = try await history(of: StreamName(.cart, cart), upTo: last)
                // If something happened to it meanwhile, the next look is soon enough.
                guard model.value.doubtedCarts[cart] == last else { continue }
                logger.error("what was saved of cart '\(cart)' is not what the log has: it is made again from the log")
                damageFoundAt = position
                if let corruption = model.value.settle(cart, with: history, savedUpTo: savedPosition) {
                    logger.error(corruption)
                }
            } catch {
                logger.debug("cart '\(cart)' cannot be read: \(error)")
            }
        }
    }

    /// A stream from its beginning, as far as the log has it.
    func history(of stream: StreamName, upTo last: Int64) async throws(EventLogError) -> [RecordedEvent] {
        let (history, isMended) = try await log.history(
            of: stream, partition: partition, upTo: last, seen: follower.point)
        if isMended { comparesIndexAgain() }
        return history
    }

    // MARK: Rebuilt rows

    /// Rebuilds the rows of some projections, because they contradict the log. Nothing is saved until that is done.
    func rebuild(_ projections: some Sequence<RegisteredProjection>) { outdated.formUnion(projections) }

    /// Rebuilds rows that are outdated. They are then taken over like any others.
    private func rebuildSoon(_ store: any ReadModelStore) {
        guard rebuilding == nil, LoopActor.now >= rebuildAt else { return }
        rebuilding = Task { @LoopActor [self] in
            defer {
                rebuildAt = LoopActor.now + CheckpointKeeper.retryInterval
                rebuilding = nil
            }
            do {
                guard let report = try await store.rebuild(outdated, of: partition, from: log, progress: { _, _ in })
                else { return }
                for change in report.changes {
                    logger.info(
                        "\(change.projection) was rebuilt up to position \(report.position): "
                            + "\(change.differenceCount) rows differ from before")
                }
                replaceAt = 0
            } catch {
                guard !Task.isCancelled else { return }
                logger.error("the read models could not be rebuilt: \(error)")
            }
        }
    }

    /// Serves from rows of another generation than before, if there are any: the process that rebuilt them did not
    /// trust the rows that this model began with.
    private func takeOverNewRows(_ store: any ReadModelStore) async {
        guard LoopActor.now >= replaceAt else { return }
        do {
            guard try await store.generations(of: partition) != generations else {
                replaceAt = LoopActor.now + UInt64(log.partitionCount - 1) * CheckpointKeeper.pauseBetweenLooksForRows
                return
            }
        } catch {
            // That the database is out of reach is reported where something was to be saved.
            return logger.debug("cannot look for new rows: \(error)")
        }
        do {
            let restored = try await store.restore(model.value.emptied, log: log)
            guard restored.outdated.isEmpty, restored.model.position > 0 else {
                let reason = restored.outdated.isEmpty ? restored.note : "another version of Tiffin made them"
                throw ReadModelStoreFailure(reason ?? "nothing is saved in them")
            }
            let count = try await replace(with: restored)
            logger.info("serving from rows that were rebuilt up to \(savedPosition): \(count) outlets look different")
        } catch {
            guard !Task.isCancelled else { return }
            replaceAt = LoopActor.now + CheckpointKeeper.retryInterval
            logger.error("rebuilt rows cannot be taken over, and nothing is saved until they can: \(error)")
        }
    }

    /// Begins anew with the saved rows and the log: another server has decided what is in carts until now, or rows that
    /// were saved are lost.
    private func beginAnew() async {
        do {
            let nothing = SavedReadModel.nothing(model.value.emptied)
            let restored = try await store?.restore(model.value.emptied, log: log) ?? nothing
            try await replace(with: restored.outdated.isEmpty ? restored : nothing)
        } catch {
            guard !Task.isCancelled else { return }
            learnAt = LoopActor.now + CheckpointKeeper.retryInterval
            logger.error(
                "partition \(partition): carts are loaded one by one, as their counts cannot be read: \(error)")
        }
    }

    /// Serves from other rows. Returns how many outlets look different.
    @discardableResult
    private func replace(with restored: SavedReadModel) async throws -> Int {
        followCarts()
        var fresh = restored.model
        try await fresh.fold(log, upTo: position)
        // From here on it is a matter of milliseconds.
        let shown = model.value.outletHome
        let point = follower.point
        try await fresh.fold(log, upTo: model.beginReplacement())
        // A log that has lost its newest events since has none up to there, which look like missing ones.
        _ = try await log.follow(partition: partition, after: point, limit: 1)
        let changed = await CheckpointKeeper.difference(between: shown, and: fresh.outletHome)
        let held = try await fresh.holdOrders(before: coming, from: log)
        guard held.isSuperset(of: fresh.missingOrders(before: coming).keys),
            model.replace(with: fresh, tailLimit: CheckpointKeeper.tailLimit)
        else {
            throw ReadModelStoreFailure("too much was written meanwhile")
        }
        savedPosition = restored.model.position
        savedDigests = restored.digests
        generations = restored.generations
        outdated = []
        replacesRows = restored.isRejected
        onReplaced(changed)
        return changed.count
    }

    /// Events that another model will have to fold.
    private var coming: [StreamVersion] { Array((model.tail ?? []).streamVersions) + eventsUnderWay() }

    /// The outlets that look different. Found off the loop's thread.
    @concurrent
    static func difference(between old: OutletHome, and new: OutletHome) async -> Set<Identifier> {
        new.difference(from: old)
    }
}
