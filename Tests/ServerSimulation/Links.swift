import Application
import EventLoop
import Fleet
import SeededRandom
import Serving

/// The connections of one server process to others, over a network that fails. They keep the order and the times of the
/// real ones, and carry calls and answers as they are, without their bytes.
@LoopActor
final class SimulatedLinks: PeerLinks {
    private let world: World
    private var links: [SimulatedLink] = []
    private var timer: LoopTimer?
    var onLost: @LoopActor (FleetServer) -> Void = { _ in }
    var onReached: @LoopActor (FleetServer) -> Void = { _ in }

    init(_ world: World) {
        self.world = world
        timer = LoopTimer(milliseconds: 500, repeating: true) { [weak self] in
            for link in self?.links ?? [] { link.endIfSilent() }
        }
    }

    func send(
        _ call: ForwardedCall, to server: FleetServer, completion: @escaping @LoopActor (ForwardedOutcome) -> Void
    ) {
        link(to: server).send(.call(call), completion)
    }

    func announce(
        _ partition: Int, at position: Int64, to server: FleetServer, completion: @escaping @LoopActor () -> Void
    ) {
        link(to: server).send(.announcement(partition, position)) { _ in completion() }
    }

    private func link(to server: FleetServer) -> SimulatedLink {
        if let link = links.first(where: { $0.server.id == server.id }) { return link }
        let link = SimulatedLink(to: server, world)
        links.append(link)
        link.onOpen = { [weak self] in self?.onReached(server) }
        link.start { [weak self, unowned link] in
            guard let self, links.contains(where: { $0 === link }) else { return }
            links.removeAll { $0 === link }
            onLost(server)
        }
        return link
    }

    func reach(_ servers: [FleetServer]) {
        for server in servers { _ = link(to: server) }
        for link in links where link.isIdle && !servers.contains(where: { $0.id == link.server.id }) { link.end() }
    }

    func flush() { for link in links { link.flush() } }

    func close() {
        timer?.cancel()
        timer = nil
        for link in links { link.end() }
    }

    // MARK: What befalls them

    /// The process is gone: others notice it at once, or late.
    func crash() {
        for link in links { link.cut(noticedAfter: 0, thereAfter: world.delayOfNotice()) }
        close()
    }

    /// The process at the other end is gone.
    func lost(_ server: ServerID) {
        for link in links where link.server.id == server {
            link.cut(noticedAfter: world.delayOfNotice(), thereAfter: 0)
        }
    }

    /// The connections are lost; each end notices it at once, late, or by its own patience.
    func lose() {
        for link in links {
            link.cut(noticedAfter: world.delayOfNotice(), thereAfter: world.delayOfNotice() ?? 4_000_000_000)
        }
    }
}

/// What one server process sends another.
enum PeerMessage {
    case call(ForwardedCall)
    case announcement(_ partition: Int, _ position: Int64)
}

/// The connection to one server process.
@LoopActor
final class SimulatedLink {
    private static let patience: UInt64 = 3_000_000_000
    private static let openingTime: UInt64 = 2_000_000_000

    private enum Phase {
        case opening, open, ended
    }

    let server: FleetServer
    private let world: World
    private var phase = Phase.opening
    var onOpen: @LoopActor () -> Void = {}
    private var onEnd: @LoopActor () -> Void = {}
    private var far: PeerSession?
    /// Whether nothing that is sent from now on arrives, either way.
    private var isCut = false
    private var nextNumber = 1
    private var unsent: [(number: Int, message: PeerMessage)] = []
    private var calls: [(number: Int, completion: @LoopActor (ForwardedOutcome) -> Void)] = []
    private var heardAt: UInt64
    /// When the last message arrives, each way: they do not overtake each other.
    private var (lastArrival, lastAnswer): (UInt64, UInt64) = (0, 0)

    init(to server: FleetServer, _ world: World) {
        self.server = server
        self.world = world
        heardAt = world.now
    }

    /// Connects. A process that is not there is found out at once, or nobody says anything.
    func start(onEnd: @escaping @LoopActor () -> Void) {
        self.onEnd = onEnd
        // A handshake, and two questions.
        let delay = world.latency() + world.latency() + world.latency()
        world.after(min(delay, SimulatedLink.openingTime)) { [self] in
            guard phase == .opening else { return }
            let process = world.servers.first { $0.id == server.id && $0.isServingPeers }
            guard !isCut, !world.isSplit, delay < SimulatedLink.openingTime, let process else {
                let isSilent = isCut || world.isSplit || world.chance.chance(20)
                return world.after(isSilent ? SimulatedLink.openingTime : 0) { self.end() }
            }
            far = process.adopt { [weak self] number, result in self?.answer(number, result) }
            phase = .open
            onOpen()
            heardAt = world.now
            flush()
        }
    }

    var isIdle: Bool { calls.isEmpty }

