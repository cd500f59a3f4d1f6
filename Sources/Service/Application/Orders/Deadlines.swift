internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// Sees to it that what is to happen to orders by itself happens.
///
/// Deadlines are part of the orders, so nothing is lost when a server ends. Each server waits for all of them, and when
/// one has passed it submits an ordinary command. The order decides whether it still waits: so it does not matter how
/// many servers ask, and an answer of the kitchen that was recorded before holds, whatever the clocks say.
@LoopActor
final class Deadlines {
    /// The most commands that are submitted in one turn of the loop, and that wait for their outcome.
    private static let commandsPerTurn = 64
    private static let commandsAtOnce = 256
    /// How long it takes until more are submitted, in milliseconds.
    private static let rest: UInt64 = 5
    /// The longest time until the clock is looked at again, in milliseconds: it may be set.
    private static let longestWait: Int64 = 1_000
    /// A server waits for up to so many milliseconds longer, so that it is seldom two that submit the same.
    private static let jitter: Int64 = 400
    /// Deadlines that pass within so many milliseconds are met together: one transaction instead of many, which others'
    /// commands would have to wait for.
    private static let slot: Int64 = 500
    /// How long to wait before a command is submitted again that was not accepted, in milliseconds.
    private static let retryInterval: Int64 = 1_000
    /// How many of the entries may be outdated, beside as many as there are orders.
    private static let outdatedEntries = 1_024

    private unowned let application: Application
    /// When this server's slots begin: others' lie elsewhere.
    private let phase = Int64.random(in: 0..<Deadlines.slot)
    private var entries = EarliestFirst()
    private var underWay = 0
    private var timer: (due: Int64, timer: LoopTimer)?
    private var isRunning = false

    init(_ application: Application, _ changes: ChangeFeed) {
        self.application = application
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
        for partition in application.partitions {
            for (order, deadline) in partition.readModel.orders.deadlines { add(order, deadline) }
        }
        wake()
    }

    private func wait(for order: Identifier) {
        if let deadline = deadline(of: order) { add(order, deadline) }
    }

    private func add(_ order: Identifier, _ deadline: Timestamp) {
        let wait = Int64.random(in: 0...Deadlines.jitter)
        let (due, overflow) = deadline.millisecondsSinceEpoch.addingReportingOverflow(wait + Deadlines.slot)
        entries.insert(order, at: overflow ? .max : due - (due - phase) % Deadlines.slot)
    }

    private func deadline(of order: Identifier) -> Timestamp? {
        application.partition(of: StreamName(.order, order)).model.ask { $0.orders.deadline(of: order) }
    }

    private var now: Int64 { application.clock().millisecondsSinceEpoch }

    /// Makes sure that the loop takes a turn when the first deadline has passed.
    private func wake(after rest: UInt64 = 0) {
        guard isRunning, underWay < Deadlines.commandsAtOnce, let first = entries.first else { return }
        let now = now
        let wait = min(max(first.subtractingReportingOverflow(now).partialValue, 0), Deadlines.longestWait)
        let due = now + max(wait, Int64(rest))
        if let timer, timer.due <= due { return }
        timer?.timer.cancel()
        timer = (due, LoopTimer(milliseconds: UInt64(due - now)) { [unowned self] in meet() })
    }

    /// Submits what is due.
    private func meet() {
        timer = nil
        if entries.count > 2 * openCount + Deadlines.outdatedEntries { return load() }
        let now = now
        var submitted = 0
        while submitted < Deadlines.commandsPerTurn, underWay < Deadlines.commandsAtOnce, let first = entries.first,
            first <= now
        {
            let order = entries.removeFirst()
            // Otherwise the order does not wait any more, or for something later, which is an entry of its own.
            guard let deadline = deadline(of: order), deadline.millisecondsSinceEpoch <= now else { continue }
            #if DEBUG
                if application.configuration.plantedFault?.strikes(.lostDeadline) ?? false { continue }
            #endif
            submit(order)
            submitted += 1
        }
        wake(after: submitted > 0 ? Deadlines.rest : 0)
    }

    private var openCount: Int { application.partitions.reduce(0) { $0 + $1.readModel.orders.openCount } }

    private func submit(_ order: Identifier) {
        underWay += 1
        let stream = StreamName(.order, order)
        // What was decided last set the deadline.
        let version = application.partition(of: stream).model.ask { $0.orders.version(of: order) } ?? 0
        let metadata = EventMetadata.byItself(because: stream, version: version)
        let request = CommandRequest(stream: stream, metadata: metadata) { [clock = application.clock] _, _ in
            .order(.meetDeadline(now: clock()))
        }
        application.partition(of: stream).processor.handle(request) { [weak self] _ in
            LoopActor.assumeIsolated { self?.ended(order) }
        }
    }

    private func ended(_ order: Identifier) {
        underWay -= 1
        guard isRunning else { return }
        // The database may be away, or too much may wait.
        if let deadline = deadline(of: order), deadline.millisecondsSinceEpoch <= now {
            entries.insert(order, at: now + Deadlines.retryInterval)
        }
        wake(after: Deadlines.rest)
    }
}
