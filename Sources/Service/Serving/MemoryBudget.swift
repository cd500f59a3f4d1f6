internal import Application
package import EventLoop

/// Keeps the memory of the process within a bound: near it, caches are emptied; beyond it, nothing more is taken in that
/// would stay. What is there can still be read.
@LoopActor
package final class MemoryBudget {
    private static let interval: UInt64 = 100
    /// How long it takes until caches are emptied again, in nanoseconds.
    static let rest: UInt64 = 1_000_000_000

    /// The most bytes that the process is to take; 0 for any number.
    package let limit: Int
    /// Whether there is no room for more.
    package private(set) var isFull = false

    /// Frees what can be made again.
    var relieve: @LoopActor () -> Void = {}
    private let logger: Logger
    private let used: () -> Int
    private let now: () -> UInt64
    private var relievedAt: UInt64?
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - limit: the most bytes that the process is to take; 0 for any number.
    ///   - used: how many it takes.
    ///   - now: the loop's clock, in nanoseconds.
    init(
        limit: Int, logger: Logger, used: @escaping () -> Int = { ProcessResources.current.residentBytes },
        now: @escaping () -> UInt64 = { LoopActor.now }
    ) {
        self.limit = limit
        self.logger = logger
        self.used = used
        self.now = now
    }

    func start() {
        guard limit > 0 else { return }
        timer = LoopTimer(milliseconds: MemoryBudget.interval, repeating: true) { [unowned self] in check() }
    }

    func stop() { timer?.cancel() }

    /// Fails where there is no room for more.
    func checkRoom() throws(Failure) {
        guard !isFull else { throw Failure(.busy, "the server has no memory left for more; try again later") }
    }

    /// Looks how much there is.
    func check() {
        var used = used()
        if used > limit / 10 * 9, relievedAt.map({ now() - $0 > MemoryBudget.rest }) ?? true {
            relieve()
            ProcessResources.giveBackMemory()
            used = self.used()
            relievedAt = now()
        }
        guard isFull != (used > limit) else { return }
        isFull.toggle()
        let (megabytes, most) = (used >> 20, limit >> 20)
        if isFull {
            logger.error(
                "the server takes \(megabytes) MB of memory, and \(most) is the most: it refuses what needs more")
        } else {
            logger.info("the server takes \(megabytes) MB of memory again, and refuses nothing for that")
        }
    }
}
