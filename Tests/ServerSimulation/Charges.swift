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

    /// What lines cost with everything that is charged, as docs/ordering.md works it out.
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
                    shares: Bill.shares(of: amount, by: base), rate: tax.rate, bases: base))
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
        /// Of a tax: its rate, and what of each line and each fee it was taken of.
        var rate: Int64?
        var bases: [Int64] = []

        /// The charge in a trace, and for comparing it.
        var text: String {
            "\(kind) \(id ?? "-") \(rate ?? 0) of \(bases) = \(amount) \(isIncluded ? "included" : "on top") \(shares)"
        }
    }

    /// Columns of a ledger: the money, what of it is each tax, and what each was taken of.
    typealias Columns = [Column: Int64]
    enum Column: Hashable {
        case money
        case tax(String)
        case base(String)
    }

    /// What each line costs.
    var lines: [Int64]
    var charges: [Charge] = []

    var subtotal: Int64 { lines.reduce(0, +) }
    var total: Int64 { charges.reduce(subtotal) { $0 + ($1.isIncluded ? 0 : $1.amount) } }
    /// The whole order in columns.
    var columns: Columns {
        var columns: Columns = [.money: total]
        for charge in charges where charge.kind == "tax" {
            columns[.tax(charge.id ?? "")] = charge.amount
            columns[.base(charge.id ?? "")] = charge.bases.reduce(0, +)
        }
        return columns
    }

    /// A line in columns: its price and its share of service, and the taxes on both.
    func columns(at index: Int) -> Columns {
        let service = charges.first { $0.kind == "service" }
        var columns: Columns = [.money: lines[index] + (service?.shares[index] ?? 0)]
        for charge in charges where charge.kind == "tax" {
            var (tax, base) = (charge.shares[index], charge.bases[index])
            // Service is the first of the fees, which come after the lines.
            if let service {
                tax += Bill.shares(of: charge.shares[lines.count], by: service.shares)[index]
                base += Bill.shares(of: charge.bases[lines.count], by: service.shares)[index]
            }
            if !charge.isIncluded { columns[.money, default: 0] += tax }
            columns[.tax(charge.id ?? "")] = tax
            columns[.base(charge.id ?? "")] = base
        }
        return columns
    }

    /// A quotient, rounded half up.
    static func halfUp(_ number: Int64, _ divisor: Int64) -> Int64 { (2 * number + divisor) / (2 * divisor) }

    /// So much of an amount as a part is of a whole.
    static func part(_ amount: Int64, _ part: Int64, of whole: Int64) -> Int64 {
        whole == 0 ? 0 : halfUp(amount * part, whole)
    }

    /// Some units of a line after others, out of all: so that the last one ends at the whole.
    static func units(_ units: Int, after before: Int, outOf all: Int, of line: Columns) -> Columns {
        line.mapValues { part($0, Int64(before + units), of: Int64(all)) - part($0, Int64(before), of: Int64(all)) }
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
            isIncluded: charge.isIncluded, shares: charge.shares.map(\.minorUnits),
            rate: charge.rate.map { Int64($0.thousandths) }, bases: charge.bases.map(\.minorUnits))
    }
}
