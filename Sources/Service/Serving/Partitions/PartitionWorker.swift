internal import Application
internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// One partition at work: carries out what its append pipeline asks for, and keeps its read model.
@LoopActor
final class PartitionWorker {
    /// The most loads under way at once, of all partitions: they share one connection.
    private static let loadsOfAllPartitions = 512
    /// How long to wait before the log is asked again.
    private static let pauseMilliseconds: UInt64 = 100
    /// For so long after somebody has asked for a cart, carts are followed, in nanoseconds.
    private static let cartsKept: UInt64 = 2_000_000_000
    /// How long it may take to learn what others have written before something is answered all the same.
    private static let catchUpMilliseconds: UInt64 = 1_000
    /// How long a batch's outcome is looked for before its commands are answered without it, in nanoseconds.
    static let patience: UInt64 = 3_000_000_000

    private let processor: CommandProcessor
    private let log: any EventLog
    let follower: LogFollower
    private let pipeline: AppendPipeline
    /// Keeps the rows in the database in step with the read model.
    let keeper: CheckpointKeeper
    /// The read model as it is served.
    let model: LiveModel
    let audience: Audience
    private let folding: Folding
    private let carts: KeyedReads<CartCounts>
    private let orders: KeyedReads<Orders>
    private let store: (any ReadModelStore)?
    private let record: BatchRecord
    private let configuration: Configuration
    private let logger: Logger
    private let clock: () -> Timestamp
    private let now: () -> UInt64

    /// This server among others; nil where it is alone.
    weak var member: FleetMember?
    /// When something was asked last that only those know who follow carts.
    private var cartsWantedAt: UInt64 = 0
    /// Who waits until everything is known that the log has.
    private var behind: [@LoopActor (_ isCaughtUp: Bool) -> Void] = []
    private var isLookingForEnd = false
    private var isDriving = false
    private var questions: OpenQuestions
    private var loadsUnderWay = 0
    private let maximumLoads: Int
    /// Whether it goes on with the log: not before it is served, nor once it stops.
    private var isFollowing = false
    /// How many events the log has lost after they were read.
    var lostEvents: Int64 = 0

    /// - Parameters:
    ///   - restored: the read model as it was last saved.
    ///   - clock: the time, as events record it.
    ///   - now: the loop's clock, in nanoseconds.
    init(
        _ restored: SavedReadModel, log: any EventLog, store: (any ReadModelStore)?,
        audience: Audience, configuration: Configuration, logger: Logger, latencies: LatencyMonitor,
        clock: @escaping () -> Timestamp, now: @escaping () -> UInt64 = { LoopActor.now }
    ) {
        let model = LiveModel(restored.model)
        let folding = Folding(into: model, audience, configuration, logger)
        let record = BatchRecord(logger, latencies, now: now)
        let partition = restored.model.partition
        self.model = model
        self.folding = folding
        self.record = record
        carts = KeyedReads(of: ReadModel.carts, as: CartCounts.self, partition: partition, store)
        orders = KeyedReads(of: ReadModel.orders, as: Orders.self, partition: partition, store)
        self.store = store
        self.log = log
        self.audience = audience
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
        self.now = now
        questions = OpenQuestions(lookingEvery: 1_000_000 * configuration.pollMilliseconds)
        maximumLoads = max(1, PartitionWorker.loadsOfAllPartitions / log.partitionCount)
        processor = CommandProcessor(
            partition: partition, limits: configuration.processorLimits,
            mayExist: { stream in model.ask { $0.mayExist(stream) } },
            leastVersion: { stream in model.ask { $0.leastVersion(of: stream) } })
        #if DEBUG
            if let fault = configuration.plantedFault {
                processor.recordingFault = { command in
                    LoopActor.assumeIsolated { fault.recordingFault(for: command) }
                }
            }
        #endif
        follower = LogFollower(
            partition: partition, after: LogPoint(position: restored.model.position, digest: restored.chain),
            miss: folding.pass, passOver: folding.passOver, project: folding.fold)
        keeper = CheckpointKeeper(
            model, follower, restored: restored, store: store, log: log, configuration: configuration, logger: logger,
            latencies: latencies, onReplaced: folding.replaced)
        pipeline = AppendPipeline(processor: processor, follower: follower) { [keeper] report in
            LoopActor.assumeIsolated {
                switch report {
                case .settled(let number, let batch, let result):
                    record.settled(number, batch, result)
                    guard case .success(let receipt) = result, !receipt.stale.isEmpty else { return }
                    let names = receipt.stale.prefix(5).map { "'\($0)'" }.sorted().joined(separator: ", ")
                    logger.error(
                        "\(receipt.stale.count) streams, such as \(names), are not in the log as the read models have "
                            + "them: they are loaded from the log")
                    keeper.contradicted(by: receipt.stale)
                case .corrupt(let corruption): logger.error(corruption)
                case .forked: audience.onFork()
                }
            }
        }
        keeper.followCarts = { [unowned self] in followCarts() }
        keeper.eventsUnderWay = { [pipeline] in pipeline.eventsUnderWay }
    }

