internal import EventLoop
internal import LineClient
internal import LineProtocol
internal import SeededRandom

/// One user: does one thing after the other, and has at most one command on its way.
///
/// So whatever becomes of a command that was not answered, nothing else has happened to what it is about, and it can
/// be sent again with the same `ID` until it is answered.
@LoopActor
final class Shopper: ReplyReceiver {
    /// What a reply's tag says of it.
    private enum Tag: Int {
        case answer, duplicate
    }

    let index: Int
    let world: World
    unowned let run: Run
    private(set) unowned var link: Link
    /// What it does.
    var chance: SeededGenerator
    private var scenario: any Scenario

    /// Its present cart.
    private(set) var cart: CartModel
    /// The cart of its last order.
    var lastOrder: CartModel?
    /// The home it has in hand, and asks news of.
    var held: (outlet: Int, revision: Int64)?
    /// What it does before anything else, last first.
    var script: [Call] = []
    /// What it did last with the doors of one of its outlets.
    private var lastDoor: Call?
    private(set) var flight: Flight?
    /// When it was to send what it has not come to yet.
    private var due = Ring<UInt64>()
    let writes = WriteLedger()
    private var history = History()
    /// The command on its way was sent twice.
    private var isTwice = false
    /// The first answer to a command that was sent twice, until the second comes, and when it came.
    private var firstAnswer: (reply: Reply, time: UInt64)?
    /// What is known of its cart is worth nothing any more: the server was caught at a mistake.
    private(set) var isBroken = false

    init(index: Int, run: Run, link: Link, scenario: any Scenario, seed: UInt64) {
        self.index = index
        self.run = run
        self.link = link
        self.scenario = scenario
        world = run.world
        chance = SeededGenerator(seed: seed, of: index)
        cart = CartModel(CartID(shopper: index, number: 0))
    }

    var isIdle: Bool { flight == nil }
    var waiting: Int { due.count }
    var hasScript: Bool { !script.isEmpty || cartsToFill > 0 }
    private var cartsToFill = 0

    /// One of the outlets that only it changes; nil where it has none.
    func ownOutlet() -> Outlet? {
        let own = (world.outlets.count - index + run.shoppers.count - 1) / run.shoppers.count
        return own > 0 ? world.outlets[index + chance.below(own) * run.shoppers.count] : nil
    }

    /// The outlet that it has closed, and is to open again.
    var closedOutlet: Outlet? {
        guard case .close(let index)? = lastDoor else { return nil }
        return world.outlets[index]
    }

    /// Leaves its cart for a new one.
    func takeNewCart() {
        if !isBroken { run.retire(cart) }
        cart = CartModel(CartID(shopper: index, number: cart.id.number + 1))
        history.removeAll()
    }

    /// Puts something into so many carts, one after the other.
    func fillCarts(_ count: Int) { cartsToFill = count }

    // MARK: Sending

    /// Something is to be done at that time, or as soon after as it can be.
    func plan(_ time: UInt64) {
        if isIdle { send(next(), planned: time, isDelayed: true) } else { due.append(time) }
    }

    /// Whatever was still to be done is not done any more.
    func forgetPlans() -> Int {
        defer { due = Ring() }
        return due.count
    }

