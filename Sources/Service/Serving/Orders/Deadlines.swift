internal import Application
internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// Sees to it that what is to happen to orders by itself happens, and that outlets open and close by their hours, and
/// begin and end their dayparts.
///
/// Deadlines are part of the orders and outlets, so nothing is lost when a server ends. A server waits for those of the
/// partitions that it keeps, and when one has passed it submits an ordinary command. The order or the outlet decides
/// whether it still waits: so it does not matter how many servers ask, and an answer of the kitchen that was recorded
/// before holds, whatever the clocks say.
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

    /// Whether the orders and outlets of a partition are this server's to wait for.
    var keeps: @LoopActor (Int) -> Bool = { _ in true }

    private let partitions: Partitions
    private let pace: Pace
    /// When this server's slots begin: others' lie elsewhere.
    private let phase: Int64
    private var entries = EarliestFirst()
    /// When each outlet is due. It has older entries, too, which do not count: its hours may have changed.
    private var outletsDue: [Identifier: Int64] = [:]
    private var underWay = 0
    private var timer: (due: Int64, timer: LoopTimer)?
    private var isRunning = false

    init(_ partitions: Partitions, _ changes: ChangeFeed, _ pace: Pace = Pace()) {
        self.partitions = partitions
        self.pace = pace
        phase = .random(in: 0..<pace.slot)
        changes.observe { [unowned self] streams in
            guard isRunning else { return }
            for stream in streams where stream.category == .order || stream.category == .outlet { wait(for: stream) }
            wake()
        }
    }

    /// How many orders and outlets wait for something, including some that no longer do.
    var count: Int { entries.count }

    /// Begins with what every order and outlet waits for; what is overdue comes first.
    func start() {
        isRunning = true
        load()
    }

    func stop() {
        isRunning = false
        timer?.timer.cancel()
        timer = nil
    }

    /// Begins anew with what they wait for now.
    func load() {
        guard isRunning else { return }
        entries = EarliestFirst()
        outletsDue = [:]
        for partition in partitions.workers where keeps(partition.readModel.partition) {
            for (order, deadline) in partition.readModel.orders.deadlines {
                add(StreamName(.order, order), deadline)
            }
            for outlet in partition.readModel.outletHome.followingTime {
                wait(for: StreamName(.outlet, outlet))
            }
        }
        wake()
    }

    private func wait(for stream: StreamName) {
        guard keeps(partitions.partitioning.partition(of: stream)) else { return }
        if let deadline = deadline(of: stream) { add(stream, deadline) }
    }

    private func add(_ stream: StreamName, _ deadline: Timestamp) {
        let wait = Int64.random(in: 0...pace.jitter)
        let (due, overflow) = deadline.millisecondsSinceEpoch.addingReportingOverflow(wait + pace.slot)
        insert(stream, at: overflow ? .max : due - (due - phase) % pace.slot)
    }

    private func insert(_ stream: StreamName, at time: Int64) {
        entries.insert(stream, at: time)
        if stream.category == .outlet { outletsDue[stream.id] = time }
    }

    private func deadline(of stream: StreamName) -> Timestamp? {
        let model = partitions[stream].model
        guard stream.category == .outlet else { return model.ask { $0.orders.deadline(of: stream.id) } }
        guard let outlet = model.ask({ $0.outletHome[stream.id]?.outlet }), outlet.followsTime,
            let details = outlet.details, let rules = partitions.rules(of: details.timeZone)
        else { return nil }
        let now = partitions.clock()
        let hours = details.hours(at: now, in: rules)
        let change = try? Outlet.decide(Deadlines.command(hours), in: outlet)
        return change?.isEmpty ?? true ? hours.changes : now
    }

    private nonisolated static func command(_ hours: HoursNow) -> Outlet.Command {
        .followHours(isOpen: hours.isOpen, opensAt: hours.opensAt, dayparts: hours.dayparts)
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
            let stream = entries.removeFirst()
            if stream.category == .outlet {
                guard outletsDue[stream.id] == first else { continue }
                outletsDue[stream.id] = nil
            }
            guard let deadline = deadline(of: stream) else { continue }
            guard deadline.millisecondsSinceEpoch <= now else {
                // An order that waits for something later has another entry. Hours go on without an event.
                if stream.category == .outlet { add(stream, deadline) }
                continue
            }
            #if DEBUG
                if partitions.configuration.plantedFault?.strikes(.lostDeadline) ?? false { continue }
            #endif
            submit(stream)
            submitted += 1
        }
        wake(after: submitted > 0 ? pace.rest : 0)
    }

    private var openCount: Int {
        partitions.workers.reduce(0) { $0 + $1.readModel.orders.openCount + $1.readModel.outletHome.rowCount }
    }

    private func submit(_ stream: StreamName) {
        underWay += 1
        // What was decided last set the deadline.
        let version = partitions[stream].model.ask { $0.leastVersion(of: stream) }
        let metadata = EventMetadata.byItself(because: stream, version: version)
        let request = CommandRequest(stream: stream, metadata: metadata) {
            [weak self, clock = partitions.clock] state, _ in
            guard case .outlet(let outlet) = state else { return .order(.meetDeadline(now: clock())) }
            return LoopActor.assumeIsolated {
                guard let details = outlet.details, let rules = self?.partitions.rules(of: details.timeZone) else {
                    // One whose hours are not known any more stays as it is.
                    guard case .resting(let opensAt) = outlet.status else { return .outlet(.followHours(isOpen: true)) }
                    return .outlet(.followHours(isOpen: false, opensAt: opensAt))
                }
                return .outlet(Deadlines.command(details.hours(at: clock(), in: rules)))
            }
        }
        partitions[stream].handle(request) { [weak self] _ in
            LoopActor.assumeIsolated { self?.ended(stream) }
        }
    }

    private func ended(_ stream: StreamName) {
        underWay -= 1
        guard isRunning else { return }
        // The database may be away, or too much may wait.
        if let deadline = deadline(of: stream), deadline.millisecondsSinceEpoch <= now {
            insert(stream, at: now + pace.retryInterval)
        } else if stream.category == .outlet {
            wait(for: stream)
        }
        wake(after: pace.rest)
    }
}
