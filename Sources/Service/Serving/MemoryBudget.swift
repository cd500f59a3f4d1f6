internal import Application
package import EventLoop

/// Keeps the memory of the process within a bound: near it, caches are emptied; beyond it, nothing more is taken in that
/// would stay. What is there can still be read.
@LoopActor
package final class MemoryBudget {
    private static let interval: UInt64 = 100
    /// How long it takes until caches are emptied again, in nanoseconds.
    private static let rest: UInt64 = 1_000_000_000

    /// The most bytes that the process is to take; 0 for any number.
    package let limit: Int
    /// Whether there is no room for more.
    package private(set) var isFull = false

    /// Frees what can be made again.
    var relieve: @LoopActor () -> Void = {}
    private let logger: Logger
    private var relievedAt: UInt64?
    private var timer: LoopTimer?

    /// - Parameter limit: the most bytes that the process is to take; 0 for any number.
    init(limit: Int, logger: Logger) {
        self.limit = limit
        self.logger = logger
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

    private func check() {
        var used = ProcessResources.current.residentBytes
        if used > limit / 10 * 9, relievedAt.map({ LoopActor.now - $0 > MemoryBudget.rest }) ?? true {
            relieve()
            ProcessResources.giveBackMemory()
            used = ProcessResources.current.residentBytes
            relievedAt = LoopActor.now
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
