public import CommandHandling
public import LineProtocol

/// How a server is to behave. Every limit has a name and a default; docs/protocol.md states them.
public struct Configuration: Sendable {
    /// The host to listen on.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 for any that is free.
    public var port: UInt16 = 7379
    /// Whether only clients on the same machine are served. There are no users yet, so anybody who can connect
    /// can do everything.
    public var isProtected = true
    /// The most clients at once.
    public var maximumClients = 10_000
    /// How large a request may be.
    public var requestLimits = RequestLimits()
    /// The most bytes of replies that wait for a client to read; over that it is disconnected.
    public var outputLimit = 32 << 20
    /// From so many waiting bytes on, no more commands of the client are executed until it has read some.
    public var outputPause = 1 << 20
    /// How long a client may be silent, in seconds.
    public var idleSeconds: UInt64 = 300
    /// How long a client may take to finish a command it began, in seconds.
    public var partialCommandSeconds: UInt64 = 30
    /// The most bytes of home documents that are kept ready.
    public var homeCacheBytes = 64 << 20
    /// The most bytes of home documents that were sent lately and have changed since.
    public var homeHistoryBytes = 64 << 20
    /// The most bytes of patches between home documents.
    public var homePatchBytes = 16 << 20
    /// The most topics that a client may listen to.
    public var subscriptionsPerClient = 1_000
    /// The most subscriptions of all clients together.
    public var subscriptions = 200_000
    /// Bounds on what each partition holds and lets wait.
    public var processorLimits = CommandProcessor.Limits()
    /// How often the log is asked for what other servers wrote, in milliseconds.
    public var pollMilliseconds: UInt64 = 200
    /// The most events between two checkpoints of the read models.
    public var checkpointEvents: Int64 = 500_000
    /// How long events may stay out of a checkpoint while more keep coming, in seconds.
    public var checkpointSeconds: UInt64 = 30
    #if DEBUG
        /// What the server is to do wrong.
        public var plantedFault: PlantedFault?
    #endif

    /// The defaults.
    public init() {}
}
