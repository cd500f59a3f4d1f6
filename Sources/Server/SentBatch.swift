internal import EventLog
internal import EventLoop

/// A batch on its way. (A task's value would do, if waiting for one did not go through another thread.)
@LoopActor
final class SentBatch {
    typealias Outcome = Result<AppendReceipt, EventLogError>

    let batch: EventBatch
    let sentAt = LoopActor.now
    private var outcome: Outcome?
    private var waiter: CheckedContinuation<Outcome, Never>?

    init(_ batch: EventBatch) {
        self.batch = batch
    }

    func ended(_ outcome: Outcome) {
        self.outcome = outcome
        waiter?.resume(returning: outcome)
    }

    func result() async -> Outcome {
        if let outcome { return outcome }
        return await withCheckedContinuation { waiter = $0 }
    }
}
