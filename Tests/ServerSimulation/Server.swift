import Application
import CommandHandling
import Domain
import EventLog
import EventLoop
import Fleet
import Glibc
import LineServer
import LoadOracle
import PostgresStorage
import SeededRandom
import Serving
import SimulatedLoop
import TextFormats
import Users

/// One server process, all of it as in production, down to libpq and libuv.
@LoopActor
final class Server {
    /// How many batches fill the log at the start.
    static func fillCount(_ world: World) -> Int { 3 * Model.outlets.count + world.deals.count + world.counts.count }
    /// Writes nothing, and so begins no thread: once a line was too long, those behind it wait for ever.
    nonisolated private static let silence = {
        let output = LineOutput(descriptor: -1)
        output.add(String(repeating: " ", count: LineOutput.capacity + 1)) { _ in "" }
        return Logger(level: .error, output: output)
    }()

    /// Makes once what each run would make for itself.
    nonisolated static func prepare() { _ = silence }

    let port: Int
    private(set) var isUp = false
    private unowned let world: World
    /// How often it was started. Each start is another process.
    private var starts = 0
    private var log: ServerLog?
    private var service: Serving.Server?
    private var server: LineServer?
    /// Which one it is among others; nil without a fleet. It has another id at every start.
    private(set) var id: ServerID?
    private var fleet: PostgresFleet?
    private var links: SimulatedLinks?
    /// Whether other servers can connect to it, and those that have.
    private(set) var isServingPeers = false
    private var peers: [PeerSession] = []
    private var stopped: [Serving.Server] = []
    /// The users that it knew, and from when on.
    private(set) var known: [(time: UInt64, users: [Person])] = []

    init(_ number: Int, _ world: World) {
        port = 7_000 + number
        self.world = world
    }

    /// Where the process finds the database. Each has an address of its own, so that it can be told from others.
    private var database: String { "dbname=server\(port)start\(starts)" }

    func start() async {
        while true {
            do {
                let log = try await ServerLog(world, database)
                self.log = log
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
                if world.hasFleet { service.awaitFleet() }
                _ = try server.listen()
                self.service = service
                isUp = true
                world.note("server \(port) is up")
                if world.hasFleet { await join(service) }
                return
            } catch {
                await world.pause(100_000_000)
            }
        }
    }

    private func join(_ service: Serving.Server) async {
        let (id, fleet, links) = (ServerID.random(), PostgresFleet(database), SimulatedLinks(world))
        (self.id, self.fleet, self.links) = (id, fleet, links)
        isServingPeers = true
        world.note("server \(port) is \(id.text.prefix(4))")
        await service.join(
            FleetMember(
                FleetServer(id: id, address: "localhost:\(port)", secret: Array(repeating: 7, count: 32)),
                partitionCount: 1, store: fleet, links: links, logger: Server.silence))
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
            var commands = [
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
            if let count = world.counts[outlet] {
                commands.append(["MENU.ITEM.STOCK", outlet, Prices.item, "COUNT", "\(count)"])
            }
            if let deal = world.deals[outlet] { commands.append(["PROMO.PUT", outlet, Deal.id, deal.json]) }
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
        world.postgres.lost(database)
        log?.cut()
        server?.drain()
        links?.crash()
        disappear()
        let (service, log, fleet) = (service, log, fleet)
        (self.service, server) = (nil, nil)
        LoopActor.task {
            await service?.stop()
            log?.close()
            fleet?.close()
        }
    }

    /// The process ends as it is told to: it answers what it has, and leaves its partitions to others.
    func stop() async {
        world.note("server \(port) stops")
        isUp = false
        for client in world.clients { client.mayBeClosed(by: self) }
        server?.drain()
        await service?.stop()
        log?.cut()
        log?.close()
        fleet?.close()
        disappear()
        // What is on its way may still come back to it.
        if let service { stopped.append(service) }
        (service, server) = (nil, nil)
    }

    /// No connection leads here any more.
    private func disappear() {
        isServingPeers = false
        for peer in peers { peer.end() }
        peers = []
        if let id { for server in world.servers where server !== self { server.links?.lost(id) } }
        for client in world.clients { client.lost(self) }
        world.reader?.lost(self)
    }

    func restart() async {
        starts += 1
        known = []
        (id, fleet, links) = (nil, nil, nil)
        await start()
    }

    // MARK: Others

    /// Another server connects.
    func adopt(answer: @escaping @LoopActor (Int, Result<Answer, Failure>) -> Void) -> PeerSession? {
        guard let service else { return nil }
        let peer = PeerSession(service, answer: answer)
        peers.append(peer)
        return peer
    }

    /// Its connections to others are lost.
    func loseLinks() { links?.lose() }

    /// It cannot renew for a while, in nanoseconds.
    func cannotRenew(for time: UInt64) { world.postgres.cutFleet(of: database, for: time) }
}

/// The log as one server reaches it: what it is told of the log is written down.
@LoopActor
final class ServerLog: EventLog {
    nonisolated let partitioning: Partitioning
    private let log: PostgresEventLog
    private let world: World
    private var isCut = false
    /// Up to where the server has been told of the log.
    private var told: Int64 = 0
    /// The times in which it went on without what it wanted to know: the number of each, and up to where that was.
    private var blindness: [(number: Int, end: Int64)] = []

