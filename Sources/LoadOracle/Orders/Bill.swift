/// What lines cost with everything that is charged beside them, worked out as docs/protocol.md says.
struct Bill: Equatable {
    struct Charge: Equatable {
        var kind: String
        var amount: Int64
        var isIncluded = false
        var shares: [Int64] = []

        var document: JSON {
            var members: [Text: JSON] = [
                "kind": .string(Text(kind)), "amount": .number(Double(amount)), "included": .bool(isIncluded),
                "shares": .array(shares.map { .number(Double($0)) }),
            ]
            if isSame(kind, "tax") {
                members["id"] = .string(Text(KitchenTerms.tax))
                members["name"] = .string("VAT")
            }
            return .object(members)
        }
    }

    var subtotal: Int64
    var charges: [Charge]
    var total: Int64

    init(_ lines: [Int64], _ terms: KitchenTerms, tip: Int64) {
        subtotal = lines.reduce(0, +)
        charges = []
        // What is taxed: the lines, then service, which is not, and the fee.
        var base = lines
        if let service = terms.service {
            let amount = Bill.halfUp(subtotal * service, 100_000)
            charges.append(Charge(kind: "service", amount: amount, shares: Bill.shares(of: amount, by: lines)))
            base.append(0)
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
                    shares: Bill.shares(of: amount, by: base)))
        }
        if tip > 0 { charges.append(Charge(kind: "tip", amount: tip)) }
        total = charges.reduce(subtotal) { $0 + ($1.isIncluded ? 0 : $1.amount) }
    }

    /// What was paid for a line with its shares of service and of the taxes on top.
    func paid(_ line: Int64, at index: Int) -> Int64 {
        charges.reduce(line) { sum, charge in
            sum + (!charge.isIncluded && charge.shares.indices.contains(index) ? charge.shares[index] : 0)
        }
    }

    /// All of the tax, in prices or on top.
    var tax: Int64 { charges.reduce(0) { $0 + (isSame($1.kind, "tax") ? $1.amount : 0) } }

    /// A line's share of it.
    func tax(at index: Int) -> Int64 {
        charges.reduce(0) { $0 + (isSame($1.kind, "tax") ? $1.shares[index] : 0) }
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
