import EventLoop
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

struct SignalTests {
    init() { LoopActor.startInBackground() }

    @Test @LoopActor func `A signal reaches its source and has no other effect`() async throws {
        let (received, signalReceived) = AsyncStream<Void>.makeStream()
        let source = try SignalSource(.hangup) { signalReceived.yield() }
        kill(getpid(), SIGHUP)
        #expect(await received.next() != nil)
        source.cancel()
    }
}
