package import Application
internal import CommandHandling
package import EventLog
internal import EventLoop
package import Fleet
internal import Projections
internal import TextFormats

// Several servers on one log: each partition is decided by one of them, and a call goes there.
extension Server {
    /// Serves as one of several from now on.
    package func join(_ member: FleetMember) async {
        self.member = member
        for worker in partitions.workers { worker.member = member }
        member.onChange = { [unowned self] in shareOut() }
        await member.join()
        if early != nil, member.hasOthers {
            await LoopTimer.pause(milliseconds: FleetMember.knownMilliseconds)
            await catchUp()
        }
        let kept = early ?? []
        early = nil
        for run in kept { run() }
    }

    /// Leaves its partitions to others.
    package func leave() async { await member?.leave() }

    /// Says which partitions this server keeps.
    private func shareOut() {
        var hasChanged = false
        for (partition, worker) in partitions.workers.enumerated() {
            let isKept = keeps(partition)
            if !isKept, !topics.listensToCarts(of: partition) { worker.passOverCarts() }
            guard worker.keeper.isOwner != isKept else { continue }
            worker.keeper.isOwner = isKept
            hasChanged = true
        }
        guard hasChanged else { return }
        deadlines.load()
        processes.load()
    }

    /// Whether this server does what has to be done once for a partition: the deadlines of its orders, its checkpoints
    /// and its index.
    func keeps(_ partition: Int) -> Bool { member?.keeps(partition) ?? !configuration.isFollower }

    /// The server that decides a call, and the stream that it is about; nil where this one does, or any can.
    package func decider(of call: borrowing Call) -> (server: FleetServer, subject: StreamName)? {
        guard let member, member.hasOthers, let subject = call.subject,
            let owner = member.owner(of: partitioning.partition(of: subject))
        else { return nil }
        return (owner, subject)
    }

    /// Runs a command where it is decided. Its answer is there at once, or promised.
    ///
    /// - Parameter call: a call of this command.
    package func run(_ command: Command, _ call: borrowing Call) throws(Failure) -> Response {
        // A recall asks for what another call did, and what the server asks itself is part of one.
        guard let tracer, call.client != 0, !call.isRecall, let trace = try call.trace, trace.isSampled else {
            return try runUntraced(command, call)
        }
        let span = tracer.begin(command.declaration.name, of: trace, about: call.subject)
        do throws(Failure) {
            return try runUntraced(command, call).observed { tracer.end(span, $0) }
        } catch {
            tracer.end(span, .failure(error))
            throw error
        }
    }

    private func runUntraced(_ command: Command, _ call: borrowing Call) throws(Failure) -> Response {
        if early != nil { return keep(ForwardedCall(call, at: 0)) { [self] in make($0, of: command, runUntraced) } }
        // Most servers are alone: then what the call is about is read only by whoever decides it.
        let now = LoopActor.now
        guard let certainty, !certainty.isAlone(at: now) else { return try decide(command, call) }
        if certainty.isBehind(at: now), call.subject != nil, let member {
            return hold(ForwardedCall(call, at: 0), until: member) { [self] in make($0, of: command, runKnowing) }
        }
        return try runKnowing(command, call)
    }

    /// The same, as far as this server can know who decides it.
    private func runKnowing(_ command: Command, _ call: borrowing Call) throws(Failure) -> Response {
        guard let member, !member.isAlone, let subject = call.subject else { return try decide(command, call) }
        let partition = partitioning.partition(of: subject)
        let position = partitions[partition].position
        guard let owner = member.owner(of: partition) else {
            return member.isSettled(partition)
                ? try decide(command, call)
                : decideCaughtUp(command, ForwardedCall(call, at: position), about: subject)
        }
        let promise = Promise(about: subject.category)
        let (forwarded, isUnrepeatable) = (ForwardedCall(call, at: position), call.isUnrepeatable)
        member.forward(forwarded, to: owner) { [self] outcome in
            switch outcome {
            case .answered(let result):
                guard command.isSeenEverywhere(result) else { return promise.end(result) }
                // What its client asks this server next shows what it has done.
                partitions[partition].whenCaughtUp { _ in promise.end(result) }
            case .lost where isUnrepeatable: promise.fail(.unknown("the server that was to decide it ended"))
            case .lost, .notSent:
                // What was carried out already is found by its id.
                decideCaughtUp(command, forwarded, about: subject).whenKnown { result in
                    if case .lost = outcome, command.isWrite, case .failure = result {
                        // It may have been carried out, or may be yet: what was on its way still arrives there.
                        promise.fail(.unknown("the server that was to decide it ended"))
                    } else {
                        promise.end(result)
                    }
                }
            }
        }
        return .promise(promise)
    }

    /// Decides a call of another server's client. It is never forwarded on: whoever is wrong about who decides, the log
    /// is not.
    ///
    /// - Parameter position: up to where the other server knows the partition.
    package func receive(
        _ command: Command, _ call: borrowing Call, at position: Int64
    ) throws(Failure) -> Response {
        if early != nil {
            return keep(ForwardedCall(call, at: position)) { [self] in receive($0, of: command) }
        }
        if let member, member.isBehind, call.subject != nil {
            return hold(ForwardedCall(call, at: position), until: member) { [self] in
                make($0, of: command) { command, made throws(Failure) in
                    try receiveKnowing(command, made, at: position)
                }
            }
        }
        return try receiveKnowing(command, call, at: position)
    }