    func send(_ message: PeerMessage, _ completion: @escaping @LoopActor (ForwardedOutcome) -> Void) {
        guard phase != .ended else { return completion(.notSent) }
        if calls.isEmpty { heardAt = world.now }
        calls.append((nextNumber, completion))
        unsent.append((nextNumber, message))
        nextNumber += 1
    }

    func flush() {
        guard phase == .open, let far else { return }
        let sent = unsent
        unsent = []
        for (number, message) in sent where !isCut {
            lastArrival = max(lastArrival + 1, world.now + world.latency())
            if case .call(let call) = message {
                world.note("\(server.id.text.prefix(4)) is to decide \(call.shown)")
            }
            world.after(lastArrival - world.now) { far.take(number, message) }
        }
    }

    /// An answer leaves the other end.
    private func answer(_ number: Int, _ result: Result<Answer, Failure>) {
        guard !isCut else { return }
        lastAnswer = max(lastAnswer + 1, world.now + world.latency())
        world.after(lastAnswer - world.now) { [self] in
            guard phase == .open, !isCut, let index = calls.firstIndex(where: { $0.number == number }) else { return }
            heardAt = world.now
            calls.remove(at: index).completion(.answered(result))
        }
    }

    func endIfSilent() {
        guard phase == .open else { return }
        // The other end says once a second that it is there, while it has something to answer.
        if !isCut, let far, far.openCount > 0 { heardAt = world.now }
        if !calls.isEmpty, world.now - heardAt > SimulatedLink.patience { end() }
    }

    /// Nothing arrives any more but what is on its way there, until the other end notices.
    ///
    /// - Parameters:
    ///   - time: when this end notices, in nanoseconds; nil for not before its patience ends.
    ///   - other: when the other end notices.
    func cut(noticedAfter time: UInt64?, thereAfter other: UInt64?) {
        isCut = true
        world.note("a connection to \(server.id.text.prefix(4)) is lost")
        if let far, let other { world.after(other) { far.end() } }
        if let time { world.after(time) { self.end() } }
    }

    func end() {
        guard phase != .ended else { return }
        let outcome = phase == .open ? ForwardedOutcome.lost : .notSent
        phase = .ended
        onEnd()
        if let far, !isCut {
            // What was sent before arrives before.
            let arrival = max(lastArrival + 1, world.now + world.latency())
            world.after(arrival - world.now) { far.end() }
        }
        let waiting = calls
        if !waiting.isEmpty { world.note("\(waiting.count) calls of \(server.id.text.prefix(4)) are \(outcome)") }
        (calls, unsent) = ([], [])
        for (_, completion) in waiting { completion(outcome) }
    }
}

/// The other end: carries out the calls of another server's clients. Those of one client wait for one that is not
/// decided yet; the others do not.
@LoopActor
final class PeerSession {
    private static let commands = Dictionary(
        (Command.all + Command.ofServers).map { ($0.declaration.name, $0) },
        uniquingKeysWith: { first, _ in first })

    private weak var service: Serving.Server?
    private let answer: @LoopActor (Int, Result<Answer, Failure>) -> Void
    private var hasEnded = false
    private(set) var openCount = 0
    private var held: [Int64: [(number: Int, call: ForwardedCall)]] = [:]

    init(_ service: Serving.Server, answer: @escaping @LoopActor (Int, Result<Answer, Failure>) -> Void) {
        self.service = service
        self.answer = answer
    }

    func end() { hasEnded = true }

    func take(_ number: Int, _ message: PeerMessage) {
        guard !hasEnded else { return }
        openCount += 1
        switch message {
        case .call(let call): take(number, call)
        case .announcement(let partition, let position):
            guard let service else { return }
            service.read(partition, upTo: position) { [self] in
                openCount -= 1
                if !hasEnded { answer(number, .success(.null)) }
            }
        }
    }

    private func take(_ number: Int, _ call: ForwardedCall) {
        if held[call.origin.client] == nil {
            run(number, call)
        } else {
            held[call.origin.client]?.append((number, call))
        }
    }

    private func run(_ number: Int, _ call: ForwardedCall) {
        let name = String(decoding: call.words[0], as: UTF8.self).uppercased()
        guard let service, let command = PeerSession.commands[name] else { return }
        let response = service.receive(call, of: command)
        var isHolding = false
        if case .promise(let promise) = response { isHolding = promise.isHolding }
        if isHolding { held[call.origin.client] = held[call.origin.client] ?? [] }
        response.whenKnown { [self, isHolding] result in
            openCount -= 1
            if !hasEnded { answer(number, result) }
            // Not here: the processor may be in the middle of its work.
            if isHolding { LoopActor.task { self.goOn(call.origin.client) } }
        }
    }

    /// Carries out what has waited, up to the next one that holds.
    private func goOn(_ client: Int64) {
        let waiting = held.removeValue(forKey: client) ?? []
        for (index, next) in waiting.enumerated() {
            run(next.number, next.call)
            if held[client] != nil {
                held[client]? += waiting[(index + 1)...]
                return
            }
        }
    }
}

extension ForwardedCall {
    /// The call in a trace.
    fileprivate var shown: String { words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ") }
}
