internal import Domain
package import EventLoop
package import LineProtocol

/// How the line server behaves. Every limit has a name and a default; docs/limits.md lists them.
package struct LineConfiguration: Sendable {
    /// The host to listen on.
    package var host = "127.0.0.1"
    /// The port to listen on; 0 for any that is free.
    package var port: UInt16 = 7379
    /// Another port, at which other processes of this machine listen, too; nil where there is none.
    package var sharedPort: UInt16?
    /// Whether only clients on the same machine are served while there are no users: anybody who can connect could do
    /// everything.
    package var isProtected = true
    /// What the server needs for TLS; nil for plain connections.
    package var tls: TLSContext?
    /// The most TLS handshakes at once. Clients beyond them wait in the system's queue.
    package var maximumHandshakes = 1_024
    /// How long a client may take to log in, in seconds.
    package var loginSeconds: UInt64 = 10
    /// The most clients at once that have not logged in. For one more, the oldest of them has to go.
    package var maximumStrangers = 1_000
    /// How often a client may fail to log in before its connection is closed.
    package var maximumLoginFailures = 3
    /// The most clients at once.
    package var maximumClients = 10_000
    /// The most clients at once of one address.
    package var maximumClientsOfAddress = 10_000
    /// The most commands of a client in a second, on average; 0 for any number. A client that sends more has to wait.
    package var commandsPerSecond = 0
    /// The same for all clients of an address together.
    package var commandsPerSecondOfAddress = 0
    /// The most bytes of memory that requests and replies of all clients take. Beyond them, the client with the most is
    /// disconnected.
    package var clientMemory = 1 << 30
    /// The same for the clients of one address.
    package var clientMemoryOfAddress = 1 << 30
    /// How large a request may be. Only those who own outlets may send whole menus.
    package var requestLimits = {
        var limits = RequestLimits()
        limits.longArgument = .init(of: "MENU.PUT", index: 2, length: Menu.maximumDocumentBytes)
        return limits
    }()
    /// The most bytes of replies that wait for a client to read; a client with more is disconnected.
    package var outputLimit = 32 << 20 {
        didSet {
            outputPause = min(outputPause, outputLimit / 32)
            followPause = min(followPause, outputLimit - replyLimit)
        }
    }
    /// While more bytes than these wait for a client to read, none of its commands is executed.
    package var outputPause = 1 << 20
    /// While more bytes than these wait for a client to read them, it is sent no messages. The largest fits beside them.
    package var followPause = 256 << 10
    /// The most bytes of one reply, or of the document of a topic. So there is room for what waits before it.
    package var replyLimit: Int { outputLimit / 8 * 7 }
    /// While more unread bytes than these wait for earlier commands, nothing more is read from the client.
    package var inputPause = 1 << 20
    /// The most commands of a client that may be on their way. Without it, one client that sends writes without an end
    /// could take all the room that there is for waiting commands.
    package var maximumPendingReplies = 1_000
    /// How long the requests of one client are executed before others have their turn, in nanoseconds.
    package var sessionQuantum: UInt64 = 250_000
    /// How long a turn of the loop goes on with the requests of clients that have used up their quantum, in
    /// nanoseconds. Requests of others wait no longer than this meanwhile, however many such clients there are.
    package var pausedShare: UInt64 = 500_000
    /// A request whose last argument has more bytes is large: executing it can take long. While others are served, the
    /// clients of an address wait between two of them.
    package var largeRequest = 32 << 10
    /// How long a client may be silent, in seconds.
    package var idleSeconds: UInt64 = 300
    /// How long a client may take to finish a command it began, in seconds.
    package var partialCommandSeconds: UInt64 = 30

    /// Commands that take at least so many microseconds to execute are in `SLOWLOG`; fewer than 0 for none.
    package var slowLogMicroseconds: Int64 = 10_000
    /// The most commands in `SLOWLOG`.
    package var slowLogLength = 128

    /// The defaults.
    package init() {}
}