    init(_ world: World, _ address: String) async throws(EventLogError) {
        self.world = world
        log = try await PostgresEventLog.open(address, report: { _ in })
        partitioning = log.partitioning
    }

    func cut() {
        isCut = true
        for (number, _) in blindness { world.endsBlindness(number) }
        blindness = []
    }

    func close() { log.close() }

    func append(_ batch: EventBatch, seen: LogPoint) async throws(EventLogError) -> AppendReceipt {
        let receipt = try await log.append(batch, seen: seen)
        await tell(of: receipt.end.position, after: receipt.previous.position)
        return receipt
    }

    func appendNext(_ batch: EventBatch, after point: LogPoint) async throws(EventLogError) -> LogPoint? {
        let end = try await log.appendNext(batch, after: point)
        if let end { await tell(of: end.position) }
        return end
    }

    func outcome(of batch: EventBatch, since seen: LogPoint) async throws(EventLogError) -> AppendReceipt? {
        try await log.outcome(of: batch, since: seen)
    }

    func follow(partition: Int, after point: LogPoint, limit: Int) async throws(EventLogError) -> FollowingEvents {
        let following = try await log.follow(partition: partition, after: point, limit: min(limit, 7))
        await tell(of: following.end.position)
        return following
    }

    func followWithoutCarts(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        let following = try await log.followWithoutCarts(partition: partition, after: point, limit: min(limit, 7))
        await tell(of: following.end.position)
        return following
    }

    func read(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [RecordedEvent] {
        try await log.read(partition: partition, after: position, limit: limit)
    }

    func page(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> EventPage {
        try await log.page(partition: partition, after: position, limit: limit)
    }

    func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int, seen: LogPoint
    ) async throws(EventLogError) -> [RecordedEvent] {
        try await log.read(stream: stream, partition: partition, afterVersion: version, limit: limit, seen: seen)
    }

    func commits(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [Commit] {
        try await log.commits(partition: partition, after: position, limit: limit)
    }

    func indexStreams(of partition: Int) async throws(EventLogError) { try await log.indexStreams(of: partition) }

    func mendIndex(of partition: Int, _ part: IndexPart) async throws(EventLogError) -> (missing: Int64, next: Int64?) {
        try await log.mendIndex(of: partition, part)
    }

    func heads() async throws(EventLogError) -> [LogHead] {
        try await look { log throws(EventLogError) in
            let heads = try await log.heads()
            return (heads, heads.first?.position ?? 0)
        }
    }

    func end(of partition: Int) async throws(EventLogError) -> LogPoint {
        try await look { log throws(EventLogError) in
            let end = try await log.end(of: partition)
            return (end, end.position)
        }
    }

    /// Asks where the log ends.
    private func look<Found>(
        _ ask: @LoopActor (PostgresEventLog) async throws(EventLogError) -> (Found, end: Int64)
    ) async throws(EventLogError) -> Found {
        let look = beginLook()
        do throws(EventLogError) {
            let (found, end) = try await ask(log)
            look.found(end)
            return found
        } catch {
            missed(look)
            throw error
        }
    }

    /// A question about where the log ends: when it was asked, and up to where the server is to know the log then.
    @LoopActor
    private final class Look {
        let time: UInt64
        private(set) var end: Int64

        init(_ time: UInt64, _ end: Int64) {
            self.time = time
            self.end = end
        }

        func found(_ position: Int64) { end = max(end, position) }
    }

    /// A server that is to know everything waits a second for it, and goes on with what it knows.
    private func beginLook() -> Look {
        let look = Look(world.now, world.head)
        world.after(990_000_000) { [self] in missed(look) }
        return look
    }

    /// The server goes on, whether or not it knows all that there was.
    private func missed(_ look: Look) {
        guard told < look.end, !isCut else { return }
        blindness.append((world.beginsBlindness(at: look.time), look.end))
    }

    /// The server is told of the log up to a position, if it knows what is before.
    private func tell(of position: Int64, after known: Int64 = 0) {
        if told >= known { told = max(told, position) }
        for (number, end) in blindness where end <= told { world.endsBlindness(number) }
        blindness.removeAll { $0.end <= told }
    }
}

extension PostgresFleet: FleetStore {}
