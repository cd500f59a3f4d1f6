internal import Domain
internal import EventLog
internal import EventLoop
internal import Foundation
internal import PostgresEventLog
internal import PostgresProjections
internal import Server

enum ServeCommand: Subcommand {
    static let name = "serve"
    static let summary = "runs the server"
    static var help: String { Options.help(name, summary, specs) }

    private static let specs =
        [Options.Spec(name: "listen", value: "host:port", help: "where to listen; default 127.0.0.1:7379")]
        + Database.specs + [
            Options.Spec(name: "log-level", value: "level", help: "error, info or debug; default info"),
            Options.Spec(
                name: "protected-mode", value: "yes|no",
                help: "no: serve clients of other machines too; there are no users yet"),
            Options.Spec(name: "demo", value: nil, help: "load a small demo catalogue when the log is empty"),
        ]

    static func run(_ arguments: [String]) async -> Int32 {
        await run(arguments, specs) { options in
            var configuration = Configuration()
            (configuration.host, configuration.port) = try listenAddress(options["listen"] ?? "127.0.0.1:7379")
            configuration.isProtected = try isProtected(options)
            let logger = Logger(level: try logLevel(options))
            #if DEBUG
                configuration.plantedFault = try plantedFault()
                if let fault = configuration.plantedFault { logger.error("a fault is planted: \(fault)") }
            #endif

            let stopping = StopSignal()
            try await Database.run(options) {
                logger.info($0)
            } onLost: {
                logger.error("the database is lost: stopping")
                stopping.fire()
            } _: { address in
                try await serve(configuration, address, logger, options, stopping)
            }
            logger.info("stopped")
        }
    }

    @LoopActor
    private static func serve(
        _ configuration: Configuration, _ database: String, _ logger: Logger, _ options: Options,
        _ stopping: StopSignal
    ) async throws {
        try await Migrations.run(database) { logger.info($0) }
        let log = try await PostgresEventLog.open(database)
        defer { log.close() }
        let keys = PostgresCustomerKeys(database)
        defer { keys.close() }
        let store = PostgresReadModelStore(database)
        defer { store.close() }
        let server = try await Server(
            configuration: configuration, log: log, keys: keys, store: store, logger: logger,
            postgresVersion: { log.serverVersion }
        ) {
            Timestamp(millisecondsSinceEpoch: Int64(Date().timeIntervalSince1970 * 1_000))
        }
        if options.flag("demo"), server.isLogEmpty {
            let count = try await server.load(catalogue: PackageResources.catalogue_json)
            logger.info("the log was empty: a demo catalogue of \(count) outlets was loaded")
        }
        let (address, port) = try server.listen()
        Terminal.print("tiffin: listening on \(address)")
        if options.flag("demo") { Terminal.print(howToTalk(port)) }
        await stopping.wait()
        logger.info("stopping")
        await server.stop()
    }

    private static func howToTalk(_ port: Int) -> String {
        """

          Talk to it with redis-cli, netcat or any Redis client library:
            redis-cli -p \(port) OUTLET.HOME cinnamon-verandah
            redis-cli -p \(port) CART.ADD cart-1 cinnamon-verandah egg-hopper 2
            redis-cli -p \(port) CART.GET cart-1
            echo HELP | nc -q 1 127.0.0.1 \(port)
          Ctrl-C stops it.

        """
    }

    // MARK: Options

    private static func listenAddress(_ text: String) throws(Options.UsageError) -> (String, UInt16) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw Options.UsageError(message: "--listen must be host:port, not '\(text)'")
        }
        let host = text[..<colon].trimmingCharacters(in: ["[", "]"])
        return (host.isEmpty ? "0.0.0.0" : host, port)
    }

    private static func isProtected(_ options: Options) throws(Options.UsageError) -> Bool {
        switch options["protected-mode"]?.lowercased() {
        case nil, "yes": true
        case "no": false
        case let other?: throw Options.UsageError(message: "--protected-mode must be yes or no, not '\(other)'")
        }
    }

    #if DEBUG
        /// For tests of those who should find it. No option, so that nobody comes upon it by accident.
        private static func plantedFault() throws(Options.UsageError) -> PlantedFault? {
            let name = "TIFFIN_PLANTED_FAULT"
            guard let text = ProcessInfo.processInfo.environment[name], !text.isEmpty else { return nil }
            guard let fault = PlantedFault(text) else {
                let names = PlantedFault.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                throw Options.UsageError(
                    message: "\(name) must be one of \(names), a colon and how often, not '\(text)'")
            }
            return fault
        }
    #endif

    private static func logLevel(_ options: Options) throws(Options.UsageError) -> Logger.Level {
        let text = options["log-level"] ?? "info"
        guard let level = Logger.Level(rawValue: text) else {
            throw Options.UsageError(message: "--log-level must be error, info or debug, not '\(text)'")
        }
        return level
    }
}
