/// Whether what a server knows of its partitions is everything, or others may have written to them. It is told what
/// happens, with times in nanoseconds of a clock that only rises.
public final class Certainty {
    /// For so long after it took a partition over, others may still decide something of it: they learn of it at their
    /// next renewal.
    private static let settling: UInt64 = 2_000_000_000
    /// After so long without a renewal, others may have taken over what is this server's: it may have stood still.
    private static let trust: UInt64 = 1_500_000_000

    /// Whether another server is there that can be reached.
    public private(set) var hasOthers = false
    /// Whether the last renewal found another server, even one that cannot be reached.
    private var knowsOthers = false
    /// When another server was last known to be there, reachable or not.
    private var othersAt: UInt64 = 0
    /// When this server renewed last.
    private var renewedAt: UInt64 = 0
    /// Whether it could not renew since.
    private var hasTrouble = false
    /// Of each partition whose lease is this server's, when that began.
    private var keptSince: [Int: UInt64] = [:]

    /// A server that knows nothing.
    public init() {}

    /// A renewal succeeded that began then. If the one before was long ago, others may have decided what is this server's
    /// meanwhile, and may go on for a moment: it is as if it had been given its leases just now.
    public func renewed(at time: UInt64) {
        if time - renewedAt > Certainty.trust { keptSince = [:] }
        (renewedAt, hasTrouble) = (time, false)
    }

    /// A renewal failed.
    public func failed() { hasTrouble = true }

    /// Who decides what may have changed.
    ///
    /// - Parameter partitions: how many there are.
    public func learned(_ ownership: Ownership, partitions: Int, at now: UInt64) {
        if hasOthers || ownership.knowsOthers { othersAt = now }
        (hasOthers, knowsOthers) = (ownership.hasOthers, ownership.knowsOthers)
        for partition in 0..<partitions {
            keptSince[partition] = ownership.isMine(partition) ? keptSince[partition] ?? now : nil
        }
    }

    /// Whether nobody else decides anything, and nobody has lately.
    public func isAlone(at now: UInt64) -> Bool {
        !hasOthers && isFresh(at: now) && now - othersAt > Certainty.settling
    }

    /// Whether nobody else has written to a partition what is not known here. Otherwise the log has to be read before
    /// something is decided or answered.
    public func isSettled(_ partition: Int, at now: UInt64) -> Bool {
        guard isFresh(at: now) else { return false }
        return isAlone(at: now) || keptSince[partition].map { now - $0 > Certainty.settling } ?? false
    }

    /// Whether this server seems to have stood still: it has not renewed for long, and has not heard that it cannot. Others
    /// may have taken over what was its, and answer from memory, so it has to renew before it does anything.
    public func isBehind(at now: UInt64) -> Bool { !hasTrouble && renewedAt > 0 && now - renewedAt > Certainty.trust }

    /// A server that was alone, and cannot reach the database, has nobody who could have taken anything over. One that
    /// has lost the others, too, has been cut off: they go on without it.
    private func isFresh(at now: UInt64) -> Bool {
        now - renewedAt < Certainty.trust || hasTrouble && !knowsOthers
    }
}
