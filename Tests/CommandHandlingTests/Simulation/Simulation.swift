import CommandHandling
import Domain
import EventLog
import Projections
import SeededRandom
import Testing

/// Clients of several server processes on one log behind a network that fails. Each step is drawn from a seed.
///
/// Each server drives the production `AppendPipeline`; only the code that carries out its actions differs.
final class Simulation {
    static let processCount = 3
    static let steps = 160
    /// Far more than any run needs to settle.
    private static let maximumSteps = 20_000

    private final class Server {
        let processor: CommandProcessor
        let follower: LogFollower
        let pipeline: AppendPipeline
        let connection: SimulatedNetwork.Connection
        let box: Box
        var isDead = false
        var isForked: Bool { box.isForked }
        /// Calls that it has not answered.
        var calls: [Call] = []

        final class Box {
            var model = ReadModel(partition: 0)
            var isForked = false
        }

        init(_ network: SimulatedNetwork, limits: CommandProcessor.Limits, flights: Int) {
            let box = Box()
            self.box = box
            processor = CommandProcessor(partition: 0, limits: limits) { box.model.mayExist($0) && !network.lies() }
            follower = LogFollower(
                partition: 0, after: .start, miss: { Issue.record("\($0)") }, project: { box.model.apply($0) })
            pipeline = AppendPipeline(processor: processor, follower: follower, flights: flights) { report in
                if case .forked = report { box.isForked = true }
            }
            connection = SimulatedNetwork.Connection(network)
        }
    }

    let network: SimulatedNetwork
    private let mayFork: Bool
    private(set) var calls: [Call] = []
    /// Calls with the id of an accepted one, and other arguments.
    private(set) var mismatches: [Call] = []
    private var generator: SeededGenerator
    private var servers: [Server] = []
    private var now: Int64 = 0

    /// - Parameter mayFork: whether older copies of the log take its place.
    init(seed: UInt64, mayFork: Bool = false) {
        self.mayFork = mayFork
        generator = SeededGenerator(seed: seed)
        network = SimulatedNetwork(seed: ~seed)
    }

    var models: [ReadModel] { servers.map(\.box.model) }

    // MARK: Running

    /// Runs until everything is answered and every process has seen the whole log. Returns false if that does not
    /// happen.
    func run() -> Bool {
        for _ in 0..<Simulation.processCount { servers.append(server()) }
        for _ in 0..<Simulation.steps {
            step()
            for _ in 0..<generator.number(0..<5) { _ = network.deliver() }
        }
        network.calmDown()
        for _ in 0..<Simulation.maximumSteps {
            for server in servers { drive(server) }
            if network.deliver() { continue }
            let late = servers.filter { $0.follower.point != network.log.end }
            for server in late { server.pipeline.pollSoon() }
            guard late.isEmpty else { continue }
            let inDoubt = calls.filter(\.isInDoubt)
            for call in inDoubt { send(call, to: generator.number(0..<servers.count)) }
            if inDoubt.isEmpty { return calls.allSatisfy { $0.outstanding == 0 } }
        }
        return false
    }

    private func server() -> Server {
        var limits = CommandProcessor.Limits()
        limits.streams = generator.number(1..<8)
        limits.batchEvents = generator.number(1..<12)
        limits.conflicts = 3
        return Server(network, limits: limits, flights: generator.number(1..<5))
    }

    private func step() {
        let index = generator.number(0..<servers.count)
        switch generator.number(0..<100) {
        case 0..<45: send(newCall(), to: index)
        case 45..<53: sendAgain(to: index)
        case 53..<57: sendMismatch(to: index)
        case 57..<67: servers[index].pipeline.pollSoon()
        case 67..<69: restart(index)
        case 69 where mayFork: network.fork()
        default: drive(servers[index])
        }
    }

    /// Starts what a server's pipeline asks for.
    private func drive(_ server: Server) {
        guard !server.isDead else { return }
        if server.isForked { return leaveFork(server) }
        for load in server.pipeline.nextLoads() { carryOut(load, of: server) }
        func nextTime() -> Timestamp {
            now += 1
            return Timestamp(millisecondsSinceEpoch: now)
        }
        while let action = server.pipeline.next(now: nextTime()) { carryOut(action, of: server) }
    }

    /// A server drops what it has read, and reads the log again.
    private func leaveFork(_ server: Server) {
        #expect(server.calls.isEmpty, "whoever waits is answered")
        server.isDead = true
        if let index = servers.firstIndex(where: { $0 === server }) { servers[index] = self.server() }
    }

    private func carryOut(_ action: AppendPipeline.Action, of server: Server) {
        let (pipeline, connection, network) = (server.pipeline, server.connection, network)
        func then(_ report: () -> Void) {
            guard !server.isDead else { return }
            report()
            drive(server)
        }
        switch action {
        case .append(let number, let batch, let seen):
            connection.append(batch, seen: seen) { result in
                then { pipeline.appended(number, result, isOverdue: network.isOverdue()) }
            }
        case .appendNext(let number, let batch, let point):
            connection.appendNext(batch, after: point) { result in then { pipeline.appendedNext(number, result) } }
        case .lookUp(let batch, let seen):
            connection.outcome(of: batch, since: seen) { result in
                then { pipeline.lookedUp(result, isOverdue: network.isOverdue()) }
            }
        case .read(let point, let limit):
            connection.follow(after: point, limit: limit) { result in
                then { pipeline.read(result, isOverdue: network.isOverdue()) }
            }
        case .pause:
            network.wait { then { pipeline.paused() } }
        }
    }

