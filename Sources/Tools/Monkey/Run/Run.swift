internal import EventLoop
internal import Foundation
internal import LineClient
internal import LineProtocol
internal import LoadOracle

/// One run, from building its world to reading the log.
@LoopActor
final class Run {
    enum Phase {
        /// The world is being built.
        case preparing
        /// Every shopper sends the next command as soon as it is answered.
        case closed
        /// To a plan.
        case open
        /// All shoppers finish what is left, and read once more what they have.
        case settling
        case over
    }

    /// The most sends that wait for their shopper; more are dropped.
    static let waitingLimit = 200_000
    /// How long a closed load lasts to find out what the server can do, in seconds.
    static let probeSeconds = 1.5
    /// How long to wait for commands in flight after the load, and again after everybody has read what they have, in
    /// seconds.
    static let drainSeconds = 25.0
    /// The same if some were not answered in that time, either.
    static let lastSeconds = 5.0
    /// How long the server may answer nothing while the world is built, in seconds.
    static let buildPatience = 30
    /// How long messages may take at the end to lead to what was read, and answers if the run is stopped while the
    /// world is built, in milliseconds; and how often to look.
    static let patience: UInt64 = 5_000
    private static let pauseBetweenLooks: UInt64 = 25
    /// How long to wait before a cart's command is sent again after `UNKNOWN`, in milliseconds.
    static let pauseBeforeAgain: UInt64 = 50

    /// How often orders are looked at that wait for something when the load is over, in milliseconds, and for how long
    /// in advance, in nanoseconds.
    private static let pauseBetweenReads: UInt64 = 200
    private static let foresight: UInt64 = 5_000_000_000

    let options: RunOptions
    /// The day of its beginning, counted from the Unix epoch.
    let day: Int
    let world: World
    let oracle: Oracle
    let recorder = Recorder()
    private(set) var shoppers: [Shopper] = []
    private(set) var chaos: Chaos?
    private(set) var phase = Phase.preparing
    private(set) var isEnding = false
    /// Where observations are recorded.
    var record: RecordFile?

    private var links: [Link] = []
    private var dirty: [Link] = []
    private var afterPoll: AfterPoll?
    private var activeShoppers = 0
    private var busyShoppers = 0
    private var phaseEnded: CheckedContinuation<Void, Never>?
    private var plan: LoadPlan?
    private var nextSend = 0
    private var nextShopper = 0
    private var alarm: Alarm?
    private var alarmTime: UInt64 = 0

    /// - Parameter address: where the connection of a number leads.
    init(_ options: RunOptions, address: @escaping @LoopActor (Int) -> ServerEndpoint) {
        self.options = options
        let count: Int
        switch options.mode {
        case .open: count = options.shoppers ?? max(1_000, options.connections)
        case .closed(let pipeline): count = options.connections * pipeline
        }
        // Names that no run had before, so that it meets nothing of an earlier one.
        let now = Date().timeIntervalSince1970
        day = Int(now / 86_400)
        let milliseconds = UInt64(now * 1_000) % (1 << 40)
        let process = UInt64(ProcessInfo.processInfo.processIdentifier)
        let name = "m" + String(milliseconds, radix: 36) + String(process % 1_296, radix: 36)
        oracle = Oracle(
            World.Plan(name: name, size: options.size, seed: options.seed, customers: count),
            connections: options.connections)
        world = oracle.world
        links = (0..<options.connections).map { Link(index: $0, run: self, address: address) }
        let scenarios = Run.assign(options.scenarios, to: count, seed: options.seed)
        shoppers = (0..<count).map { index in
            Shopper(
                index: index, run: self, link: links[index % links.count], scenario: scenarios[index],
                seed: options.seed)
        }
        if options.isChaotic { chaos = Chaos(run: self, shoppers: count, seed: options.seed) }
    }

    /// Gives every shopper a scenario, in proportion to the weights.
    private static func assign(_ shares: [RunReport.Share], to count: Int, seed: UInt64) -> [any Scenario] {
        let sum = shares.reduce(0) { $0 + $1.weight }
        var owed = shares.map { _ in 0.0 }
        return (0..<count).map { _ in
            for index in shares.indices { owed[index] += shares[index].weight / sum }
            let next = owed.indices.max { owed[$0] < owed[$1] } ?? 0
            owed[next] -= 1
            return (Scenarios.named(shares[next].scenario) ?? MonkeyBusiness.self).init()
        }
    }

    // MARK: Phases

    func connect() async throws {
        afterPoll = LoopActor.afterPoll { [unowned self] in
            pace()
            flush()
        }
        for link in links { try await link.connect() }
    }