    /// Restores the read model of a partition from its checkpoint, and reads the rest of the log.
    static func restore(
        _ partition: Int, log: any EventLog, store: (any ReadModelStore)?, audience: Audience,
        configuration: Configuration, logger: Logger, latencies: LatencyMonitor, clock: @escaping () -> Timestamp,
        now: @escaping () -> UInt64 = { LoopActor.now }
    ) async throws -> PartitionWorker {
        let began = LoopActor.now
        let empty = ReadModel(
            partition: partition, cartLimit: configuration.cartsInMemory / log.partitionCount,
            orderLimit: store.map { _ in configuration.ordersInMemory / log.partitionCount })
        var restored = try await store?.restore(empty, log: log) ?? .nothing(empty)
        if let note = restored.note { restored.isRejected ? logger.error(note) : logger.info(note) }
        while true {
            let worker = PartitionWorker(
                restored, log: log, store: store, audience: audience, configuration: configuration, logger: logger,
                latencies: latencies, clock: clock, now: now)
            var reportedAt = LoopActor.now
            try await worker.catchUp { position in
                guard LoopActor.now - reportedAt > 1_000_000_000 else { return }
                reportedAt = LoopActor.now
                logger.info("reading the log: position \(position)")
            }
            // Saved rows do not tell which streams lack an event: only the whole log does.
            guard worker.missingEvents > 0, restored.model.position > 0 else {
                logger.debug(
                    "partition \(partition): checkpoint at \(restored.model.position), log read to "
                        + "\(worker.position) in \((LoopActor.now - began) / 1_000_000) ms")
                return worker
            }
            restored.reject(because: "events are missing")
            if let note = restored.note { logger.error(note) }
        }
    }

    var readModel: ReadModel {
        _read { yield model.value }
    }

    /// The position up to which the log is known here.
    var position: Int64 { follower.position }

    /// The last position that the log is known to have: more than ``position`` while what others wrote is read.
    var head: Int64 { follower.head }

    /// How batches went since the start, or since they were last set to count from nothing.
    var batches: BatchStatistics {
        get { record.statistics }
        set { record.statistics = newValue }
    }

    /// Why the last batch could not be appended; nil if it was.
    var trouble: String? { record.lastFailure?.error.description }

    /// How many events the log was found to lack.
    var missingEvents: Int64 { folding.damage.events }

    // MARK: Commands and questions

    /// How many commands wait for the log.
    var waitingCommands: Int { processor.waitingCommands }

    /// Has a command decided.
    func handle(_ request: consuming CommandRequest, completion: @escaping (CommandOutcome) -> Void) {
        followCarts()
        processor.handle(request, completion: completion)
    }

    /// Gives the committed state of a stream, at once if it is known.
    func read(_ stream: StreamName, completion: @escaping (Result<CommittedState, ReadFailure>) -> Void) {
        if stream.category == .cart { followCarts() }
        processor.read(stream, completion: completion)
    }

    /// Reads how much is in a cart from its row; nil where only its stream tells it.
    func readCount(of cart: Identifier, completion: @escaping @LoopActor (Int?) -> Void) {
        guard readModel.knowsCarts else { return completion(nil) }
        carts.read(cart) { [self] found in
            completion(readModel.knowsCarts ? found.flatMap { take($0, of: cart) } : nil)
        }
    }

    /// Takes a row, unless it is not one of those that the read model continues from.
    private func take(_ found: KeyedReads<CartCounts>.Found, of cart: Identifier) -> Int? {
        guard found.position == keeper.savedPosition, found.generation == keeper.generations[ReadModel.carts] else {
            return nil
        }
        return model.value.read(found.row, of: cart)
    }

