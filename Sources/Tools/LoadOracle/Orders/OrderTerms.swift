/// What an outlet says about its orders: what they wait for, and what is charged beside their lines.
package struct OrderTerms: Sendable {
    /// What is promised, in minutes.
    package var prepMinutes: Int?
    /// How long an order waits to be accepted, in seconds: 0 if that happens at once, nil if it does not have to be.
    package var acceptWithin: Int?
    /// How long it waits to be paid before the kitchen sees it, in seconds; nil if it does not.
    package var payWithin: Int?
    package var charges: Charges

    package init(prepMinutes: Int?, acceptWithin: Int?, payWithin: Int? = nil, charges: Charges = Charges()) {
        self.prepMinutes = prepMinutes
        self.acceptWithin = acceptWithin
        self.payWithin = payWithin
        self.charges = charges
    }

    /// The terms as members of what `OUTLET.PUT` takes, behind others.
    package var json: String {
        var members: [String] = []
        if let prepMinutes { members.append("\"prepMinutes\":\(prepMinutes)") }
        if let acceptWithin { members.append("\"acceptWithin\":\(acceptWithin)") }
        if let payWithin { members.append("\"payment\":\"first\",\"payWithin\":\(payWithin)") }
        return (members + charges.members).map { "," + $0 }.joined()
    }
}

/// What is charged beside the prices of lines. Amounts are in minor units, and rates in thousandths of a percent.
package struct Charges: Sendable {
    /// A fee that lines of `freeFrom` or more do not pay, with the id of the tax on it.
    package typealias Fee = (amount: Int64, freeFrom: Int64?, tax: String?)

    package var service: (rate: Int64, tax: String?)?
    package var smallOrder: Fee?
    package var delivery: Fee?
    /// The first is on the lines.
    package var taxes: [(id: String, name: String, rate: Int64)] = []
    package var isTaxIncluded = false

    package init() {}

    /// What lines cost with everything that is charged, as docs/ordering.md works it out.
    package func bill(for lines: [Int64], tip: Int64) -> Bill {
        let subtotal = lines.reduce(0, +)
        var charges: [Bill.Charge] = []
        var taxesOfFees: [String?] = []
        if let service {
            let amount = Bill.halfUp(subtotal * service.rate, 100_000)
            charges.append(Bill.Charge("service", amount, shares: Bill.shares(of: amount, by: lines)))
            taxesOfFees.append(service.tax)
        }
        for (kind, fee) in [("smallOrder", smallOrder), ("delivery", delivery)] {
            guard let fee, fee.freeFrom.map({ subtotal < $0 }) ?? true else { continue }
            charges.append(Bill.Charge(kind, fee.amount))
            taxesOfFees.append(fee.tax)
        }
        let fees = charges.map(\.amount)
        for (index, tax) in taxes.enumerated() {
            guard index == 0 || taxesOfFees.contains(tax.id) else { continue }
            let bases = lines.map { index == 0 ? $0 : 0 } + zip(fees, taxesOfFees).map { $1 == tax.id ? $0 : 0 }
            let amount = Bill.halfUp(bases.reduce(0, +) * tax.rate, isTaxIncluded ? 100_000 + tax.rate : 100_000)
            charges.append(
                Bill.Charge(
                    "tax", amount, isIncluded: isTaxIncluded, shares: Bill.shares(of: amount, by: bases), id: tax.id,
                    name: tax.name, rate: tax.rate, bases: bases))
        }
        if tip > 0 { charges.append(Bill.Charge("tip", tip)) }
        return Bill(lines: lines, charges: charges)
    }

    fileprivate var members: [String] {
        func of(_ tax: String?) -> String { tax.map { ",\"tax\":\"\($0)\"" } ?? "" }
        var charges: [String] = []
        if let service { charges.append("\"service\":{\"rate\":\(service.rate)\(of(service.tax))}") }
        for (kind, fee) in [("smallOrder", smallOrder), ("delivery", delivery)] {
            guard let fee else { continue }
            let freeFrom = fee.freeFrom.map { ",\"freeFrom\":\($0)" } ?? ""
            charges.append("\"\(kind)\":{\"fee\":\(fee.amount)\(freeFrom)\(of(fee.tax))}")
        }
        let taxes = taxes.map { "{\"id\":\"\($0.id)\",\"name\":\"\($0.name)\",\"rate\":\($0.rate)}" }
        return (taxes.isEmpty ? [] : ["\"taxIncluded\":\(isTaxIncluded),\"taxes\":[\(taxes.joined(separator: ","))]"])
            + (charges.isEmpty ? [] : ["\"charges\":{\(charges.joined(separator: ","))}"])
    }
}
