internal import EventLoop

/// Work that clients wait for and that takes a while, of which only so much is done at once.
///
/// Callers take turns. However much one of them has asked for, another waits for what is being done, and for one piece
/// of each caller before it.
@LoopActor
final class WorkQueue {
    /// How much there may be.
    struct Limits {
        /// The most pieces of work at once.
        var atOnce: Int
        /// The most of them for one caller.
        var atOnceOfCaller: Int
        /// The most that wait.
        var waiting: Int
        /// The most of them of one caller.
        var waitingOfCaller: Int
    }

    typealias Work = @LoopActor () async -> Void

    /// What one caller waits for.
    @LoopActor
    private final class Line {
        let caller: Caller
        var waiting: [Work] = []
        var underWay = 0

        init(_ caller: Caller) { self.caller = caller }
    }

    let limits: Limits
    private var lines: [Caller: Line] = [:]
    /// The lines from which the next pieces are taken, in the order of their turns.
    private var turns: [Line] = []
    /// How many pieces are worked on.
    private(set) var underWayCount = 0
    /// How many wait.
    private(set) var waitingCount = 0

    init(_ limits: Limits) { self.limits = limits }

    /// Has something done, as soon as it is the caller's turn. It is never begun before this returns.
    ///
    /// - Throws: `BUSY` if too much waits.
    func add(for caller: Caller, _ work: @escaping Work) throws(Failure) {
        let line = lines[caller] ?? Line(caller)
        guard waitingCount < limits.waiting, line.waiting.count < limits.waitingOfCaller else { throw .busy }
        lines[caller] = line
        line.waiting.append(work)
        waitingCount += 1
        if line.waiting.count == 1, line.underWay < limits.atOnceOfCaller { turns.append(line) }
        begin()
    }

    private func begin() {
        while underWayCount < limits.atOnce, !turns.isEmpty {
            let line = turns.removeFirst()
            let work = line.waiting.removeFirst()
            waitingCount -= 1
            line.underWay += 1
            underWayCount += 1
            if !line.waiting.isEmpty, line.underWay < limits.atOnceOfCaller { turns.append(line) }
            LoopActor.task { [self] in
                await work()
                ended(line)
            }
        }
    }

    private func ended(_ line: Line) {
        underWayCount -= 1
        line.underWay -= 1
        if !line.waiting.isEmpty {
            // Until now it had as much under way as it may.
            if line.underWay == limits.atOnceOfCaller - 1 { turns.append(line) }
        } else if line.underWay == 0 {
            lines[line.caller] = nil
        }
        begin()
    }
}
