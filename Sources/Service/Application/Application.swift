// The application: what may be asked of Tiffin, whoever asks. It knows no socket and no protocol.
//
// A front, such as the line server, gives it calls and hands the answers to its clients. The promises that hold for
// every front: a write is durable before it is answered; a question is answered from memory; what one client does
// costs the others nothing but its share of the time.

internal import Catalogue
internal import CommandHandling
package import Domain
package import EventLog
package import EventLoop
package import PostgresStorage
internal import Projections
internal import TextFormats

/// The application on one event log.
@LoopActor
package final class Application {
    /// The version of Tiffin.
    package nonisolated static let version = "0.1.0"

    /// Every command that a client may ask for.
    package nonisolated static let commands =
        CatalogueCommands.all + BrowsingCommands.all + ChoiceCommands.all + CartCommands.all + OrderCommands.all
        + LogCommands.all + MaintenanceCommands.all

    let configuration: Configuration
    let logger: Logger
    let log: any EventLog
    /// The same log, for those who read what happened: on a connection of its own, so that nothing else waits for it.
    let history: any EventLog
    /// What is read from it.
    let historyQueue = WorkQueue(
        WorkQueue.Limits(atOnce: 4, atOnceOfCaller: 2, waiting: 4_000, waitingOfCaller: 1_000))
    /// What customers' texts are sealed with.
    let keys: any CustomerKeys
    /// Customers who are being forgotten: each time the table of keys is rewritten, so it is done once at a time.
    let forgettingQueue = WorkQueue(
        WorkQueue.Limits(atOnce: 1, atOnceOfCaller: 1, waiting: 100, waitingOfCaller: 50))
    /// What the keys of customers who forgot themselves have left behind.
    let remainders: Remainders
    /// What admins have rebuilt.
    let rebuilder: Rebuilder
    /// Who can log in.
    package let logins = Logins()
    /// Who waits for what is to come.
    let logWaits = LogWaits()
    /// The time, as events record it.
    package let clock: () -> Timestamp
    let partitioning: Partitioning
    var partitions: [PartitionWorker] = []
    /// Partitions that are being read again.
    var refolds: [Int: Task<Void, Never>] = [:]
    private let store: PostgresReadModelStore?
    private let changes = ChangeFeed()
    /// What held up the server for long.
    package let latencies: LatencyMonitor
    /// What bounds the memory of the process.
    package private(set) var memory: MemoryBudget!
    let textSealer: TextSealer
    let receiptIssuer: ReceiptIssuer
    let archive: Archive
    let homes: HomeCache
    let recents: RecentDocuments
    private let liveCatalogue: LiveCatalogue
    /// Who listens to what.
    package private(set) var topics: Topics!
    /// What is to happen to orders by itself.
    private(set) var deadlines: Deadlines!
    /// What kitchens see.
    private(set) var kitchens: Kitchens!

    private var fronts: [any Front] = []
    /// The most bytes of a document that every front can send.
    private(set) var documentLimit = Int.max
    private var turn: AfterPoll?
    private var sweep: LoopTimer?

    /// Restores the read models from their checkpoints and reads the rest of the log.
    ///
    /// - Parameters:
    ///   - history: the same log, for reads that may take long. Nothing that customers' commands need waits for them.
    ///   - keys: what customers' texts are sealed with.
    ///   - store: where read models are saved; nil to save none.
    package init(
        configuration: Configuration, log: any EventLog, history: any EventLog, keys: any CustomerKeys,
        store: PostgresReadModelStore?, logger: Logger, clock: @escaping () -> Timestamp
    ) async throws {
        self.configuration = configuration
        self.logger = logger
        self.log = log
        let history = CheckedLog(history)
        self.history = history
        self.keys = keys
        remainders = Remainders(keys, logger)
        self.clock = clock
        partitioning = Partitioning(count: log.partitionCount)
        latencies = LatencyMonitor(milliseconds: configuration.latencyMilliseconds) {
            clock().millisecondsSinceEpoch / 1_000
        }
        textSealer = TextSealer(keys, partitioning)
        receiptIssuer = ReceiptIssuer(history, historyQueue)
        archive = Archive(history, historyQueue)
        self.store = store
        rebuilder = Rebuilder(partitions: log.partitionCount, logger: logger, store, history)
        homes = HomeCache(configuration, changes)
        recents = RecentDocuments(configuration)
        liveCatalogue = LiveCatalogue(clock: clock)
        for partition in 0..<log.partitionCount { partitions.append(try await restoredWorker(partition)) }
        history.leastVersion = { [unowned self] stream, partition in
            // No projection knows how far a damaged stream goes, so it is looked for in all batches.
            partitions[partition].model.ask { $0.isQuarantined(stream) ? .max : $0.leastVersion(of: stream) }
        }
        let began = LoopActor.now
        liveCatalogue.load(partitions.map(\.readModel))
        logger.debug("\(liveCatalogue.size) indexed in \((LoopActor.now - began) / 1_000_000) ms")
        ProcessResources.giveBackMemory()
        topics = Topics(self, changes, configuration)
        deadlines = Deadlines(self, changes)
        kitchens = Kitchens(self, changes)
        memory = MemoryBudget(limit: configuration.maximumMemory, logger: logger) { [unowned self] in
            homes.dropAll()
            recents.dropAll()
            kitchens.dropAll()
            for partition in partitions { partition.processor.emptyCache() }
        }
    }

    /// Whether nothing has happened yet.
    package var isLogEmpty: Bool { partitions.allSatisfy { $0.position == 0 } }

    // MARK: Running

    /// Serves from now on. Call it once, before the first call of a command that writes.
    package func start() {
        turn = LoopActor.afterPoll { [unowned self] in endTurn() }
        if latencies.milliseconds > 0 {
            LoopActor.timeTurns { [latencies] in latencies.note(.turn, nanoseconds: $0 * 1_000_000) }
        }
        // What was sold out or paused until now comes back, and the answers to saved queries may change.
        sweep = LoopTimer(milliseconds: 1_000, repeating: true) { [unowned self] in
            liveCatalogue.followTime()
            kitchens.followTime()
        }
        memory.start()
        for partition in partitions { serve(partition) }
        deadlines.start()
    }

    /// A worker whose read model is at the end of the log. It is not served yet.
    func restoredWorker(_ partition: Int) async throws -> PartitionWorker {
        try await PartitionWorker.restore(
            partition, log: log, store: store, audience: Audience(liveCatalogue, changes), configuration: configuration,
            logger: logger, latencies: latencies, clock: clock)
    }

    func serve(_ worker: PartitionWorker) {
        let partition = worker.readModel.partition
        worker.audience.onFork = { [unowned self] in leaveFork(of: partition) }
        worker.start()
    }

    /// Adds a front, whose answers leave at the end of every turn of the loop.
    package func attach(_ front: any Front) {
        fronts.append(front)
        documentLimit = min(documentLimit, front.documentLimit)
    }

    /// A connection has ended, and with it all that was only for it.
    package func clientEnded(_ subscriber: Subscriber) {
        topics.unsubscribe(subscriber)
        liveCatalogue.dropQueries(of: subscriber.client)
    }

    /// Waits until nothing is on its way, saves the read models, and hands the last answers to the fronts.
    package func stop() async {
        sweep?.cancel()
        memory.stop()
        deadlines.stop()
        logWaits.stop()
        await rebuilder.stop()
        while forgettingQueue.underWayCount > 0 { await LoopTimer.pause(milliseconds: 5) }
        await remainders.stop()
        // What waits for a key is still to come.
        await textSealer.stop()
        for refold in refolds.values {
            refold.cancel()
            await refold.value
        }
        for partition in partitions { await partition.stop() }
        endTurn()
        topics.stop()
        turn?.cancel()
        // They hold the application in turn.
        fronts = []
    }

    /// The end of a turn of the loop: batches leave, then answers, then messages.
    private func endTurn() {
        startWork()
        logWaits.wake { partitions[$0].position }
        let hadAnswers = sendAnswers()
        for name in liveCatalogue.takeTouched() { topics.changed(.savedQuery(name)) }
        let hasPublished = topics.publish()
        if sendAnswers() || hadAnswers || hasPublished { startWork() }
    }

    private func sendAnswers() -> Bool {
        var hasSent = false
        for front in fronts where front.sendAnswers() { hasSent = true }
        return hasSent
    }

    private func startWork() {
        for partition in partitions { partition.startWork() }
    }

    // MARK: Calls

    /// Runs a command. Its answer is there at once, or promised.
    ///
    /// - Parameter call: a call of this command.
    package func run(_ command: Command, _ call: borrowing Call) throws(Failure) -> Response {
        if case .write = command.declaration.effect { try memory.checkRoom() }
        return try command.body(self, call)
    }

    /// Who has asked for something, for the operator.
    func name(ofCallerOf call: borrowing Call) -> String {
        let client = call.client
        return fronts.lazy.compactMap { $0.name(ofClient: client) }.first ?? "the server itself"
    }

    /// Runs a command and waits for its answer, for callers in the process itself.
    ///
    /// - Parameter arguments: the command's name and its arguments.
    package func perform(_ arguments: [[UInt8]]) async throws(Failure) -> Answer {
        guard let name = arguments.first,
            let command = Application.commands.first(where: { $0.declaration.name.utf8.elementsEqual(name) })
        else { throw Failure("ERR", "unknown command") }
        let response = try Arguments.with(arguments) { arguments throws(Failure) in
            try run(command, try Call(command.declaration, arguments))
        }
        switch response {
        case .answer(let answer): return answer
        case .promise(let promise):
            startWork()
            return try await withCheckedContinuation { continuation in
                promise.whenKnown { continuation.resume(returning: $0) }
            }.get()
        }
    }

    // MARK: Parts of the answers

    /// The partition that a stream belongs to.
    func partition(of stream: StreamName) -> PartitionWorker { partitions[partitioning.partition(of: stream)] }

    /// Every item and outlet, as of now.
    var catalogue: Catalogue { liveCatalogue.current }

    /// The outlet with its menu; nil where there is none.
    func outlet(_ outlet: Identifier) throws(Failure) -> OutletRecord? {
        let partition = partition(of: StreamName(.outlet, outlet))
        if let corruption = partition.readModel.outletHome.corruption(of: outlet) { throw Failure(corruption) }
        return partition.readModel.outletHome[outlet]
    }

    /// Whether there is an outlet, or was: its orders outlive it.
    func hasKitchen(_ outlet: Identifier) -> Bool {
        let outlets = partition(of: StreamName(.outlet, outlet)).readModel.outletHome
        return outlets.revision(of: outlet) > 0 || outlets.corruption(of: outlet) != nil
    }

    /// What an outlet's menu says now of an item with some options.
    ///
    /// - Parameter chosen: in the order of the ids, each once.
    func offer(of item: Identifier, with chosen: [ChosenOption], at outlet: Identifier) -> Offer {
        let now = clock()
        let offer = partition(of: StreamName(.outlet, outlet)).model.ask {
            $0.outletHome.offer(of: item, with: chosen, at: outlet, now: now)
        }
        #if DEBUG
            if let fault = configuration.plantedFault {
                guard let chosen = fault.choice(chosen, of: offer) else { return fault.told(offer) }
                return partition(of: StreamName(.outlet, outlet)).model.ask {
                    $0.outletHome.offer(of: item, with: chosen, at: outlet, now: now)
                }
            }
        #endif
        return offer
    }

    /// What an outlet's menu says now of the lines of a cart, in their order.
    func offers(for lines: [CartLine], at outlet: Identifier) -> [Offer] {
        let now = clock()
        let offers = partition(of: StreamName(.outlet, outlet)).model.ask {
            $0.outletHome.offers(for: lines, at: outlet, now: now)
        }
        #if DEBUG
            if let fault = configuration.plantedFault { return offers.map(fault.told) }
        #endif
        return offers
    }

    /// The number on a cart's badge.
    func count(of cart: Identifier) throws(Failure) -> Int {
        let stream = StreamName(.cart, cart)
        return try partition(of: stream).model.ask { model throws(Failure) in
            if let corruption = model.cartCounts.quarantine[stream] { throw Failure(corruption) }
            return model.cartCounts.count(of: cart)
        }
    }

    /// A cart with its lines and what has become of them; nil where it never was.
    func document(of cart: Identifier, _ committed: CommittedState) -> SealedDocument? {
        guard committed.version > 0, case .cart(let state) = committed.state else { return nil }
        return SealedDocument(state.contents?.textOwner(of: cart)) { [self] texts in
            CartDocument.bytes(
                of: cart, state: state, version: committed.version, updatedAt: committed.updatedAt, texts: texts
            ) { lines, outlet in
                LoopActor.assumeIsolated { self.offers(for: lines, at: outlet) }
            }
        }
    }

    /// What a cart costs now; nil where it never was.
    func quote(of cart: Identifier, _ committed: CommittedState) -> SealedDocument? {
        guard committed.version > 0, case .cart(let state) = committed.state else { return nil }
        return SealedDocument(state.contents?.textOwner(of: cart)) { [self] texts in
            LoopActor.assumeIsolated {
                QuoteDocument.bytes(
                    of: cart, state: state, version: committed.version, texts: texts,
                    offers: offers, details: details)
            }
        }
    }

    /// What an outlet says of itself; nil where there is none, or it is damaged.
    func details(of outlet: Identifier) -> OutletDetails? {
        let details = (try? self.outlet(outlet))?.details?.details
        #if DEBUG
            if let fault = configuration.plantedFault { return details.map(fault.told) }
        #endif
        return details
    }
}

/// What hands answers to clients, such as a server of the line protocol.
@LoopActor
package protocol Front: AnyObject {
    /// The most bytes of a document that it can send.
    var documentLimit: Int { get }

    /// Sends every answer and message that is ready. Returns whether there were any.
    func sendAnswers() -> Bool

    /// Who a client is whose call is being run, and where; nil where it is not a client of this front.
    func name(ofClient client: Int64) -> String?
}
