import EventLoop
import SeededRandom
import Testing

@testable import Application
@testable import Serving

@Suite(.timeLimit(.minutes(1))) struct LogWaitsTests {
    init() { LoopActor.startInBackground() }

    private static func event(_ partition: Int, _ position: Int64, milliseconds: Int64 = 600_000) -> AwaitedEvent {
        AwaitedEvent(partition: partition, position: position, milliseconds: milliseconds)
    }

    @Test(arguments: SeededGenerator.seeds) @LoopActor
    func `each wait ends once, as soon as its event is there`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let waits = LogWaits()
        var positions: [Int64] = [0, 0, 0]
        var awaited: [(partition: Int, position: Int64)] = []
        var ends: [Int] = []
        for _ in 0..<200 {
            if random.chance(50), awaited.count < 90 {
                let (number, partition) = (awaited.count, random.below(3))
                awaited.append((partition, positions[partition] + Int64(random.number(1...20))))
                ends.append(0)
                try waits.add(Self.event(partition, awaited[number].position), for: .server) { isStopping in
                    #expect(!isStopping)
                    ends[number] += 1
                }
            } else {
                positions[random.below(3)] += Int64(random.below(6))
                waits.wake { positions[$0] }
            }
            for (number, event) in awaited.enumerated() {
                #expect(ends[number] == (positions[event.partition] >= event.position ? 1 : 0))
            }
        }
        let over = ends.count { $0 == 1 }
        #expect(over > 0)
        var stopped = 0
        try waits.add(Self.event(0, .max), for: .server) { if $0 { stopped += 1 } }
        waits.wake { _ in .max - 1 }
        waits.stop()
        waits.stop()
        #expect(stopped == 1 && ends.allSatisfy { $0 == 1 })
    }

    @Test @LoopActor func `a wait ends when its time is over`() async throws {
        let waits = LogWaits()
        let isStopping = try await withCheckedThrowingContinuation { continuation in
            do {
                try waits.add(Self.event(0, 1, milliseconds: 1), for: .server) { continuation.resume(returning: $0) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(!isStopping)
        // It is over: nothing is left that could end again.
        waits.stop()
    }

    @Test @LoopActor func `one caller leaves room for the waits of others, and all of them for the server`() throws {
        let waits = LogWaits()
        var ended = 0
        func add(_ caller: Int) -> Bool {
            do throws(Failure) {
                try waits.add(Self.event(0, 1), for: Caller(user: "\(caller)")) { _ in ended += 1 }
                return true
            } catch {
                #expect(error.code == .busy)
                return false
            }
        }
        for caller in 0..<LogWaits.maximum / LogWaits.maximumOfCaller {
            for _ in 0..<LogWaits.maximumOfCaller { #expect(add(caller)) }
            #expect(!add(caller))
        }
        #expect(!add(-1))
        waits.wake { _ in 1 }
        #expect(ended == LogWaits.maximum)
        #expect(add(0))
        waits.stop()
    }
}
