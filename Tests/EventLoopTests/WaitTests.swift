import EventLoop
import Testing

@Suite(.timeLimit(.minutes(1)))
struct WaitTests {
    init() { LoopActor.startInBackground() }

    /// Things that happen one after the other, while somebody waits for the next.
    @LoopActor
    private final class Events {
        private var unseen = 0
        private var waiter: CheckedContinuation<Void, Never>?

        func happen() {
            unseen += 1
            waiter?.resume()
            waiter = nil
        }

        func next() async {
            await LoopActor.wait(unless: { unseen > 0 }) { waiter = $0 }
            unseen -= 1
        }
    }

    @Test @LoopActor func `Whoever waits for what has happened goes on at once`() async {
        let events = Events()
        events.happen()
        await events.next()
    }

    @Test(arguments: [1, 3, 20]) func `Nothing is missed, whenever it happens`(atOnce: Int) async {
        await Task { @LoopActor in
            let events = Events()
            let timer = LoopTimer(milliseconds: 1, repeating: true) { for _ in 0..<atOnce { events.happen() } }
            for number in 0..<atOnce * 100 {
                if number.isMultiple(of: 3) { LoopActor.task { events.happen() } }
                await events.next()
            }
            timer.cancel()
        }.value
    }
}
