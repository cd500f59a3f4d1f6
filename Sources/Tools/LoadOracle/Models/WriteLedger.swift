/// What became of each of a customer's writes, numbered from 1: a byte for each, and the latest in full.
final class WriteLedger {
    /// How many writes are kept in full.
    private static let kept = 64

    enum Fate: UInt8 {
        /// Not answered yet, or the outcome could not be found out: it may be in the log, once.
        case unsure
        /// Acknowledged, and changed something: it is in the log, once.
        case recorded
        /// Refused, or acknowledged without changing anything: it is not in the log.
        case nothing
    }

    private static let seenBit: UInt8 = 0x80
    private var fates: [UInt8] = []
    private var latest: [Exchange?] = Array(repeating: nil, count: kept)

    var count: Int { fates.count }

    /// The write with that number was sent, and all before it.
    func begin(_ number: Int) {
        while fates.count < number { fates.append(Fate.unsure.rawValue) }
    }

    func settle(_ exchange: Exchange, _ fate: Fate) {
        guard exchange.write > 0 else { return }
        begin(exchange.write)
        fates[exchange.write - 1] = fate.rawValue
        if fate == .recorded { latest[exchange.write % WriteLedger.kept] = exchange }
    }

    /// An acknowledged write, if it is one of the latest.
    func recorded(_ number: Int) -> Exchange? {
        latest[number % WriteLedger.kept].flatMap { $0.write == number ? $0 : nil }
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
