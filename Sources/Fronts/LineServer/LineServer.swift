// The line server: clients of the line protocol on a TCP port, in front of the application.
//
// It promises that a client's replies come in the order of its requests, and that whatever one client does (sends
// slowly, reads slowly, sends rubbish) costs the others nothing but its share of the time.

internal import Application
internal import Domain
internal import EventLog
package import EventLoop
package import Fleet
package import Measurement
package import Serving
internal import TextFormats
package import Users

/// A server of the line protocol.
@LoopActor
package final class LineServer: Front {
    let service: Server
    let configuration: LineConfiguration
    let logger: Logger
    let startedAt = LoopActor.now
    /// What clients of Redis Cluster know the server by.
    package let nodeID: String
    var statistics = Statistics(commandCount: LineCommandTable.shared.commands.count)
    /// The version of the PostgreSQL that the log is in, if it is in one.
    let postgresVersion: () -> String?
    /// How the connections to the database are.
    let connections: @LoopActor () -> [Fact]
    private(set) var sessions: [Int64: Session] = [:]
    /// The sessions, by number, that have to log in first.
    private(set) var strangers: Set<Int64> = []
    var logins: Logins { service.logins }
    var slowLog: SlowLog
    /// The commands that are executed in less are in neither `SLOWLOG` nor `LATENCY`, in nanoseconds.
    let slowCommand: UInt64
    /// Whether a login is required to do anything.
    var requiresLogin: Bool { logins.directory.requiresLogin }
    package var documentLimit: Int { configuration.replyLimit }

    /// The port it listens on.
    var port: Int { listeners.first?.port ?? 0 }

    /// For so long after a client was served, others let it have the processor, in nanoseconds.
    private static let attention: UInt64 = 10_000_000

    /// What takes the connection of another server that has proven to be one; nil where this server is not one of several.
    package var onPeer: (@LoopActor (TCPConnection) -> Void)?

    private var listeners: [TCPListener] = []
    private var nextSession: Int64 = 1
    /// What addresses with clients have, by their names.
    private(set) var shares: [String: AddressShare] = [:]
    /// The bytes of memory that requests and replies of all clients take.
    var clientBytes = 0
    /// Sessions that have sent all the commands that they may send for now, in order.
    var limited: [Session] = []
    var limitTimer: LoopTimer?
    /// Sessions with replies to send or requests that waited for them.
    private var withWork: [Session] = []
    /// Sessions that have used up their time, in the order in which they go on.
    private var paused: [Session] = []
    private var isToContinue = false
    /// The client that was served last in time of its own, and the one before it, with when that was.
    private var lastServed = (client: Int64(0), at: UInt64(0))
    private var servedBefore = (client: Int64(0), at: UInt64(0))
    private var sweep: LoopTimer?
    private var attacksLoggedAt: [Attack: UInt64] = [:]

    /// - Parameters:
    ///   - id: what others know the server by, where it is one of several.
    ///   - postgresVersion: the version of the PostgreSQL that the log is in, as `INFO` gives it; nil where it is not
    ///     known.
    ///   - connections: how the connections to the database are, as `INFO` gives it.
    package init(
        _ service: Server, configuration: LineConfiguration, logger: Logger, id: ServerID = .random(),
        postgresVersion: @escaping () -> String? = { nil },
        connections: @escaping @LoopActor () -> [Fact] = { [] }
    ) {
        self.service = service
        self.configuration = configuration
        self.logger = logger
        nodeID = id.text
        self.postgresVersion = postgresVersion
        self.connections = connections
        slowLog = SlowLog(maximumCount: configuration.slowLogLength)
        slowCommand = min(configuration.slowLogNanoseconds, service.latencies.threshold)
        service.attach(self)
    }

    // MARK: Running

    /// Takes changes of users: at once, for clients that are connected, too.
    ///
    /// - Parameter isEverything: whether there are no users besides these.
    package func apply(_ changes: [UserChange], isEverything: Bool) {
        let wasOpen = !requiresLogin
        let changes = logins.apply(changes, isEverything: isEverything)
        let users = Dictionary(changes.map { ($0.name, $0.user) }) { $1 }
        for session in sessions.values {
            if let name = session.user?.name {
                guard let user = users[name] else { continue }
                if let user, user.isEnabled { session.become(user) } else { session.close(.user) }
            } else if wasOpen, requiresLogin {
                session.become(nil)
            }
        }
    }

    /// Listens, and serves from now on. Returns the address and the port.
    ///
    /// - Throws: where it cannot listen, or must not: on an address that is not the machine's own, without users.
    package func listen() throws -> (address: String, port: Int) {
        let own = try listen(at: configuration.port)
        if let port = configuration.sharedPort { _ = try listen(at: port, isShared: true) }
        sweep = LoopTimer(milliseconds: 1_000, repeating: true) { [unowned self] in closeOverdue() }
        return (own.address, own.port)
    }

    private func listen(at port: UInt16, isShared: Bool = false) throws -> TCPListener {
        let listener = try TCPListener(
            host: configuration.host, port: port, isShared: isShared, tls: configuration.tls,
            maximumHandshakes: configuration.maximumHandshakes
        ) { [unowned self] in accept($0) }
        listener.onError = { [unowned self] error in
            statistics.failedAccepts += 1
            logger.error("\(error)")
        }
        listener.onRefusal { [unowned self] address, reason in
            statistics.refusedHandshakes += 1
            logger.debug("no TLS with \(address): \(reason)")
        }
        guard requiresLogin || !configuration.isProtected || listener.isLoopback else {
            listener.close()
            throw NoUsers(address: listener.address)
        }
        listeners.append(listener)
        return listener
    }

    /// Uses other certificates for clients that connect from now on.
    package func replace(_ tls: TLSContext) {
        for listener in listeners { listener.replace(tls) }
    }

    /// Takes no more commands; those on their way are still answered.
    package func drain() {
        for listener in listeners { listener.close() }
        sweep?.cancel()
        for session in sessions.values { session.drain() }
    }

    /// Closes every connection once its replies are sent.
    package func close() {
        for session in sessions.values {
            session.close()
            session.work()
        }
    }

    /// Sends what is ready, and goes on with requests that waited for it.
    package func sendAnswers() -> Bool {
        guard !withWork.isEmpty else { return false }
        let sessions = withWork
        withWork = []
        for session in sessions { session.work() }
        return true
    }

    package func name(ofClient client: Int64) -> String? {
        sessions[client].map { session in
            "\(session.user.map { "user \($0.name)" } ?? "somebody") at \(session.connection.peerAddress)"
        }
    }

    /// Has a session work at the end of the turn.
    func hasWork(_ session: Session) { withWork.append(session) }

    /// Has a session go on in a later turn of the loop, once its sockets have had theirs.
    func continueLater(_ session: Session) {
        paused.append(session)
        continueInNextTurn()
    }

    /// A client is served that has not used up its time.
    func serves(_ session: Session, at now: UInt64) {
        if session.id != lastServed.client {
            servedBefore = lastServed
            lastServed.client = session.id
        }
        lastServed.at = now
    }

    /// Whether anybody but this client was served during the last second.
    func servesOthers(than session: Session, at now: UInt64) -> Bool {
        let others = session.id == lastServed.client ? servedBefore : lastServed
        return others.at > 0 && now < others.at + 1_000_000_000
    }

    /// While others are served, a pause follows each turn of those that have used up their time: the processor is also
    /// needed by the database, and by the others themselves if they are on this machine.
    private func continueInNextTurn() {
        guard !isToContinue, !paused.isEmpty else { return }
        isToContinue = true
        let body: @LoopActor () -> Void = { [unowned self] in
            isToContinue = false
            continuePaused()
        }
        let isAlone = LoopActor.now > lastServed.at + LineServer.attention
        if isAlone { _ = NextTurn(body) } else { _ = LoopTimer(milliseconds: 1, body) }
    }

    private func continuePaused() {
        let sessions = paused
        paused = []
        let end = LoopActor.now + configuration.pausedShare
        var count = 0
        repeat {
            sessions[count].resume()
            count += 1
        } while count < sessions.count && LoopActor.now < end
        paused.insert(contentsOf: sessions[count...], at: 0)
        continueInNextTurn()
    }

    // MARK: Sessions

    private func accept(_ connection: TCPConnection) {
        if configuration.isProtected, !requiresLogin, !connection.isLoopbackPeer {
            return refuse(
                connection,
                "-DENIED Tiffin serves only clients on its own machine, because there are no users.\r\n")
        }
        guard sessions.count < configuration.maximumClients else {
            return refuse(connection, "-ERR max number of clients reached\r\n")
        }
        let address = Logins.network(of: connection.peerAddress)
        let share =
            shares[address]
            ?? AddressShare(
                of: address, commandsPerSecond: configuration.commandsPerSecondOfAddress)
        guard share.clients < configuration.maximumClientsOfAddress else {
            return refuse(connection, "-ERR max number of clients of an address reached\r\n")
        }
        // The oldest has had the most time.
        if strangers.count >= configuration.maximumStrangers, let oldest = strangers.min() {
            sessions[oldest]?.close(.crowded)
            strangers.remove(oldest)
        }
        let session = Session(id: nextSession, connection, of: self, share: share)
        shares[address] = share
        share.clients += 1
        sessions[nextSession] = session
        nextSession += 1
        statistics.connections += 1
        session.start()
    }

    private func refuse(_ connection: TCPConnection, _ message: String) {
        statistics.count(.rejected)
        var message = message
        message.withUTF8 { connection.write(UnsafeRawBufferPointer($0)) }
        connection.closeAfterWrites()
    }

    func sessionEnded(_ session: Session) {
        service.clientEnded(session.subscriber)
        guard sessions.removeValue(forKey: session.id) != nil else { return }
        session.share.clients -= 1
        strangers.remove(session.id)
    }

    /// A session has to log in first, or has.
    func note(_ session: Session, isStranger: Bool) {
        if isStranger { strangers.insert(session.id) } else { strangers.remove(session.id) }
    }

    /// A command took long to execute. What logs in is never kept.
    func note(
        slow command: CommandDeclaration, _ arguments: Arguments, nanoseconds: UInt64, of session: Session
    ) {
        service.latencies.note(.command, nanoseconds: nanoseconds)
        guard nanoseconds >= configuration.slowLogNanoseconds, command.right != .login else { return }
        slowLog.add(
            command, arguments, microseconds: Int64(nanoseconds / 1_000),
            time: service.clock().millisecondsSinceEpoch / 1_000, address: session.connection.peerAddress,
            client: session.name)
    }

    private func closeOverdue() {
        logins.tidy()
        let now = LoopActor.now
        shares = shares.filter { $1.clients > 0 || !$1.allowance.isWhole(at: now) }
        for session in sessions.values { session.closeIfOverdue(at: now) }
    }

    /// A client does what only an attack does, and is disconnected. Each kind is logged at most once a minute.
    func log(_ attack: Attack, by session: Session) {
        let now = LoopActor.now
        if let loggedAt = attacksLoggedAt[attack], now - loggedAt < 60_000_000_000 { return }
        attacksLoggedAt[attack] = now
        logger.error("possible attack: \(session.connection.peerAddress) \(attack.rawValue); the connection was closed")
    }

    /// What the log says of an attack.
    enum Attack: String {
        /// Perhaps by a web page.
        case http = "sends HTTP"
        case falsePeer = "says that it is a server of this log, and is not"
    }
}

extension LineConfiguration {
    /// From where on a command is in `SLOWLOG`.
    fileprivate var slowLogNanoseconds: UInt64 {
        slowLogMicroseconds < 0 ? .max : UInt64(slowLogMicroseconds) * 1_000
    }
}

/// Why a server does not listen: others could do everything.
struct NoUsers: Error, CustomStringConvertible {
    var address: String

    var description: String {
        "\(address) can be reached from other machines, and there are no users: whoever connects could do everything. "
            + "Add one with 'tiffin user add NAME --role admin', listen on 127.0.0.1, or start with "
            + "--protected-mode no behind a firewall"
    }
}
