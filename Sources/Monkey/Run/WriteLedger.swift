/// What became of each of a shopper's writes, numbered from 1: one byte a write.
final class WriteLedger {
    enum Fate: UInt8 {
        /// Not answered yet, or the outcome could not be learnt: it may be in the log, once.
        case unsure
        /// Acknowledged, and changed something: it is in the log, once.
        case recorded
        /// Refused, or acknowledged without changing anything: it is not in the log.
        case nothing
    }

    private static let seenBit: UInt8 = 0x80
    private var fates: [UInt8] = []

    var count: Int { fates.count }

    /// The number of a new write.
    func begin() -> Int {
        fates.append(Fate.unsure.rawValue)
        return fates.count
    }

    func settle(_ number: Int, _ fate: Fate) {
        guard number > 0 else { return }
        fates[number - 1] = fate.rawValue
    }

    func fate(_ number: Int) -> Fate? {
        guard (1...max(1, fates.count)).contains(number), !fates.isEmpty else { return nil }
        return Fate(rawValue: fates[number - 1] & ~WriteLedger.seenBit)
    }

    /// The log has it. Returns whether it had it before.
    func see(_ number: Int) -> Bool {
        let wasSeen = fates[number - 1] & WriteLedger.seenBit != 0
        fates[number - 1] |= WriteLedger.seenBit
        return wasSeen
    }
}

extension WriteLedger {
    /// Acknowledged changes that the log has not shown.
    var unseen: [Int] {
        fates.indices.filter { fates[$0] == Fate.recorded.rawValue }.map { $0 + 1 }
    }
}
