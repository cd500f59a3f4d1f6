/// What lines cost with everything that is charged beside them.
package struct Bill: Hashable, Sendable {
    package struct Charge: Hashable, Sendable {
        package var kind: String
        package var amount: Int64
        package var isIncluded: Bool
        /// What of it falls on each line, and of a tax then on each fee.
        package var shares: [Int64]
        /// Of a tax: which one it is, and what of each line and each fee it was taken of. Of a discount: its promotion.
        package var id: String?
        package var name: String?
        package var rate: Int64?
        package var bases: [Int64]

        package init(
            _ kind: String, _ amount: Int64, isIncluded: Bool = false, shares: [Int64] = [], id: String? = nil,
            name: String? = nil, rate: Int64? = nil, bases: [Int64] = []
        ) {
            (self.kind, self.amount, self.isIncluded, self.shares) = (kind, amount, isIncluded, shares)
            (self.id, self.name, self.rate, self.bases) = (id, name, rate, bases)
        }

        fileprivate var isTax: Bool { isSame(kind, "tax") }
        fileprivate var isDiscount: Bool { isSame(kind, "discount") }

        /// The charge as carts, quotes and orders show it.
        package var document: JSON {
            var members: [Text: JSON] = [
                "kind": JSON(kind), "amount": JSON(amount), "included": .bool(isIncluded),
                "shares": .array(shares.map { JSON($0) }),
            ]
            members["id"] = id.map { JSON($0) }
            members["name"] = name.map { JSON($0) }
            if isDiscount { members["by"] = JSON("outlet") }
            guard isTax else { return .object(members) }
            members["rate"] = rate.map { JSON($0) }
            members["base"] = JSON(bases.reduce(0, +))
            members["bases"] = .array(bases.map { JSON($0) })
            return .object(members)
        }
    }

    /// What of a line has a tax; nil for the first one.
    struct Part: Hashable {
        var tax: String?
        /// In proportion to the others.
        var worth: Int64
    }

    /// A line's amount by the tax that is on it.
    static func byTax(_ amount: Int64, _ parts: [Part], first: String?) -> [String: Int64] {
        var parts = parts.filter { $0.worth > 0 }
        if parts.isEmpty { parts = [Part(tax: nil, worth: 1)] }
        let divided = zip(parts, shares(of: amount, by: parts.map(\.worth)))
        return divided.reduce(into: [:]) { sums, entry in
            if let tax = entry.0.tax ?? first { sums[tax, default: 0] += entry.1 }
        }
    }

    /// What something of an order comes to: the money, what of it is each tax, and what each tax was taken of.
    package typealias Columns = [Column: Int64]
    package enum Column: Hashable, Sendable {
        case money
        case tax(String)
        case base(String)
    }

    /// What each line costs.
    package var lines: [Int64]
    package var charges: [Charge]

    package init(lines: [Int64], charges: [Charge] = []) { (self.lines, self.charges) = (lines, charges) }

    package var subtotal: Int64 { lines.reduce(0, +) }
    package var total: Int64 { charges.reduce(subtotal) { $0 + ($1.isIncluded ? 0 : $1.amount) } }
    package var documents: JSON { .array(charges.map(\.document)) }
    var taxes: [Charge] { charges.filter(\.isTax) }

    /// The whole order.
    var columns: Columns {
        taxes.reduce(into: [.money: total]) { columns, tax in
            columns[.tax(tax.id ?? "")] = tax.amount
            columns[.base(tax.id ?? "")] = tax.bases.reduce(0, +)
        }
    }

    /// Some units of a line after others, with their part of service and of the taxes on both. The first n come to n
    /// parts of the line, rounded half up, so that the last one ends at the whole.
    func columns(of units: Int, after before: Int, outOf all: Int, at index: Int) -> Columns {
        line(at: index).mapValues {
            Bill.part($0, Int64(before + units), of: Int64(all)) - Bill.part($0, Int64(before), of: Int64(all))
        }
    }

    private func line(at index: Int) -> Columns {
        let service = charges.firstIndex { isSame($0.kind, "service") }
        let off = charges.first(where: \.isDiscount)?.shares[index] ?? 0
        let money = lines[index] + off + (service.map { charges[$0].shares[index] } ?? 0)
        return taxes.reduce(into: [.money: money]) { columns, charge in
            var (tax, base) = (charge.shares[index], charge.bases[index])
            // Charges before the taxes come after the lines.
            if let service {
                let (place, shares) = (lines.count + service, charges[service].shares)
                tax += Bill.shares(of: charge.shares[place], by: shares)[index]
                base += Bill.shares(of: charge.bases[place], by: shares)[index]
            }
            if !charge.isIncluded { columns[.money, default: 0] += tax }
            columns[.tax(charge.id ?? "")] = tax
            columns[.base(charge.id ?? "")] = base
        }
    }

    /// A quotient, rounded half up.
    static func halfUp(_ number: Int64, _ divisor: Int64) -> Int64 { (2 * number + divisor) / (2 * divisor) }

    /// So much of an amount as a part is of a whole.
    static func part(_ amount: Int64, _ part: Int64, of whole: Int64) -> Int64 {
        whole == 0 ? 0 : halfUp(amount * part, whole)
    }

    /// An amount in proportion to weights. What rounding leaves goes to the largest remainders, of equals to the first.
    static func shares(of amount: Int64, by weights: [Int64]) -> [Int64] {
        let sum = weights.reduce(0, +)
        guard sum > 0 else { return weights.map { _ in 0 } }
        var shares = weights.map { amount * $0 / sum }
        let remainders = weights.map { amount * $0 % sum }
        let places = weights.indices.sorted { (-remainders[$0], $0) < (-remainders[$1], $1) }
        for place in places.prefix(Int(amount - shares.reduce(0, +))) { shares[place] += 1 }
        return shares
    }
}

extension Bill.Columns {
    package var money: Int64 { self[.money] ?? 0 }
    var tax: Int64 { reduce(0) { if case .tax = $1.key { $0 + $1.value } else { $0 } } }
}
