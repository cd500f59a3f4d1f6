internal import Application
internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections
internal import TextFormats

/// Brings to their ends what goes on over several streams: checkouts with claims, and orders that give back what they
/// took.
///
/// Which are open is in the log (``Processes``), so nothing is lost when a server ends. The server that keeps the
/// partition goes on at once, others after a while, until the last event is recorded. Each step is an ordinary command
/// that is decided once, however many ask.
@LoopActor
final class ProcessRunner {
    /// How much is done at once, and when. Times are in milliseconds.
    struct Pace {
        /// The most processes of which a step is under way.
        var atOnce = 256
        /// How long a server leaves a process to the one that keeps its partition, and for up to how much longer.
        var wait: Int64 = 2_000
        var jitter: Int64 = 1_000
        /// How long to wait before a step is tried again, at first and at last.
        var retryInterval: Int64 = 100
        var longestRetryInterval: Int64 = 2_000
        /// The longest time until the clock is looked at again: it may be set.
        var longestWait: Int64 = 1_000
        /// How long a client waits for the end of its checkout.
        var patience: UInt64 = 5_000
    }

    /// A process that is open.
    private struct Run {
        var process: OpenProcess
        var isUnderWay = false
        var attempts = 0
        /// What the supply has answered.
        var answer: Cart.ClaimAnswer?
    }

    /// A client that waits for the end of a checkout.
    private struct Waiter {
        var promise: Promise
        var timer: LoopTimer
    }

    /// Whether the processes of a partition are this server's to begin with.
    var keeps: @LoopActor (Int) -> Bool = { _ in true }
    /// Has a command run where it is decided.
    var ask: @LoopActor (Command, [[UInt8]]) -> Response = { _, _ in .failure(.unavailable("nobody is asked yet")) }

    private let partitions: Partitions
    private let pace: Pace
    /// Of each partition, by the orders that they are about.
    private var runs: [Int: [Identifier: Run]] = [:]
    private var waiters: [Identifier: [Waiter]] = [:]
    private var due = EarliestFirst()
    private var underWay = 0
    private var timer: (due: Int64, timer: LoopTimer)?
    private var isRunning = false

    init(_ partitions: Partitions, _ changes: ChangeFeed, _ pace: Pace = Pace()) {
        self.partitions = partitions
        self.pace = pace
        changes.observe { [weak self] streams in
            guard let self, isRunning else { return }
            var outlets: Set<Identifier> = []
            for stream in streams where [.supply, .menu, .promotions].contains(stream.category) {
                outlets.insert(stream.id)
            }
            for outlet in outlets { followStock(of: outlet) }
        }
    }

    /// Goes on with what is open.
    func start() {
        guard !partitions.configuration.isFollower else { return }
        isRunning = true
        load()
    }

    func stop() {
        isRunning = false
        timer?.timer.cancel()
        timer = nil
        for order in Array(waiters.keys) { giveUp(order) }
    }

    /// Begins anew with what is open now.
    func load() {
        guard isRunning else { return }
        runs = [:]
        due = EarliestFirst()
        for worker in partitions.workers {
            follow(worker.readModel.partition)
            guard keeps(worker.readModel.partition) else { continue }
            for outlet in worker.model.ask({ $0.supplies.rows.map(\.outlet) }) { followStock(of: outlet) }
        }
    }

    /// How many processes are open, and since when the oldest is.
    var open: (count: Int, oldest: Timestamp?) {
        partitions.workers.reduce(into: (count: 0, oldest: nil)) { result, worker in
            for process in worker.model.ask({ $0.processes.open.values }) {
                result.count += 1
                result.oldest = min(result.oldest ?? process.begunAt, process.begunAt)
            }
        }
    }

    // MARK: What begins and ends

    /// What is open in a partition has changed.
    func follow(_ partition: Int) {
        guard isRunning else { return }
        let open = partitions[partition].model.ask { $0.processes.open }
        for (order, run) in runs[partition] ?? [:] where open[order] != run.process {
            runs[partition]?[order] = nil
            ended(order, run)
        }
        for (order, process) in open where runs[partition]?[order] == nil {
            runs[partition, default: [:]][order] = Run(process: process)
            let wait = keeps(partition) ? 0 : pace.wait + .random(in: 0...pace.jitter)
            due.insert(StreamName(.order, order), at: now + wait)
        }
        wake()
    }

