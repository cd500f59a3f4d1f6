internal import CommandHandling
internal import EventLoop

/// What a partition's log was found to lack.
@LoopActor
final class LogDamage {
    /// The most holes that are logged one by one: an operator would not read a longer list.
    static let maximumTold = 20

    /// How many events are missing.
    private(set) var events: Int64 = 0
    private var holes = 0
    private let logger: Logger

    init(_ logger: Logger) {
        self.logger = logger
    }

    func take(_ missing: MissingEvents) {
        events += Int64(missing.positions.count)
        holes += 1
        if holes <= LogDamage.maximumTold {
            logger.error(
                "\(missing): it was removed. A stream that misses an event is quarantined when its next one is "
                    + "read, all others are served")
        } else if holes == LogDamage.maximumTold + 1 {
            logger.error("more events are missing; INFO log counts them")
        }
    }
}
