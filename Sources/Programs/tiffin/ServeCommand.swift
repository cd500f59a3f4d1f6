internal import Application
internal import CommandLineOptions
internal import Domain
internal import EventLog
internal import EventLoop
internal import Fleet
internal import Foundation
internal import LineProtocol
internal import LineServer
internal import Measurement
internal import Peers
internal import Postgres
internal import PostgresStorage
internal import Serving
internal import Tracing
internal import WebServer

enum ServeCommand: Subcommand {
    static let name = "serve"
    static let summary = "runs the server"
    static let options: [any DeclaredOption] =
        [listen, announce, processes, follow, noMigrate] + WebOptions.all + Database.options
        + ServerCertificates.options + [
            logLevel, logFormat, traces, protectedMode, loginTimeout,
        ] + ServerLimits.options + [slowLogThreshold, slowLogLength, latencyThreshold, demo]

    private static let listen = Option.value(
        "listen", "host:port", "where to listen", OptionValue("host:port", listenAddress), default: "127.0.0.1:7379")
    private static let announce = Option.optional(
        "announce", "host:port", "where other servers on the same log reach this one (default where it listens)",
        OptionValue("host:port") { ServerAddress($0) })
    private static let processes = Option.value(
        "processes", "count", "how many server processes share the work, each for one core", .integer(1...64),
        default: "1")
    private static let follow = Option.flag(
        "follow", "only read what other servers write: the database may be a standby")
    private static let noMigrate = Option.flag(
        "no-migrate", "leave the schema as it is, and end if it is not that of this version")
    private static let logLevel = Option.value(
        "log-level", "level", "error, info or debug",
        OptionValue("error, info or debug") { Logger.Level(rawValue: $0) }, default: "info")
    private static let logFormat = Option.value(
        "log-format", "text|json", "json: an object a line, with time, level and message",
        OptionValue<Logger.Format>.choice, default: Logger.Format.text.rawValue)
    private static let traces = Option.optional(
        "traces", "url", "an OTLP collector for spans of commands with TRACE, such as http://127.0.0.1:4318",
        OptionValue("an address by http or https, with a host, and without a user, a query or a fragment") {
            WebAddress.isAbsolute(Text($0)) && !$0.contains { "?#".contains($0) } ? $0 : nil
        })
    private static let protectedMode = Option.value(
        "protected-mode", "yes|no", "no: without users, serve clients on other machines too",
        OptionValue("yes or no") { ["yes": true, "no": false][$0.lowercased()] }, default: "yes")
    private static let loginTimeout = Option.value(
        "login-timeout", "seconds", "how long a client may take to log in", .integer(1...3_600), default: "10")
    private static let slowLogThreshold = Option.value(
        "slowlog-log-slower-than", "microseconds", "commands that take as long to execute are in SLOWLOG; -1 for none",
        .integer(-1...Int(Int32.max)), default: "10000")
    private static let slowLogLength = Option.value(
        "slowlog-max-len", "count", "the most commands in SLOWLOG", .integer(0...10_000), default: "128")
    private static let latencyThreshold = Option.value(
        "latency-monitor-threshold", "milliseconds", "what holds up the server as long is in LATENCY; 0 for nothing",
        .integer(0...Int(Int32.max)), default: "100")
    private static let demo = Option.flag("demo", "load a small demo catalogue when the log is empty")

    /// The longest that a stop takes, whatever the database does.
    private static let stopMilliseconds: UInt64 = 10_000

    /// How many partitions a new log gets where several processes share it.
    private static let sharedPartitions = 64

    /// How long other servers' calls are still taken after they were told that this one stops.
    private static let farewellMilliseconds: UInt64 = 50

    static func run(_ options: Options) async throws -> ExitCode {
        let logger = Logger(level: options[logLevel], format: options[logFormat])
        do {
            try await run(options, logger)
            return .success
        } catch  where !(error is UsageError) {
            logger.error("\(error)")
            return .failure
        }
    }

