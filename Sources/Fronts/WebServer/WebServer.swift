// The web server: pages for browsers and an API for every client that speaks HTTP, in front of the application.
//
// It promises that a page of another origin can do nothing here, that no client reaches another one's cart, and that
// whatever one client does (sends slowly, reads slowly, sends rubbish) costs the others nothing but its share of the
// time. A route runs a command of the application, so whatever holds for a command holds for its route.

package import Application
internal import Domain
package import EventLoop
internal import HTTP
package import Measurement
package import Serving
package import Users

/// A server of HTTP.
@LoopActor
package final class WebServer: Front {
    let configuration: WebConfiguration
    let logger: Logger
    let pages: Pages
    /// The time in milliseconds since 1970.
    private let clock: () -> Int64
    /// nil while the log is being read.
    private(set) var service: Server?
    private(set) var isStopping = false
    /// Counts a call of a command that was answered: the command, the nanoseconds it took, and why it failed.
    package var onCall: (@LoopActor (Command, UInt64, Failure?) -> Void)?

    /// Gives the state of the server in sections, for the console.
    package var information: (@LoopActor () -> [Facts])?

    /// Gives the nanoseconds that the calls of each command took, for whatever watches the server.
    package var latencies: (@LoopActor () -> [(command: String, latency: Histogram)])?

    private(set) var users = UserDirectory()
    /// Who has logged in with a browser.
    var sessions = ConsoleSessions()
    private var listeners: [Site: TCPListener] = [:]
    private(set) var connections: [Int64: WebConnection] = [:]
    /// The connections of each address that has some.
    private var connectionsOfAddress: [String: Int] = [:]
    /// The event streams of each cookie, or address without one.
    var streams: [String: Int] = [:]
    var bodies: BodyTotals
    /// Counts those of the line server and these apart.
    private var nextConnection: Int64 = 1 << 40
    /// Connections with something to send, or with requests that waited for it.
    private var withWork: [WebConnection] = []
    private var sweep: LoopTimer?
    /// An empty buffer for what is sent, for the connection whose turn it is.
    var spareOutput: [UInt8] = []
    /// The time as answers have it.
    private(set) var date: String
    let tags = DocumentTags()
    let compressedPages = CompressedPages()
    var statistics = WebStatistics()

    package var documentLimit: Int { .max }

    /// - Parameter clock: the time in milliseconds since 1970.
    package init(_ configuration: WebConfiguration, logger: Logger, clock: @escaping () -> Int64) {
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
        // Making them takes a third of a start, and without a site nobody asks for them.
        pages = Pages(configuration.addresses.isEmpty ? WebAssets([]) : WebAssets())
        bodies = BodyTotals(shortBytes: configuration.storeLimits.bodyBytes)
        date = HTTPDate.text(secondsSinceEpoch: clock() / 1_000)
    }

    // MARK: Running

    /// Takes changes of users, at once also for connections that are open.
    package func apply(_ changes: [UserChange], isEverything: Bool) {
        users.apply(changes, isEverything: isEverything)
        sessions.endThoseWithout(users)
        endStreamsWithoutLogin()
    }

    /// Ends the streams of users whose logins have ended or whose rights have changed.
    func endStreamsWithoutLogin() {
        for connection in connections.values { connection.endStreamWithoutLogin() }
    }

    /// Listens, and answers from now on: until ``serve(_:)`` that the log is being read. Returns what each site that
    /// there is listens on.
    ///
    /// - Throws: where it cannot listen, or must not: on an address that is not the machine's own, without users.
    package func listen() throws -> [(site: Site, address: String)] {
        var bound: [(Site, String)] = []
        for site in Site.allCases {
            guard let address = configuration.addresses[site] else { continue }
            let listener: TCPListener
            do throws(LoopError) {
                listener = try TCPListener(host: address.host, port: address.port, isShared: address.isShared) {
                    [unowned self] in accept($0, of: site)
                }
            } catch {
                guard !address.isRequired else {
                    close()
                    throw error
                }
                logger.info("no \(site.rawValue): \(error)")
                continue
            }
            listeners[site] = listener
            guard users.requiresLogin || !configuration.isProtected || listener.isLoopback else {
                close()
                throw NoUsers(address: listener.address)
            }
            listener.onError = { [unowned self] in logger.error("\($0)") }
            bound.append((site, listener.address))
        }
        sweep = LoopTimer(milliseconds: 1_000, repeating: true) { [unowned self] in tick(at: LoopActor.now) }
        return bound
    }

    /// Answers from the application from now on.
    package func serve(_ service: Server) {
        self.service = service
        service.attach(self)
    }

    /// Takes no more requests; those on their way are still answered.
    package func drain() {
        isStopping = true
        for listener in listeners.values { listener.close() }
        listeners = [:]
        for connection in connections.values { connection.drain() }
    }

    /// Closes every connection once its answers are sent.
    package func close() {
        drain()
        sweep?.cancel()
        for connection in connections.values { connection.close() }
    }

    /// Sends what is ready, and goes on with requests that waited for it.
    package func sendAnswers() -> Bool {
        guard !withWork.isEmpty else { return false }
        let connections = withWork
        withWork = []
        for connection in connections { connection.work() }
        return true
    }

    package func name(ofClient client: Int64) -> String? {
        connections[client].map { connection in
            "\(connection.user.map { "user \($0.name)" } ?? "somebody") at \(connection.address)"
        }
    }

    /// Has a connection work at the end of the turn.
    func hasWork(_ connection: WebConnection) { withWork.append(connection) }

    /// The time in milliseconds since 1970.
    var now: Int64 { clock() }

    /// Has every connection look whether its time is over.
    func tick(at now: UInt64) {
        date = HTTPDate.text(secondsSinceEpoch: clock() / 1_000)
        for connection in connections.values { connection.check(at: now) }
    }

    // MARK: Connections

    private func accept(_ connection: TCPConnection, of site: Site) {
        statistics.connections += 1
        let address = WebServer.host(of: connection.peerAddress)
        let isProxy = configuration.proxies.contains(address)
        let others = connectionsOfAddress[address, default: 0]
        guard users.requiresLogin || !configuration.isProtected || connection.isLoopbackPeer else {
            return refuse(
                connection, "DENIED", "Tiffin serves only clients on its own machine, because there are no users.")
        }
        guard connections.count < configuration.maximumConnections,
            isProxy || others < configuration.maximumConnectionsOfAddress
        else { return refuse(connection, "BUSY", "there are too many connections") }
        connectionsOfAddress[address] = others + 1
        let accepted = WebConnection(nextConnection, connection, address: address, of: site, server: self)
        nextConnection += 1
        connections[accepted.id] = accepted
        accepted.start()
    }

    private func refuse(_ connection: TCPConnection, _ code: String, _ detail: String) {
        statistics.refused += 1
        var bytes: [UInt8] = []
        Problem(.unavailable, code, detail).answer.write(to: &bytes, date: date, keepsAlive: false)
        bytes.withUnsafeBytes { connection.write($0) }
        connection.closeAfterWrites()
    }

    func ended(_ connection: WebConnection) {
        guard connections.removeValue(forKey: connection.id) != nil else { return }
        let others = connectionsOfAddress[connection.address, default: 1] - 1
        connectionsOfAddress[connection.address] = others == 0 ? nil : others
    }

    /// An address without its port: `127.0.0.1`, `::1`.
    static func host(of address: String) -> String {
        let host = address.prefix(upTo: address.lastIndex(of: ":") ?? address.endIndex)
        return host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : String(host)
    }
}

/// Why a server does not listen: others could do everything.
struct NoUsers: Error, CustomStringConvertible {
    var address: String

    var description: String {
        "\(address) can be reached from other machines, and there are no users: listen on 127.0.0.1, add a user with "
            + "'tiffin user add NAME --role admin', or start with --protected-mode no behind a firewall"
    }
}