    private func receiveKnowing(
        _ command: Command, _ call: borrowing Call, at position: Int64
    ) throws(Failure) -> Response {
        member?.receivedCount += 1
        guard call.rights.contains(command.declaration.right) else { throw .noPermission }
        guard let member, let subject = call.subject else { return try decide(command, call) }
        let partition = partitioning.partition(of: subject)
        // The other server may have decided something itself that this one has not read yet.
        let knowsAll = member.isSettled(partition) && partitions[partition].position >= position
        return knowsAll
            ? try decide(command, call) : decideCaughtUp(command, ForwardedCall(call, at: position), about: subject)
    }

    /// The same, of a call that was kept.
    package func receive(_ call: ForwardedCall, of command: Command) -> Response {
        make(call, of: command) { command, made throws(Failure) in
            try receive(command, made, at: call.origin.position)
        }
    }

    /// Makes a call again that was kept, and runs it.
    private func make(
        _ call: ForwardedCall, of command: Command, _ run: (Command, borrowing Call) throws(Failure) -> Response
    ) -> Response {
        do throws(Failure) {
            return try call.withCall(of: command.declaration) { made throws(Failure) in try run(command, made) }
        } catch {
            return .failure(error)
        }
    }

    /// Whether the log has a partition of that number.
    package func hasPartition(_ partition: Int) -> Bool { partitions.workers.indices.contains(partition) }

    /// Calls a body once a partition has been read up to a position, or after a second: another server says that there
    /// is something to be read.
    package func read(_ partition: Int, upTo position: Int64, _ body: @escaping @LoopActor () -> Void) {
        partitions[partition].whenRead(upTo: position, body)
    }

    /// What a call answers once every server has read what it changed. An outlet or a menu is browsed everywhere, and
    /// carts are filled from it at any server.
    func readEverywhere(_ response: Response, to command: Command, _ call: borrowing Call) -> Response {
        guard let member, member.hasOthers, case .write(let category) = command.declaration.effect,
            [.outlet, .menu, .supply, .promotions].contains(category), !command.isOfServers, let subject = call.subject,
            case .promise(let promise) = response
        else { return response }
        let (partition, answer) = (partitioning.partition(of: subject), Promise(about: promise.category))
        promise.whenKnown { [self] result in
            guard case .success = result else { return answer.end(result) }
            member.announcements.announce(partition, at: partitions[partition].position) { answer.end(result) }
        }
        return .promise(answer)
    }

    /// Decides a call once everything is known that others have written to its partition.
    private func decideCaughtUp(_ command: Command, _ call: ForwardedCall, about subject: StreamName) -> Response {
        let promise = Promise(about: subject.category, isHolding: true)
        partitions[subject].whenCaughtUp { [self] isCaughtUp in
            make(call, of: command, decide).whenKnown { result in
                // What was refused by what is known here may be allowed by what others have written.
                guard !isCaughtUp, command.isWrite, case .failure(let failure) = result, failure.isRejection
                else { return promise.end(result) }
                promise.fail(.unavailable("the log could not be read"))
            }
        }
        return .promise(promise)
    }

    // MARK: Before it is one of several

    /// Has calls wait until this server knows who decides them, and what was decided before the others knew of it.
    package func awaitFleet() { early = [] }

    /// Reads all partitions to their ends.
    private func catchUp() async {
        for head in (try? await log.heads(of: 0..<partitioning.count)) ?? [] {
            await withCheckedContinuation { continuation in
                partitions[head.partition].whenRead(upTo: head.position) { continuation.resume() }
            }
        }
    }

    /// Holds a call until this server, which seems to have stood still, knows again who decides it.
    private func hold(
        _ call: ForwardedCall, until member: FleetMember, _ run: @escaping @LoopActor (ForwardedCall) -> Response
    ) -> Response {
        let promise = Promise(about: .order, isHolding: true)
        member.afterRenewal { run(call).whenKnown { promise.end($0) } }
        return .promise(promise)
    }

    /// Keeps a call until then.
    private func keep(_ call: ForwardedCall, _ run: @escaping @LoopActor (ForwardedCall) -> Response) -> Response {
        let promise = Promise(about: .order, isHolding: true)
        early?.append { run(call).whenKnown { promise.end($0) } }
        return .promise(promise)
    }
}

extension Failure {
    /// Whether a decider said no.
    fileprivate var isRejection: Bool { if case .rejected = code { true } else { false } }

    fileprivate static let noPermission = Failure(.noPermission, "this user has no permission for this command")
}

extension Command {
    fileprivate var isWrite: Bool { if case .write = declaration.effect { true } else { false } }

    /// Whether a call of it has changed something that every server answers: an outlet, a menu, or an order, which a
    /// cart becomes.
    fileprivate func isSeenEverywhere(_ result: Result<Answer, Failure>) -> Bool {
        guard case .write(let category) = declaration.effect, !isOfServers, case .success(let answer) = result
        else { return false }
        if category == .cart, case .text = answer { return true }
        return category != .cart
    }
}
