internal import EventLoop
internal import LoadOracle
internal import SeededRandom

/// Changes of placed orders, as their kitchens and their customers wish for them.
@LoopActor
enum Changes {
    static let wishes: [String?] = [nil, nil, "ask", "remove", "replace", "cancel"]

    /// An answer to what is proposed, or else a proposal; nil where neither is wanted now.
    static func step(_ shopper: Shopper, _ order: OrderModel, by party: String) -> OrderStep? {
        if let proposal = order.state.proposal {
            switch shopper.chance.below(20) {
            case 0..<8: return party == proposal.other ? order.proposedDigest.map { .agree(digest: $0) } : nil
            case 8: return .agree(digest: "0123456789abcdef")
            case 9: return propose(shopper, order, by: party)
            case 10, 11: return .decline(by: shopper.chance.happens(permille: 500) ? party : nil)
            default: return nil
            }
        }
        switch shopper.chance.below(100) {
        case 0..<3: return .note
        case 3: return .decline(by: nil)
        case 4: return .agree(digest: "0123456789abcdef")
        case 5..<30 where order.canChange && (order.state.status.isChangeable || shopper.chance.happens(permille: 50)):
            return propose(shopper, order, by: party)
        default: return nil
        }
    }

    /// Less of a line, something in its place, or more; now and then what cannot be.
    private static func propose(_ shopper: Shopper, _ order: OrderModel, by party: String) -> OrderStep {
        let outlet = shopper.world.outlets[order.outlet]
        var edits: [OrderEdit] = []
        for line in order.lines where shopper.chance.happens(permille: 400) {
            switch shopper.chance.below(20) {
            case 0: edits.append(.leave(line: line.id, quantity: line.quantity))
            case 1: edits.append(.leave(line: "nothing", quantity: 0))
            case 2..<9: edits.append(.replace(line: line.id, item: item(shopper, outlet), quantity: line.quantity))
            default: edits.append(.leave(line: line.id, quantity: shopper.chance.below(line.quantity)))
            }
        }
        if edits.isEmpty || shopper.chance.happens(permille: 200) {
            edits.append(.add(item: item(shopper, outlet), quantity: shopper.chance.number(1...3)))
        }
        // Some wait for so short a time that it passes during the run.
        return .change(edits, by: party, within: shopper.chance.pick([nil, nil, 1, 2, 900]))
    }

    /// An item that can be had as it is, and now and then one that cannot. Of what is counted, a change brings in no
    /// more than an order holds, which only the server knows.
    private static func item(_ shopper: Shopper, _ outlet: Outlet) -> Int {
        let others = (0..<outlet.menu.itemCount).filter { $0 != outlet.countedItem }
        let plain = others.filter { outlet.menu.item($0).groups.isEmpty }
        return shopper.chance.pick(plain.isEmpty || shopper.chance.happens(permille: 50) ? others : plain)
    }
}
