import Domain
import EventLog
import Projections
import Testing

@testable import Audit

@Suite struct ClaimCheckTests {
    private static let order = Identifier("a")!
    private static let outlet = Identifier("o")!
    private static let pie = Claim.Key.item(Identifier("pie")!)
    private static let two = [Claim(pie, 2)]

    private static func placed(_ claims: [Claim] = two) -> DomainEvent {
        .order(
            .placed(
                Order.Placement(
                    cart: Identifier("c")!, outlet: outlet, currency: Currency("INR")!, lines: [],
                    total: Amount(minorUnits: 1), claims: claims)))
    }

    private static let time = Timestamp(millisecondsSinceEpoch: 0)
    private static let stocked = DomainEvent.supply(.stocked(pie, left: 2))
    private static let held = DomainEvent.supply(.held(two, order: order, at: time))
    private static let ended = DomainEvent.order(.cancelled(Order.Ending(by: .customer, .customer, claims: two)))
    private static let returned = DomainEvent.supply(.returned(two, order: order))

    @Test(arguments: [
        ([stocked, held, placed()], []), ([placed(), stocked, held], []),
        ([stocked, held, placed(), ended, returned], []),
        ([placed()], ["claims what no outlet's supply holds for it"]),
        ([stocked, held], ["holds what an outlet has left, and was never placed"]),
        (
            [stocked, held, placed([Claim(pie, 1)])], ["claims something else than it holds at outlet 'o'"]
        ),
        ([stocked, held, placed(), ended], ["gave back what no outlet's supply has taken back"]),
        ([stocked, held, placed(), returned], ["gave nothing back, and an outlet's supply took it"]),
        ([stocked, placed([])], []),
    ])
    private func `every claim has its hold, and every return`(_ events: [DomainEvent], _ messages: [String]) {
        #expect(findings(events, upTo: 9) == messages)
        // What came after the audit began is not judged, unless both are there.
        #expect(findings(events, upTo: 0) == messages.filter { $0.contains("something else") })
    }

    private func findings(_ events: [DomainEvent], upTo head: Int64) -> [String] {
        var check = ClaimCheck()
        for (index, event) in events.enumerated() {
            let id = event.category == .supply ? Self.outlet : Self.order
            let decoded = DecodedEvent(
                partition: 0, position: Int64(index + 1), stream: StreamName(event.category, id), version: 1,
                event: event, metadata: .none, recordedAt: Self.time)
            switch event {
            case .supply(let change): #expect(check.take(change, decoded) == nil)
            case .order(let change): check.take(change, decoded, at: Self.outlet)
            default: break
            }
        }
        check.finishPartition(ReadModel(partition: 0))
        check.finish([0: head])
        return check.findings.kept.map(\.message)
    }

    @Test func `more held than there was is impossible`() {
        var check = ClaimCheck()
        let decoded = DecodedEvent(
            partition: 0, position: 1, stream: StreamName(.supply, Self.outlet), version: 1, event: Self.held,
            metadata: .none, recordedAt: Self.time)
        #expect(check.take(.stocked(Self.pie, left: 1), decoded) == nil)
        #expect(
            check.take(.held(Self.two, order: Self.order, at: Self.time), decoded)?.contains("more held than there was")
                ?? false)
    }
}
