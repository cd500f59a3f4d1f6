/// What an outlet says about its orders: what they wait for, and what is charged beside their lines.
package struct OrderTerms: Sendable {
    /// What is promised, in minutes.
    package var prepMinutes: Int?
    /// How long an order waits to be accepted, in seconds: 0 if that happens at once, nil if it does not have to be.
    package var acceptWithin: Int?
    /// How long it waits to be paid before the kitchen sees it, in seconds; nil if it does not.
    package var payWithin: Int?
    package var charges: Charges
    /// How many orders it takes for each hour of the next days; nil if it takes none for later.
    package var ordersPerSlot: Int64?
    /// The ways to have an order; none if there is nothing to choose. The first is what a cart has until somebody
    /// chooses.
    package var services: [ServiceTerms]

    package init(
        prepMinutes: Int?, acceptWithin: Int?, payWithin: Int? = nil, charges: Charges = Charges(),
        ordersPerSlot: Int64? = nil, services: [ServiceTerms] = []
    ) {
        self.prepMinutes = prepMinutes
        self.acceptWithin = acceptWithin
        self.payWithin = payWithin
        self.charges = charges
        self.ordersPerSlot = ordersPerSlot
        self.services = services
    }

    /// The tax of some options; nil if there is but one.
    var taxOfOptions: String? { charges.taxes.dropFirst().first?.id }

    /// The way of that name, or the first one if there is no name.
    package func service(_ name: String?) -> ServiceTerms? {
        guard let name else { return services.first }
        return services.first { isSame($0.name, name) }
    }

    /// What holds for orders that are had in a way: what that says, and otherwise what the outlet says.
    package func had(as name: String?) -> OrderTerms {
        guard let service = service(name) else { return self }
        var terms = self
        terms.prepMinutes = service.prepMinutes ?? prepMinutes
        if let charges = service.charges {
            (terms.charges.service, terms.charges.smallOrder, terms.charges.delivery) = (
                charges.service, charges.smallOrder, charges.delivery
            )
        }
        for index in terms.charges.taxes.indices {
            if let rate = service.rates[terms.charges.taxes[index].id] { terms.charges.taxes[index].rate = rate }
        }
        return terms
    }

    /// The terms as members of what `OUTLET.PUT` takes, behind others.
    package var json: String {
        var members: [String] = []
        if let prepMinutes { members.append("\"prepMinutes\":\(prepMinutes)") }
        if let acceptWithin { members.append("\"acceptWithin\":\(acceptWithin)") }
        if let payWithin { members.append("\"payment\":\"first\",\"payWithin\":\(payWithin)") }
        return (members + taxes + charges.members + ways + slots).map { "," + $0 }.joined()
    }
}

extension OrderTerms {
    private var taxes: [String] {
        let taxes = charges.taxes.map { tax in
            let rates = services.compactMap { service in service.rates[tax.id].map { "\"\(service.name)\":\($0)" } }
            return "{\"id\":\"\(tax.id)\",\"name\":\"\(tax.name)\",\"rate\":\(tax.rate)"
                + (rates.isEmpty ? "" : ",\"rates\":{\(rates.joined(separator: ","))}") + "}"
        }
        guard !taxes.isEmpty else { return [] }
        return ["\"taxIncluded\":\(charges.isTaxIncluded),\"taxes\":[\(taxes.joined(separator: ","))]"]
    }

    private var slots: [String] {
        guard let ordersPerSlot else { return [] }
        let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        let hours = days.map { "{\"day\":\"\($0)\",\"opens\":\"00:00\",\"closes\":\"24:00\"}" }
        return [
            "\"follows\":\"hours\",\"hours\":[\(hours.joined(separator: ","))]",
            "\"orderAheadDays\":3,\"slots\":{\"minutes\":60,\"orders\":\(ordersPerSlot)}",
        ]
    }

    private var ways: [String] {
        let ways = services.map { service in
            var members = service.charges.map { $0.members.isEmpty ? ["\"charges\":{}"] : $0.members } ?? []
            if let minutes = service.prepMinutes { members.append("\"prepMinutes\":\(minutes)") }
            if service.needsTable { members.append("\"requires\":[\"table\"]") }
            return "\"\(service.name)\":{\(members.joined(separator: ","))}"
        }
        return ways.isEmpty ? [] : ["\"services\":{\(ways.joined(separator: ","))}"]
    }
}

