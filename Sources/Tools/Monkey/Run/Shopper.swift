internal import EventLoop
internal import LineClient
internal import LineProtocol
internal import LoadOracle
internal import SeededRandom

/// One user: does one thing after the other, with at most one command in flight.
///
/// So while a command is not answered, nothing else happens to what it is about, and it can be sent again with the
/// same `ID` until it is answered.
@LoopActor
final class Shopper: ReplyReceiver {
    /// What a reply's tag says about it.
    private enum Tag: Int {
        case answer, duplicate
    }

    /// A call in flight.
    struct Flight {
        let call: Call
        /// The number in its `ID`, for a write: the shopper's nth.
        let write: Int
        /// When it was to be sent, and when it was sent, in nanoseconds of the loop's clock.
        let planned: UInt64
        let sent: UInt64
        /// How often it has been sent.
        var attempts = 1
        /// The refusal of the first copy of a call that was sent twice.
        var refusedBefore: Reply?
    }

    let index: Int
    let world: World
    /// What the oracle knows about it.
    let customer: Customer
    unowned let run: Run
    private unowned let link: Link
    /// Random numbers that decide what it does.
    var chance: SeededGenerator
    private var scenario: any Scenario

    /// Calls to send before anything else, the first one last.
    var script: [Call] = []
    /// What it did last with the doors or the listing of one of its outlets.
    private var lastDoor: Call?
    private(set) var flight: Flight?
    /// When it was to send the commands that it has not come to yet.
    private var due = Ring<UInt64>()
    private var writes = 0
    /// How many commands were about its cart.
    private(set) var commandsOfCart = 0
    /// Whether the command in flight was sent twice.
    private var isTwice = false
    /// The first reply to a command that was sent twice, until the second comes, and when it came.
    private var firstAnswer: (reply: Reply, time: UInt64)?

    init(index: Int, run: Run, link: Link, scenario: any Scenario, seed: UInt64) {
        self.index = index
        self.run = run
        self.link = link
        self.scenario = scenario
        world = run.world
        customer = run.oracle.customers[index]
        chance = SeededGenerator(seed: seed, of: index)
    }

    var cart: CartModel { customer.cart }
    var isIdle: Bool { flight == nil }
    var waiting: Int { due.count }
    var hasScript: Bool { !script.isEmpty || cartsToFill > 0 }
    private var cartsToFill = 0

    /// One of the outlets that only it changes, and no kitchen; nil if it has none.
    func ownOutlet() -> Outlet? {
        let own = (world.shopCount - index + run.shoppers.count - 1) / run.shoppers.count
        return own > 0 ? world.outlets[index + chance.below(own) * run.shoppers.count] : nil
    }

    /// What opens or shows the outlet that it has closed or hidden.
    var reopening: Call? {
        switch lastDoor {
        case .close(let outlet): .open(outlet: outlet)
        case .hide(let outlet): .show(outlet: outlet)
        default: nil
        }
    }

    /// Leaves its cart for a new one.
    func takeNewCart() {
        run.observe(.newCart(customer: index))
        commandsOfCart = 0
    }

    /// Puts something into this many carts, one after the other.
    func fillCarts(_ count: Int) { cartsToFill = count }

    // MARK: Sending

    /// Something is to be done at that time, or as soon as possible after it.
    func plan(_ time: UInt64) {
        if isIdle { send(next(), planned: time, isDelayed: true) } else { due.append(time) }
    }

    /// Drops whatever was still to be done, and returns how much that was.
    func forgetPlans() -> Int {
        defer { due = Ring() }
        return due.count
    }

    /// Looks for something to do.
    func goOn() {
        guard isIdle, !run.isEnding else { return }
        if let call = script.popLast() {
            send(call, planned: LoopActor.now)
        } else if cartsToFill > 0 {
            cartsToFill -= 1
            if cart.version > 0 { takeNewCart() }
            send(CartMoves.add(self, outlet: world.pickOutlet(&chance)), planned: LoopActor.now)
        } else {
            switch run.phase {
            case .preparing, .settling, .over: run.shopperIsDone(self)
            case .closed: if run.isActive(self) { send(next(), planned: LoopActor.now) }
            case .open: if let time = due.popFirst() { send(next(), planned: time) }
            }
        }
    }

    private func next() -> Call {
        if customer.isBroken { takeNewCart() }
        return nextOfScenario()
    }

