import EventLoop
import Testing

struct TimeTests {
    init() { LoopActor.startInBackground() }

    @Test @LoopActor func `Timers fire in the order of their times, never early`() async {
        let start = LoopActor.now
        let (fired, signalFired) = AsyncStream<UInt64>.makeStream()
        for milliseconds: UInt64 in [30, 0, 15] {
            _ = LoopTimer(milliseconds: milliseconds) {
                // libuv counts whole milliseconds of its own clock: the current one may have begun already.
                #expect(LoopActor.now - start + 1_000_000 >= milliseconds * 1_000_000)
                signalFired.yield(milliseconds)
                if milliseconds == 30 { signalFired.finish() }
            }
        }
        var order: [UInt64] = []
        for await milliseconds in fired { order.append(milliseconds) }
        #expect(order == [0, 15, 30])
    }

    @Test @LoopActor func `A repeating timer repeats until it is cancelled`() async {
        let (fired, signalFired) = AsyncStream<Void>.makeStream()
        let timer = LoopTimer(milliseconds: 1, repeating: true) { signalFired.yield() }
        var iterator = fired.makeAsyncIterator()
        for _ in 0..<3 { await iterator.next() }
        timer.cancel()
        timer.cancel()
        signalFired.finish()
    }

    @Test @LoopActor func `An alarm rings at the last time it was set to, never early`() async throws {
        let (rung, signalRung) = AsyncStream<UInt64>.makeStream()
        let alarm = try Alarm { signalRung.yield(LoopActor.now) }
        var iterator = rung.makeAsyncIterator()
        for microseconds: UInt64 in [0, 100, 1_700, 300] {
            let time = LoopActor.now + microseconds * 1_000
            alarm.set(to: time + 3_600_000_000_000)
            alarm.set(to: time)
            // If there are only milliseconds, the current one may have begun already.
            #expect(try #require(await iterator.next()) + 1_000_000 >= time)
        }
        alarm.cancel()
        signalRung.finish()
        #expect(await iterator.next() == nil)
    }

    @Test @LoopActor func `A cancelled timer does not fire`() async {
        let cancelled = LoopTimer(milliseconds: 1) { Issue.record("fired") }
        cancelled.cancel()
        await withCheckedContinuation { continuation in
            _ = LoopTimer(milliseconds: 5) { continuation.resume() }
        }
    }

    @Test @LoopActor func `Turns that follow each other leave timers and jobs their turn`() async {
        let gathered = Gathered()
        let (ended, signalEnded) = AsyncStream<Int>.makeStream()
        @LoopActor func turn() {
            gathered.count += 1
            if gathered.isEnough || gathered.count == 1_000_000 {
                signalEnded.yield(gathered.count)
            } else {
                _ = NextTurn(turn)
            }
        }
        turn()
        _ = LoopTimer(milliseconds: 1) { Task { @LoopActor in gathered.isEnough = true } }
        var iterator = ended.makeAsyncIterator()
        #expect(await iterator.next() ?? 1_000_000 < 1_000_000)
    }

    @Test @LoopActor func `afterPoll sees what timers gather before the loop sleeps`() async {
        let gathered = Gathered()
        let (flushed, signalFlushed) = AsyncStream<Int>.makeStream()
        let registration = LoopActor.afterPoll {
            guard gathered.count > 0 else { return }
            signalFlushed.yield(gathered.count)
            gathered.count = 0
        }
        for _ in 0..<10 { _ = LoopTimer(milliseconds: 0) { gathered.count += 1 } }
        var total = 0
        for await count in flushed {
            total += count
            if total == 10 { break }
        }
        #expect(total == 10)
        registration.cancel()
    }

    @LoopActor private final class Gathered {
        var count = 0
        var isEnough = false
    }

    @Test @LoopActor func `Work enqueued from elsewhere runs on the loop`() async {
        let total = await withTaskGroup(of: Int.self) { group in
            for number in 1...1_000 {
                group.addTask { await Self.onLoop(number) }
            }
            var total = 0
            for await number in group { total += number }
            return total
        }
        #expect(total == 500_500)
    }

    @LoopActor private static func onLoop(_ number: Int) -> Int {
        LoopActor.assumeIsolated { number }
    }
}
