/// Which appends leave in which transaction, and on which connection. It knows no connection and no clock.
///
/// The appends of all partitions share one connection. What waits leaves together, as one transaction, in the order of
/// partitions: so servers that lock the heads of the same partitions never wait for each other in a circle.
///
/// A partition whose head somebody else moves or holds is contended. Its appends leave one by one on another connection,
/// so that nobody waits for them, until one finds the head where it was.
struct AppendSchedule<Call> {
    /// The most appends of a transaction. Each may wait for a lock, and all of them together for less than the
    /// connection's deadline.
    static var together: Int { 64 }
    /// The most bytes of a transaction of several appends.
    static var bytesTogether: Int { 1 << 20 }
    /// The most transactions under way on the shared connection while others gather: with two, each holds half as much.
    static var underWay: Int { 1 }
    /// The same on each of the others.
    static var underWayAlone: Int { 2 }

    /// The number of the connection that all partitions share. The others follow it.
    static var shared: Int { 0 }

    struct Append {
        let partition: Int
        let bytes: Int
        let call: Call
    }

    /// Appends that leave before one synchronization point.
    struct Transaction {
        let connection: Int
        let appends: [Append]
    }

    private struct Line {
        var waiting: [Append] = []
        /// What was undone because another append of its transaction failed: it leaves again alone, before the others.
        var undone: [Append] = []
        var underWay = 0
    }

    /// With one partition nobody waits for another: everything leaves at once, on the one connection.
    private let isSingle: Bool
    private var lines: [Line]
    /// The connection of each contended partition.
    private var contended: [Int: Int] = [:]

    /// - Parameter others: the number of connections beside the shared one, at least one if there are partitions.
    init(partitions: Int, others: Int) {
        precondition(partitions == 1 || others > 0, "contended partitions need a connection")
        isSingle = partitions == 1
        lines = [Line](repeating: Line(), count: 1 + others)
    }

    /// Something is to be appended.
    ///
    /// - Parameter isAlone: whether it is known that it may have to wait.
    mutating func add(_ append: Append, isAlone: Bool = false) {
        if isSingle {
            lines[Self.shared].waiting.append(append)
        } else if let connection = contended[append.partition] {
            lines[connection].waiting.append(append)
        } else {
            lines[isAlone ? leastBusy : Self.shared].waiting.append(append)
        }
    }

    private var leastBusy: Int {
        let load = { (line: Line) in line.waiting.count + line.underWay }
        return lines.indices.dropFirst().min { load(lines[$0]) < load(lines[$1]) } ?? Self.shared
    }

    /// An append found the head where it was, or somebody else has moved it.
    mutating func found(_ partition: Int, isContended: Bool) {
        if !isContended {
            contended[partition] = nil
        } else if !isSingle, contended[partition] == nil {
            contended[partition] = leastBusy
        }
    }

    /// Whether something waits to be sent.
    var isWaiting: Bool { lines.indices.contains { isWaiting(on: $0) } }

    func isWaiting(on connection: Int) -> Bool {
        !lines[connection].waiting.isEmpty || !lines[connection].undone.isEmpty
    }

    /// The next transaction to send; nil while none is to be sent.
    mutating func next(on connection: Int) -> Transaction? {
        var appends: [Append]
        if !lines[connection].undone.isEmpty {
            appends = [lines[connection].undone.removeFirst()]
        } else {
            let count = countOfNext(on: connection)
            guard count > 0 else { return nil }
            appends = Array(lines[connection].waiting.prefix(count))
            lines[connection].waiting.removeFirst(count)
            // Those of a partition stay in their order.
            if count > 1 { appends.sort { $0.partition < $1.partition } }
        }
        lines[connection].underWay += 1
        return Transaction(connection: connection, appends: appends)
    }

    private func countOfNext(on connection: Int) -> Int {
        let line = lines[connection]
        if isSingle { return min(1, line.waiting.count) }
        guard connection == Self.shared else {
            return line.underWay < Self.underWayAlone ? min(1, line.waiting.count) : 0
        }
        guard line.underWay < Self.underWay else { return 0 }
        var (count, bytes) = (0, 0)
        for append in line.waiting.prefix(Self.together) {
            bytes += append.bytes
            guard count == 0 || bytes <= Self.bytesTogether else { break }
            count += 1
        }
        return count
    }

    /// A transaction is answered, or lost.
    mutating func ended(_ transaction: Transaction) {
        lines[transaction.connection].underWay -= 1
    }

    /// A transaction has failed, and nothing of it is in the log. Returns the append that has failed for good: one that
    /// was alone. The others will leave again.
    ///
    /// - Parameters:
    ///   - index: which append failed; nil if it was none of them.
    ///   - isLocked: whether it failed because somebody else holds the head.
    mutating func undone(_ transaction: Transaction, by index: Int?, isLocked: Bool) -> Append? {
        ended(transaction)
        var rest = transaction.appends
        if isLocked, let index, !isSingle, transaction.connection == Self.shared {
            let append = rest.remove(at: index)
            found(append.partition, isContended: true)
            add(append)
        } else if rest.count == 1 {
            return rest[0]
        }
        lines[transaction.connection].undone += rest
        return nil
    }

    /// Gives up what waits and was not sent.
    mutating func remove(on connection: Int, where isGivenUp: (Call) -> Bool) -> [Append] {
        let line = lines[connection]
        lines[connection].undone.removeAll { isGivenUp($0.call) }
        lines[connection].waiting.removeAll { isGivenUp($0.call) }
        return (line.undone + line.waiting).filter { isGivenUp($0.call) }
    }
}