    /// Tells those who wait how a process ended.
    private func ended(_ order: Identifier, _ run: Run) {
        guard let waiting = waiters.removeValue(forKey: order) else { return }
        for waiter in waiting { waiter.timer.cancel() }
        let promises = waiting.map(\.promise)
        let stream = StreamName(.order, order)
        if partitions[stream].model.ask({ $0.orders.version(of: order) }) != nil {
            for promise in promises { promise.keep(.text(order.rawValue)) }
        } else if case .refused(let refusal) = run.answer {
            for promise in promises { promise.fail(refusal.failure) }
        } else {
            // Another server brought it to its end: the supply says the same again.
            response(to: run.process).whenKnown { result in
                guard case .success(let answer) = result, case .refused(let refusal) = ClaimReply.read(answer) else {
                    for promise in promises { promise.fail(.checkingOut(order)) }
                    return
                }
                for promise in promises { promise.fail(refusal.failure) }
            }
        }
    }

    // MARK: Clients that wait

    /// The end of a checkout, which may have begun only.
    func concluded(_ checkout: Response) -> Response {
        guard case .promise(let promise) = checkout else { return checkout }
        let answer = Promise(about: promise.category, isHolding: promise.isHolding)
        promise.whenKnown { result in
            LoopActor.assumeIsolated { [self] in
                guard case .failure(let failure) = result, let order = failure.begun else { return answer.end(result) }
                wait(for: order, answer)
            }
        }
        return .promise(answer)
    }

    private func wait(for order: Identifier, _ promise: Promise) {
        let partition = partitions.partitioning.partition(of: StreamName(.order, order))
        guard isRunning, runs[partition]?[order] != nil else { return promise.fail(.checkingOut(order)) }
        let timer = LoopTimer(milliseconds: pace.patience) { [unowned self] in giveUp(order) }
        waiters[order, default: []].append(Waiter(promise: promise, timer: timer))
        // This server began it, whoever keeps the partition.
        due.insert(StreamName(.order, order), at: now)
        wake()
    }

    private func giveUp(_ order: Identifier) {
        for waiter in waiters.removeValue(forKey: order) ?? [] {
            waiter.timer.cancel()
            waiter.promise.fail(.checkingOut(order))
        }
    }

    // MARK: Steps

    private var now: Int64 { partitions.clock().millisecondsSinceEpoch }

    /// Makes sure that the loop takes a turn when the first process is due.
    private func wake() {
        guard isRunning, underWay < pace.atOnce, let first = due.first else { return }
        let now = now
        let next = now + min(max(first.subtractingReportingOverflow(now).partialValue, 0), pace.longestWait)
        if let timer, timer.due <= next { return }
        timer?.timer.cancel()
        timer = (next, LoopTimer(milliseconds: UInt64(next - now)) { [unowned self] in goOn() })
    }

    /// Goes on with what is due.
    private func goOn() {
        timer = nil
        let now = now
        while underWay < pace.atOnce, let first = due.first, first <= now {
            let stream = due.removeFirst()
            let partition = partitions.partitioning.partition(of: stream)
            guard let run = runs[partition]?[stream.id], !run.isUnderWay else { continue }
            runs[partition]?[stream.id]?.isUnderWay = true
            runs[partition]?[stream.id]?.attempts += 1
            underWay += 1
            begin(run.process, partition)
        }
        wake()
    }

    /// Asks the outlet's supply, where it is decided.
    private func response(to process: OpenProcess) -> Response {
        let command: Command =
            switch process.kind {
            case .checkout: .hold
            case .giveBack: .takeBack
            }
        var claims = JSONWriter(reservingCapacity: 64 * process.claims.count)
        ClaimCodec.encode(process.claims, to: &claims)
        let words =
            [
                command.declaration.name, process.outlet.rawValue, process.order.rawValue,
                String(decoding: claims.bytes, as: UTF8.self), process.metadata.cause?.string ?? "",
                process.flow?.string ?? "",
            ] + (process.trace.map { ["TRACE", $0.description] } ?? [])
        return ask(command, words.map { Array($0.utf8) })
    }

    private func begin(_ process: OpenProcess, _ partition: Int) {
        response(to: process).whenKnown { result in
            // Not here: the processor may be in the middle of its work.
            LoopActor.task { [self] in
                switch result {
                case .failure: stepEnded(process, partition)
                case .success(let answer): conclude(process, partition, ClaimReply.read(answer))
                }
            }
        }
    }

