import CommandHandling
import Domain
import EventLog
import EventLoop
import Foundation
import Projections
import TextFormats

@testable import Application
@testable import Serving

/// The rooms of a server on a log in memory, without the server: a test moves the time, and says when a turn of the loop
/// ends.
@LoopActor
final class Rooms {
    /// Its hands are moved by a test.
    final class Clock {
        /// When everything begins, in milliseconds since 1970.
        static let beginning: Int64 = 1_700_000_000_000

        var milliseconds = Clock.beginning
        var now: Timestamp { Timestamp(millisecondsSinceEpoch: milliseconds) }

        /// Those seconds after the beginning.
        static func after(seconds: Int64) -> Timestamp {
            Timestamp(millisecondsSinceEpoch: beginning + 1_000 * seconds)
        }
    }

    let log: any EventLog
    let clock: Clock
    let lines = LoggedLines()
    let changes = ChangeFeed()
    let partitions: Partitions
    let catalogue: LiveCatalogue
    let sealer: TextSealer
    let queue = WorkQueue(WorkQueue.Limits(atOnce: 4, atOnceOfCaller: 2, waiting: 20, waitingOfCaller: 10))
    let archive: Archive
    let homes: Homes
    let kitchens: Kitchens
    let memory: MemoryBudget
    let topics: Topics
    let writes: Writes
    let waits = LogWaits()
    let history: HistoryReads

    /// Gives a test the rooms, and waits until nothing is on its way in them.
    ///
    /// - Parameter loopTime: the loop's clock, for what a partition gives up.
    static func with(
        on log: any EventLog = InMemoryEventLog(), keys: any CustomerKeys = InMemoryCustomerKeys(),
        store: (any ReadModelStore)? = nil, _ configuration: Configuration = Configuration(), clock: Clock = Clock(),
        loopTime: @escaping () -> UInt64 = { LoopActor.now }, _ body: @LoopActor (Rooms) async throws -> Void
    ) async throws {
        let rooms = try await Rooms(on: log, keys: keys, store, configuration, clock, loopTime)
        do {
            try await body(rooms)
        } catch {
            await rooms.stop()
            throw error
        }
        await rooms.stop()
    }

    private func stop() async {
        (log as? StagedLog)?.release()
        topics.stop()
        waits.stop()
        for worker in partitions.workers { await worker.stop() }
    }

    private init(
        on log: any EventLog, keys: any CustomerKeys, _ store: (any ReadModelStore)?, _ configuration: Configuration,
        _ clock: Clock, _ loopTime: @escaping () -> UInt64
    ) async throws {
        self.log = log
        self.clock = clock
        partitions = Partitions(log.partitioning, configuration) { clock.now }
        catalogue = LiveCatalogue { clock.now }
        sealer = TextSealer(keys, partitions.partitioning)
        archive = Archive(log, queue)
        homes = Homes(partitions, archive, changes)
        kitchens = Kitchens(partitions, sealer, changes)
        memory = MemoryBudget(limit: 0, logger: lines.logger)
        topics = Topics(
            TopicRendering.Inputs(
                partitions: partitions, homes: homes, kitchens: kitchens, catalogue: catalogue, sealer: sealer),
            memory, changes, configuration)
        writes = Writes(partitions, sealer, configuration)
        history = HistoryReads(log, queue, waits, partitions)
        kitchens.onChange = { [topics] in topics.changed(.kitchen($0)) }
        for partition in 0..<log.partitionCount {
            let audience = Audience(catalogue, changes)
            let worker = try await PartitionWorker.restore(
                partition, log: log, store: store, audience: audience, configuration: configuration,
                logger: lines.logger, latencies: LatencyMonitor(milliseconds: 0) { 0 }, clock: { clock.now },
                now: loopTime)
            audience.listen()
            partitions.append(worker)
        }
        catalogue.load(partitions.workers.map(\.readModel))
    }

    // MARK: Turns

    /// What a server does at the end of each turn of the loop.
    func endTurn() {
        partitions.startWork()
        waits.wake { partitions[$0].position }
        for name in catalogue.takeTouched() { topics.changed(.savedQuery(name)) }
        if topics.publish() { partitions.startWork() }
    }

    /// Lets the loop take turns until something is so.
    func turns(until condition: () -> Bool) async {
        endTurn()
        while !condition(), !Task.isCancelled {
            await LoopTimer.pause(milliseconds: 0)
            endTurn()
        }
    }

    // MARK: Commands

    /// Has a command decided and recorded.
    @discardableResult
    func send(_ stream: StreamName, _ command: DomainCommand) async -> CommandOutcome {
        await withCheckedContinuation { continuation in
            partitions[stream].handle(CommandRequest(stream: stream) { _, _ in command }) {
                continuation.resume(returning: $0)
            }
            partitions.startWork()
        }
    }

    /// Opens an outlet with a menu of some items: `item-0` and so on.
    func open(_ outlet: Identifier, items: Int = 1, _ details: OutletDetails = .named("O")) async {
        await send(.outlet(outlet), .outlet(.put(details)))
        await send(.outlet(outlet), .outlet(.open))
        await send(.menu(outlet), .menu(.put(.items(items))))
    }

    /// Adds the first item of an outlet to a cart.
    @discardableResult
    func add(_ quantity: Int, to cart: Identifier, at outlet: Identifier) async -> CommandOutcome {
        let offer = partitions.offer(of: "item-0", with: [], at: outlet)
        return await send(
            .cart(cart),
            .cart(.add(Cart.Addition(outlet: outlet, item: "item-0", quantity: quantity, offer: offer))))
    }

    /// Places an order.
    @discardableResult
    func place(
        _ order: Identifier, at outlet: Identifier = "o", from cart: Identifier = "c", customer: Identifier? = nil,
        note: SealedText? = nil, _ terms: Order.Terms = .none
    ) async -> CommandOutcome {
        let line = CartLine(
            id: "tea", item: "item-0", name: "Tea", quantity: 1, unitPrice: 100, note: note.map(PersonalText.sealed))
        return await send(
            .order(order),
            .order(
                .place(
                    Order.Placement(
                        cart: cart, outlet: outlet, currency: Currency("INR")!, lines: [line], total: 100,
                        customer: customer, terms: terms))))
    }

    /// How far an order has come; nil where there is none.
    func status(of order: Identifier) -> Order.Status? {
        partitions[.order(order)].model.ask { $0.orders.row(of: order)?.status }
    }
}

/// Lets the loop take turns until something is so.
@LoopActor
func turns(until condition: () -> Bool) async {
    while !condition(), !Task.isCancelled { await LoopTimer.pause(milliseconds: 0) }
}

/// What a server's log would say, in a file without a name.
///
/// It is no pipe: PostgreSQL, started by another test, would inherit it, and its reader would wait for an end that never
/// comes.
final class LoggedLines {
    let logger: Logger
    private let file: UnsafeMutablePointer<FILE>
    private let output: LineOutput

    init(_ format: Logger.Format = .text) {
        guard let file = tmpfile() else { preconditionFailure("no temporary file: error \(errno)") }
        self.file = file
        output = LineOutput(descriptor: fileno(file))
        logger = Logger(level: .info, format: format, output: output)
    }

    deinit { fclose(file) }

    /// All of it so far.
    func text() throws -> String {
        output.flush()
        let handle = FileHandle(fileDescriptor: fileno(file))
        try handle.seek(toOffset: 0)
        return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
    }
}
