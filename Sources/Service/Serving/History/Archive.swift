internal import Application
internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// Documents of the past, folded from the log: for auditors, and for clients that read a home before this server
/// started. Callers that ask for the same document at the same time share one fold.
@LoopActor
final class Archive {
    /// The most events that are folded for one document.
    nonisolated static let maximumEvents = 10_000

    typealias Answer = Result<SealedDocument?, Failure>

    private let log: any EventLog
    private let queue: WorkQueue
    private var askers: [PastQuestion: [@LoopActor (Answer) -> Void]] = [:]
    private var underWay: Set<PastQuestion> = []

    init(_ log: any EventLog, _ queue: WorkQueue) {
        self.log = log
        self.queue = queue
    }

    /// Calls `completion` with the document; nil where there was none.
    func answer(_ question: PastQuestion, for caller: Caller, completion: @escaping @LoopActor (Answer) -> Void) {
        do throws(Failure) {
            // Each asker has a turn, as the others may wait longer for theirs. The first of them brings the answer.
            try queue.add(for: caller) { [self] in await answer(question) }
            askers[question, default: []].append(completion)
        } catch {
            completion(.failure(error))
        }
    }

    /// Calls `completion` with a stream as it was at a version; nil where that is too many events ago to be folded.
    func state(
        of stream: StreamName, at version: Int64, for caller: Caller,
        completion: @escaping @LoopActor (Result<CommittedState?, Failure>) -> Void
    ) {
        do throws(Failure) {
            try queue.add(for: caller) { [log] in
                completion(await Task { await Archive.fold(stream, at: version, log) }.value)
            }
        } catch {
            completion(.failure(error))
        }
    }

    @concurrent
    private static func fold(
        _ stream: StreamName, at version: Int64, _ log: any EventLog
    ) async -> Result<CommittedState?, Failure> {
        do throws(Failure) {
            return .success(try await PastState.state(of: stream, at: version, in: log))
        } catch {
            return .failure(error)
        }
    }

    private func answer(_ question: PastQuestion) async {
        guard askers[question] != nil, underWay.insert(question).inserted else { return }
        // A task of its own may leave the loop's thread.
        let answer = await Task { [log] in await Archive.fold(question, log) }.value
        underWay.remove(question)
        for asker in askers.removeValue(forKey: question) ?? [] { asker(answer) }
    }

    /// Reads and folds off the event loop.
    @concurrent
    private static func fold(_ question: PastQuestion, _ log: any EventLog) async -> Answer {
        do throws(Failure) {
            return .success(try await document(question, log))
        } catch {
            return .failure(error)
        }
    }

    private static func document(_ question: PastQuestion, _ log: any EventLog) async throws(Failure) -> SealedDocument?
    {
        switch question {
        case .revision(let revision, let outlet):
            var past = try await PastState(of: StreamName(.outlet, outlet), to: .position(revision), in: log)
            guard past.isLastEvent(of: OutletHome.streams(of: outlet)) else { return nil }
            return try await past.home(of: outlet, cart: nil).map { SealedDocument($0) }
        case .home(let outlet, let cart, let moment):
            var past = try await PastState(of: StreamName(.outlet, outlet), to: moment, in: log)
            return try await past.home(of: outlet, cart: cart).map { SealedDocument($0) }
        case .cart(let cart, let moment):
            var past = try await PastState(of: StreamName(.cart, cart), to: moment, in: log)
            return try await past.cart(cart)
        case .order(let order, let moment):
            var past = try await PastState(of: StreamName(.order, order), to: moment, in: log)
            return try await past.order(order)
        }
    }
}
