internal import Domain
internal import EventLog
internal import EventLoop

/// Fetches the keys that seal and open customers' texts.
///
/// It keeps no key: each command and each answer fetches its own. So a destroyed key is gone from every server at once.
@LoopActor
final class TextSealer {
    /// Bounds on waiting.
    struct Limits {
        /// The most keys that are being fetched at once. A session waits for one at a time.
        var requests = 10_000
        /// How long a key is waited for.
        var seconds: UInt64 = 5
    }

    typealias Completion = @LoopActor (Result<CustomerKey, Failure>) -> Void

    /// A caller that waits for a key, and is called once.
    @LoopActor
    private final class Request {
        private var completion: Completion?
        private var timer: LoopTimer?

        init(_ completion: @escaping Completion, seconds: UInt64) {
            self.completion = completion
            timer = LoopTimer(milliseconds: seconds * 1_000) { [self] in
                end(.failure(.unavailable("no key within \(seconds) seconds")))
            }
        }

        func end(_ result: Result<CustomerKey, Failure>) {
            timer?.cancel()
            timer = nil
            guard let completion else { return }
            self.completion = nil
            completion(result)
        }
    }

    private let keys: any CustomerKeys
    private let partitioning: Partitioning
    private let limits: Limits
    private var requestCount = 0

    init(_ keys: any CustomerKeys, _ partitioning: Partitioning, _ limits: Limits = Limits()) {
        self.keys = keys
        self.partitioning = partitioning
        self.limits = limits
    }

    /// Gives the key that the owner's texts are sealed with, made where there is none.
    func makeKey(of owner: TextOwner, completion: @escaping Completion) {
        fetch(of: owner, completion) { keys, customer, partition async throws(EventLogError) in
            try await keys.makeKey(of: customer, partition: partition)
        }
    }

    /// Gives the document with its texts as they are shown: at once where none is sealed.
    func open(
        _ document: SealedDocument, completion: @escaping @LoopActor (Result<[UInt8], Failure>) -> Void
    ) {
        guard let owner = document.owner else { return completion(.success(document.bytes(.none))) }
        let open: Completion = { key in completion(key.map { document.bytes(TextOpener(owner, $0)) }) }
        fetch(of: owner, open) { keys, customer, partition async throws(EventLogError) in
            try await keys.key(of: customer, partition: partition)
        }
    }

    private func fetch(
        of owner: TextOwner, _ completion: @escaping Completion,
        _ key: @escaping @LoopActor (any CustomerKeys, Identifier, Int) async throws(EventLogError) -> CustomerKey
    ) {
        guard requestCount < limits.requests else { return completion(.failure(.busy)) }
        requestCount += 1
        let request = Request(completion, seconds: limits.seconds)
        let partition = partitioning.partition(of: StreamName(.cart, owner.cart))
        LoopActor.task { [self] in
            do throws(EventLogError) {
                request.end(.success(try await key(keys, owner.customer, partition)))
            } catch {
                request.end(.failure(.unavailable("\(error)")))
            }
            requestCount -= 1
        }
    }

    /// Waits until nobody waits for a key any more: they have been given one by then, or told that there is none.
    func stop() async {
        let began = LoopActor.now
        while requestCount > 0, LoopActor.now - began < limits.seconds * 1_000_000_000 {
            await LoopTimer.pause(milliseconds: 5)
        }
    }
}
