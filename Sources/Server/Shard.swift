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
    /// Memory is given back after so many events: that takes milliseconds.
    private static let eventsBetweenTrims: Int64 = 100_000

    let processor: CommandProcessor
    private let journal: Journal
    private let model: Box
    private let damage: Damage
    private let store: PostgresReadModelStore?
    private let configuration: Configuration
    private let logger: Logger
    private let clock: () -> Timestamp

    private var isWorking = false
    private var isPollDue = false
    private var isSaving = false
    private var isStopping = false
    private var loadsUnderWay = 0
    private let maximumLoads: Int
    private(set) var savedPosition: Int64
    private(set) var savedDigests: ReadModel.Digests
    /// The last position whose checkpoint another server had written already.
    private var positionOfAnother: Int64 = 0
    private var positionOfLastTrim: Int64
    private var savedAt = LoopActor.now
    private var positionAtLastLook: Int64 = 0
    private var timers: [LoopTimer] = []
    /// How batches went; set anew to count from nothing.
    var batches = BatchStatistics()

    /// The read model, shared with the closures of the journal.
    private final class Box {
        var value: ReadModel
        init(_ value: ReadModel) { self.value = value }
    }

    /// What the log was found to lack, shared likewise.
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

    /// - Parameter readModel: as restored, with the digests of its saved rows.
    init(
        _ readModel: ReadModel, digests: ReadModel.Digests, log: any EventLog, store: PostgresReadModelStore?,
        changes: ChangeFeed, catalogue: LiveCatalogue, configuration: Configuration, logger: Logger,
        clock: @escaping () -> Timestamp
    ) {
        let model = Box(readModel)
        self.model = model
        let damage = Damage()
        self.damage = damage
        self.store = store
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
        maximumLoads = max(1, Shard.loadsOfAllPartitions / log.partitionCount)
        savedPosition = readModel.position
        positionOfLastTrim = readModel.position
        savedDigests = digests
        processor = CommandProcessor(partition: readModel.partition, limits: configuration.processorLimits) {
            model.value.mayExist($0)
        }
        #if DEBUG
            if let fault = configuration.plantedFault {
                processor.misdeed = { command in LoopActor.assumeIsolated { fault.misdeed(with: command) } }
            }
        #endif
        journal = Journal(
            processor: processor, partition: readModel.partition, position: readModel.position, log: log,
            pause: { await Shard.pause(milliseconds: 100) },
            miss: { missing in
                LoopActor.assumeIsolated {
                    model.value.pass(missing: missing.positions)
                    damage.take(missing, logger)
                }
            }
        ) { events in
            LoopActor.assumeIsolated {
                for corruption in Shard.fold(events, into: &model.value, configuration) {
                    logger.error(
                        "stream '\(corruption.stream)' is corrupt at \(corruption.position): \(corruption.reason)")
                }
                catalogue.follow(events, model.value)
                changes.publish(events)
            }
        }
    }

    /// Folds events in, and gives those that are corrupt.
    private static func fold(
        _ events: [Result<DecodedEvent, CorruptEvent>], into model: inout ReadModel, _ configuration: Configuration
    ) -> [CorruptEvent] {
        #if DEBUG
            if let fault = configuration.plantedFault { return fault.fold(events, into: &model) }
        #endif
        return model.apply(events)
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
        timers = [
            LoopTimer(milliseconds: configuration.pollMilliseconds, repeating: true) { [unowned self] in
                isPollDue = true
            },
            LoopTimer(milliseconds: 1_000, repeating: true) { [unowned self] in saveIfDue() },
        ]
    }

    /// Reads the log to its end.
    func catchUp(progress: (Int64) -> Void) async throws(EventLogError) {
        try await journal.readToEnd(progress: progress)
        positionAtLastLook = journal.position
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

    // MARK: Saving

    /// Saves when the partition is quiet, when much has changed, or when changes have waited for long.
    private func saveIfDue() {
        let unsaved = position - savedPosition
        let isQuiet = position == positionAtLastLook
        positionAtLastLook = position
        let hasWaited = LoopActor.now - savedAt > configuration.checkpointSeconds * 1_000_000_000
        guard unsaved > 0, position > positionOfAnother,
            isQuiet || hasWaited || unsaved >= configuration.checkpointEvents
        else { return }
        LoopActor.task { [self] in await save() }
    }

    private func save() async {
        guard let store, !isSaving, position > savedPosition else { return }
        isSaving = true
        defer { isSaving = false }
        var checkpoint = model.value.takeCheckpoint(since: savedDigests)
        let began = LoopActor.now
        do {
            let outcome = try await store.save(&checkpoint)
            savedAt = LoopActor.now
            switch outcome {
            case .saved:
                model.value.saved(checkpoint)
                savedPosition = checkpoint.position
                savedDigests = checkpoint.digests
                giveBackMemory()
                logger.debug(
                    "checkpoint at \(checkpoint.position) saved in \((LoopActor.now - began) / 1_000_000) ms")
            case .another:
                // Another server's rows are as new; ours are written when they are newer.
                model.value.notSaved(checkpoint)
                positionOfAnother = checkpoint.position
            }
        } catch {
            model.value.notSaved(checkpoint)
            logger.error("the checkpoint at \(checkpoint.position) could not be saved: \(error)")
        }
    }

    /// Once much has been written: what that took is not wanted again soon.
    private func giveBackMemory() {
        guard savedPosition - positionOfLastTrim >= Shard.eventsBetweenTrims else { return }
        positionOfLastTrim = savedPosition
        ProcessResources.giveBackMemory()
    }

    func stop() async {
        isStopping = true
        for timer in timers { timer.cancel() }
        timers = []
        while isWorking || isSaving || loadsUnderWay > 0 { await Shard.pause(milliseconds: 5) }
        await work()
        await save()
    }

    static func pause(milliseconds: UInt64) async {
        await withCheckedContinuation { continuation in
            _ = LoopTimer(milliseconds: milliseconds) { continuation.resume() }
        }
    }
}