    /// How many events a stream has at least: 0 if that is not known, and the highest number for a damaged one, as no
    /// projection knows how far it goes.
    ///
    /// - Parameter position: what was read up to here has to count.
    func leastVersion(of stream: StreamName, upTo position: Int64) async -> Int64 {
        if readModel.isQuarantined(stream) { return .max }
        let known = readModel.leastVersion(of: stream)
        guard known == 0, readModel.mayHaveRow(stream) else { return known }
        return await withCheckedContinuation { continuation in
            // What was saved later may count events that were not read yet.
            func tell(_ saved: Int64?, _ version: Int64?) {
                continuation.resume(returning: saved ?? .max <= position ? max(version ?? 0, 0) : 0)
            }
            if stream.category == .order {
                orders.read(stream.id) { tell($0?.position, $0?.row?.version) }
            } else {
                carts.read(stream.id) { [self] found in
                    if let found { _ = take(found, of: stream.id) }
                    tell(found?.position, (found?.row?.version).map(Int64.init))
                }
            }
        }
    }

    /// Adds stored orders before a position to those that were read.
    func readOrders(_ filter: OrderFilter, before position: Int64, into stored: inout StoredOrders)
        async throws(Failure)
    {
        do {
            guard let store else { throw ReadModelStoreFailure("nothing is saved") }
            let found = try await store.orders(filter, before: position, in: follower.partition)
            let rows = try (0..<found.rows.count).map { try Orders.row($0, of: found.rows) }
            stored.take(rows, before: position, savedUpTo: found.position)
        } catch let error as UnreadableValue {
            keeper.rebuild([ReadModel.orders])
            throw .unavailable("a stored order cannot be read: \(error)")
        } catch {
            throw .unavailable("\(error)")
        }
    }

    /// Frees what can be loaded again.
    func emptyCache() { processor.emptyCache() }

    // MARK: Carts that another server decides

    /// Reads everything from now on, as whoever decides something has to. It is called before that, so it costs next to
    /// nothing where it changes nothing.
    func followCarts() {
        cartsWantedAt = now()
        guard follower.passesOver else { return }
        follower.passesOver = false
        pipeline.pollSoon()
    }

    /// Passes over what happens to carts, if nobody here has asked for any lately. Nothing is kept of them.
    func passOverCarts() {
        if follower.passesOver { return model.value.forgetChanges() }
        guard now() - cartsWantedAt > PartitionWorker.cartsKept, pipeline.isIdle, loadsUnderWay == 0,
            processor.waitingCommands == 0, keeper.isIdle, !keeper.replacesRows
        else { return }
        processor.emptyCache()
        model.value.forgetCarts()
        model.value.forgetChanges()
        follower.passesOver = true
    }

    /// Lets go of what is only noted to be saved, and of counts of carts: where nothing is ever saved, both would only
    /// grow. A cart's count comes from its stream.
    func forgetUnsaved() {
        model.value.forgetCarts()
        model.value.forgetChanges()
    }

    // MARK: Working

    func start() {
        audience.listen()
        isFollowing = true
        keeper.start()
    }

    /// Looks for what other servers wrote, unless it is doing so.
    func poll() {
        guard isFollowing else { return }
        pipeline.pollSoon()
        startWork()
    }

    /// Whether a head says that nothing follows what is known here.
    func isAt(_ head: LogHead?) -> Bool {
        head.map { LogPoint(position: $0.position, digest: $0.digest) } == follower.point
    }

    /// Calls a body once everything is known here that the log has now, or after a second: without the database, what is
    /// known is all that there is. It is told which of the two.
    func whenCaughtUp(_ body: @escaping @LoopActor (_ isCaughtUp: Bool) -> Void) {
        behind.append(body)
        if behind.count == 1, !isLookingForEnd { lookForEnd() }
    }

    /// Whoever comes while the end is looked for waits for the next look: the log may have gone on since.
    private func lookForEnd() {
        isLookingForEnd = true
        var waiting = behind
        behind = []
        let goOn = { @LoopActor (isCaughtUp: Bool) in
            let bodies = waiting
            waiting = []
            for body in bodies { body(isCaughtUp) }
        }
        let timer = LoopTimer(milliseconds: PartitionWorker.catchUpMilliseconds) { goOn(false) }
        LoopActor.task { [self] in
            let end = try? await log.end(of: follower.partition)
            if let end { await read(upTo: end.position) { !waiting.isEmpty } }
            timer.cancel()
            goOn(end.map { position >= $0.position } ?? false)
            isLookingForEnd = false
            if !behind.isEmpty { lookForEnd() }
        }
    }

