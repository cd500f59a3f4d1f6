import Domain
import EventLog
import EventLoop
import Testing

@testable import Application
@testable import Serving

@Suite struct TextSealerTests {
    init() { LoopActor.startInBackground() }

    private static let owner = TextOwner(customer: "asha", cart: "c")

    /// Keys that nobody gets before the test says so.
    private actor HeldKeys: CustomerKeys {
        private var waiting: [CheckedContinuation<Void, Never>] = []
        private var isOpen = false

        func makeKey(of customer: Identifier, partition: Int) async throws(EventLogError) -> CustomerKey {
            if !isOpen { await withCheckedContinuation { waiting.append($0) } }
            return .destroyed
        }

        func key(of customer: Identifier, partition: Int) async throws(EventLogError) -> CustomerKey {
            throw .unavailable("no way")
        }

        func destroyKeys(
            of customers: Set<Identifier>, for metadata: EventMetadata
        ) async throws(EventLogError) -> Forgetting { Forgetting([]) }

        func removeRemainders() async -> String? { nil }

        func open() {
            isOpen = true
            for continuation in waiting { continuation.resume() }
            waiting = []
        }
    }

    @LoopActor
    private static func shown(_ document: SealedDocument, _ sealer: TextSealer) async -> Result<String, Failure> {
        await withCheckedContinuation { continuation in
            sealer.open(document, for: .server) { result in
                continuation.resume(returning: result.map { String(decoding: $0, as: UTF8.self) })
            }
        }
    }

    @Test @LoopActor func `A document is decrypted each time, and shows nothing once its customer is forgotten`()
        async throws
    {
        let keys = InMemoryCustomerKeys()
        let sealer = TextSealer(keys, Partitioning(count: 4))
        let made = await withCheckedContinuation { continuation in
            sealer.makeKey(of: Self.owner, for: .server) { continuation.resume(returning: $0) }
        }
        guard case .known(let key) = try made.get() else {
            Issue.record("no key was made")
            return
        }
        let sealed = key.seal("no nuts", .note, of: Self.owner)
        let document = SealedDocument(Self.owner) { Array($0.text(of: sealed, .note).utf8) }
        for _ in 0..<2 { #expect(try await Self.shown(document, sealer).get() == "no nuts") }
        _ = try await keys.forget([Self.owner.customer])
        #expect(try await Self.shown(document, sealer).get() == "[erased]")
    }

    @Test @LoopActor func `A document with sealed texts is not shown without its key, and any other is`() async throws {
        let sealer = TextSealer(HeldKeys(), Partitioning(count: 1))
        #expect(try await Self.shown(SealedDocument(Array("plain".utf8)), sealer).get() == "plain")
        let document = SealedDocument(Self.owner) { _ in Array("secret".utf8) }
        guard case .failure(let failure) = await Self.shown(document, sealer) else {
            Issue.record("shown without a key")
            return
        }
        #expect(failure.code == .unavailable)
    }

    @Test @LoopActor func `A request is refused while too many wait for a key, and the others get theirs`()
        async throws
    {
        let keys = HeldKeys()
        let lookUps = WorkQueue.Limits(atOnce: 2, atOnceOfCaller: 2, waiting: 1, waitingOfCaller: 1)
        let sealer = TextSealer(keys, Partitioning(count: 1), TextSealer.Limits(lookUps: lookUps, seconds: 600))
        let results = await withCheckedContinuation { continuation in
            var results: [Result<CustomerKey, Failure>] = []
            for _ in 0..<5 {
                sealer.makeKey(of: Self.owner, for: .server) { result in
                    results.append(result)
                    if results.count == 5 { continuation.resume(returning: results) }
                }
            }
            #expect(results.count == 2)
            LoopActor.task { await keys.open() }
        }
        for result in results.prefix(2) {
            #expect(throws: Failure.self) { try result.get() }
        }
        for result in results.dropFirst(2) { #expect(try result.get() == .destroyed) }
        await sealer.stop()
    }

    @Test @LoopActor func `A request that waits too long fails, and a later key changes nothing`() async {
        let keys = HeldKeys()
        let sealer = TextSealer(keys, Partitioning(count: 1), TextSealer.Limits(seconds: 0))
        var answers = 0
        let result = await withCheckedContinuation { continuation in
            sealer.makeKey(of: Self.owner, for: .server) { result in
                answers += 1
                if answers == 1 { continuation.resume(returning: result) }
            }
        }
        guard case .failure(let failure) = result else {
            Issue.record("a key that nobody gave")
            return
        }
        #expect(failure.code == .unavailable)
        await keys.open()
        await sealer.stop()
        #expect(answers == 1)
    }
}
