/// What lines cost with everything that is charged beside them, worked out as docs/ordering.md says.
struct Bill: Equatable {
    struct Charge: Equatable {
        var kind: String
        var amount: Int64
        var isIncluded = false
        var shares: [Int64] = []
        /// Of a tax: its rate, and what of each line and each fee it was taken of.
        var rate: Int64 = 0
        var bases: [Int64] = []

        var document: JSON {
            var members: [Text: JSON] = [
                "kind": .string(Text(kind)), "amount": .number(Double(amount)), "included": .bool(isIncluded),
                "shares": .array(shares.map { .number(Double($0)) }),
            ]
            if isSame(kind, "tax") {
                members["id"] = .string(Text(KitchenTerms.tax))
                members["name"] = .string("VAT")
                members["rate"] = .number(Double(rate))
                members["base"] = .number(Double(bases.reduce(0, +)))
                members["bases"] = .array(bases.map { .number(Double($0)) })
            }
            return .object(members)
        }
    }

    /// What something of an order comes to: the money, how much of it is tax, and what the tax was taken of.
    struct Worth: Hashable {
        var money: Int64 = 0
        var tax: Int64 = 0
        var base: Int64 = 0

        static func + (one: Worth, other: Worth) -> Worth {
            Worth(money: one.money + other.money, tax: one.tax + other.tax, base: one.base + other.base)
        }

        static func - (one: Worth, other: Worth) -> Worth {
            Worth(money: one.money - other.money, tax: one.tax - other.tax, base: one.base - other.base)
        }
    }

    var subtotal: Int64
    var charges: [Charge]
    var total: Int64

    init(_ lines: [Int64], _ terms: KitchenTerms, tip: Int64) {
        subtotal = lines.reduce(0, +)
        charges = []
        // What is taxed: the lines, then service, where it is, and the fee.
        var base = lines
        if let service = terms.service {
            let amount = Bill.halfUp(subtotal * service, 100_000)
            charges.append(Charge(kind: "service", amount: amount, shares: Bill.shares(of: amount, by: lines)))
            base.append(terms.isServiceTaxed ? amount : 0)
        }
        if let fee = terms.delivery, subtotal < fee.freeFrom {
            charges.append(Charge(kind: "delivery", amount: fee.amount))
            base.append(fee.amount)
        }
        if let rate = terms.taxRate {
            let sum = base.reduce(0, +)
            let amount = Bill.halfUp(sum * rate, terms.isTaxIncluded ? 100_000 + rate : 100_000)
            charges.append(
                Charge(
                    kind: "tax", amount: amount, isIncluded: terms.isTaxIncluded,
                    shares: Bill.shares(of: amount, by: base), rate: rate, bases: base))
        }
        if tip > 0 { charges.append(Charge(kind: "tip", amount: tip)) }
        total = charges.reduce(subtotal) { $0 + ($1.isIncluded ? 0 : $1.amount) }
    }

    /// The whole order.
    var worth: Worth {
        let tax = charges.first { isSame($0.kind, "tax") }
        return Worth(money: total, tax: tax?.amount ?? 0, base: tax?.bases.reduce(0, +) ?? 0)
    }

    /// What each unit of a line comes to, one after the other, with service and the tax on both. The first n units come
    /// to n parts of the line, rounded half up.
    func units(of line: Int64, at index: Int, quantity: Int) -> [Worth] {
        let service = charges.first { isSame($0.kind, "service") }
        let tax = charges.first { isSame($0.kind, "tax") }
        var whole = Worth(money: line + (service?.shares[index] ?? 0))
        if let tax {
            whole.tax = tax.shares[index]
            whole.base = tax.bases[index]
            if let service {
                let place = service.shares.count
                whole.tax += Bill.shares(of: tax.shares[place], by: service.shares)[index]
                whole.base += tax.bases[place] > 0 ? service.shares[index] : 0
            }
            if !tax.isIncluded { whole.money += whole.tax }
        }
        func first(_ units: Int) -> Worth {
            func part(_ amount: Int64) -> Int64 { Bill.halfUp(amount * Int64(units), Int64(quantity)) }
            return Worth(money: part(whole.money), tax: part(whole.tax), base: part(whole.base))
        }
        return (0..<quantity).map { first($0 + 1) - first($0) }
    }

    /// A quotient, rounded half up.
    static func halfUp(_ number: Int64, _ divisor: Int64) -> Int64 { (2 * number + divisor) / (2 * divisor) }

    /// An amount in proportion to weights. What is left by rounding goes to the largest remainders, of equals to the
    /// first.
    private static func shares(of amount: Int64, by weights: [Int64]) -> [Int64] {
        let sum = weights.reduce(0, +)
        guard sum > 0 else { return weights.map { _ in 0 } }
        var parts = weights.map { amount * $0 / sum }
        let places = weights.indices.sorted { one, other in
            let (left, right) = (amount * weights[one] % sum, amount * weights[other] % sum)
            return left != right ? left > right : one < other
        }
        for place in places.prefix(Int(amount - parts.reduce(0, +))) { parts[place] += 1 }
        return parts
    }
}