    /// Calls a body once the log is known here up to a position, or after a second.
    ///
    /// - Parameter interval: how often the log is looked at, in milliseconds.
    func whenRead(
        upTo position: Int64, lookingEvery interval: UInt64 = 1, _ body: @escaping @LoopActor () -> Void
    ) {
        guard self.position < position else { return body() }
        let deadline = now() + 1_000_000 * PartitionWorker.catchUpMilliseconds
        LoopActor.task { [self] in
            await read(upTo: position, lookingEvery: interval) { now() < deadline }
            body()
        }
    }

    /// Reads what is written up to a position, as long as somebody waits for it.
    private func read(upTo position: Int64, lookingEvery interval: UInt64 = 1, while isWanted: () -> Bool) async {
        while self.position < position, isWanted() {
            poll()
            await LoopTimer.pause(milliseconds: interval)
        }
    }

    /// Reads the log to its end.
    func catchUp(progress: (Int64) -> Void) async throws(EventLogError) {
        try await follower.readToEnd(
            of: log,
            preparing: { events throws(EventLogError) in
                try await hold(model.value.missingOrders(before: events.streamVersions))
            },
            progress: progress)
    }

    /// Carries out whatever has become due in this turn of the loop.
    func startWork() {
        for load in pipeline.nextLoads(atMost: maximumLoads - loadsUnderWay) { start(load) }
        guard !isDriving else { return }
        while let action = pipeline.next(now: clock()) { start(action) }
    }

    private func start(_ action: AppendPipeline.Action) {
        LoopActor.task { [self] in
            await perform(action)
            await drive()
        }
    }

    /// Goes on after an action. It sends the next batches first, and then makes the replies to those that have ended.
    private func drive() async {
        guard !isDriving else { return }
        isDriving = true
        while let action = pipeline.next(now: clock()) {
            start(action)
            // Lets the task that sends it have its turn.
            await Task.yield()
        }
        isDriving = false
    }

    private func perform(_ action: AppendPipeline.Action) async {
        switch action {
        case .append(let number, let batch, let seen):
            record.sends(number, oldest: pipeline.oldestFlight ?? number)
            let question = questions.ask(.append(number), at: now())
            let receipt = await result { () throws(EventLogError) in
                try await holdOrders(of: batch)
                let receipt = try await log.append(batch, seen: seen)
                await awaitOwner(upTo: receipt.end)
                return receipt
            }
            guard questions.isAnswered(question) else { return }
            pipeline.appended(number, receipt, isOverdue: isOverdue)
        case .appendNext(let number, let batch, let point):
            record.sends(number, oldest: pipeline.oldestFlight ?? number)
            pipeline.appendedNext(
                number,
                await result { () throws(EventLogError) in
                    try await holdOrders(of: batch)
                    let end = try await log.appendNext(batch, after: point)
                    if let end { await awaitOwner(upTo: end) }
                    return end
                })
        case .lookUp(let batch, let seen):
            guard !isOverdue else { return giveUp(.lookUp) }
            let question = questions.ask(.lookUp, at: now())
            let receipt = await result { () throws(EventLogError) in
                let receipt = try await log.outcome(of: batch, since: seen)
                if let receipt { await awaitOwner(upTo: receipt.end) }
                return receipt
            }
            guard questions.isAnswered(question) else { return }
            pipeline.lookedUp(receipt, isOverdue: isOverdue)
        case .read(let point, let limit):
            let partition = follower.partition
            let question = questions.ask(pipeline.oldestFlight == nil ? .news : .read, at: now())
            let passesOver = follower.passesOver
            var following = await result { () throws(EventLogError) in
                let following =
                    try await passesOver
                    ? log.followWithoutCarts(partition: partition, after: point, limit: limit)
                    : log.follow(partition: partition, after: point, limit: limit)
                let events = following.events.lazy.compactMap { event in
                    StreamName(event.stream).map { (stream: $0, version: event.version) }
                }
                try await hold(model.value.missingOrders(before: events))
                return following
            }
            guard questions.isAnswered(question) else { return }
            if passesOver {
                following = following.map { found in
                    FollowingEvents(events: found.events.filter { !$0.isOfCart || $0.kind.isOfProcess }, end: found.end)
                }
                // Carts are wanted since: what was passed over is read again.
                if !follower.passesOver { following = .failure(.unavailable("carts are followed since it was asked")) }
            }
            if case .failure(let error) = following { logger.debug("cannot read the log: \(error)") }
            pipeline.read(following, isOverdue: isOverdue)
        case .pause:
            await LoopTimer.pause(milliseconds: PartitionWorker.pauseMilliseconds)
            pipeline.paused()
        }
    }

