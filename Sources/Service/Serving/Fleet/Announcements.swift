internal import Application
internal import EventLoop
internal import Fleet

/// Has every other server read what this one decided, before the answer says that it is done: about outlets and menus, as
/// each of them answers, and decides carts, by what it has read; and of partitions that another decides by then.
@LoopActor
final class Announcements {
    /// How long an answer waits for the others, in milliseconds: one of them may not be reachable.
    private static let patienceMilliseconds: UInt64 = 1_000

    private unowned let member: FleetMember
    private var rounds: [Int: Round] = [:]

    /// What is told of a partition: one announcement after the other, each for everything that has been decided since.
    private struct Round {
        var isUnderWay = false
        var position: Int64 = 0
        var waiting: [@LoopActor () -> Void] = []
    }

    init(_ member: FleetMember) { self.member = member }

    /// Calls a body once the other servers have read a partition up to a position, or after a while.
    func announce(_ partition: Int, at position: Int64, _ body: @escaping @LoopActor () -> Void) {
        var round = rounds[partition] ?? Round()
        round.position = max(round.position, position)
        round.waiting.append(body)
        rounds[partition] = round
        if !round.isUnderWay { begin(partition) }
    }

    private func begin(_ partition: Int) {
        guard let round = rounds.removeValue(forKey: partition), !round.waiting.isEmpty else { return }
        let others = member.others
        guard !others.isEmpty else { return round.waiting.forEach { $0() } }
        rounds[partition] = Round(isUnderWay: true)
        var waiting = round.waiting
        let end = { @LoopActor [weak self] in
            let bodies = waiting
            waiting = []
            guard !bodies.isEmpty else { return }
            for body in bodies { body() }
            self?.rounds[partition]?.isUnderWay = false
            self?.begin(partition)
        }
        let timer = LoopTimer(milliseconds: Announcements.patienceMilliseconds, end)
        var left = others.count
        for other in others {
            member.links.announce(partition, at: round.position, to: other) {
                left -= 1
                guard left == 0 else { return }
                timer.cancel()
                end()
            }
        }
    }
}
