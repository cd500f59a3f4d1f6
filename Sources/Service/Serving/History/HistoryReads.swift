internal import Application
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// Reads of the log, some at a time, in turns, as ``ServiceOfHistory`` promises.
@LoopActor
final class HistoryReads {
    /// How long a page of the past waits until this server knows what others have written, in milliseconds.
    private static let longestWait: Int64 = 1_000

    private let log: any EventLog
    private let queue: WorkQueue
    private let waits: LogWaits
    private let partitions: Partitions

    init(_ log: any EventLog, _ queue: WorkQueue, _ waits: LogWaits, _ partitions: Partitions) {
        self.log = log
        self.queue = queue
        self.waits = waits
        self.partitions = partitions
    }

    func reading(
        for caller: Caller, waitingFor event: AwaitedEvent?,
        _ read: @escaping (any EventLog) async throws(EventLogError) -> Answer
    ) throws(Failure) -> Response {
        // Events never change, so no later write has to wait.
        let promise = Promise(about: .order)
        func begin() throws(Failure) {
            try queue.add(for: caller) { [log] in
                do throws(EventLogError) {
                    promise.keep(try await read(log))
                } catch {
                    promise.fail(.unavailable("\(error)"))
                }
            }
        }
        if let event, partitions[event.partition].position < event.position {
            try waits.add(event, for: caller) { isStopping in
                if isStopping { return promise.fail(.unavailable("the server is stopping")) }
                do throws(Failure) { try begin() } catch { promise.fail(error) }
            }
        } else {
            try begin()
        }
        return .promise(promise)
    }

    func orders(_ question: OrderQuestion, at moment: Moment, for caller: Caller) throws(Failure) -> Response {
        let promise = Promise(about: .order)
        try queue.add(for: caller) { [self] in
            // A task of its own may leave the loop's thread.
            let page = await Task { [log] in
                await PastState.page(of: question, at: moment, in: log) { range throws(Failure) in
                    try await placed(question.filter, range, for: caller)
                }
            }.value
            promise.end(page.map(Answer.document))
        }
        return .promise(promise)
    }

    /// Orders of the log, as far as they are in the read model: an order that was placed never leaves it.
    private func placed(
        _ filter: OrderFilter, _ range: PastState.PlacedRange, for caller: Caller
    ) async throws(Failure) -> PlacedOrders {
        let event = AwaitedEvent(
            partition: range.partition, position: range.end, milliseconds: HistoryReads.longestWait)
        if partitions[event.partition].position < event.position {
            try await withCheckedContinuation { (known: CheckedContinuation<Result<Void, Failure>, Never>) in
                do throws(Failure) {
                    try waits.add(event, for: caller) { _ in known.resume(returning: .success(())) }
                } catch {
                    known.resume(returning: .failure(error))
                }
            }.get()
        }
        guard partitions[event.partition].position >= event.position else {
            throw .unavailable("this server does not know the whole log yet")
        }
        return partitions[event.partition].model.ask {
            $0.orders.placed(filter, before: range.before, limit: range.limit, patience: OrderQuestion.patience)
        }
    }
}
