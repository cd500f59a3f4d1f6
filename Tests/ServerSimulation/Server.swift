import Application
import CommandHandling
import Domain
import EventLog
import EventLoop
import Glibc
import LineServer
import LoadOracle
import SeededRandom
import Serving
import SimulatedLoop
import TextFormats
import Users

/// One server process, all of it as in production but for PostgreSQL and the kernel.
@LoopActor
final class Server {
    /// How many batches fill the log at the start.
    static let fillCount = 3 * Model.outlets.count
    /// Writes nothing, and so begins no thread: once a line was too long, those behind it wait for ever.
    private static let silence = {
        let output = LineOutput(descriptor: -1)
        output.add(String(repeating: " ", count: LineOutput.capacity + 1)) { _ in "" }
        return Logger(level: .error, output: output)
    }()

    let port: Int
    private(set) var isUp = false
    private unowned let world: World
    private var log: ServerLog
    private var service: Serving.Server?
    private var server: LineServer?
    /// The users that it knew, and from when on.
    private(set) var known: [(time: UInt64, users: [Person])] = []

    init(_ number: Int, _ world: World) {
        port = 7_000 + number
        self.world = world
        log = ServerLog(world)
    }

    func start() async {
        while true {
            do {
                let service = try await Serving.Server(
                    configuration: Server.configuration, log: log, history: log, keys: world.keys,
                    store: nil, logger: Server.silence
                ) { [world] in LoopActor.assumeIsolated { Timestamp(millisecondsSinceEpoch: world.clock) } }
                var line = LineConfiguration()
                line.port = UInt16(port)
                line.maximumPendingReplies = 8
                line.inputPause = 2_000
                line.outputPause = 4_000
                let server = LineServer(service, configuration: line, logger: Server.silence)
                self.server = server
                apply(world.users.now)
                service.start()
                _ = try server.listen()
                self.service = service
                isUp = true
                world.note("server \(port) is up")
                return
            } catch {
                await world.pause(100_000_000)
            }
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        #if DEBUG
            // What it counts begins anew with each server, as with a process.
            configuration.plantedFault = getenv("TIFFIN_PLANTED_FAULT").flatMap { PlantedFault(String(cString: $0)) }
        #endif
        configuration.latencyMilliseconds = 0
        configuration.processorLimits.streams = 4
        configuration.processorLimits.batchEvents = 5
        return configuration
    }

    /// Registers the outlets.
    func fill() async {
        for outlet in Model.outlets {
            let commands = [
                [
                    "OUTLET.PUT", outlet,
                    """
                    {"name":"Kitchen","city":"Galle","currency":"LKR","timeZone":"Asia/Colombo","minimumOrder":0\
                    \(world.terms[outlet]!.json)}
                    """,
                ],
                ["MENU.PUT", outlet, Prices.menu],
                ["OUTLET.OPEN", outlet],
            ]
            for words in commands {
                do throws(Failure) {
                    _ = try await service!.perform(words.map { Array($0.utf8) })
                } catch {
                    world.violation("\(words[0]) failed: \(error)")
                }
            }
        }
    }

    func apply(_ users: [Person]) {
        guard let server else { return }
        known.append((world.now, users))
        for client in world.clients { client.learned(self) }
        server.apply(users.map { UserChange($0.user.name, $0.user) }, isEverything: true)
        world.note("server \(port) knows the users")
    }

    /// The process is gone: nothing that it does from now on reaches anybody.
    func crash() {
        world.note("server \(port) crashes")
        isUp = false
        log.cut()
        server?.drain()
        for client in world.clients { client.lost(self) }
        world.reader?.lost(self)
        let service = service
        (self.service, server) = (nil, nil)
        LoopActor.task { await service?.stop() }
    }

    func restart() async {
        log = ServerLog(world)
        known = []
        await start()
    }
}

/// The log as one server reaches it: over a network that fails.
@LoopActor
final class ServerLog: EventLog {
    nonisolated let partitioning = Partitioning(count: 1)
    private let world: World
    private var isCut = false
    private var epoch = 0
    /// When the last append arrives: they do not overtake each other.
    private var lastArrival: UInt64 = 0