/// What an outlet says of a way to have its orders, where that is not as it says of all of them.
package struct ServiceTerms: Sendable {
    package var name: String
    package var prepMinutes: Int?
    /// In place of all other charges but the taxes.
    package var charges: Charges?
    /// Rates of taxes by their ids.
    package var rates: [String: Int64]
    /// Whether an order has to name its table.
    package var needsTable: Bool

    package init(
        _ name: String, prepMinutes: Int? = nil, charges: Charges? = nil, rates: [String: Int64] = [:],
        needsTable: Bool = false
    ) {
        (self.name, self.prepMinutes, self.charges) = (name, prepMinutes, charges)
        (self.rates, self.needsTable) = (rates, needsTable)
    }
}

/// What an outlet takes off an order of at least so much, by a percentage in thousandths.
package struct PromotionTerms: Sendable {
    package var id: String
    package var title: String
    package var percent: Int64
    package var minimum: Int64

    /// What it takes off lines; nil if that is nothing.
    func discount(on lines: [Int64]) -> Bill.Charge? {
        let subtotal = lines.reduce(0, +)
        guard subtotal >= minimum else { return nil }
        let shares = Bill.shares(of: Bill.halfUp(subtotal * percent, 100_000), by: lines)
        guard shares.contains(where: { $0 > 0 }) else { return nil }
        return Bill.Charge("discount", -shares.reduce(0, +), shares: shares.map { -$0 }, id: id, name: title)
    }

    /// What `PROMO.PUT` takes.
    var json: String {
        "{\"title\":\"\(title)\",\"on\":\"order\",\"give\":{\"percent\":\(percent)},\"minimum\":\(minimum)}"
    }
}

/// What is charged beside the prices of lines. Amounts are in minor units, and rates in thousandths of a percent.
package struct Charges: Sendable {
    /// A fee that lines of `freeFrom` or more do not pay, with the id of the tax on it.
    package typealias Fee = (amount: Int64, freeFrom: Int64?, tax: String?)

    package var service: (rate: Int64, tax: String?)?
    package var smallOrder: Fee?
    package var delivery: Fee?
    /// The first is on the lines, but for parts of them that have another.
    package var taxes: [(id: String, name: String, rate: Int64)] = []
    package var isTaxIncluded = false
    /// What is taken off the order by itself.
    package var promotion: PromotionTerms?

    package init() {}

    /// What lines that are all of one part cost with everything that is charged.
    package func bill(for lines: [Int64], tip: Int64) -> Bill {
        bill(for: lines, of: lines.map { _ in [] }, tip: tip)
    }

    /// What lines cost with everything that is charged, as docs/ordering.md works it out.
    ///
    /// - Parameter parts: those of each line.
    func bill(for lines: [Int64], of parts: [[Bill.Part]], tip: Int64) -> Bill {
        bill(for: lines, less: promotion?.discount(on: lines), of: parts, tip: tip)
    }

    /// The same with a discount that is known.
    func bill(for lines: [Int64], less discount: Bill.Charge?, of parts: [[Bill.Part]], tip: Int64) -> Bill {
        let subtotal = lines.reduce(0, +)
        var charges: [Bill.Charge] = []
        var taxesOfFees: [String?] = []
        var left = lines
        if let discount {
            charges.append(discount)
            taxesOfFees.append(nil)
            left = zip(lines, discount.shares).map { $0 + $1 }
        }
        let divided = zip(left, parts).map { Bill.byTax($0, $1, first: taxes.first?.id) }
        if let service {
            let amount = Bill.halfUp(left.reduce(0, +) * service.rate, 100_000)
            charges.append(Bill.Charge("service", amount, shares: Bill.shares(of: amount, by: left)))
            taxesOfFees.append(service.tax)
        }
        for (kind, fee) in [("smallOrder", smallOrder), ("delivery", delivery)] {
            guard let fee, fee.freeFrom.map({ subtotal < $0 }) ?? true else { continue }
            charges.append(Bill.Charge(kind, fee.amount))
            taxesOfFees.append(fee.tax)
        }
        let fees = charges.map(\.amount)
        for tax in taxes {
            guard taxesOfFees.contains(tax.id) || divided.contains(where: { $0[tax.id] != nil }) else { continue }
            let bases = divided.map { $0[tax.id] ?? 0 } + zip(fees, taxesOfFees).map { $1 == tax.id ? $0 : 0 }
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
        return charges.isEmpty ? [] : ["\"charges\":{\(charges.joined(separator: ","))}"]
    }
}