    /// Records what ends a process in the stream that began it.
    private func conclude(_ process: OpenProcess, _ partition: Int, _ answer: Cart.ClaimAnswer?) {
        runs[partition]?[process.order]?.answer = answer
        let command: @LoopActor (AggregateState) -> DomainCommand
        switch (process.kind, answer) {
        case (.checkout, let answer?):
            command = { [self] state in
                let answer = worded(answer, for: state)
                runs[partition]?[process.order]?.answer = answer
                return .cart(.conclude(order: process.order, answer, now: partitions.clock()))
            }
        case (.checkout, nil): return stepEnded(process, partition)
        case (.giveBack, _): command = { _ in .order(.noteReturn) }
        }
        let request = CommandRequest(stream: process.stream, metadata: process.metadata) { state, _ in
            LoopActor.assumeIsolated { command(state) }
        }
        partitions[partition].handle(request) { [weak self] _ in
            LoopActor.assumeIsolated { self?.stepEnded(process, partition) }
        }
        partitions[partition].startWork()
    }

    /// An answer to a cart, with the slot that can be had in place of one that is full: the supply knows no calendar.
    private func worded(_ answer: Cart.ClaimAnswer, for state: AggregateState) -> Cart.ClaimAnswer {
        guard case .refused(var refusal) = answer, refusal.code == .noSlot, case .cart(let cart) = state,
            let contents = cart.contents, let wanted = contents.wanted
        else { return answer }
        let next = partitions.nextSlot(after: wanted, at: contents.outlet, as: cart.checkout?.handover.service)
        refusal.text = Text(refusal.text.string + OutletDetails.words(nextSlot: next))
        return .refused(refusal)
    }

    private func stepEnded(_ process: OpenProcess, _ partition: Int) {
        underWay -= 1
        if let run = runs[partition]?[process.order], run.process == process {
            // The database or another server may be away, or too much may wait.
            runs[partition]?[process.order]?.isUnderWay = false
            let pause = min(pace.retryInterval << min(run.attempts - 1, 10), pace.longestRetryInterval)
            due.insert(StreamName(.order, process.order), at: now + pause / 2 + .random(in: 0...pause))
        }
        wake()
    }

    // MARK: What is sold out

    /// Has an outlet's menu and promotions say what nothing is left of. Mostly they do already, as all is written
    /// together; not so where an item came after its count, or a limit has changed.
    private func followStock(of outlet: Identifier) {
        let stream = StreamName(.supply, outlet)
        guard keeps(partitions.partitioning.partition(of: stream)) else { return }
        let commands: [(StreamName, DomainCommand)] = partitions[stream].model.ask { model in
            guard !model.supplies.isEmpty, let left = model.supplies.left(at: outlet),
                let record = model.outletHome[outlet]
            else { return [] }
            let counted = left.map { StockChange($0.key, isSoldOut: $0.value == 0) }
            let uncounted = record.menu.usedUp.filter { left[$0] == nil }.map { StockChange($0, isSoldOut: false) }
            let items = (counted + uncounted).sorted { $0.key < $1.key }
            let promotions = record.promotions.list.compactMap { promotion in
                promotion.limit.map { limit in
                    let key = Claim.Key.promotion(promotion.id)
                    return StockChange(key, isSoldOut: model.supplies.taken(key, at: outlet) >= limit)
                }
            }
            var commands: [(StreamName, DomainCommand)] = []
            if (try? Menu.decide(.followStock(items), in: record.menu))?.isEmpty == false {
                commands.append((StreamName(.menu, outlet), .menu(.followStock(items))))
            }
            if (try? Promotions.decide(.followStock(promotions), in: record.promotions))?.isEmpty == false {
                commands.append((StreamName(.promotions, outlet), .promotions(.followStock(promotions))))
            }
            return commands
        }
        guard !commands.isEmpty else { return }
        let version = partitions[stream].model.ask { $0.leastVersion(of: stream) }
        let metadata = EventMetadata.byItself(because: stream, version: version)
        // Not here: the model is being folded.
        LoopActor.task { [partitions] in
            for (other, command) in commands {
                partitions[other].handle(CommandRequest(stream: other, metadata: metadata) { _, _ in command }) { _ in }
            }
            partitions[stream].startWork()
        }
    }
}

extension Supply.Refusal {
    /// As a client gets it.
    fileprivate var failure: Failure { Failure(Rejection(code, text.string)) }
}
