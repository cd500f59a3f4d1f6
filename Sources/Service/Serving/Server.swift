// The server: everything that keeps a server going, put together. It knows no socket and no protocol.
//
// A front, such as the line server, gives it calls and hands the answers to its clients. The promises that hold for
// every front: a write is durable before it is answered; a question is answered from memory; what one client does
// costs the others nothing but its share of the time.

package import Application
internal import Catalogue
package import Domain
package import EventLog
package import EventLoop
internal import Fleet
package import Projections
internal import TextFormats

/// A server on one event log.
@LoopActor
package final class Server {
    package let configuration: Configuration
    let logger: Logger
    let log: any EventLog
    /// The time, as events record it.
    package let clock: () -> Timestamp
    private let store: (any ReadModelStore)?

    let partitions: Partitions
    private let watch: LogWatch
    /// Partitions that are being read again.
    var refolds: [Int: Task<Void, Never>] = [:]
    let changes = ChangeFeed()
    let liveCatalogue: LiveCatalogue

    let writes: Writes
    let homes: Homes
    let recents: RecentDocuments
    let documents: StreamDocuments
    let kitchens: Kitchens
    let sealer: TextSealer

    /// What is read from the log's history.
    let historyQueue = WorkQueue(
        WorkQueue.Limits(atOnce: 4, atOnceOfCaller: 2, waiting: 4_000, waitingOfCaller: 1_000))
    let history: HistoryReads
    let receipts: ReceiptIssuer
    /// Who waits for what is to come.
    let logWaits = LogWaits()

    let deadlines: Deadlines
    let processes: ProcessRunner
    let rebuilder: Rebuilder
    let forgetting: CustomerForgetting
    let pictures: Pictures
    let administration: Administration

    /// Who can log in.
    package let logins = Logins()
    /// Who listens to what.
    package let topics: Topics
    /// What bounds the memory of the process.
    package let memory: MemoryBudget
    /// What held up the server for long.
    package let latencies: LatencyMonitor

    /// Has spans of commands whose clients trace them; nil for none.
    package var tracer: CallTracer?
    /// This server among others; nil where it is not one of several.
    package internal(set) var member: FleetMember? { didSet { certainty = member?.certainty } }
    /// What the member knows, at hand for every command. Nothing refers weakly to it or to the server: once something has,
    /// each retain and release of an object is several times as slow.
    private(set) var certainty: Certainty?
    /// Calls that wait until this server is one of several; nil once it is.
    var early: [@LoopActor () -> Void]?

    private var fronts: [any Front] = []
    private var turn: AfterPoll?
    private var sweep: LoopTimer?

    /// Restores the read models from their checkpoints and reads the rest of the log.
    ///
    /// - Parameters:
    ///   - history: the same log, for reads that may take long. Nothing that customers' commands need waits for them.
    ///   - keys: what customers' texts are sealed with.
    ///   - store: where read models are saved; nil to save none.
    ///   - pictures: where pictures are kept; nil to keep none.
    ///   - administration: what admins see and change beside the log; nil for nothing.
    package init(
        configuration: Configuration, log: any EventLog, history: any EventLog, keys: any CustomerKeys,
        store: (any ReadModelStore)?, pictures: (any PictureStore)? = nil,
        administration: (any AdministrationStore)? = nil,
        logger: Logger,
        clock: @escaping () -> Timestamp
    ) async throws {
        self.configuration = configuration
        self.logger = logger
        self.log = log
        self.store = store
        self.clock = clock
        latencies = LatencyMonitor(milliseconds: configuration.latencyMilliseconds) {
            clock().millisecondsSinceEpoch / 1_000
        }
        partitions = Partitions(log.partitioning, configuration, clock: clock)
        watch = LogWatch(log, partitions)
        liveCatalogue = LiveCatalogue(clock: clock)
        let history = CheckedLog(history, partitions)
        sealer = TextSealer(keys, partitions.partitioning)
        writes = Writes(partitions, sealer, configuration)
        let archive = Archive(history, historyQueue)
        homes = Homes(partitions, archive, changes)
        recents = RecentDocuments(configuration)
        documents = StreamDocuments(partitions, archive, sealer)
        self.history = HistoryReads(history, historyQueue, logWaits, partitions)
        receipts = ReceiptIssuer(history, historyQueue)
        rebuilder = Rebuilder(partitions: log.partitionCount, logger: logger, store, history)
        forgetting = CustomerForgetting(keys, logger)
        self.pictures = Pictures(pictures)
        self.administration = Administration(administration, logger)
        memory = MemoryBudget(limit: configuration.maximumMemory, logger: logger)
        kitchens = Kitchens(partitions, sealer, changes)
        topics = Topics(
            TopicRendering.Inputs(
                partitions: partitions, homes: homes, kitchens: kitchens, catalogue: liveCatalogue, sealer: sealer),
            memory, changes, configuration)
        deadlines = Deadlines(partitions, changes)
        processes = ProcessRunner(partitions, changes)
        deadlines.keeps = { [unowned self] in keeps($0) }
        processes.keeps = { [unowned self] in keeps($0) }
        processes.ask = { [unowned self] in ask($0, $1) }
        for partition in 0..<log.partitionCount { partitions.append(try await restoredWorker(partition)) }
        let began = LoopActor.now
        liveCatalogue.load(partitions.workers.map(\.readModel)) { [logger, liveCatalogue] in
            logger.debug("catalogue: \(liveCatalogue.size) indexed in \((LoopActor.now - began) / 1_000_000) ms")
            ProcessResources.giveBackMemory()
        }
        // Topics hold kitchens in turn.
        kitchens.onChange = { [weak topics] in topics?.changed(.kitchen($0)) }
        memory.relieve = { [homes, recents, kitchens, partitions, pictures = self.pictures] in
            homes.dropAll()
            recents.dropAll()
            kitchens.dropAll()
            pictures.dropAll()
            partitions.emptyCaches()
        }
    }

    /// Whether there is an outlet, or was one.
    package var hasOutlets: Bool { partitions.workers.contains { $0.readModel.outletHome.rowCount > 0 } }

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
            if configuration.isFollower { for worker in partitions.workers { worker.forgetUnsaved() } }
        }
        memory.start()
        for partition in partitions.workers { serve(partition) }
        watch.start()
        deadlines.start()
        processes.start()
    }

    /// A worker whose read model is at the end of the log. It is not served yet.
    func restoredWorker(_ partition: Int) async throws -> PartitionWorker {
        let worker = try await PartitionWorker.restore(
            partition, log: log, store: store, audience: Audience(liveCatalogue, changes), configuration: configuration,
            logger: logger, latencies: latencies, clock: clock)
        worker.keeper.isOwner = keeps(partition)
        return worker
    }

    func serve(_ worker: PartitionWorker) {
        let partition = worker.readModel.partition
        worker.audience.onFork = { [unowned self] in leaveFork(of: partition) }
        worker.audience.onProcesses = { [unowned self] in processes.follow(partition) }
        worker.start()
    }

    /// Adds a front, whose answers leave at the end of every turn of the loop.
    package func attach(_ front: any Front) {
        fronts.append(front)
        homes.documentLimit = min(homes.documentLimit, front.documentLimit)
        topics.documentLimit = homes.documentLimit
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
        processes.stop()
        logWaits.stop()
        await rebuilder.stop()
        await forgetting.stop()
        // What waits for a key is still to come.
        await sealer.stop()
        for refold in refolds.values {
            refold.cancel()
            await refold.value
        }
        await leave()
        await member?.awaitAnswers()
        watch.stop()
        for partition in partitions.workers { await partition.stop() }
        endTurn()
        member?.links.close()
        topics.stop()
        turn?.cancel()
        // They hold the server in turn.
        fronts = []
    }

    /// The end of a turn of the loop: batches leave, then answers, then messages.
    private func endTurn() {
        partitions.startWork()
        logWaits.wake { partitions[$0].position }
        let hadAnswers = sendAnswers()
        for name in liveCatalogue.takeTouched() { topics.changed(.savedQuery(name)) }
        let hasPublished = topics.publish()
        if sendAnswers() || hadAnswers || hasPublished { partitions.startWork() }
        member?.links.flush()
    }

    private func sendAnswers() -> Bool {
        var hasSent = false
        for front in fronts where front.sendAnswers() { hasSent = true }
        return hasSent
    }

    // MARK: Calls

    /// Runs a command here. Its answer is there at once, or promised.
    func decide(_ command: Command, _ call: borrowing Call) throws(Failure) -> Response {
        if configuration.isFollower, !command.declaration.effect.isRead { throw .readOnly }
        // What has begun is brought to its end.
        if case .write = command.declaration.effect, !command.isOfServers { try memory.checkRoom() }
        return readEverywhere(try command.body(self, call), to: command, call)
    }

    /// Runs what this server asks by itself, where it is decided.
    private func ask(_ command: Command, _ words: [[UInt8]]) -> Response {
        do throws(Failure) {
            return try Arguments.with(words) { arguments throws(Failure) in
                try run(command, try Call(command.declaration, arguments))
            }
        } catch {
            return .failure(error)
        }
    }

    /// Who has asked for something, for the operator.
    func name(ofCallerOf call: borrowing Call) -> String {
        let client = call.client
        return fronts.lazy.compactMap { $0.name(ofClient: client) }.first ?? "the server itself"
    }

    package func list(_ list: FrontList) -> [UInt8]? { fronts.lazy.compactMap { $0.list(list) }.first }

    package func closeClient(_ client: Int64) -> Bool { fronts.contains { $0.closeClient(client) } }

    /// Runs a command and waits for its answer, for callers in the process itself.
    ///
    /// - Parameter arguments: the command's name and its arguments.
    package func perform(_ arguments: [[UInt8]]) async throws(Failure) -> Answer {
        guard let name = arguments.first,
            let command = Command.all.first(where: { $0.declaration.name.utf8.elementsEqual(name) })
        else { throw Failure(.error, "unknown command") }
        let response = try Arguments.with(arguments) { arguments throws(Failure) in
            try run(command, try Call(command.declaration, arguments))
        }
        switch response {
        case .answer(let answer): return answer
        case .promise(let promise):
            partitions.startWork()
            return try await withCheckedContinuation { continuation in
                promise.whenKnown { continuation.resume(returning: $0) }
            }.get()
        }
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

    /// A list for admins, as JSON; nil where it is not this front's.
    func list(_ list: FrontList) -> [UInt8]?

    /// Closes a client's connection. Returns whether there is one that admins may close.
    func closeClient(_ client: Int64) -> Bool
}

extension Front {
    package func list(_ list: FrontList) -> [UInt8]? { nil }
    package func closeClient(_ client: Int64) -> Bool { false }
}
