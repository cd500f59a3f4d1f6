import CommandHandling
import Domain
import EventLog
import Projections
import SeededRandom
import Testing

/// Clients of several server processes on one log that fails, each step drawn from a seed.
actor Simulation {
    static let processCount = 3
    static let steps = 160
    /// Far more than any run needs to come to rest.
    private static let maximumSteps = 20_000

    private final class Process {
        var model = ReadModel(partition: 0)
        var isWorking = false
        var isDead = false
        /// Calls that it has not answered.
        var calls: [Call] = []
    }
    private struct Server {
        var process: Process
        var processor: CommandProcessor
        var journal: Journal
    }

    let log: SimulatedLog
    private(set) var calls: [Call] = []
    /// Calls with the id of an accepted one, and other arguments.
    private(set) var mismatches: [Call] = []
    private let scheduler = Scheduler()
    private var generator: SeededGenerator
    private var servers: [Server] = []
    private var now: Int64 = 0

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        log = SimulatedLog(scheduler, seed: ~seed)
    }

    var models: [ReadModel] { servers.map(\.process.model) }

    // MARK: Running

    /// Runs until everything is answered and every process has seen the whole log. False where that does not
    /// happen.
    func run() async -> Bool {
        for _ in 0..<Simulation.processCount { servers.append(server()) }
        for _ in 0..<Simulation.steps {
            await step()
            for _ in 0..<generator.number(0..<4) { await openGate() }
        }
        await log.calmDown()
        for _ in 0..<Simulation.maximumSteps {
            if await openGate() { continue }
            var isAtRest = true
            for index in servers.indices where await work(on: index) { isAtRest = false }
            guard isAtRest else { continue }
            let end = await end
            let late = servers.indices.filter { servers[$0].journal.position < end }
            for index in late { await catchUp(index) }
            guard late.isEmpty else { continue }
            let inDoubt = calls.filter(\.isInDoubt)
            for call in inDoubt { send(call, to: generator.number(0..<servers.count)) }
            if inDoubt.isEmpty { return calls.allSatisfy { $0.outstanding == 0 } }
        }
        return false
    }

    /// The position of the log's last event.
    private var end: Int64 {
        get async { (try? await log.heads().first?.position) ?? 0 }
    }

    private func server() -> Server {
        let process = Process()
        var limits = CommandProcessor.Limits()
        limits.streams = generator.number(1..<8)
        limits.batchEvents = generator.number(1..<12)
        limits.conflicts = 3
        let processor = CommandProcessor(partition: 0, limits: limits) { process.model.mayExist($0) }
        let journal = Journal(
            processor: processor, partition: 0, position: 0, log: log,
            pause: { [scheduler] in await scheduler.pause() },
            miss: { Issue.record("\($0)") }
        ) { process.model.apply($0) }
        return Server(process: process, processor: processor, journal: journal)
    }

    private func step() async {
        let index = generator.number(0..<servers.count)
        switch generator.number(0..<100) {
        case 0..<45: send(newCall(), to: index)
        case 45..<53: await sendAgain(to: index)
        case 53..<57: sendMismatch(to: index)
        case 57..<67: await catchUp(index)
        case 67..<69: restart(index)
        default: await work(on: index)
        }
    }

    @discardableResult
    private func openGate() async -> Bool {
        let waiting = await scheduler.waiting
        guard waiting > 0 else { return false }
        await scheduler.open(generator.number(0..<waiting))
        return true
    }

    /// Starts what there is to do for a process, if anything.
    @discardableResult
    private func work(on index: Int) async -> Bool {
        let server = servers[index]
        let loads = server.processor.takeLoads()
        for stream in loads {
            await scheduler.enter()
            Task {
                await server.journal.load(stream)
                await scheduler.leave()
            }
            await scheduler.settle()
        }
        guard !server.process.isWorking, server.processor.hasBatch else { return !loads.isEmpty }
        now += 1
        server.process.isWorking = true
        await scheduler.enter()
        let time = Timestamp(millisecondsSinceEpoch: now)
        Task {
            _ = await server.journal.appendBatch(now: time)
            server.process.isWorking = false
            await scheduler.leave()
        }
        await scheduler.settle()
        return true
    }

    private func catchUp(_ index: Int) async {
        let server = servers[index]
        guard !server.process.isWorking else { return }
        server.process.isWorking = true
        await scheduler.enter()
        Task {
            _ = try? await server.journal.catchUp()
            server.process.isWorking = false
            await scheduler.leave()
        }
        await scheduler.settle()
    }

    /// A process ends between two batches, and a new one takes its place.
    private func restart(_ index: Int) {
        guard !servers[index].process.isWorking else { return }
        servers[index].process.isDead = true
        for call in servers[index].process.calls {
            call.outcomes.append(.unknown("the server went away"))
            call.outstanding -= 1
        }
        servers[index] = server()
    }

    // MARK: Clients

    private func send(_ call: Call, to index: Int, metadata: EventMetadata? = nil) {
        call.outstanding += 1
        let process = servers[index].process
        process.calls.append(call)
        let request = CommandRequest(
            stream: call.stream, metadata: metadata ?? call.metadata, expectedVersion: call.expectedVersion
        ) { call.command(in: $0, $1) }
        servers[index].processor.handle(request) { outcome in
            guard !process.isDead, let place = process.calls.firstIndex(where: { $0 === call }) else { return }
            process.calls.remove(at: place)
            call.outcomes.append(outcome)
            call.outstanding -= 1
        }
    }

    private func newCall() -> Call {
        let number = calls.count
        let id = generator.chance(75) ? "call-\(number)" : nil
        let version = generator.chance(10) ? Int64(generator.number(0..<4)) : nil
        let cart = StreamName(.cart, Identifier("c\(generator.number(0..<5))")!)
        let outlet = Identifier("o\(generator.number(0..<2))")!
        let line = "i\(generator.number(0..<3))"
        func call(_ stream: StreamName, _ action: Call.Action, _ id: String?) -> Call {
            Call(number: number, stream: stream, action: action, id: id, expectedVersion: version)
        }
        let made =
            switch generator.number(0..<20) {
            case 0: call(cart, .checkOut(isAgreed: generator.chance(80)), "call-\(number)")
            case 1: call(cart, .clear, "call-\(number)")
            case 2: call(cart, .remove(line), "call-\(number)")
            case 3...5: call(cart, .set(line, generator.number(0..<5)), "call-\(number)")
            case 6: call(StreamName(.outlet, outlet), .open, "call-\(number)")
            case 7: call(StreamName(.outlet, outlet), .close, "call-\(number)")
            case 8: call(StreamName(.outlet, outlet), .putOutlet("Outlet \(number)"), id)
            case 9: call(StreamName(.menu, outlet), .putMenu(generator.number(1..<4)), "call-\(number)")
            case 10: call(StreamName(.menu, outlet), .reprice(Int64(generator.number(1..<5))), "call-\(number)")
            default:
                // What has no id is known by an item that nothing else adds.
                call(cart, .add(Identifier(id == nil ? "only-\(number)" : line)!, generator.number(1..<4)), id)
            }
        calls.append(made)
        return made
    }

    /// Sends a call again: one in doubt, or one that was accepted, as a client does that missed the reply.
    ///
    /// What is in doubt is sent to a process that has seen the log to its end, as each has soon afterwards: one that
    /// lags behind may reject it for what it does not know yet.
    private func sendAgain(to index: Int) async {
        let isCaughtUp = await servers[index].journal.position == end
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
        send(other, to: index, metadata: EventMetadata(commandID: call.id, fingerprint: "other arguments"))
    }

    /// What the processes say of the streams that they hold.
    func committedStates(of stream: StreamName) -> [CommittedState] {
        servers.compactMap { server in
            var state: CommittedState?
            server.processor.read(stream) { state = try? $0.get() }
            return state
        }
    }
}