    @LoopActor
    private static func run(_ options: Options, _ logger: Logger) async throws {
        var configuration = Configuration()
        var line = LineConfiguration()
        (line.host, line.port) = options[listen]
        line.isProtected = options[protectedMode]
        line.loginSeconds = UInt64(options[loginTimeout])
        line.slowLogMicroseconds = Int64(options[slowLogThreshold])
        line.slowLogLength = options[slowLogLength]
        ServerLimits.apply(options, to: &configuration, &line)
        configuration.latencyMilliseconds = UInt64(options[latencyThreshold])
        configuration.isFollower = options[follow]
        if configuration.isFollower {
            guard !Database.isPrivate(options) else {
                throw UsageError("--follow needs --database, --database-file or --databases")
            }
            guard !options[demo] else { throw UsageError("--follow: there is nothing to load a demo catalogue into") }
        }
        let certificates = try ServerCertificates(options, logger)
        var web = try WebOptions.configuration(options, isProtected: line.isProtected)
        fit(&line, &web, logger, handshakes: certificates == nil ? 0 : line.maximumHandshakes)
        let number = ProcessNumber.own
        let listening = line
        try number?.apply(to: &line, &web)
        #if DEBUG
            configuration.plantedFault = try plantedFault()
            if let fault = configuration.plantedFault { logger.error("a fault is planted: \(fault)") }
        #endif

        let isSupervisor = number == nil && options[processes] > 1
        // What runs the processes waits for each of them.
        let patience = isSupervisor ? stopMilliseconds + 5_000 : stopMilliseconds
        let stopping = StopSignal()
        stopping.onFire = {
            // While it starts, it cannot be told to stop wherever it waits.
            _ = LoopTimer(milliseconds: patience) {
                logger.error("it did not stop in time: ending")
                exit(ExitCode.failure.rawValue)
            }
        }
        let starter = try ProcessNumber.watchStarter { stopping.fire() }
        defer { starter?.close() }
        let onLost = { @LoopActor in
            logger.error("the database is lost: stopping")
            stopping.fire()
        }
        if isSupervisor {
            return try await supervise(
                options, listening, web, hasCertificates: certificates != nil, logger, stopping, onLost: onLost)
        }
        // Without certificates to reload, it means that the terminal is gone.
        let hangup = try? SignalSource(.hangup) {
            if let certificates { certificates.reload() } else { stopping.fire() }
        }
        defer { hangup?.cancel() }
        if number == nil { try checkPorts(line, web) }
        // What started this process runs the private PostgreSQL.
        let isBeside = number != nil && Database.isPrivate(options)
        try await Database.run(
            options, log: { logger.info($0) }, besideServer: isBeside, makesOne: !isBeside, onLost: onLost
        ) { databases, embedded in
            try await serve(configuration, line, web, databases, embedded, logger, options, certificates, stopping)
        }
        logger.info("stopped")
    }

    /// Runs several server processes, and the private PostgreSQL for all of them.
    @LoopActor
    private static func supervise(
        _ options: Options, _ line: LineConfiguration, _ web: WebConfiguration, hasCertificates: Bool,
        _ logger: Logger, _ stopping: StopSignal, onLost: @escaping @LoopActor () -> Void
    ) async throws {
        var addresses: [(host: String, port: UInt16)] = []
        try checkPorts(line, web)
        for number in 1...options[processes] {
            var (own, sites) = (line, web)
            try ProcessNumber(number).apply(to: &own, &sites)
            sites.addresses[.store] = nil
            try checkPorts(own, sites)
            let loopback = ["0.0.0.0": "127.0.0.1", "::": "::1"]
            addresses.append((loopback[own.host] ?? own.host, own.port))
        }
        let servers = ServerProcesses(at: addresses, stopping, logger)
        let hangup = try? SignalSource(.hangup) { if hasCertificates { servers.reload() } else { stopping.fire() } }
        defer { hangup?.cancel() }
        try await Database.run(
            options, log: { logger.info($0) }, makesOne: true, servers: addresses.count, onLost: onLost
        ) { databases, embedded in
            try await prepare(databases, options, usual: sharedPartitions, logger)
            try await servers.run {
                Terminal.print(
                    "tiffin: \(addresses.count) processes listen on \(ServerAddress(host: line.host, port: line.port))")
                if options[demo], !hasCertificates { Terminal.print(lines: howToTalk(Int(line.port))) }
                ServiceManager.tell(.ready)
            }
            embedded?.mustStop(within: .milliseconds(stopMilliseconds))
        }
        logger.info("stopped")
    }

    /// Fails where another process listens already: before a cluster is made for nothing, or another version's
    /// migrations are applied beside the server that runs.
    @LoopActor
    private static func checkPorts(_ line: LineConfiguration, _ web: WebConfiguration) throws(LoopError) {
        let required = web.addresses.values.filter(\.isRequired).map { ($0.host, $0.port) }
        for (host, port) in [(line.host, line.port)] + required where port > 0 {
            try TCPListener(host: host, port: port) { $0.close() }.close()
        }
    }

