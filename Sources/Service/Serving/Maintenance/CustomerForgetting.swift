internal import Application
internal import Domain
internal import EventLog
internal import EventLoop

/// Forgets customers, one at a time: each time the table of keys is rewritten.
@LoopActor
final class CustomerForgetting {
    private let queue = WorkQueue(WorkQueue.Limits(atOnce: 1, atOnceOfCaller: 1, waiting: 100, waitingOfCaller: 50))
    private let keys: any CustomerKeys
    /// What the keys of customers who forgot themselves have left behind.
    private let remainders: Remainders
    private let logger: Logger

    init(_ keys: any CustomerKeys, _ logger: Logger) {
        self.keys = keys
        self.logger = logger
        remainders = Remainders(keys, logger)
    }

    /// Waits until no customer is being forgotten any more.
    func stop() async {
        while queue.underWayCount > 0 { await LoopTimer.pause(milliseconds: 5) }
        await remainders.stop()
    }

    /// Destroys customers' keys. Nothing else of the same connection is executed until that is done, so that whatever
    /// it asks next shows what is left.
    ///
    /// - Parameters:
    ///   - asker: who wants it, for the operator.
    ///   - metadata: of the events that say so.
    ///   - isOwn: whether they forget themselves. Customers can do so as often as they like, so the remainders of their
    ///     keys are removed later, all at once.
    func forget(
        _ customers: Set<Identifier>, for asker: String, _ metadata: EventMetadata, _ caller: Caller, isOwn: Bool
    ) throws(Failure) -> Response {
        let promise = Promise(about: .order, isHolding: true)
        try queue.add(for: caller) { [keys, logger, remainders] in
            do throws(EventLogError) {
                let forgetting =
                    isOwn
                    ? try await keys.destroyKeys(of: customers, for: metadata)
                    : try await keys.forget(customers, for: metadata)
                if isOwn, forgetting.outcomes.contains(where: { $0.destroyedKeys > 0 }) { remainders.remove() }
                for outcome in forgetting.outcomes { logger.info("\(asker): \(outcome)") }
                if let remainder = forgetting.remainder {
                    logger.error("the file of the table of keys may still have the old bytes: \(remainder)")
                }
                promise.keep(.document(forgetting.json))
            } catch {
                logger.error("\(asker): \(customers.count) customers were to be forgotten: \(error)")
                if case .outcomeUnknown(let reason) = error {
                    promise.fail(Failure(.unknown, "the outcome could not be learnt, send it again: \(reason)"))
                } else {
                    promise.fail(Failure(.unavailable, "nobody was forgotten: \(error)"))
                }
            }
        }
        return .promise(promise)
    }
}
