import EventLoop
import Testing

#if canImport(Darwin)
    import Darwin
    private let streamSocket = SOCK_STREAM
#else
    import Glibc
    private let streamSocket = Int32(SOCK_STREAM.rawValue)
#endif

struct PollSourceTests {
    init() { LoopActor.startInBackground() }

    @Test(.timeLimit(.minutes(1))) @LoopActor
    func `A peer's end is reported after its last bytes, even if it left an error`() async throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, streamSocket, 0, &ends) == 0)
        let (own, peer) = (ends[0], ends[1])
        // Closing with unread bytes leaves the error.
        try #require(write(own, "unread", 6) == 6)
        try #require(write(peer, "bye", 3) == 3)
        close(peer)

        let (ready, signalReady) = AsyncStream<Void>.makeStream()
        let source = try PollSource(fileDescriptor: own) { _ in signalReady.yield() }
        var counts: [Int] = []
        var iterator = ready.makeAsyncIterator()
        while counts.last ?? 1 > 0 {
            try source.wait(for: .read)
            await iterator.next()
            var bytes: [UInt8] = [0, 0, 0, 0]
            counts.append(read(own, &bytes, bytes.count))
        }
        source.close()
        close(own)
        #expect(counts.first == 3)
    }
}