    /// Looks for something to do, if there is.
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
        if isBroken {
            takeNewCart()
            isBroken = false
        }
        return scenario.next(self)
    }

    private func send(_ call: Call, planned: UInt64, isDelayed: Bool = false) {
        let now = LoopActor.now
        let write = call.kind.isWrite ? writes.begin() : 0
        let floor = (call.outlet.map { world.outlets[$0] } ?? cart.outlet)?.settledCount ?? 0
        if let outlet = call.outlet, let change = Oracle.change(call, world) { world.outlets[outlet].begin(change) }
        cart.commands += 1
        let flight = Flight(call: call, write: write, planned: planned, sent: now, floor: floor)
        self.flight = flight
        run.recorder.sent(flight, isOwnDelay: isDelayed)
        transmit(flight)
    }

    private func transmit(_ flight: Flight) {
        guard link.isReady else { return link.waitToSend(self) }
        let call = flight.call
        let id = flight.write > 0 ? "\(index)-\(flight.write)" : ""
        isTwice = false
        let fault = flight.attempts == 1 ? run.chaos?.next(for: self, call) : nil
        link.send(self, tag: Tag.answer.rawValue, isFollowedByPing: call.isAnsweredBeside) {
            call.write(to: &$0, world, id: id)
        }
        switch fault {
        case .duplicate:
            isTwice = true
            link.send(self, tag: Tag.duplicate.rawValue, isFollowedByPing: false) {
                call.write(to: &$0, world, id: id)
            }
        case let fault?: link.make(fault)
        case nil: break
        }
    }

    /// The connection is there again.
    func sendAgain() {
        guard var flight else { return }
        flight.attempts += 1
        self.flight = flight
        transmit(flight)
    }

    // MARK: Receiving

    func lost(tag: Int) {
        if tag == Tag.duplicate.rawValue {
            // It may have been done after it was refused, so only what was done the first time is sure.
            guard isTwice, let flight, let first = firstAnswer else { return }
            (isTwice, firstAnswer) = (false, nil)
            if case .error = first.reply { return wait() }
            return conclude(flight, first.reply, at: first.time)
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
        guard let flight else { return }
        let now = LoopActor.now
        guard isTwice else { return conclude(flight, reply, at: now) }
        guard let first = firstAnswer else { return firstAnswer = (reply, now) }
        (isTwice, firstAnswer) = (false, nil)
        conclude(flight, first.reply, at: first.time, andThen: reply)
    }

    /// The command has been answered: it is judged, and the next one sent.
    private func conclude(_ flight: Flight, _ reply: Reply, at time: UInt64) {
        // Where it was sent before, that may have been executed, whatever becomes of it now.
        let isSure = flight.attempts == 1
        if judge(flight, reply, isSure: isSure, at: time) { goOn() }
    }

    /// The same command was sent twice, one right after the other.
    private func conclude(_ flight: Flight, _ first: Reply, at time: UInt64, andThen second: Reply) {
        guard case .error(let code, _) = first else {
            guard judge(flight, first, isSure: true, at: time) else { return }
            if case .error(let code, _) = second, Oracle.inability(code) != nil { return goOn() }
            run.oracle.count(.duplicate)
            if second != first {
                violated(
                    Violation(
                        .duplicate,
                        "a command sent twice with one ID was answered \(first.summary) and then \(second.summary)"))
            }
            return goOn()
        }
        // What was refused is not remembered: it is decided anew, and an owner may have changed something since. So
        // the second answer is the one that counts, and the first one has to be possible.
        if Oracle.inability(code) == nil {
            do throws(Violation) {
                _ = try run.oracle.judge(flight, first, of: self)
            } catch {
                violated(error)
            }
        }
        if judge(flight, second, isSure: false, at: time) { goOn() }
    }

    /// Judges an answer. Returns whether the command is settled: if not, it is sent again in a moment.
    ///
    /// - Parameter isSure: whether nothing has been executed where this answer says that nothing was.
    private func judge(_ flight: Flight, _ reply: Reply, isSure: Bool, at time: UInt64) -> Bool {
        if case .error(let code, _) = reply, case .failed? = Oracle.inability(code),
            run.phase == .preparing || flight.write > 0 && !isSure
        {
            sendAgainLater()
            return false
        }
        do throws(Violation) {
            let verdict = try run.oracle.judge(flight, reply, of: self)
            if verdict == .unsettled {
                sendAgainLater()
                return false
            }
            note(flight, reply, verdict)
            run.recorder.answered(flight, verdict, at: time)
        } catch {
            history.append(flight.call, reply)
            writes.settle(flight, reply, .unsure)
            run.recorder.answered(flight, .accepted, at: time)
            violated(error)
        }
        self.flight = nil
        return true
    }

    private func sendAgainLater() {
        run.recorder.unanswered()
        run.sendAgainLater(self)
    }

    private func violated(_ violation: Violation) {
        run.violated(violation, history.lines(world))
        isBroken = true
        script.removeAll { [.cartGet, .cartCount].contains($0.kind) }
        history.removeAll()
    }

    private func note(_ flight: Flight, _ reply: Reply, _ verdict: Verdict) {
        if [.outletOpen, .outletClose].contains(flight.call.kind) {
            if case .failed = verdict {} else { lastDoor = flight.call }
        }
        switch verdict {
        case .accepted: writes.settle(flight, reply, .recorded)
        case .unchanged, .refused, .failed: writes.settle(flight, reply, .nothing)
        case .unsettled: break
        }
        switch flight.call {
        case .cart:
            history.confirm(flight.call, reply)
            if let bytes = reply.bytes { link.readCart(bytes, world.cartName(cart.id), version: cart.version) }
        case .add, .set, .remove, .clear, .checkOut: history.append(flight.call, reply)
        default: break
        }
    }
}

extension Reply {
    /// The bytes of a bulk string.
    var bytes: [UInt8]? { if case .bulk(let bytes) = self { bytes } else { nil } }
}