    init(_ world: World) {
        self.world = world
        epoch = world.epoch
    }

    func cut() { isCut = true }

    func append(_ batch: EventBatch, seen: LogPoint) async throws(EventLogError) -> AppendReceipt {
        let log = world.log
        return try await send { () async throws(EventLogError) -> AppendReceipt in
            let receipt = try await log.append(batch, seen: seen)
            self.world.committed(upTo: receipt.end.position)
            return receipt
        }
    }

    func appendNext(_ batch: EventBatch, after point: LogPoint) async throws(EventLogError) -> LogPoint? {
        let log = world.log
        return try await send { () async throws(EventLogError) -> LogPoint? in
            let end = try await log.appendNext(batch, after: point)
            if let end { self.world.committed(upTo: end.position) }
            return end
        }
    }

    private func send<Answer: Sendable>(
        _ body: @escaping @LoopActor () async throws(EventLogError) -> Answer
    ) async throws(EventLogError) -> Answer {
        let forks = world.lostLogs.count
        let epoch = epoch
        lastArrival = max(lastArrival + 1, world.now + world.latency())
        await world.pause(lastArrival - world.now)
        if isCut { throw .outcomeUnknown("cut") }
        if world.strikes(.refused, 4) {
            world.met(.refused)
            throw .unavailable("refused")
        }
        if world.strikes(.lostRequest, 4) {
            world.met(.lostRequest)
            throw .outcomeUnknown("lost")
        }
        if world.strikes(.lateRequest, 4) {
            world.met(.lateRequest)
            let world = world
            world.after(UInt64(world.chance.number(1..<4_000)) * 1_000_000) {
                guard world.epoch == epoch, world.lostLogs.count == forks else { return }
                LoopActor.task { _ = try? await body() }
            }
            throw .outcomeUnknown("late")
        }
        guard world.lostLogs.count == forks else { throw .outcomeUnknown("gone") }
        let answer = try await body()
        if world.strikes(.lostReply, 5) {
            world.met(.lostReply)
            throw .outcomeUnknown("no reply")
        }
        await world.pause(world.latency())
        if isCut { throw .outcomeUnknown("cut") }
        return answer
    }

    func outcome(of batch: EventBatch, since seen: LogPoint) async throws(EventLogError) -> AppendReceipt? {
        try await ask(.dark) { log throws(EventLogError) in try await log.outcome(of: batch, since: seen) }
    }

    func follow(partition: Int, after point: LogPoint, limit: Int) async throws(EventLogError) -> FollowingEvents {
        try await ask { log throws(EventLogError) in
            try await log.follow(partition: partition, after: point, limit: min(limit, 7))
        }
    }

    func read(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [RecordedEvent] {
        try await ask { log throws(EventLogError) in
            try await log.read(partition: partition, after: position, limit: limit)
        }
    }

    func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int, seen: LogPoint
    ) async throws(EventLogError) -> [RecordedEvent] {
        try await ask { log throws(EventLogError) in
            try await log.read(stream: stream, partition: partition, afterVersion: version, limit: limit, seen: seen)
        }
    }

    func commits(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [Commit] {
        try await ask { log throws(EventLogError) in
            try await log.commits(partition: partition, after: position, limit: limit)
        }
    }

    func heads() async throws(EventLogError) -> [LogHead] {
        try await ask { log throws(EventLogError) in try await log.heads() }
    }

    private func ask<Answer: Sendable>(
        _ fault: Fault = .unread,
        _ body: @LoopActor (InMemoryEventLog) async throws(EventLogError) -> Answer
    ) async throws(EventLogError) -> Answer {
        await world.pause(world.latency())
        if isCut { throw .unavailable("cut") }
        if world.strikes(fault, fault == .dark ? 25 : 5) {
            world.met(fault)
            throw .unavailable("\(fault)")
        }
        // What was sent before this look cannot arrive behind it.
        if fault == .dark {
            world.epoch += 1
            epoch = world.epoch
        }
        let answer = try await body(world.log)
        await world.pause(world.latency())
        if isCut { throw .unavailable("cut") }
        return answer
    }
}