    /// Builds the outlets, and the carts that are to be filled before the load.
    ///
    /// - Throws: `CannotRun` if the server no longer answers, or the run was stopped.
    func prepare() async throws {
        for outlet in world.outlets {
            let owner = shoppers[outlet.owner]
            let promotion: [Call] = outlet.terms?.charges.promotion == nil ? [] : [.putPromotion(outlet.index)]
            let stock: [Call] =
                outlet.terms == nil
                ? []
                : [.stock(outlet: outlet.index, item: KitchenTerms.countedItem, count: KitchenTerms.portions)]
            owner.script =
                [.open(outlet: outlet.index)] + stock + [.putMenu(outlet.index)] + promotion + [
                    .putOutlet(outlet.index)
                ]
                + owner.script
        }
        try await runScripts(.preparing)
        if options.size.carts > 0 {
            for shopper in shoppers {
                let count = (options.size.carts + shoppers.count - 1 - shopper.index) / shoppers.count
                shopper.fillCarts(count)
            }
            try await runScripts(.preparing)
        }
    }

    private func runScripts(_ phase: Phase) async throws {
        self.phase = phase
        busyShoppers = shoppers.count { !$0.isIdle || $0.hasScript }
        guard busyShoppers > 0 else { return }
        for shopper in shoppers where shopper.isIdle && shopper.hasScript { shopper.goOn() }
        flush()
        var (answered, silence) = (recorder.answeredEver, 0)
        let watch = LoopTimer(milliseconds: 1_000, repeating: true) { [self] in
            silence = recorder.answeredEver == answered ? silence + 1 : 0
            answered = recorder.answeredEver
            if silence == Run.buildPatience { endPhase() }
        }
        defer { watch.cancel() }
        await LoopActor.wait(unless: { busyShoppers == 0 || isEnding }) { phaseEnded = $0 }
        guard !isEnding else {
            // What is removed then must not be registered afterwards.
            await awaitAnswers()
            throw CannotRun("the run was stopped before the load began")
        }
        guard busyShoppers == 0 else {
            throw CannotRun("the server answered nothing for \(Run.buildPatience) s while outlets were built")
        }
    }

    /// A shopper that had something to do has done it.
    func shopperIsDone(_ shopper: Shopper) {
        busyShoppers -= 1
        if busyShoppers == 0 { endPhase() }
    }

    private func endPhase() {
        phaseEnded?.resume()
        phaseEnded = nil
    }

    /// Whether a shopper takes part in a closed load.
    func isActive(_ shopper: Shopper) -> Bool { shopper.index < activeShoppers }

    /// Loads the server with this many shoppers for this long, each sending as soon as it is answered.
    func loadClosed(_ count: Int, seconds: Double) async {
        phase = .closed
        activeShoppers = count
        for shopper in shoppers.prefix(count) { shopper.goOn() }
        flush()
        await pause(seconds)
        activeShoppers = 0
    }

    /// What a short closed load reaches: answers per second.
    func probe() async -> Double {
        let before = recorder.answeredEver
        await loadClosed(links.count, seconds: Run.probeSeconds)
        let reached = Double(recorder.answeredEver - before) / Run.probeSeconds
        await drain()
        return reached
    }

    /// Loads the server according to a plan.
    func loadOpen(_ plan: LoadPlan) async {
        phase = .open
        (self.plan, nextSend, nextShopper) = (plan, 0, 0)
        // The alarm only wakes the loop: every turn ends with a check for what is due.
        alarm = try? Alarm {}
        await pause(plan.seconds)
        pace()
        alarm?.cancel()
        alarm = nil
        self.plan = nil
        recorder.planned = nextSend
        for shopper in shoppers { recorder.dropped += shopper.forgetPlans() }
    }

    /// Sends what has become due.
    private func pace() {
        guard let plan, phase == .open, !isEnding else { return }
        let now = LoopActor.now
        while let seconds = plan.time(of: nextSend) {
            let time = recorder.startedAt + UInt64(seconds * 1e9)
            guard time <= now else {
                if time != alarmTime { alarm?.set(to: time) }
                alarmTime = time
                break
            }
            nextSend += 1
            let shopper = shoppers[nextShopper]
            nextShopper = (nextShopper + 1) % shoppers.count
            if shopper.waiting < Run.waitingLimit / shoppers.count { shopper.plan(time) } else { recorder.dropped += 1 }
        }
    }

    private func pause(_ seconds: Double) async {
        let end = LoopTimer(milliseconds: UInt64(seconds * 1_000)) { [unowned self] in endPhase() }
        await LoopActor.wait(unless: { isEnding }) { phaseEnded = $0 }
        end.cancel()
    }

    /// Ends the load early.
    func end() {
        isEnding = true
        if phase == .open || phase == .closed || phase == .preparing { endPhase() }
    }

