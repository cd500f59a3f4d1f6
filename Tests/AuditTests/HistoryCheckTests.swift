import Domain
import EventLog
import SeededRandom
import Testing

@testable import Audit

@Suite struct `Histories of carts` {
    private static func randomLine(_ random: inout SeededGenerator, isOwned: Bool) -> CartLine {
        let id = random.pick(["pie", "bun", "a-name-that-is-longer-than-fifteen-bytes"])
        let note = Text(random.pick(["", "no onions", "sans oignons – s’il vous plaît"]))
        return CartLine(
            id: Text(id), item: Identifier(id)!, name: Text(random.pick([id, "Pâté en croûte"])),
            quantity: random.number(1...300), unitPrice: Amount(minorUnits: random.pick([0, 99, -1, .max, .min])),
            options: random.chance(20)
                ? [LineOption(Identifier("hot")!, name: "Hot"), LineOption(Identifier("large")!, name: "Large")] : [],
            note: random.maybe { _ in isOwned ? .sealed(SealedText(ciphertext: note)) : .plain(note) })
    }

    /// What a cart and its order might record, and sometimes what they cannot have.
    private static func randomHistory(_ random: inout SeededGenerator) -> RecordedHistory {
        var history = RecordedHistory()
        var states: [StreamName: Cart.State] = [:]
        for number in 0..<300 {
            let cart = StreamName(.cart, Identifier("c\(random.below(15))")!)
            let customer = cart.id.rawValue.hasSuffix("1") ? Identifier("customer") : nil
            let lines = states[cart]?.contents?.lines ?? []
            let line = lines.isEmpty ? randomLine(&random, isOwned: customer != nil) : random.pick(lines)
            let order = Identifier("o\(number)")!
            let fault = random.chance(3) ? 1 : 0
            let event: Cart.Event =
                switch random.below(10) {
                case 0 where !lines.isEmpty: .quantityChanged(line: line.id, from: line.quantity + fault, to: 2)
                case 1 where !lines.isEmpty: .lineRemoved(line: line.id, quantity: line.quantity + fault)
                case 2 where !lines.isEmpty: .cleared(count: lines.reduce(fault) { $0 + $1.quantity })
                case 3 where !lines.isEmpty:
                    .checkedOut(order: order, lines: lines, total: .zero, customer: customer)
                default:
                    .itemAdded(
                        randomLine(&random, isOwned: customer != nil), outlet: .kitchen, currency: pounds,
                        customer: customer)
                }
            if random.chance(98) {
                history.append(.cart(event), to: cart)
            } else {
                history.append(EventKind(name: "cart.cleared", schemaVersion: 1), Array("{}".utf8), to: cart)
            }
            if case .checkedOut = event, random.chance(80) {
                let placement = Order.Placement(
                    cart: cart.id, outlet: .kitchen, currency: pounds, lines: random.chance(80) ? lines : [],
                    total: .zero)
                history.append(.order(.placed(placement)), to: StreamName(.order, order))
                for _ in 0..<random.below(4) {
                    let event: Order.Event = random.pick([
                        .accepted(readyBy: nil, by: .merchant), .preparationStarted, .readied,
                        .completed(by: .merchant), .cancelled(Order.Ending(by: .merchant, .busy)),
                        .refunded(Order.Refund(Amount(minorUnits: 1), .other)),
                    ])
                    history.append(.order(event), to: StreamName(.order, order))
                }
            }
            try? Cart.evolve(&states[cart, default: Cart.initial], event)
        }
        return history
    }

    @Test func `An order that goes back, or gives back more than it cost, is impossible`() async throws {
        for (event, reason) in [
            (Order.Event.accepted(readyBy: nil, by: .merchant), "an order that is ready becomes accepted"),
            (.refunded(Order.Refund(Amount(minorUnits: 1), .other)), "more was given back than was paid"),
        ] {
            var history = RecordedHistory.withKitchen
            let placement = Order.Placement(
                cart: StreamName.cart.id, outlet: .kitchen, currency: pounds, lines: [], total: .zero)
            for event in [.placed(placement), .readied, event, .completed(by: .merchant)] as [Order.Event] {
                history.append(.order(event), to: .order)
            }
            var log = StoredLog()
            log.events = history.events
            log.storedHeads = [StoredHead(partition: 0, position: Int64(log.events.count), digest: [], epoch: 0)]
            let findings = try await log.findings.filter { $0.subject == "order-o1" }.map(\.message)
            #expect(findings.contains("is impossible: \(reason)"))
            #expect(findings.count { $0.hasPrefix("is impossible") } == 1, "nothing is said of what follows")
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `An audit that keeps few open carts at once finds what one that keeps all of them finds`(
        _ seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: seed)
        var log = StoredLog()
        log.events = Self.randomHistory(&random).events
        log.storedHeads = [StoredHead(partition: 0, position: Int64(log.events.count), digest: [], epoch: 0)]

        func report(openCartLimit: Int) async throws -> [String] {
            let report = try await Audit(log, openCartLimit: openCartLimit).run { _, _, _ in }.partitions[0]
            #expect(report.findings.count == report.findings.kept.count)
            return report.findings.kept.map { "\($0.position ?? 0) \($0.subject) \($0.message)" }.sorted()
                + ["\(report.cartCount) carts, \(report.orderCount) orders"]
        }

        let expected = try await report(openCartLimit: .max)
        #expect(expected.count > 3)
        for limit in [0, 1, random.number(2...10)] {
            #expect(try await report(openCartLimit: limit) == expected, "\(limit) open carts")
        }
    }
}
