import EventLog
import EventLogContract
import EventLoop
import Testing

@testable import Application
@testable import Serving

@Suite struct ReceiptIssuerTests {
    init() { LoopActor.startInBackground() }

    @Test @LoopActor func `A receipt is issued on request, and refused while too many requests wait`()
        async throws
    {
        let log = InMemoryEventLog()
        _ = try await LogWriter(log).append([[.cart("c"), .cart("c")]])
        let limits = WorkQueue.Limits(atOnce: 2, atOnceOfCaller: 2, waiting: 20, waitingOfCaller: 20)
        let issuer = ReceiptIssuer(log, WorkQueue(limits))
        let accepted = limits.atOnce + limits.waiting

        // Twice, because a served request makes room.
        for _ in 0..<2 {
            var refused: [Failure] = []
            let receipts = try await withCheckedContinuation { continuation in
                var results: [Result<[UInt8], Failure>] = []
                for _ in 0..<accepted {
                    issuer.issue(for: .cart("c"), version: 2, head: nil, to: .server) { result in
                        results.append(result)
                        if results.count == accepted { continuation.resume(returning: results) }
                    }
                }
                for _ in 0..<3 {
                    issuer.issue(for: .cart("c"), version: 2, head: nil, to: .server) { result in
                        if case .failure(let failure) = result { refused.append(failure) }
                    }
                }
                #expect(refused.map(\.code) == [.busy, .busy, .busy])
            }.map { try $0.get() }
            let expected = try await Prover(log).receipt(for: .cart("c"), version: 2).json
            #expect(receipts.allSatisfy { $0 == expected })
        }
    }

    @Test @LoopActor func `An event that cannot be proven gives the code of the reason`() async throws {
        let log = InMemoryEventLog()
        _ = try await LogWriter(log).append([[.cart("c"), .cart("c")]])
        let issuer = ReceiptIssuer(
            log, WorkQueue(WorkQueue.Limits(atOnce: 1, atOnceOfCaller: 1, waiting: 1, waitingOfCaller: 1)))
        func failure(_ version: Int64, head: Int64? = nil) async -> String? {
            await withCheckedContinuation { continuation in
                issuer.issue(for: .cart("c"), version: version, head: head, to: .server) { result in
                    if case .failure(let failure) = result {
                        continuation.resume(returning: "\(failure.code.word) \(failure.message)")
                    } else {
                        continuation.resume(returning: nil)
                    }
                }
            }
        }
        #expect(await failure(2) == nil)
        #expect(await failure(3) == "NOTFOUND cart-c has no version 3")
        #expect(await failure(1, head: 1) == "INVALID HEAD: the event is in the batch that ends at 2")
        #expect(await failure(1, head: 3) == "INVALID HEAD: the log ends at 2")
    }
}
