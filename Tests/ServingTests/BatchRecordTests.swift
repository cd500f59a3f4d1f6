import Domain
import EventLog
import EventLogContract
import EventLoop
import Measurement
import Testing

@testable import Serving

@Suite struct BatchRecordTests {
    init() { LoopActor.startInBackground() }

    /// A record whose clock a test moves, in milliseconds.
    @LoopActor
    private final class Desk {
        let lines = LoggedLines()
        let latencies = LatencyMonitor(milliseconds: 1) { 7 }
        var milliseconds: UInt64 = 50
        private(set) lazy var record = BatchRecord(lines.logger, latencies) { [unowned self] in
            milliseconds * 1_000_000
        }
        let batch = LogWriter(InMemoryEventLog()).batch([[.cart("a"), .cart("a")], [.cart("b")]])

        func settle(_ number: Int, _ result: Result<AppendReceipt, EventLogError>) {
            record.settled(number, batch, result)
        }
    }

    private static func receipt(refused: Set<Int32> = []) -> AppendReceipt {
        AppendReceipt(previous: .start, conflicts: refused, end: LogPoint(position: 3, digest: nil))
    }

    @Test @LoopActor func `a batch takes from where it was first sent until it is answered`() {
        let desk = Desk()
        desk.record.sends(1, oldest: 1)
        desk.milliseconds += 10
        desk.record.sends(2, oldest: 1)
        desk.milliseconds += 20
        desk.record.sends(1, oldest: 1)
        #expect(desk.record.age == 30_000_000)
        desk.settle(1, .success(Self.receipt()))
        #expect(desk.latencies.series[.append]?.samples.map(\.milliseconds) == [30])
        // The second one was taken back, and is sent anew.
        desk.milliseconds += 5
        desk.record.sends(2, oldest: 2)
        #expect(desk.record.age == 0)
    }

    @Test @LoopActor func `what other writers were faster with was not appended`() {
        let desk = Desk()
        desk.record.sends(1, oldest: 1)
        desk.settle(1, .success(Self.receipt(refused: [0])))
        desk.record.sends(2, oldest: 2)
        desk.settle(2, .success(Self.receipt()))
        #expect(desk.record.statistics.events.count == 2)
        #expect(desk.record.statistics.events.maximum == 3)
        #expect(desk.record.statistics.events.sum == 1 + 3)
        #expect(desk.record.statistics.failed == 0)
    }

    @Test @LoopActor func `a failure is told once in a while, and every other one at once`() throws {
        let desk = Desk()
        for _ in 0..<3 { desk.settle(1, .failure(.unavailable("away"))) }
        desk.settle(1, .failure(.unavailable("full")))
        desk.milliseconds += BatchRecord.silence / 1_000_000
        desk.settle(1, .failure(.unavailable("full")))
        #expect(desk.record.lastFailure?.error == .unavailable("full"))
        desk.settle(2, .success(Self.receipt()))
        #expect(desk.record.lastFailure == nil)
        desk.settle(3, .failure(.unavailable("full")))
        #expect(desk.record.statistics.failed == 6)
        let told = try desk.lines.text().split(separator: "\n").compactMap { $0.split(separator: ": ").last }
        #expect(told == ["away", "full", "full", "full"])
    }
}
