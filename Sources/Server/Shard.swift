internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import PostgresProjections
internal import Projections

/// One partition at work: its journal, its read model, and when they are moved and saved.
@LoopActor
final class Shard {
    /// The most loads under way at once, of all partitions: they share one connection.
    private static let loadsOfAllPartitions = 512

    let processor: CommandProcessor
    private let journal: Journal
    /// Keeps the rows in the database in step with the read model.
    let keeper: ModelKeeper
    private let model: LiveModel
    private let damage: Damage
    private let configuration: Configuration
    private let logger: Logger
    private let clock: () -> Timestamp

    private var isWorking = false
    private var isPollDue = false
    private var isStopping = false
    private var loadsUnderWay = 0
    private let maximumLoads: Int
    private var poll: LoopTimer?
    /// How batches went; set anew to count from nothing.
    var batches = BatchStatistics()

    /// What the log was found to lack, shared with the closures of the journal.
    @LoopActor
    private final class Damage {
        /// The most holes that are told one by one: of a log that has many, nobody reads all.
        private static let maximumTold = 20

        private(set) var events: Int64 = 0
        private var holes = 0

        func take(_ missing: MissingEvents, _ logger: Logger) {
            events += Int64(missing.positions.count)
            holes += 1
            if holes <= Damage.maximumTold {
                logger.error(
                    "\(missing): it was removed. A stream that misses an event is quarantined when its next one is "
                        + "read, all others are served")
            } else if holes == Damage.maximumTold + 1 {
                logger.error("more events are missing; INFO log counts them")
            }
        }
    }

    /// - Parameter restored: the read model as it was last saved.
    init(
        _ restored: PostgresReadModelStore.Restored, log: any EventLog, store: PostgresReadModelStore?,
        changes: ChangeFeed, catalogue: LiveCatalogue, configuration: Configuration, logger: Logger,
        clock: @escaping () -> Timestamp
    ) {
        let model = LiveModel(restored.model)
        self.model = model
        let partition = restored.model.partition
        let damage = Damage()
        self.damage = damage
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
        maximumLoads = max(1, Shard.loadsOfAllPartitions / log.partitionCount)
        keeper = ModelKeeper(
            model, restored: restored, store: store, log: log, configuration: configuration, logger: logger
        ) { outlets in
            catalogue.update(outlets, model.value)
            changes.publish(outlets)
        }
        processor = CommandProcessor(partition: partition, limits: configuration.processorLimits) {
            model.value.mayExist($0)
        }
        #if DEBUG
            if let fault = configuration.plantedFault {
                processor.misdeed = { command in LoopActor.assumeIsolated { fault.misdeed(with: command) } }
            }
        #endif
        journal = Journal(
            processor: processor, partition: partition, position: restored.model.position, log: log,
            pause: { await LoopTimer.pause(milliseconds: 100) },
            miss: { missing in
                LoopActor.assumeIsolated {
                    model.pass(missing: missing.positions)
                    damage.take(missing, logger)
                }
            }
        ) { events in
            LoopActor.assumeIsolated {
                for corruption in model.fold(events, configuration) {
                    logger.error(
                        "stream '\(corruption.stream)' is corrupt at \(corruption.position): \(corruption.reason)")
                }
                catalogue.follow(events, model.value)
                changes.publish(events)
            }
        }
    }

    var readModel: ReadModel {
        _read { yield model.value }
    }

    /// The position up to which the log is known here.
    var position: Int64 { journal.position }

    /// The last position that the log is known to have: more than ``position`` while what others wrote is read.
    var head: Int64 { journal.head }

    /// How many events the log was found to lack.
    var missingEvents: Int64 { damage.events }

    // MARK: Working

    func start() {
        poll = LoopTimer(milliseconds: configuration.pollMilliseconds, repeating: true) { [unowned self] in
            isPollDue = true
        }
        keeper.start()
    }

    /// Reads the log to its end.
    func catchUp(progress: (Int64) -> Void) async throws(EventLogError) {
        try await journal.readToEnd(progress: progress)
    }

    func startWork() {
        for stream in processor.takeLoads(atMost: maximumLoads - loadsUnderWay) { load(stream) }
        guard !isWorking, processor.hasBatch || isPollDue else { return }
        isWorking = true
        LoopActor.task { [self] in await work() }
    }

    private func work() async {
        while !isStopping || processor.hasBatch {
            if processor.hasBatch {
                await appendBatches()
            } else if isPollDue {
                isPollDue = false
                do throws(EventLogError) {
                    isPollDue = try await journal.catchUp()
                } catch {
                    logger.debug("cannot read the log: \(error)")
                }
            } else {
                break
            }
        }
        isWorking = false
    }

    /// Appends batches as long as there are any. While the replies to one are made, the next is on its way.
    private func appendBatches() async {
        var next = send(seen: journal.position)
        while let sent = next {
            let result = await sent.result()
            count(sent, result)
            next = journal.position(after: sent.batch, result).flatMap { send(seen: $0) }
            // Lets the task that sends it have its turn.
            if next != nil { await Task.yield() }
            _ = await journal.finish(sent.batch, result)
            next = next ?? send(seen: journal.position)
        }
    }

    private func count(_ sent: SentBatch, _ result: SentBatch.Outcome) {
        guard case .success(let receipt) = result else { return batches.hasFailed() }
        let refused = receipt.conflicts.isEmpty ? 0 : sent.batch.groups.count { receipt.conflicts.contains($0) }
        batches.appended(
            events: sent.batch.events.count - refused, nanoseconds: LoopActor.now - sent.sentAt)
    }

    private func send(seen: Int64) -> SentBatch? {
        guard let batch = processor.takeBatch(now: clock()) else { return nil }
        let sent = SentBatch(batch)
        LoopActor.task { [journal] in sent.ended(await journal.append(batch, seen: seen)) }
        return sent
    }

    private func load(_ stream: StreamName) {
        loadsUnderWay += 1
        LoopActor.task { [self] in
            await journal.load(stream)
            loadsUnderWay -= 1
            startWork()
        }
    }

    func stop() async {
        isStopping = true
        poll?.cancel()
        poll = nil
        while isWorking || loadsUnderWay > 0 { await LoopTimer.pause(milliseconds: 5) }
        await work()
        await keeper.stop()
    }
}
