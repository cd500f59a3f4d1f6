import Domain
import LoadOracle
import SeededRandom

// Orders by the load generator's model, which shares nothing with the domain. Times are in milliseconds by the servers'
// clock.

typealias Bill = LoadOracle.Bill

extension OrderChange {
    /// What an event of an order's life says; nil of the first, and of those that no order here has.
    init?(_ event: Order.Event) {
        func words(_ ending: Order.Ending) -> OrderState.Ending {
            let text: String? =
                switch ending.text {
                case .plain(let text)?: text.string
                // There is only one that customers are given.
                case .sealed?: Model.reason
                case nil: nil
                }
            return OrderState.Ending(ending.by.rawValue, ending.reason.rawValue, text)
        }
        switch event {
        case .placed, .scheduled, .changeProposed, .changed, .changeDeclined, .changeExpired, .changesNoted,
            .claimsReturned:
            return nil
        case .released: self = .released
        case .accepted(let time, let party): self = .accepted(readyBy: time?.rfc3339, by: party.rawValue)
        case .rejected(let ending): self = .rejected(words(ending))
        case .preparationStarted: self = .preparing
        case .readied: self = .ready
        case .completed(let party): self = .completed(by: party.rawValue)
        case .delayed(let time, _): self = .delayed(readyBy: time.rfc3339)
        case .cancelled(let ending): self = .cancelled(words(ending))
        case .paymentReported(let payment, let isInDoubt):
            let parent: String? =
                switch payment.parent {
                case .own: payment.reference.string
                case .report(let reference): reference.string
                case .unclear: nil
                }
            let movement = OrderMoney.Movement(
                payment.reference.string, payment.kind.rawValue, payment.amount.minorUnits, of: parent)
            self = .paid(movement, isInDoubt: isInDoubt)
        case .coverLost: self = .coverLost
        case .refunded(let refund):
            var columns: Bill.Columns = [.money: refund.amount.minorUnits]
            for tax in refund.taxes {
                columns[.tax(tax.id?.rawValue ?? "")] = tax.amount.minorUnits
                columns[.base(tax.id?.rawValue ?? "")] = tax.base?.minorUnits
            }
            self = .refunded(
                columns.filter { $0.value > 0 }, code: refund.reason.rawValue, line: refund.units?.line.string,
                units: refund.units?.quantity ?? 0)
        }
    }
}

extension Order.Event {
    /// Until when the order is to be accepted or paid from then on.
    var due: Int64? {
        switch self {
        case .released(let time): time?.millisecondsSinceEpoch
        case .coverLost(let time): time.millisecondsSinceEpoch
        default: nil
        }
    }
}

extension Bill.Charge {
    /// A charge of an event.
    init(_ charge: Domain.Charge) {
        self.init(
            charge.kind.rawValue, charge.amount.minorUnits, isIncluded: charge.isIncluded,
            shares: charge.shares.map(\.minorUnits), id: charge.id?.rawValue, name: charge.name?.string,
            rate: charge.rate.map { Int64($0.thousandths) }, bases: charge.bases.map(\.minorUnits))
    }
}

extension OrderTerms {
    /// Any terms.
    static func any(_ chance: inout SeededGenerator) -> OrderTerms {
        OrderTerms(
            prepMinutes: chance.pick([nil, 0, 15]), acceptWithin: chance.pick([nil, 0, 0, 1, 2, 3, 9]),
            payWithin: chance.pick([nil, nil, nil, nil, 2, 3]))
    }
}

extension Charges {
    /// Any charges, and often none.
    static func any(_ chance: inout SeededGenerator) -> Charges {
        var charges = Charges()
        guard chance.chance(75) else { return charges }
        for (id, percent) in [("vat", 60), ("city", 40)] where chance.chance(percent) {
            charges.taxes.append((id, name: id, chance.pick([20_000, 8_875, 5_000, 333])))
        }
        charges.isTaxIncluded = chance.chance(50)
        let ids = charges.taxes.map(\.id)
        func tax() -> String? { ids.isEmpty || chance.chance(40) ? nil : chance.pick(ids) }
        func fee() -> Charges.Fee {
            let freeFrom = chance.chance(70) ? Int64(chance.number(5..<60)) : nil
            return (Int64(chance.number(1..<30)), freeFrom, tax())
        }
        if chance.chance(60) { charges.service = (chance.pick([12_500, 7_250, 10_000]), tax()) }
        if chance.chance(40) { charges.smallOrder = fee() }
        if chance.chance(60) { charges.delivery = fee() }
        return charges
    }
}
