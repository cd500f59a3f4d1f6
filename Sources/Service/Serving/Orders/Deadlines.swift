internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// Sees to it that what is to happen to orders by itself happens.
///
/// Deadlines are part of the orders, so nothing is lost when a server ends. A server waits for those of the partitions
/// that it keeps, and when one has passed it submits an ordinary command. The order decides whether it still waits: so
/// it does not matter how many servers ask, and an answer of the kitchen that was recorded before holds, whatever the
/// clocks say.
@LoopActor
final class Deadlines {
    /// How many commands there are at once, and when. Times are in milliseconds.
    struct Pace {
        /// The most commands that are submitted in one turn of the loop, and that wait for their outcome.
        var commandsPerTurn = 64
        var commandsAtOnce = 256
        /// How long it takes until more are submitted.
        var rest: Int64 = 5
        /// The longest time until the clock is looked at again: it may be set.
        var longestWait: Int64 = 1_000
        /// A server waits for up to so much longer, so that it is seldom two that submit the same.
        var jitter: Int64 = 400
        /// Deadlines that pass within so much time are met together: one transaction instead of many, which others'
        /// commands would have to wait for.
        var slot: Int64 = 500
        /// How long to wait before a command is submitted again that was not accepted.
        var retryInterval: Int64 = 1_000
        /// How many of the entries may be outdated, beside as many as there are orders.
        var outdatedEntries = 1_024
    }

    /// Whether the orders of a partition are this server's to wait for.
    var keeps: @LoopActor (Int) -> Bool = { _ in true }

    private let partitions: Partitions
    private let pace: Pace
    /// When this server's slots begin: others' lie elsewhere.
    private let phase: Int64
    private var entries = EarliestFirst()
    private var underWay = 0
    private var timer: (due: Int64, timer: LoopTimer)?
    private var isRunning = false

    init(_ partitions: Partitions, _ changes: ChangeFeed, _ pace: Pace = Pace()) {
        self.partitions = partitions
        self.pace = pace
        phase = .random(in: 0..<pace.slot)
        changes.observe { [unowned self] streams in
            guard isRunning else { return }
            for stream in streams where stream.category == .order { wait(for: stream.id) }
            wake()
        }
    }

    /// How many orders wait for something, including some that no longer do.
    var count: Int { entries.count }

    /// Begins with what every order waits for; what is overdue comes first.
    func start() {
        isRunning = true
        load()
    }

    func stop() {
        isRunning = false
        timer?.timer.cancel()
        timer = nil
    }

    /// Begins anew with what the orders wait for now.
    func load() {
        guard isRunning else { return }
        entries = EarliestFirst()
        for partition in partitions.workers where keeps(partition.readModel.partition) {
            for (order, deadline) in partition.readModel.orders.deadlines { add(order, deadline) }
        }
        wake()
    }

    private func wait(for order: Identifier) {
        guard keeps(partitions.partitioning.partition(of: StreamName(.order, order))) else { return }
        if let deadline = deadline(of: order) { add(order, deadline) }
    }

    private func add(_ order: Identifier, _ deadline: Timestamp) {
        let wait = Int64.random(in: 0...pace.jitter)
        let (due, overflow) = deadline.millisecondsSinceEpoch.addingReportingOverflow(wait + pace.slot)
        entries.insert(order, at: overflow ? .max : due - (due - phase) % pace.slot)
    }

    private func deadline(of order: Identifier) -> Timestamp? {
        partitions[StreamName(.order, order)].model.ask { $0.orders.deadline(of: order) }
    }

    private var now: Int64 { partitions.clock().millisecondsSinceEpoch }

    /// Makes sure that the loop takes a turn when the first deadline has passed.
    private func wake(after rest: Int64 = 0) {
        guard isRunning, underWay < pace.commandsAtOnce, let first = entries.first else { return }
        let now = now
        let wait = min(max(first.subtractingReportingOverflow(now).partialValue, 0), pace.longestWait)
        let due = now + max(wait, rest)
        if let timer, timer.due <= due { return }
        timer?.timer.cancel()
        timer = (due, LoopTimer(milliseconds: UInt64(due - now)) { [unowned self] in meet() })
    }

    /// Submits what is due.
    private func meet() {
        timer = nil
        if entries.count > 2 * openCount + pace.outdatedEntries { return load() }
        let now = now
        var submitted = 0
        while submitted < pace.commandsPerTurn, underWay < pace.commandsAtOnce, let first = entries.first,
            first <= now
        {
            let order = entries.removeFirst()
            // Otherwise the order does not wait any more, or for something later, which is an entry of its own.
            guard let deadline = deadline(of: order), deadline.millisecondsSinceEpoch <= now else { continue }
            #if DEBUG
                if partitions.configuration.plantedFault?.strikes(.lostDeadline) ?? false { continue }
            #endif
            submit(order)
            submitted += 1
        }
        wake(after: submitted > 0 ? pace.rest : 0)
    }

    private var openCount: Int { partitions.workers.reduce(0) { $0 + $1.readModel.orders.openCount } }

    private func submit(_ order: Identifier) {
        underWay += 1
        let stream = StreamName(.order, order)
        // What was decided last set the deadline.
        let version = partitions[stream].model.ask { $0.orders.version(of: order) } ?? 0
        let metadata = EventMetadata.byItself(because: stream, version: version)
        let request = CommandRequest(stream: stream, metadata: metadata) { [clock = partitions.clock] _, _ in
            .order(.meetDeadline(now: clock()))
        }
        partitions[stream].handle(request) { [weak self] _ in
            LoopActor.assumeIsolated { self?.ended(order) }
        }
    }

    private func ended(_ order: Identifier) {
        underWay -= 1
        guard isRunning else { return }
        // The database may be away, or too much may wait.
        if let deadline = deadline(of: order), deadline.millisecondsSinceEpoch <= now {
            entries.insert(order, at: now + pace.retryInterval)
        }
        wake(after: pace.rest)
    }
}
