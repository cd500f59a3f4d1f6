import EventLoop
import SeededRandom
import Testing

@testable import Application
@testable import Serving

@Suite struct WorkQueueTests {
    init() { LoopActor.startInBackground() }

    /// Work that ends when the test says so, in the order in which it was begun.
    @LoopActor
    private final class Workshop {
        var begun: [(caller: Int, end: CheckedContinuation<Void, Never>)] = []
        var order: [Int] = []

        func work(for caller: Int) -> WorkQueue.Work {
            { [self] in
                order.append(caller)
                await withCheckedContinuation { begun.append((caller, $0)) }
            }
        }
    }

    /// Lets tasks that can go on do so.
    private static func settle() async { for _ in 0..<8 { await Task.yield() } }

    @Test(arguments: SeededGenerator.seeds) @LoopActor
    func `callers take turns, and no limit is exceeded`(seed: UInt64) async {
        var chance = SeededGenerator(seed: seed)
        let limits = WorkQueue.Limits(
            atOnce: chance.number(1...4), atOnceOfCaller: chance.number(1...3), waiting: chance.number(1...12),
            waitingOfCaller: chance.number(1...6))
        let (queue, workshop) = (WorkQueue(limits), Workshop())
        let callers = (0..<4).map { Caller(user: "\($0)") }
        var accepted = 0
        // Of each caller, how often others have begun something since it has waited for its next turn.
        var overtaken = [Int](repeating: 0, count: callers.count)
        var waiting = overtaken
        for _ in 0..<60 {
            if chance.below(3) > 0 {
                let caller = chance.below(4)
                let isFull = queue.waitingCount == limits.waiting || waiting[caller] == limits.waitingOfCaller
                do throws(Failure) {
                    try queue.add(for: callers[caller], workshop.work(for: caller))
                    accepted += 1
                    waiting[caller] += 1
                    #expect(!isFull)
                } catch {
                    #expect(isFull && error.code == .busy)
                }
            } else if !workshop.begun.isEmpty {
                workshop.begun.remove(at: chance.below(workshop.begun.count)).end.resume()
            }
            let known = workshop.order.count
            await Self.settle()
            for begun in workshop.order[known...] {
                waiting[begun] -= 1
                overtaken[begun] = 0
                for other in callers.indices where other != begun && waiting[other] > 0 {
                    // One that has as much under way as it may waits for itself.
                    let underWay = workshop.begun.count { $0.caller == other }
                    overtaken[other] = underWay < limits.atOnceOfCaller ? overtaken[other] + 1 : 0
                    #expect(overtaken[other] <= limits.atOnce + 2 * callers.count)
                }
            }
            #expect(workshop.begun.count == queue.underWayCount && queue.underWayCount <= limits.atOnce)
            #expect(waiting.reduce(0, +) == queue.waitingCount && queue.waitingCount <= limits.waiting)
            for caller in callers.indices {
                #expect(workshop.begun.count { $0.caller == caller } <= limits.atOnceOfCaller)
            }
        }
        while !workshop.begun.isEmpty {
            workshop.begun.removeFirst().end.resume()
            await Self.settle()
        }
        #expect(workshop.order.count == accepted && queue.waitingCount == 0)
    }

    @Test @LoopActor func `one piece of work comes before the many that another has asked for`() async throws {
        let queue = WorkQueue(WorkQueue.Limits(atOnce: 2, atOnceOfCaller: 2, waiting: 2_000, waitingOfCaller: 1_000))
        let workshop = Workshop()
        for _ in 0..<900 { try queue.add(for: Caller(user: "many"), workshop.work(for: 0)) }
        await Self.settle()
        try queue.add(for: Caller(user: "one"), workshop.work(for: 1))
        while !workshop.begun.isEmpty {
            workshop.begun.removeFirst().end.resume()
            await Self.settle()
        }
        #expect(workshop.order.count == 901)
        let place = try #require(workshop.order.firstIndex(of: 1))
        #expect(place <= 3)
    }
}