    /// Serves no more clients than there are files that the process may open, less what it needs itself: without the
    /// database, it could serve none.
    private static func fit(
        _ line: inout LineConfiguration, _ web: inout WebConfiguration, _ logger: Logger, handshakes: Int
    ) {
        let ownFiles = 64
        let browsers = web.addresses.isEmpty ? 0 : web.maximumConnections
        let wanted = line.maximumClients + handshakes + browsers + ownFiles
        let files = ProcessResources.allowOpenFiles(wanted)
        guard files < wanted else { return }
        let wantedClients = line.maximumClients
        line.maximumHandshakes = max(1, min(handshakes, files / 4))
        let others = min(handshakes, line.maximumHandshakes) + ownFiles
        // Browsers have a quarter at least, and what clients could not use.
        web.maximumConnections = max(1, min(browsers, max(files / 4, files - wantedClients - others)))
        let browserFiles = min(browsers, web.maximumConnections)
        line.maximumClients = max(1, min(wantedClients, files - browserFiles - others))
        guard line.maximumClients < wantedClients else { return }
        logger.info("serving at most \(line.maximumClients) clients at once: 'ulimit -n' is \(files)")
    }

    /// Brings a database to the present schema, if it is not only followed.
    @LoopActor
    private static func prepare(
        _ databases: LogDatabases, _ options: Options, usual: Int = 1, _ logger: Logger
    ) async throws {
        guard !options[follow], !options[noMigrate] else { return try await Migrations.check(databases, serving: true) }
        var reportedAt = LoopActor.now
        try await Migrations.run(databases, usual: usual) { moved, total in
            guard LoopActor.now - reportedAt > 1_000_000_000 else { return }
            reportedAt = LoopActor.now
            logger.info("moving the log to its new layout: \(moved) of \(total) events")
        } log: {
            logger.info($0)
        }
    }

    /// The disk of the private PostgreSQL that another process runs; nil where there is none.
    @LoopActor
    private static func roomBeside(_ options: Options) -> DiskRoom? {
        guard Database.isPrivate(options) else { return nil }
        return DiskRoom(dataDirectory: Database.dataDirectory(options)) { _ in }
    }

    @LoopActor
    private static func serve(
        _ configuration: Configuration, _ line: LineConfiguration, _ web: WebConfiguration, _ databases: LogDatabases,
        _ embedded: EmbeddedPostgres?, _ logger: Logger, _ options: Options, _ certificates: ServerCertificates?,
        _ stopping: StopSignal
    ) async throws {
        try await prepare(databases, options, logger)
        let room = embedded?.room ?? roomBeside(options)
        let hasRoom = { @LoopActor in room?.isThere ?? true }
        let storage = try await LogStorage.open(databases, isReadOnly: options[follow], hasRoom: hasRoom) {
            logger.error($0)
        }
        defer { storage.close() }
        for line in try await storage.damage() { logger.error(line) }
        let users = PostgresUsers(databases.first) { logger.error($0) }
        defer { users.close() }
        let pictures = PostgresPictures(databases.first, hasRoom: hasRoom) { logger.error($0) }
        defer { pictures.close() }
        let fleet = PostgresFleet(databases.first) { logger.error($0) }
        defer { fleet.close() }
        let known = try await users.changes()
        let web = WebServer(web, logger: logger) {
            Int64(Date().timeIntervalSince1970 * 1_000)
        }
        if let known { web.apply(known.changes, isEverything: known.isEverything) }
        // Before the log is read, so that clients that ask are told that it is being read.
        for (site, address) in try web.listen() { Terminal.print("tiffin: \(site.rawValue) on http://\(address)") }
        defer { web.close() }
        let service = try await Server(
            configuration: configuration, log: storage.log, history: storage.history, keys: storage.keys,
            store: storage.store, pictures: pictures,
            administration: PostgresAdministration(databases) { logger.error($0) }, logger: logger
        ) {
            Timestamp(millisecondsSinceEpoch: Int64(Date().timeIntervalSince1970 * 1_000))
        }
        var line = line
        line.tls = certificates?.context
        let id = ServerID.random()
        let server = LineServer(service, configuration: line, logger: logger, id: id) {
            storage.serverVersion
        } connections: {
            (storage.connectionLines + [users.connectionLine, fleet.connectionLine, pictures.connectionLine]).map {
                Fact($0.name, $0.value)
            }
        }
        service.tracer = options[traces].map { tracer(of: id, to: $0, logger) }
        certificates?.server = server
        if let known { server.apply(known.changes, isEverything: known.isEverything) }
        service.start()
        let number = ProcessNumber.own
        if options[demo], number?.value ?? 1 == 1, !service.hasOutlets {
            let count = try await DemoCatalogue.load(PackageResources.catalogue_json, into: service)
            logger.info("there were no outlets: loaded a demo catalogue of \(count) outlets")
        }
        if !options[follow] { service.awaitFleet() }
        let (address, port): (String, Int)
        do {
            (address, port) = try server.listen()
        } catch {
            web.close()
            await service.stop()
            throw error
        }
        let peers = PeerServer(service, logger: logger)
        server.onPeer = { peers.adopt($0) }
        if !options[follow] {
            await service.join(
                FleetMember(
                    FleetServer(
                        id: id, address: options[announce]?.description ?? reachable(address),
                        secret: PeerProof.newSecret()),
                    partitionCount: storage.log.partitionCount, store: fleet,
                    links: PeerConnections(tls: try certificates?.peers(), logger: logger), logger: logger))
        }
        web.onCall = { server.count($0, nanoseconds: $1, $2) }
        web.information = { server.sections }
        web.latencies = { server.latencies }
        web.serve(service)
        users.follow {
            server.apply($0.changes, isEverything: $0.isEverything)
            web.apply($0.changes, isEverything: $0.isEverything)
        }
        Terminal.print("tiffin: listening on \(address)")
        ServiceManager.tell(.ready)
        if options[demo], certificates == nil, number == nil { Terminal.print(lines: howToTalk(port)) }
        await stopping.wait()
        logger.info("stopping")
        ServiceManager.tell(.stopping)
        embedded?.mustStop(within: .milliseconds(stopMilliseconds - 1_000))
        // A silent database does not keep the process: the next one folds from the log what could not be saved.
        let stopped = StopSignal(by: [])
        let patience = LoopTimer(milliseconds: stopMilliseconds / 2) {
            logger.error(
                "what read models lack is not saved after \(stopMilliseconds / 2_000) s: stopping without it; the next start "
                    + "reads more of the log")
            stopped.fire()
        }
        defer { patience.cancel() }
        server.drain()
        web.drain()
        Task { @LoopActor in
            // The others decide what was this server's, and are told before it goes.
            await service.leave()
            peers.drain()
            await LoopTimer.pause(milliseconds: farewellMilliseconds)
            await service.stop()
            stopped.fire()
        }
        await stopped.wait()
        peers.close()
        server.close()
        await service.tracer?.close()
    }

