internal import Application
internal import Domain
internal import EventLog
internal import EventLoop

/// Makes receipts for events, and proofs of how the log grew, off the event loop. A receipt of links can take a while and
/// some megabytes.
@LoopActor
final class ReceiptIssuer {
    private let prover: Prover
    private let queue: WorkQueue

    init(_ log: any EventLog, _ queue: WorkQueue) {
        prover = Prover(log)
        self.queue = queue
    }

    typealias Completion = @LoopActor (Result<[UInt8], Failure>) -> Void

    /// Calls `completion` with the JSON of a receipt. See `Prover`.
    ///
    /// - Parameter form: nil for a signed one, if a head is signed that has the event, and for a tree if not.
    func issue(
        for stream: StreamName, version: Int64, head: Int64?, form: Receipt.Form? = nil, to caller: Caller,
        completion: @escaping Completion
    ) {
        prove(to: caller, completion) { prover throws(Prover.Failure) in
            if form == nil, head == nil {
                do throws(Prover.Failure) {
                    return try await prover.receipt(for: stream, version: version, form: .signed).json
                } catch {
                    guard error == .notSigned else { throw error }
                }
            }
            return try await prover.receipt(for: stream, version: version, head: head, form: form ?? .tree).json
        } failure: {
            Failure($0, missing: .noSuchVersion(version, of: stream))
        }
    }

    /// Calls `completion` with the JSON of the proof of an order. See `Prover`.
    func proof(of order: Identifier, to caller: Caller, completion: @escaping Completion) {
        prove(to: caller, completion) { prover throws(Prover.Failure) in
            try await prover.proof(of: order).json
        } failure: {
            Failure($0, missing: .noOrder(order))
        }
    }

    /// Calls `completion` with the JSON of how a partition grew. See `Prover`.
    func growth(
        of partition: Int, head: Int64?, since size: Int64?, to caller: Caller, completion: @escaping Completion
    ) {
        prove(to: caller, completion) { prover throws(Prover.Failure) in
            try await prover.growth(of: partition, head: head, since: size).json
        } failure: {
            Failure($0, missing: .invalid("partition", "there is no such batch"))
        }
    }

    private func prove(
        to caller: Caller, _ completion: @escaping Completion,
        _ proof: @escaping @Sendable (Prover) async throws(Prover.Failure) -> [UInt8],
        failure: @escaping @Sendable (Prover.Failure) -> Failure
    ) {
        do throws(Failure) {
            try queue.add(for: caller) { [prover] in
                // A task of its own may leave the loop's thread.
                let result = await Task { await ReceiptIssuer.result(prover, proof) }.value
                completion(result.mapError(failure))
            }
        } catch {
            completion(.failure(error))
        }
    }

    @concurrent
    private static func result(
        _ prover: Prover, _ proof: @Sendable (Prover) async throws(Prover.Failure) -> [UInt8]
    ) async -> Result<[UInt8], Prover.Failure> {
        do throws(Prover.Failure) {
            return .success(try await proof(prover))
        } catch {
            return .failure(error)
        }
    }
}

extension Failure {
    /// There is no such event.
    static func noSuchVersion(_ version: Int64, of stream: StreamName) -> Failure {
        Failure(.notFound, "\(stream) has no version \(version)")
    }

    fileprivate init(_ failure: Prover.Failure, missing: Failure) {
        switch failure {
        case .noSuchEvent: self = missing
        case .unsuitableHead(let reason): self = .invalid("HEAD", reason)
        case .tooManyLinks(let count):
            self.init(.limit, "more than \(count) batches lie between the event's and HEAD")
        case .unsuitableSize(let size): self = .invalid("SINCE", "the log has \(size) batches")
        case .tooManyEvents:
            self.init(.limit, "at most \(OrderProof.maximumEvents) events of an order are proven")
        case .notSigned: self.init(.notFound, "no head is signed that has the event")
        case .damaged(let reason): self.init(.corrupt, "the log is not what its digests say: \(reason)")
        case .unavailable(let error): self = .unavailable("\(error)")
        }
    }
}