    /// Before a batch counts as written: whoever decides the partition by now is to know of it.
    private func awaitOwner(upTo end: LogPoint) async {
        await member?.awaitOwner(of: follower.partition, upTo: end.position)
    }

    /// Holds the orders that a batch is about: its events are folded as soon as the log has them.
    private func holdOrders(of batch: EventBatch) async throws(EventLogError) {
        try await hold(
            model.value.missingOrders(before: batch.events.lazy.map { (stream: $0.stream, version: $0.version) }))
    }

    /// Holds orders with so many events, once the log has told them. All at once, so that none is let go of meanwhile.
    private func hold(_ orders: [Identifier: Int64]) async throws(EventLogError) {
        var histories: [Identifier: [RecordedEvent]] = [:]
        for (order, version) in orders {
            histories[order] = try await keeper.history(of: StreamName(.order, order), upTo: version)
        }
        for (order, history) in histories { model.value.hold(order, history) }
    }

    private var isOverdue: Bool { record.age > PartitionWorker.patience }

    // MARK: Giving up

    /// Gives up what commands have waited for long enough. Each connection has its own deadlines; these bound what is
    /// asked on one after the other.
    func giveUpQuestions() {
        let given = questions.giveUp(at: now(), isOverdue: isOverdue, hasBatch: processor.hasBatch)
        guard !given.isEmpty else { return }
        for kind in given { giveUp(kind) }
        startWork()
    }

    private func giveUp(_ kind: OpenQuestions.Kind) {
        let reason = EventLogError.outcomeUnknown("the database did not answer in time")
        switch kind {
        case .append(let number): pipeline.appended(number, .failure(reason), isOverdue: true)
        case .lookUp: pipeline.lookedUp(.failure(reason), isOverdue: true)
        case .read, .news: pipeline.read(.failure(reason), isOverdue: true)
        }
    }

    private func start(_ load: AppendPipeline.Load) {
        loadsUnderWay += 1
        LoopActor.task { [self] in
            var next: AppendPipeline.Load? = load
            while let load = next {
                let partition = follower.partition
                async let least = leastVersion(for: load)
                let events = await result { () throws(EventLogError) in
                    if load.mendsIndex { try await mendIndex(for: load.stream) }
                    return try await log.read(
                        stream: load.stream, partition: partition, afterVersion: load.afterVersion, limit: load.limit,
                        seen: load.seen)
                }
                var checked = load
                checked.leastVersion = await least
                next = pipeline.loaded(checked, events)
            }
            loadsUnderWay -= 1
            startWork()
        }
    }

    /// How many events a load has to find at least. Of a cart that is not held, its row says so.
    private func leastVersion(for load: AppendPipeline.Load) async -> Int64? {
        guard load.leastVersion == 0, load.afterVersion == 0 else { return load.leastVersion }
        return await leastVersion(of: load.stream, upTo: load.seen.position)
    }

    /// The index of streams did not lead to every event of a stream that the log is known to have.
    private func mendIndex(for stream: StreamName) async throws(EventLogError) {
        let missing = try await log.mendIndex(of: follower.partition, .stream(stream)).missing
        guard missing > 0 else { return }
        keeper.comparesIndexAgain()
        logger.error(
            "tiffin.stream_index lacked \(missing) rows of stream '\(stream)': they were made again from the log")
    }

    private func result<Value>(
        _ body: () async throws(EventLogError) -> Value
    ) async -> Result<Value, EventLogError> {
        do throws(EventLogError) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }

    /// Handles nothing more, and saves nothing: the log is another one.
    func abandon() async {
        isFollowing = false
        await keeper.abandon()
    }

    func stop() async {
        isFollowing = false
        startWork()
        while !pipeline.isIdle || loadsUnderWay > 0 {
            await LoopTimer.pause(milliseconds: 5)
            giveUpQuestions()
        }
        await keeper.stop()
    }
}
