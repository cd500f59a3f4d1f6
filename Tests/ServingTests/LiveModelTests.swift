import Domain
import EventLog
import EventLoop
import Projections
import Testing

@testable import Application
@testable import Serving

@Suite("A replacement of a read model")
struct LiveModelTests {
    private static let configuration = Configuration()

    init() { LoopActor.startInBackground() }

    private static func added(_ position: Int64) -> Result<DecodedEvent, CorruptEvent> {
        let line = CartLine(
            id: "tea", item: "tea", name: "Tea", quantity: 1, unitPrice: Amount(minorUnits: 1))
        return .success(
            DecodedEvent(
                partition: 0, position: position, stream: StreamName(.cart, "c"), version: position,
                event: .cart(.itemAdded(line, outlet: "o", currency: Currency("LKR")!)),
                metadata: .none, recordedAt: Timestamp(millisecondsSinceEpoch: 0)))
    }

    private static func model(upTo position: Int64) -> ReadModel {
        var model = ReadModel(partition: 0)
        if position > 0 { model.apply((1...position).map(added)) }
        return model
    }

    @Test @LoopActor func `has what was folded since, and nothing twice`() {
        let live = LiveModel(LiveModelTests.model(upTo: 3))
        #expect(live.beginReplacement() == 3)
        for position in 4...6 as ClosedRange<Int64> {
            _ = live.fold([LiveModelTests.added(position)], LiveModelTests.configuration)
        }
        #expect(live.replace(with: LiveModelTests.model(upTo: 3), tailLimit: 3))
        #expect(live.value.position == 6)
        #expect(live.value.cartCounts.count(of: "c") == 6)
        #expect(live.value.cartCounts.quarantine.streams.isEmpty)
    }

    @Test(arguments: [2 as Int64, 4]) @LoopActor
    func `is refused at another position than expected`(position: Int64) {
        let live = LiveModel(LiveModelTests.model(upTo: 3))
        _ = live.beginReplacement()
        #expect(!live.replace(with: LiveModelTests.model(upTo: position), tailLimit: 10))
        #expect(live.value.position == 3)
    }

    @Test @LoopActor func `is refused if too much would have to be folded at once`() {
        let live = LiveModel(LiveModelTests.model(upTo: 3))
        _ = live.beginReplacement()
        _ = live.fold([4, 5].map(LiveModelTests.added), LiveModelTests.configuration)
        #expect(!live.replace(with: LiveModelTests.model(upTo: 3), tailLimit: 1))
        #expect(live.value.position == 5)
    }

    @Test @LoopActor func `is refused if events turned out to be missing meanwhile`() {
        let live = LiveModel(LiveModelTests.model(upTo: 3))
        _ = live.beginReplacement()
        live.pass(missing: 4...5)
        #expect(!live.replace(with: LiveModelTests.model(upTo: 3), tailLimit: 10))
        #expect(live.value.position == 5)
    }

    @Test @LoopActor func `is refused if nobody announced it`() {
        let live = LiveModel(LiveModelTests.model(upTo: 3))
        #expect(!live.replace(with: LiveModelTests.model(upTo: 3), tailLimit: 10))
    }
}
