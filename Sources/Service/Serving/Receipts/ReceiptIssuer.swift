internal import Application
internal import EventLog
internal import EventLoop

/// Makes receipts for events, off the event loop. A receipt can take a while and some megabytes.
@LoopActor
final class ReceiptIssuer {
    private let prover: Prover
    private let queue: WorkQueue

    init(_ log: any EventLog, _ queue: WorkQueue) {
        prover = Prover(log)
        self.queue = queue
    }

    /// Calls `completion` with the JSON of a receipt. See `Prover`.
    func issue(
        for stream: StreamName, version: Int64, head: Int64?, to caller: Caller,
        completion: @escaping @LoopActor (Result<[UInt8], Failure>) -> Void
    ) {
        do throws(Failure) {
            try queue.add(for: caller) { [prover] in
                // A task of its own may leave the loop's thread.
                let receipt = await Task {
                    await ReceiptIssuer.result(prover, stream, version, head)
                }.value
                completion(receipt)
            }
        } catch {
            completion(.failure(error))
        }
    }

    @concurrent
    private static func result(
        _ prover: Prover, _ stream: StreamName, _ version: Int64, _ head: Int64?
    ) async -> Result<[UInt8], Failure> {
        do throws(Prover.Failure) {
            return .success(try await prover.receipt(for: stream, version: version, head: head).json)
        } catch {
            return .failure(Failure(error, stream, version))
        }
    }
}

extension Failure {
    fileprivate init(_ failure: Prover.Failure, _ stream: StreamName, _ version: Int64) {
        switch failure {
        case .noSuchEvent: self.init(.notFound, "\(stream) has no version \(version)")
        case .unsuitableHead(let reason): self = .invalid("HEAD", reason)
        case .tooManyLinks(let count):
            self.init(.limit, "more than \(count) batches lie between the event's and HEAD")
        case .damaged(let reason): self.init(.corrupt, "the log is not what its digests say: \(reason)")
        case .unavailable(let error): self = .unavailable("\(error)")
        }
    }
}
