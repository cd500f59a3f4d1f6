// The server: sessions on a TCP port, the command table, and the engine behind them.
//
// The promise: a client's replies come in the order of its requests; a write is durable before it is answered;
// whatever one client does — sends slowly, reads slowly, sends rubbish — costs nobody else anything but its
// share of the time.

public import Domain
public import EventLog
public import EventLoop
public import PostgresProjections
internal import Projections

/// A server on one event log.
@LoopActor
public final class Server {
    /// The version of Tiffin.
    public nonisolated static let version = "0.1.0"

    let configuration: Configuration
    let logger: Logger
    let engine: Engine
    let topics: Topics
    let log: any EventLog
    let notary: Notary
    let startedAt = LoopActor.now
    var statistics = Statistics(commandCount: CommandTable.shared.commands.count)
    /// The version of the PostgreSQL that the log is in, where it is in one.
    let postgresVersion: () -> String?
    private(set) var sessions: [Int64: Session] = [:]

    /// The port it listens on.
    var port: Int { listener?.port ?? 0 }

    private var listener: TCPListener?
    private var nextSession: Int64 = 1
    private var withReplies: [Session] = []
    private var turn: AfterPoll?
    private var sweep: LoopTimer?
    private var httpLoggedAt: UInt64?

    /// Restores the read models from their checkpoints, reads the rest of the log, and is then ready to listen.
    ///
    /// - Parameters:
    ///   - keys: what customers' texts are sealed with.
    ///   - postgresVersion: the version of the PostgreSQL that the log is in, as `INFO` tells it; nil where it is not
    ///     known.
    public init(
        configuration: Configuration, log: any EventLog, keys: any CustomerKeys, store: PostgresReadModelStore?,
        logger: Logger, postgresVersion: @escaping () -> String? = { nil }, clock: @escaping () -> Timestamp
    ) async throws {
        self.configuration = configuration
        self.logger = logger
        self.log = log
        notary = Notary(log)
        self.postgresVersion = postgresVersion
        let changes = ChangeFeed()
        let homes = HomeCache(configuration, changes)
        let catalogue = LiveCatalogue(clock: clock)
        var shards: [Shard] = []
        for partition in 0..<log.partitionCount {
            let began = LoopActor.now
            var restored = try await store?.restore(partition: partition) ?? .nothing(partition)
            if let note = restored.note { logger.info(note) }
            var shard: Shard
            repeat {
                shard = Shard(
                    restored, log: log, store: store, changes: changes, catalogue: catalogue,
                    configuration: configuration, logger: logger, clock: clock)
                var toldAt = LoopActor.now
                try await shard.catchUp { position in
                    guard LoopActor.now - toldAt > 1_000_000_000 else { return }
                    toldAt = LoopActor.now
                    logger.info("reading the log: position \(position)")
                }
                // Saved rows do not tell which streams lack an event: only the whole log does.
                guard shard.missingEvents > 0, restored.model.position > 0 else { break }
                logger.info("events are missing: folding the log anew")
                restored.startAnew()
            } while true
            logger.debug(
                "partition \(partition): checkpoint at \(restored.model.position), log read to \(shard.position) "
                    + "in \((LoopActor.now - began) / 1_000_000) ms")
            shards.append(shard)
        }
        let began = LoopActor.now
        catalogue.load(shards.map(\.readModel))
        logger.debug("\(catalogue.size) indexed in \((LoopActor.now - began) / 1_000_000) ms")
        ProcessResources.giveBackMemory()
        engine = Engine(
            shards: shards, homes: homes, archive: Archive(log), catalogue: catalogue,
            locksmith: Locksmith(keys, Partitioning(count: log.partitionCount)), clock: clock)
        topics = Topics(engine, changes, configuration)
    }

    // MARK: Running

    /// Listens, and serves from now on. Returns the address and the port.
    public func listen() throws(LoopError) -> (address: String, port: Int) {
        let listener = try TCPListener(host: configuration.host, port: configuration.port) { [unowned self] in
            accept($0)
        }
        listener.onError = { [logger] in logger.error("\($0)") }
        self.listener = listener
        turn = LoopActor.afterPoll { [unowned self] in finishTurn() }
        sweep = LoopTimer(milliseconds: 1_000, repeating: true) { [unowned self] in closeOverdue() }
        for shard in engine.partitions { shard.start() }
        return (listener.address, listener.port)
    }

    /// Takes no more commands, answers those that are on their way, saves the read models, and closes.
    public func stop() async {
        listener?.close()
        sweep?.cancel()
        for session in sessions.values { session.stopExecuting() }
        await engine.stop()
        finishTurn()
        for session in sessions.values { session.close() }
        topics.stop()
        turn?.cancel()
    }

    /// What is left to do at the end of a turn of the loop: batches go out, then replies, then messages.
    private func finishTurn() {
        engine.startWork()
        let hadReplies = sendReplies()
        for name in engine.takeTouchedQuestions() { topics.changed(.savedQuestion(name)) }
        let hasPublished = topics.publish()
        if sendReplies() || hadReplies || hasPublished { engine.startWork() }
    }

    private func sendReplies() -> Bool {
        guard !withReplies.isEmpty else { return false }
        let sessions = withReplies
        withReplies = []
        for session in sessions { session.finishTurn() }
        return true
    }

    func hasReplies(_ session: Session) { withReplies.append(session) }

    // MARK: Sessions

    private func accept(_ connection: TCPConnection) {
        if configuration.isProtected, !connection.isLoopbackPeer {
            return refuse(
                connection,
                "-DENIED Tiffin serves only clients on its own machine, because no users are configured. "
                    + "Start it with --protected-mode no to serve others, behind a firewall.\r\n")
        }
        guard sessions.count < configuration.maximumClients else {
            return refuse(connection, "-ERR max number of clients reached\r\n")
        }
        let session = Session(id: nextSession, connection, of: self)
        sessions[nextSession] = session
        nextSession += 1
        statistics.connections += 1
        session.start()
    }

    private func refuse(_ connection: TCPConnection, _ message: String) {
        var message = message
        message.withUTF8 { connection.write(UnsafeRawBufferPointer($0)) }
        connection.closeAfterWrites()
    }

    func sessionEnded(_ session: Session) {
        topics.unsubscribe(session)
        sessions[session.id] = nil
    }

    private func closeOverdue() {
        let now = LoopActor.now
        for session in sessions.values { session.closeIfOverdue(at: now) }
        // What was sold out or paused until now comes back, and saved questions may be answered otherwise.
        _ = engine.catalogue
    }

    /// Somebody speaks HTTP: maybe a web page that was made to attack us. Said at most once a minute.
    func logHTTPAttempt(by session: Session) {
        let now = LoopActor.now
        if let httpLoggedAt, now - httpLoggedAt < 60_000_000_000 { return }
        httpLoggedAt = now
        logger.error(
            "possible attack: \(session.connection.peerAddress) sends HTTP; the connection was closed")
    }
}
