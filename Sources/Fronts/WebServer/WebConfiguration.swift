internal import Domain
package import HTTP

/// Which of the two ports a request came to.
package enum Site: String, CaseIterable, Sendable {
    /// The store: pages and questions of customers, each of whom has their own cart and no other.
    case store
    /// The console: merchants and auditors, and what watches the server.
    case console
}

/// How the web server behaves. Every limit has a name and a default; docs/http.md lists them.
package struct WebConfiguration: Sendable {
    /// Where a site listens.
    package struct Address: Sendable {
        /// The host.
        package var host: String
        /// The port; 0 for any that is free.
        package var port: UInt16
        /// Whether the server ends if it cannot listen there. If not, it goes on without this site.
        package var isRequired: Bool
        /// Whether other processes of this machine listen there, too.
        package var isShared = false

        /// An address.
        package init(host: String, port: UInt16, isRequired: Bool) {
            self.host = host
            self.port = port
            self.isRequired = isRequired
        }
    }

    /// Where the sites listen that there are.
    package var addresses: [Site: Address] = [:]
    /// The hosts that requests may be for, besides those that name this machine: in small letters, without ports.
    package var hosts: Set<String> = []
    /// The addresses of proxies whose word on their clients' addresses counts, without ports.
    package var proxies: Set<String> = []
    /// Whether only clients on the same machine are served while there are no users.
    package var isProtected = true
    /// How large requests to the store may be.
    package var storeLimits = HTTPLimits()
    /// The same for the console, where merchants send whole menus.
    package var consoleLimits = {
        var limits = HTTPLimits()
        limits.bodyBytes = Menu.maximumDocumentBytes
        return limits
    }()
    /// The most bytes of another document than a menu at the console. A body longer than the store allows is taken only
    /// from users who may do what the request asks for.
    package var documentBytes = 1 << 20
    /// The most bytes of bodies that are on their way, of all clients. Long ones have half of it, so that there is room
    /// for those of the store.
    package var bodiesLimit = 128 << 20
    /// The most connections at once.
    package var maximumConnections = 10_000
    /// The most connections at once of one address. The connections of proxies do not count.
    package var maximumConnectionsOfAddress = 100
    /// The most event streams at once of one cookie.
    package var maximumStreamsOfCookie = 8
    /// The most topics of an event stream.
    package var maximumTopicsOfStream = 32
    /// How long a head may take from its first byte on, in seconds.
    package var headSeconds: UInt64 = 10
    /// How long a body may take from its first byte on, in seconds.
    package var bodySeconds: UInt64 = 30
    /// How long a connection may be silent between requests, and an answer may wait to be read, in seconds.
    package var idleSeconds: UInt64 = 60
    /// After so many seconds without an event, a stream sends a comment.
    package var commentSeconds: UInt64 = 15
    /// While more bytes than these wait for the reader of a stream, its topics wait: a message leads on from there
    /// later.
    package var streamPause = 256 << 10
    /// How long the requests of one connection are answered before others have their turn, in nanoseconds.
    package var quantum: UInt64 = 250_000

    /// The defaults.
    package init() {}

    func limits(of site: Site) -> HTTPLimits { site == .console ? consoleLimits : storeLimits }
}
