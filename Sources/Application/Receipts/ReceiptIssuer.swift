internal import EventLog
internal import EventLoop

/// Makes receipts for events, off the event loop. A receipt can take a while and some megabytes, so few are made at
/// once and the others wait.
@LoopActor
final class ReceiptIssuer {
    /// The most receipts that are made at once.
    static let maximumProofs = 2
    /// The most that may wait; further requests fail with `BUSY`.
    static let maximumWaiting = 1_000

    private struct Request {
        var stream: StreamName
        var version: Int64
        var head: Int64?
        var completion: @LoopActor (Result<[UInt8], Failure>) -> Void
    }

    private let prover: Prover
    private var waiting: [Request] = []
    private var proofsUnderWay = 0

    init(_ log: any EventLog) { prover = Prover(log) }

    /// Calls `completion` with the JSON of a receipt. See `Prover`.
    func issue(
        for stream: StreamName, version: Int64, head: Int64?,
        completion: @escaping @LoopActor (Result<[UInt8], Failure>) -> Void
    ) {
        guard waiting.count < ReceiptIssuer.maximumWaiting else { return completion(.failure(.busy)) }
        waiting.append(Request(stream: stream, version: version, head: head, completion: completion))
        startProofs()
    }

    private func startProofs() {
        while proofsUnderWay < ReceiptIssuer.maximumProofs, !waiting.isEmpty {
            let request = waiting.removeFirst()
            proofsUnderWay += 1
            let (stream, version, head) = (request.stream, request.version, request.head)
            Task { @LoopActor [prover] in
                let result: Result<[UInt8], Failure>
                do throws(Prover.Failure) {
                    result = .success(try await ReceiptIssuer.receipt(prover, stream, version, head))
                } catch {
                    result = .failure(Failure(error, stream, version))
                }
                proofsUnderWay -= 1
                request.completion(result)
                startProofs()
            }
        }
    }

    @concurrent
    private static func receipt(
        _ prover: Prover, _ stream: StreamName, _ version: Int64, _ head: Int64?
    ) async throws(Prover.Failure) -> [UInt8] {
        try await prover.receipt(for: stream, version: version, head: head).json
    }
}

extension Failure {
    fileprivate init(_ failure: Prover.Failure, _ stream: StreamName, _ version: Int64) {
        switch failure {
        case .noSuchEvent: self.init("NOTFOUND", "\(stream) has no version \(version)")
        case .unsuitableHead(let reason): self = .invalid("HEAD", reason)
        case .tooManyLinks(let count):
            self.init("LIMIT", "more than \(count) batches lie between the event's and HEAD")
        case .damaged(let reason): self.init("CORRUPT", "the log is not what its digests say: \(reason)")
        case .unavailable(let error): self = .unavailable("\(error)")
        }
    }
}