    /// The scenario's next call.
    func nextOfScenario() -> Call { scenario.next(self) }

    private func send(_ call: Call, planned: UInt64, isDelayed: Bool = false) {
        let now = LoopActor.now
        if call.kind.isWrite { writes += 1 }
        if run.oracle.isChange(call) { run.observe(.changeSent(call)) }
        if case .step = call { run.observe(.stepSent(customer: index, call: call, at: now)) }
        commandsOfCart += 1
        let flight = Flight(call: call, write: call.kind.isWrite ? writes : 0, planned: planned, sent: now)
        self.flight = flight
        run.recorder.sent(flight, isOwnDelay: isDelayed)
        transmit(flight)
    }

    private func transmit(_ flight: Flight) {
        guard link.isReady else { return link.waitToSend(self) }
        let call = flight.call
        var words = call.words(world)
        if flight.write > 0 { words += ["ID", "\(index)-\(flight.write)"] }
        isTwice = false
        let fault = flight.attempts == 1 ? run.chaos?.next(for: self, call) : nil
        link.send(self, tag: Tag.answer.rawValue, isFollowedByPing: call.isAnsweredByMessage) {
            $0.write(words)
            if call.isAnsweredByMessage { $0.write(["PING"]) }
        }
        switch fault {
        case .duplicate:
            isTwice = true
            link.send(self, tag: Tag.duplicate.rawValue, isFollowedByPing: false) { $0.write(words) }
        case let fault?: link.make(fault)
        case nil: break
        }
    }

    /// There is a connection again.
    func sendAgain() {
        guard var flight else { return }
        flight.attempts += 1
        self.flight = flight
        transmit(flight)
    }

    // MARK: Receiving

    func lost(tag: Int) {
        if tag == Tag.duplicate.rawValue {
            // It may have been done after it was refused, so only what was done the first time is certain.
            guard isTwice, let flight, let first = firstAnswer else { return }
            (isTwice, firstAnswer) = (false, nil)
            if case .error = first.reply { return wait() }
            return conclude(flight, first.reply, isSure: flight.attempts == 1, at: first.time)
        }
        (isTwice, firstAnswer) = (false, nil)
        wait()
    }

    /// Sends again when there is a connection.
    private func wait() {
        run.recorder.unanswered()
        link.waitToSend(self)
    }

    func received(_ reply: Reply, tag: Int) {
        guard var flight else { return }
        let now = LoopActor.now
        // A call that was sent before may have been executed then, whatever happens to it now.
        guard isTwice else { return conclude(flight, reply, isSure: flight.attempts == 1, at: now) }
        guard let first = firstAnswer else { return firstAnswer = (reply, now) }
        (isTwice, firstAnswer) = (false, nil)
        guard case .error = first.reply else {
            return conclude(flight, first.reply, repeated: reply, isSure: true, at: first.time)
        }
        flight.refusedBefore = first.reply
        self.flight = flight
        conclude(flight, reply, isSure: false, at: first.time)
    }

    /// The command has been answered: it is judged, and the next one is sent; or it is sent again in a moment, if its
    /// outcome is not known yet.
    ///
    /// - Parameter isSure: whether to trust a reply that says that nothing was executed.
    private func conclude(_ flight: Flight, _ reply: Reply, repeated: Reply? = nil, isSure: Bool, at time: UInt64) {
        if case .error(let code, _) = reply, let verdict = Verdict(inability: code),
            verdict == .unsettled || run.phase == .preparing || flight.write > 0 && !isSure
        {
            run.recorder.unanswered()
            return run.sendAgainLater(self)
        }
        let verdict = run.observe(
            .exchange(
                LoadOracle.Exchange(
                    customer: index, call: flight.call, write: flight.write, planned: flight.planned,
                    sent: flight.sent, attempts: flight.attempts, answered: time, reply: reply,
                    refusedBefore: flight.refusedBefore, repeated: repeated)))
        run.recorder.answered(flight, verdict, at: time)
        run.shopperIsAnswered()
        self.flight = nil
        if [.outletOpen, .outletClose, .outletHide, .outletShow].contains(flight.call.kind) {
            if case .failed = verdict {} else { lastDoor = flight.call }
        }
        if customer.isBroken { script.removeAll { [.cartGet, .cartCount].contains($0.kind) } }
        goOn()
    }
}