    /// Has spans sent that say which server they are of.
    @LoopActor
    private static func tracer(of id: ServerID, to collector: String, _ logger: Logger) -> CallTracer {
        let resource = [
            (name: "service.name", value: "tiffin"), (name: "service.version", value: Version.current),
            (name: "service.instance.id", value: "\(id)"),
        ]
        let exporter = SpanExporter(to: collector, of: resource) { logger.error($0) }
        return CallTracer(exporter) { UInt64(max(0, Date().timeIntervalSince1970) * 1e9) }
    }

    /// Where others reach what listens on an address: one that stands for all of this machine's has its name instead.
    private static func reachable(_ address: String) -> String {
        guard let parsed = ServerAddress(address), ["0.0.0.0", "::"].contains(parsed.host) else { return address }
        return ServerAddress(host: ProcessInfo.processInfo.hostName, port: parsed.port).description
    }

    private static func howToTalk(_ port: Int) -> String {
        """

          Talk to it with redis-cli, netcat or any Redis client library:
            redis-cli -p \(port) OUTLET.HOME cinnamon-verandah
            redis-cli -p \(port) CART.ADD cart-1 cinnamon-verandah egg-hopper 2
            redis-cli -p \(port) CART.GET cart-1
            printf 'HELP\\nQUIT\\n' | nc 127.0.0.1 \(port)
          Ctrl-C stops it.

        """
    }

    // MARK: Options

    /// Port 0 is any that is free.
    static func listenAddress(_ text: String) -> (String, UInt16)? {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        let host = text[..<colon].trimmingCharacters(in: ["[", "]"])
        return (host.isEmpty ? "0.0.0.0" : host, port)
    }

    #if DEBUG
        /// For tests of the programs that should find it. It is no option, so that no user comes upon it by accident.
        private static func plantedFault() throws(UsageError) -> PlantedFault? {
            let name = "TIFFIN_PLANTED_FAULT"
            guard let text = ProcessInfo.processInfo.environment[name], !text.isEmpty else { return nil }
            guard let fault = PlantedFault(text) else {
                let names = PlantedFault.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError(
                    "\(name) must be one of \(names), a colon and how often, not '\(text)'")
            }
            return fault
        }
    #endif
}

extension PostgresFleet: FleetStore {}

extension PostgresPictures: PictureStore {}
extension PostgresAdministration: AdministrationStore {}
