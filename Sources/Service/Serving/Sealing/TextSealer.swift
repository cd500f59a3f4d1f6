internal import Application
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
        /// How many keys are looked up at once, and wait to be. A session waits for one at a time.
        var lookUps = WorkQueue.Limits(atOnce: 200, atOnceOfCaller: 100, waiting: 10_000, waitingOfCaller: 5_000)
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

        var isAwaited: Bool { completion != nil }

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
    /// The look-ups that are under way or wait.
    let queue: WorkQueue
    /// How many commands are being decided before their customer gets a key.
    var trialCount = 0

    init(_ keys: any CustomerKeys, _ partitioning: Partitioning, _ limits: Limits = Limits()) {
        self.keys = keys
        self.partitioning = partitioning
        self.limits = limits
        queue = WorkQueue(limits.lookUps)
    }

    /// Gives the key that the owner's texts are sealed with; unknown where there is none.
    func key(of owner: TextOwner, for caller: Caller, completion: @escaping Completion) {
        fetch(of: owner, for: caller, completion) { keys, customer, partition async throws(EventLogError) in
            try await keys.key(of: customer, partition: partition)
        }
    }

    /// The same, and makes one where there is none.
    func makeKey(of owner: TextOwner, for caller: Caller, completion: @escaping Completion) {
        fetch(of: owner, for: caller, completion) { keys, customer, partition async throws(EventLogError) in
            try await keys.makeKey(of: customer, partition: partition)
        }
    }

    /// Gives the document with its texts as they are shown: at once where none is sealed.
    func open(
        _ document: SealedDocument, for caller: Caller,
        completion: @escaping @LoopActor (Result<[UInt8], Failure>) -> Void
    ) {
        opener(of: document.owner, for: caller) { completion($0.map(document.bytes)) }
    }

    /// Gives what opens the owner's texts: at once where there is no owner.
    func opener(
        of owner: TextOwner?, for caller: Caller,
        completion: @escaping @LoopActor (Result<TextOpener, Failure>) -> Void
    ) {
        guard let owner else { return completion(.success(.none)) }
        key(of: owner, for: caller) { key in completion(key.map { TextOpener(owner, $0) }) }
    }

    /// Gives what opens the texts of each of the owners.
    func openers(
        of owners: Set<TextOwner>, for caller: Caller,
        completion: @escaping @LoopActor (Result<[TextOwner: TextOpener], Failure>) -> Void
    ) {
        let keys = GatheredKeys(owners.count, completion)
        for owner in owners { key(of: owner, for: caller) { keys.take($0, of: owner) } }
    }

    private func fetch(
        of owner: TextOwner, for caller: Caller, _ completion: @escaping Completion,
        _ key: @escaping @LoopActor (any CustomerKeys, Identifier, Int) async throws(EventLogError) -> CustomerKey
    ) {
        let request = Request(completion, seconds: limits.seconds)
        let partition = partitioning.partition(of: StreamName(.cart, owner.cart))
        do throws(Failure) {
            try queue.add(for: caller) { [keys] in
                guard request.isAwaited else { return }
                do throws(EventLogError) {
                    request.end(.success(try await key(keys, owner.customer, partition)))
                } catch {
                    request.end(.failure(.unavailable("\(error)")))
                }
            }
        } catch {
            request.end(.failure(error))
        }
    }

    /// Waits until no caller waits for a key any more: by then each has been given one, or told that there is none.
    func stop() async {
        let began = LoopActor.now
        while queue.underWayCount + trialCount > 0, LoopActor.now - began < limits.seconds * 1_000_000_000 {
            await LoopTimer.pause(milliseconds: 5)
        }
    }
}

/// The keys of several owners, until all of them are there or one cannot be had.
@LoopActor
private final class GatheredKeys {
    private var missing: Int
    private var openers: [TextOwner: TextOpener] = [:]
    private var completion: (@LoopActor (Result<[TextOwner: TextOpener], Failure>) -> Void)?

    init(_ count: Int, _ completion: @escaping @LoopActor (Result<[TextOwner: TextOpener], Failure>) -> Void) {
        missing = count
        self.completion = completion
    }

    func take(_ key: Result<CustomerKey, Failure>, of owner: TextOwner) {
        missing -= 1
        switch key {
        case .success(let key): openers[owner] = TextOpener(owner, key)
        case .failure(let failure): end(.failure(failure))
        }
        if missing == 0 { end(.success(openers)) }
    }

    private func end(_ result: Result<[TextOwner: TextOpener], Failure>) {
        completion?(result)
        completion = nil
    }
}
