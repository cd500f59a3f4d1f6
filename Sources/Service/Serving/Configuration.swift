package import CommandHandling
internal import EventLoop

/// How the application behaves. Every limit has a name and a default; docs/limits.md lists them.
package struct Configuration: Sendable {
    /// The most bytes of home documents that are kept ready.
    package var homeCacheBytes = 64 << 20
    /// The most bytes of home documents that clients have read and that have changed since.
    package var homeHistoryBytes = 64 << 20
    /// The most bytes of patches between home documents.
    package var homePatchBytes = 16 << 20
    /// The most bytes of other documents that are kept for clients that ask what has changed since.
    package var recentDocumentBytes = 32 << 20
    /// The most bytes of patches between them.
    package var recentPatchBytes = 8 << 20
    /// The most topics that a client may subscribe to.
    package var subscriptionsPerClient = 1_000
    /// The most subscriptions of all clients of one caller.
    package var subscriptionsPerCaller = 50_000
    /// The most subscriptions of all clients together.
    package var subscriptions = 200_000
    /// Bounds on what each partition holds and lets wait.
    package var processorLimits = CommandProcessor.Limits()
    /// About the most carts whose counts are held, of all partitions together, beside those that are not saved.
    package var cartsInMemory = 500_000
    /// About the most orders that are held, of all partitions together, beside those that are open or not saved.
    package var ordersInMemory = 100_000
    /// How often the log is polled for what other servers wrote, in milliseconds.
    package var pollMilliseconds: UInt64 = 200
    /// The most events between two checkpoints of the read models.
    package var checkpointEvents: Int64 = 500_000
    /// How long events may stay out of a checkpoint while more keep coming, in seconds.
    package var checkpointSeconds: UInt64 = 30
    /// What holds up the server for so many milliseconds is in `LATENCY`; 0 for nothing.
    package var latencyMilliseconds: UInt64 = 100
    /// The most bytes of memory that the process is to take; 0 for any number.
    package var maximumMemory = 0
    /// Whether it only reads what other servers write: the database may be a standby.
    package var isFollower = false
    #if DEBUG
        /// What the application does wrong on purpose.
        package var plantedFault: PlantedFault?
    #endif

    /// The defaults.
    package init() {}
}

extension Configuration {
    /// A patch as it is sent.
    @LoopActor
    func sent(_ patch: [UInt8]) -> [UInt8] {
        #if DEBUG
            plantedFault?.sent(patch) ?? patch
        #else
            patch
        #endif
    }
}
