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
    /// How often stored orders are read for a page: to the end of its patience, and again where some were let go of
    /// meanwhile.
    private static let maximumReads = 2 * OrderQuestion.patience / StoredOrders.readAtOnce

    private static let isBehind = Failure.unavailable("the saved rows of orders are older than what was saved before")

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

    /// A page of orders, as it is now.
    func orders(_ question: OrderQuestion, for caller: Caller) throws(Failure) -> Response {
        let positions = partitions.positions(of: question)
        let (page, missing) = partitions.orders(question, before: positions, [:])
        guard !missing.isEmpty else { return .answer(.document(page)) }
        let promise = Promise(about: .order)
        try queue.add(for: caller) { [partitions] in
            var (stored, missing) = (Partitions.StoredLists(), missing)
            do throws(Failure) {
                for _ in 0..<HistoryReads.maximumReads {
                    try await partitions.read(missing, of: question, into: &stored)
                    let page: [UInt8]
                    (page, missing) = partitions.orders(question, before: positions, stored)
                    if missing.isEmpty { return promise.keep(.document(page)) }
                }
                throw HistoryReads.isBehind
            } catch {
                promise.fail(error)
            }
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

    /// Orders of the log, as far as the read model and its stored rows have them: an order that was placed never leaves
    /// both.
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
        let worker = partitions[event.partition]
        var stored = StoredOrders()
        for _ in 0..<HistoryReads.maximumReads {
            let placed = worker.model.ask {
                $0.orders.placed(
                    filter, before: range.before, stored, limit: range.limit, patience: OrderQuestion.patience)
            }
            guard let missing = placed.missing else { return placed }
            try await worker.readOrders(filter, before: missing, into: &stored)
        }
        throw HistoryReads.isBehind
    }
}