    private func carryOut(_ load: AppendPipeline.Load, of server: Server) {
        server.connection.read(load) { [self] result in
            guard !server.isDead else { return }
            if let next = server.pipeline.loaded(load, result) { carryOut(next, of: server) }
            drive(server)
        }
    }

    /// A process ends, whatever it has in flight, and a new one replaces it.
    private func restart(_ index: Int) {
        servers[index].isDead = true
        for call in servers[index].calls {
            call.outcomes.append(.unknown("the server went away"))
            call.outstanding -= 1
        }
        servers[index] = server()
    }

    // MARK: Clients

    private func send(_ call: Call, to index: Int, metadata: EventMetadata? = nil) {
        call.outstanding += 1
        let server = servers[index]
        server.calls.append(call)
        let request = CommandRequest(
            stream: call.stream, metadata: metadata ?? call.metadata, expectedVersion: call.expectedVersion
        ) { state, version in
            call.command(in: state, version) { Simulation.offer(of: $0, in: server.box.model) }
        }
        server.processor.handle(request) { outcome in
            guard !server.isDead, let place = server.calls.firstIndex(where: { $0 === call }) else { return }
            server.calls.remove(at: place)
            call.outcomes.append(outcome)
            call.outstanding -= 1
        }
    }

    /// The outlet that a new cart is ordered from.
    static func outlet(for cart: Identifier) -> Identifier { cart.rawValue.utf8.last! % 2 == 0 ? "o0" : "o1" }

    /// What an outlet sells: the first item of its menu under any name, and tea where it has no menu.
    private static func offer(of outlet: Identifier, in model: ReadModel) -> Offer {
        let offer = model.outletHome.offer(
            of: "item-0", with: [], at: outlet, now: Timestamp(millisecondsSinceEpoch: 0))
        return offer == .noOutlet || offer == .noItem ? .tea : offer
    }

    private func newCall() -> Call {
        let number = calls.count
        let id: Text? = generator.chance(75) ? "call-\(number)" : nil
        let version = generator.chance(10) ? Int64(generator.number(0..<4)) : nil
        let cart = StreamName(.cart, Identifier("c\(generator.number(0..<5))")!)
        let outlet = Identifier("o\(generator.number(0..<2))")!
        let line: Text = "i\(generator.number(0..<3))"
        func call(_ stream: StreamName, _ action: Call.Action, _ id: Text?) -> Call {
            Call(number: number, stream: stream, action: action, id: id, expectedVersion: version)
        }
        let made =
            switch generator.number(0..<22) {
            case 0: call(cart, .checkOut(isAgreed: generator.chance(80)), "call-\(number)")
            case 1: call(cart, .clear, "call-\(number)")
            case 2: call(cart, .remove(line), "call-\(number)")
            case 3...5: call(cart, .set(line, generator.number(0..<5)), "call-\(number)")
            case 6, 20, 21: call(StreamName(.outlet, outlet), .open, "call-\(number)")
            case 7: call(StreamName(.outlet, outlet), .close, "call-\(number)")
            case 8: call(StreamName(.outlet, outlet), .putOutlet("Outlet \(number)"), id)
            case 9: call(StreamName(.menu, outlet), .putMenu(generator.number(1..<4)), "call-\(number)")
            case 10: call(StreamName(.menu, outlet), .reprice(Int64(generator.number(1..<5))), "call-\(number)")
            default:
                // An event without an id is recognised by an item that nothing else adds.
                call(cart, .add(Identifier(id == nil ? "only-\(number)" : line.string)!, generator.number(1..<4)), id)
            }
        calls.append(made)
        return made
    }

    /// Sends a call again: one in doubt, or one that was accepted, as a client does that missed the reply.
    ///
    /// A call in doubt is sent to a process that has seen the log to its end, as each process soon will have: one
    /// that lags behind may reject the call for what it does not know yet.
    private func sendAgain(to index: Int) {
        let isCaughtUp = servers[index].follower.point == network.log.end
        let candidates = calls.filter { call in
            call.isInDoubt ? isCaughtUp : call.id != nil && call.isAccepted && !call.mayChangeNothing
        }
        guard let call = candidates.randomElement(using: &generator) else { return }
        send(call, to: index)
    }

    private func sendMismatch(to index: Int) {
        let candidates = calls.filter { $0.id != nil && $0.isAccepted && !$0.mayChangeNothing }
        guard let call = candidates.randomElement(using: &generator) else { return }
        let other = Call(
            number: call.number, stream: call.stream, action: call.action, id: call.id, expectedVersion: nil)
        mismatches.append(other)
        send(other, to: index, metadata: Simulation.mismatch(of: call))
    }

    static func mismatch(of call: Call) -> EventMetadata {
        EventMetadata(commandID: call.id, fingerprint: "other arguments")
    }

    /// What the processes say about the streams that they hold.
    func committedStates(of stream: StreamName) -> [CommittedState] {
        servers.compactMap { server in
            var state: CommittedState?
            server.processor.read(stream) { state = try? $0.get() }
            return state
        }
    }
}
