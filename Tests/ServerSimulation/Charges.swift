import Domain
import SeededRandom

/// What an outlet charges beside the prices of lines, as it said when it was registered. Amounts are in minor units, and
/// rates in thousandths of a percent.
struct Charges {
    struct Fee {
        var amount: Int64
        var freeFrom: Int64?
        /// The id of the tax on it.
        var tax: String?

        fileprivate var fields: String {
            "\"fee\":\(amount)" + (freeFrom.map { ",\"freeFrom\":\($0)" } ?? "")
                + (tax.map { ",\"tax\":\"\($0)\"" } ?? "")
        }
    }

    static let nothing = Charges()

    var service: (rate: Int64, tax: String?)?
    var smallOrder: Fee?
    var delivery: Fee?
    /// The first is on the lines.
    var taxes: [(id: String, rate: Int64)] = []
    var isIncluded = false

    /// Any charges, and often none.
    static func any(_ chance: inout SeededGenerator) -> Charges {
        var charges = Charges()
        guard chance.chance(75) else { return charges }
        for (id, percent) in [("vat", 60), ("city", 40)] where chance.chance(percent) {
            charges.taxes.append((id, chance.pick([20_000, 8_875, 5_000, 333])))
        }
        charges.isIncluded = chance.chance(50)
        let ids = charges.taxes.map(\.id)
        func tax() -> String? { ids.isEmpty || chance.chance(40) ? nil : chance.pick(ids) }
        func fee() -> Fee {
            let freeFrom = chance.chance(70) ? Int64(chance.number(5..<60)) : nil
            return Fee(amount: Int64(chance.number(1..<30)), freeFrom: freeFrom, tax: tax())
        }
        if chance.chance(60) { charges.service = (chance.pick([12_500, 7_250, 10_000]), tax()) }
        if chance.chance(40) { charges.smallOrder = fee() }
        if chance.chance(60) { charges.delivery = fee() }
        return charges
    }

    /// The fields of `OUTLET.PUT`.
    var fields: String {
        var fields = ""
        if !taxes.isEmpty {
            let list = taxes.map { "{\"id\":\"\($0.id)\",\"name\":\"\($0.id)\",\"rate\":\($0.rate)}" }
            fields += ",\"taxIncluded\":\(isIncluded),\"taxes\":[\(list.joined(separator: ","))]"
        }
        var members: [String] = []
        if let service {
            members.append("\"service\":{\"rate\":\(service.rate)\(service.tax.map { ",\"tax\":\"\($0)\"" } ?? "")}")
        }
        if let smallOrder { members.append("\"smallOrder\":{\(smallOrder.fields)}") }
        if let delivery { members.append("\"delivery\":{\(delivery.fields)}") }
        return members.isEmpty ? fields : fields + ",\"charges\":{\(members.joined(separator: ","))}"
    }

    /// What lines cost with everything that is charged, as docs/protocol.md works it out.
    func bill(for lines: [Int64], tip: Int64) -> Bill {
        let subtotal = lines.reduce(0, +)
        var charges: [Bill.Charge] = []
        var taxesOfFees: [String?] = []
        if let service {
            let amount = Bill.halfUp(subtotal * service.rate, 100_000)
            charges.append(Bill.Charge(kind: "service", amount: amount, shares: Bill.shares(of: amount, by: lines)))
            taxesOfFees.append(service.tax)
        }
        for (kind, fee) in [("smallOrder", smallOrder), ("delivery", delivery)] {
            guard let fee, fee.freeFrom.map({ subtotal < $0 }) ?? true else { continue }
            charges.append(Bill.Charge(kind: kind, amount: fee.amount))
            taxesOfFees.append(fee.tax)
        }
        let fees = charges.map(\.amount)
        for (index, tax) in taxes.enumerated() {
            guard index == 0 || taxesOfFees.contains(tax.id) else { continue }
            let base = lines.map { index == 0 ? $0 : 0 } + zip(fees, taxesOfFees).map { $1 == tax.id ? $0 : 0 }
            let amount = Bill.halfUp(base.reduce(0, +) * tax.rate, isIncluded ? 100_000 + tax.rate : 100_000)
            charges.append(
                Bill.Charge(
                    kind: "tax", id: tax.id, amount: amount, isIncluded: isIncluded,
                    shares: Bill.shares(of: amount, by: base)))
        }
        if tip > 0 { charges.append(Bill.Charge(kind: "tip", amount: tip)) }
        return Bill(lines: lines, charges: charges)
    }
}

/// What a cart or an order costs, and why.
struct Bill: Equatable {
    struct Charge: Equatable {
        var kind: String
        var id: String?
        var amount: Int64
        var isIncluded = false
        /// What of it falls on each line, and of a tax then on each fee.
        var shares: [Int64] = []

        /// The charge in a trace, and for comparing it.
        var text: String {
            "\(kind) \(id ?? "-") \(amount) \(isIncluded ? "included" : "on top") \(shares)"
        }
    }

    /// What each line costs.
    var lines: [Int64]
    var charges: [Charge] = []

    var subtotal: Int64 { lines.reduce(0, +) }
    var total: Int64 { charges.reduce(subtotal) { $0 + ($1.isIncluded ? 0 : $1.amount) } }
    /// All of the taxes, in prices or on top.
    var tax: Int64 { charges.reduce(0) { $0 + ($1.kind == "tax" ? $1.amount : 0) } }

    /// What was paid for a line: with its shares of service and of the taxes on top.
    func paid(at index: Int) -> Int64 {
        charges.reduce(lines[index]) { sum, charge in
            let isShared = charge.kind == "service" || charge.kind == "tax" && !charge.isIncluded
            return sum + (isShared ? charge.shares[index] : 0)
        }
    }

    /// A line's share of the taxes.
    func tax(at index: Int) -> Int64 { charges.reduce(0) { $0 + ($1.kind == "tax" ? $1.shares[index] : 0) } }

    /// A quotient, rounded half up.
    static func halfUp(_ number: Int64, _ divisor: Int64) -> Int64 { (2 * number + divisor) / (2 * divisor) }

    /// Some units of something after others, out of all: so that the last one ends at the whole.
    static func share(_ whole: Int64, of units: Int, after before: Int, outOf all: Int) -> Int64 {
        halfUp(whole * Int64(before + units), Int64(all)) - halfUp(whole * Int64(before), Int64(all))
    }

    /// An amount in proportion to weights. What rounding leaves goes to the largest remainders, of equals to the first.
    fileprivate static func shares(of amount: Int64, by weights: [Int64]) -> [Int64] {
        let sum = weights.reduce(0, +)
        guard sum > 0 else { return weights.map { _ in 0 } }
        var shares = weights.map { amount * $0 / sum }
        let remainders = weights.map { amount * $0 % sum }
        let order = weights.indices.sorted { (-remainders[$0], $0) < (-remainders[$1], $1) }
        for index in order.prefix(Int(amount - shares.reduce(0, +))) { shares[index] += 1 }
        return shares
    }
}

extension Bill.Charge {
    /// A charge of an event.
    init(_ charge: Domain.Charge) {
        self.init(
            kind: charge.kind.rawValue, id: charge.id?.rawValue, amount: charge.amount.minorUnits,
            isIncluded: charge.isIncluded, shares: charge.shares.map(\.minorUnits))
    }
}
