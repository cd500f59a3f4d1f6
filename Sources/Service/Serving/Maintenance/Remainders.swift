internal import EventLog
internal import EventLoop

/// Removes what destroyed keys have left behind, some time after customers forgot themselves.
///
/// No key can be used meanwhile, and customers decide how often this is needed. So it takes a small share of the time:
/// however many the customers are, they wait for one another.
@LoopActor
final class Remainders {
    /// For each second that it took, so many pass before the next time.
    private static let rest: UInt64 = 20
    /// How long the first waits for others, in milliseconds.
    private static let patience: UInt64 = 1_000

    private let keys: any CustomerKeys
    private let logger: Logger
    private var timer: LoopTimer?
    private var isRemoving = false
    private var isNeeded = false
    /// Before this moment nothing is removed.
    private var restUntil: UInt64 = 0

    init(_ keys: any CustomerKeys, _ logger: Logger) {
        self.keys = keys
        self.logger = logger
    }

    /// Keys have been destroyed.
    func remove() {
        isNeeded = true
        guard !isRemoving, timer == nil else { return }
        let now = LoopActor.now
        let rest = restUntil > now ? (restUntil - now) / 1_000_000 : 0
        timer = LoopTimer(milliseconds: max(rest, Remainders.patience)) { [self] in
            timer = nil
            isRemoving = true
            isNeeded = false
            LoopActor.task { [self] in
                let began = LoopActor.now
                let remainder = await keys.removeRemainders()
                if let remainder {
                    logger.error("the file of the table of keys may still have the old bytes: \(remainder)")
                } else {
                    logger.info("the table of keys was rewritten without those that were destroyed")
                }
                restUntil = LoopActor.now + (LoopActor.now - began) * Remainders.rest
                isRemoving = false
                if isNeeded { remove() }
            }
        }
    }

    /// Waits for what is being removed. What is left then is removed the next time that a customer is forgotten.
    func stop() async {
        timer?.cancel()
        timer = nil
        isNeeded = false
        while isRemoving { await LoopTimer.pause(milliseconds: 5) }
    }
}