    /// Waits for what is in flight.
    func drain() async {
        isEnding = false
        phase = .settling
        busyShoppers = shoppers.count { !$0.isIdle }
        if busyShoppers > 0 { await pause(Run.drainSeconds) }
    }

    /// Reads orders until everything has happened to them that happens by itself soon, or should have.
    private func awaitDeadlines() async {
        let horizon = LoopActor.now + Run.foresight
        while !isAnythingUnanswered, LoopActor.now < horizon + 2 * OrderModel.patience {
            let waiting = oracle.waitingOrders(until: horizon)
            let now = LoopActor.now
            guard let first = waiting.map(\.deadline).min() else { return }
            if first > now {
                await LoopTimer.pause(milliseconds: (first - now) / 1_000_000 + Run.pauseBetweenReads)
            }
            for (index, order) in waiting.enumerated() {
                shoppers[index % shoppers.count].script.append(.order(order.order))
            }
            await finishScripts(within: Run.drainSeconds)
            await LoopTimer.pause(milliseconds: Run.pauseBetweenReads)
        }
    }

    /// Lets shoppers send what is left in their scripts.
    private func finishScripts(within seconds: Double) async {
        phase = .settling
        busyShoppers = shoppers.count { !$0.isIdle || $0.hasScript }
        for shopper in shoppers where shopper.isIdle && shopper.hasScript { shopper.goOn() }
        flush()
        if busyShoppers > 0 { await pause(seconds) }
    }

    /// All shoppers read their carts once more, and what they follow.
    func settle() async {
        await awaitDeadlines()
        let patience = shoppers.allSatisfy(\.isIdle) ? Run.drainSeconds : Run.lastSeconds
        for shopper in shoppers where shopper.isIdle && !shopper.customer.isBroken {
            shopper.script = [.cart(shopper.cart.id), .count(shopper.cart.id)]
        }
        // The look of every home whose changes were sent has to be known.
        for outlet in oracle.watchedOutlets where shoppers[world.outlets[outlet].owner].isIdle {
            shoppers[world.outlets[outlet].owner].script.insert(.home(outlet: outlet, since: nil, cart: nil), at: 0)
        }
        // On the connection that follows them.
        for (connection, order) in oracle.followedOrders where shoppers[connection].isIdle {
            shoppers[connection].script.append(.order(order))
        }
        for kitchen in world.kitchens where shoppers[kitchen.owner].isIdle {
            shoppers[kitchen.owner].script.append(.kitchen(outlet: kitchen.index))
        }
        for (index, name) in oracle.savedQuestions.sorted().enumerated() {
            shoppers[index % shoppers.count].script.insert(.drop(name: name), at: 0)
        }
        await finishScripts(within: patience)
        await awaitMessages()
    }

    /// Waits for the messages that lead to what was read.
    private func awaitMessages() async {
        await wait { oracle.hasChannelsBehind }
        observe(.messagesAwaited(at: LoopActor.now))
    }

    /// Waits for the answers to what was sent, while nothing more is.
    private func awaitAnswers() async { await wait { isAnythingUnanswered } }

    /// Waits while something is under way, but not for long.
    private func wait(while isUnderWay: () -> Bool) async {
        let deadline = LoopActor.now + Run.patience * 1_000_000
        while isUnderWay(), LoopActor.now < deadline { await LoopTimer.pause(milliseconds: Run.pauseBetweenLooks) }
    }

    /// Gives up what is still in flight.
    func giveUp() {
        for shopper in shoppers {
            guard let flight = shopper.flight else { continue }
            observe(.unanswered(customer: shopper.index, call: flight.call, write: flight.write))
        }
    }

    /// Whether something is in flight.
    var isAnythingUnanswered: Bool { shoppers.contains { !$0.isIdle } }

    func close() {
        phase = .over
        isEnding = true
        afterPoll?.cancel()
        for link in links { link.close() }
    }

    // MARK: Reports from shoppers and links

    func hasRequests(_ link: Link) { dirty.append(link) }

    private func flush() {
        guard !dirty.isEmpty else { return }
        let links = dirty
        dirty = []
        for link in links { link.flush() }
    }

    /// A command has been answered: it may have been the last of the load.
    func shopperIsAnswered() {
        if phase == .open || phase == .closed, let limit = options.commands, recorder.answered >= limit { endPhase() }
    }

    /// The outcome of a command is unknown: it is sent again in a moment.
    func sendAgainLater(_ shopper: Shopper) {
        _ = LoopTimer(milliseconds: Run.pauseBeforeAgain) { shopper.sendAgain() }
    }

    /// Tells the oracle what happened, and the record if there is one. Returns the verdict on an exchange.
    @discardableResult
    func observe(_ observation: Observation) -> Verdict {
        guard phase != .over else { return .accepted }
        record?.add(observation)
        return oracle.take(observation)
    }
}
