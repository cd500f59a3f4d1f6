internal import Domain
internal import TextFormats

/// The bill of an order as an event has it, worked out again by the rules of docs/ordering.md. It shares nothing with the
/// code that decided it.
struct OrderBill {
    /// What an amount of a bill is: its money, or of a tax the tax itself or what that was taken of.
    enum Column: Hashable {
        case money
        case tax(Text)
        case base(Text)
    }
    typealias Columns = [Column: Int128]

    struct Line {
        let id: Text
        let name: Text
        let quantity: Int128
        let unitPrice: Int128
        /// What the options of one cost.
        let extras: Int128
        var cost: Int128 { quantity * unitPrice }
    }

    struct Charge {
        let kind: Text
        let id: Text
        let name: Text
        let rate: Int128?
        let base: Int128?
        let amount: Int128
        let isIncluded: Bool
        let shares: [Int128]
        let bases: [Int128]?
        var isTax: Bool { kind == "tax" }
        var isDiscount: Bool { kind == "discount" }
    }

    let lines: [Line]
    let charges: [Charge]
    let total: Int128
    /// What promotions leave of each line.
    let left: [Int128]
    /// The charges that taxes can be on.
    var listed: [Charge] { charges.filter { !$0.isTax && $0.kind != "tip" } }
    var taxes: [Charge] { charges.filter(\.isTax) }
    var subtotal: Int128 { lines.reduce(0) { $0 + $1.cost } }

    init(_ event: JSONValue) throws(OrderFault) {
        lines = try event.list("lines").map { line throws(OrderFault) in try Line(line) }
        charges = try event.listIfAny("charges").map { charge throws(OrderFault) in try Charge(charge) }
        total = try event.number("total")
        guard Set(lines.map(\.id)).count == lines.count else { throw OrderFault("a line is there twice") }
        guard lines.reduce(0, { $0 + $1.cost }) <= JSONValue.limits.upperBound else {
            throw OrderFault("the lines cost more than an order can")
        }
        var left = lines.map(\.cost)
        for charge in charges where charge.isDiscount && !charge.shares.isEmpty {
            guard charge.shares.count == left.count else {
                throw OrderFault("a discount is not divided among the lines")
            }
            for place in left.indices { left[place] += charge.shares[place] }
        }
        self.left = left
    }

    // MARK: What it comes to

    /// The money of the bill, and of each tax its amount and what it is on.
    var columns: Columns {
        taxes.reduce(into: [.money: total]) { columns, tax in
            columns[.tax(tax.id)] = tax.amount
            if tax.bases != nil { columns[.base(tax.id)] = tax.base }
        }
    }

    /// The same of some units of a line after others: the first n come to n parts of the line, rounded half up.
    func columns(of place: Int, from first: Int128, to last: Int128) -> Columns {
        worth(of: place).mapValues {
            OrderBill.share($0, last, of: lines[place].quantity) - OrderBill.share($0, first, of: lines[place].quantity)
        }
    }

    /// The same of a line: what is left of it, its share of service, and the taxes on both.
    private func worth(of place: Int) -> Columns {
        let service = listed.firstIndex { $0.kind == "service" }
        let parts = service.map { listed[$0].shares } ?? []
        return taxes.reduce(into: [.money: left[place] + (service == nil ? 0 : parts[place])]) { columns, tax in
            func ofLine(_ amounts: [Int128]) -> Int128 {
                let ofService = service.map { OrderBill.shares(of: amounts[lines.count + $0], by: parts)[place] }
                return amounts[place] + (ofService ?? 0)
            }
            columns[.tax(tax.id)] = ofLine(tax.shares)
            if let bases = tax.bases { columns[.base(tax.id)] = ofLine(bases) }
            if !tax.isIncluded { columns[.money, default: 0] += ofLine(tax.shares) }
        }
    }

    // MARK: Arithmetic

    static func halfUp(_ amount: Int128, _ divisor: Int128) -> Int128 { (2 * amount + divisor) / (2 * divisor) }

    /// So much of an amount as a part is of a whole.
    static func share(_ amount: Int128, _ part: Int128, of whole: Int128) -> Int128 {
        whole == 0 ? 0 : halfUp(amount * part, whole)
    }

    /// An amount by weights: rounded down, and what is left to those that lost most, of equals to the first.
    static func shares(of amount: Int128, by weights: [Int128]) -> [Int128] {
        let whole = weights.reduce(0, +)
        guard whole > 0 else { return weights.map { _ in 0 } }
        var shares = weights.map { amount * $0 / whole }
        let lost = weights.indices.sorted { one, other in
            let (a, b) = (amount * weights[one] % whole, amount * weights[other] % whole)
            return a == b ? one < other : a > b
        }
        for place in lost.prefix(Int(amount - shares.reduce(0, +))) { shares[place] += 1 }
        return shares
    }

    static func percent(_ rate: Int128) -> String {
        let digits = "\(rate % 1_000 + 1_000)".dropFirst()
        let part = String(digits.reversed().drop { $0 == "0" }.reversed())
        return "\(rate / 1_000)\(part.isEmpty ? "" : ".\(part)") %"
    }
}

extension OrderBill {
    /// Works it out again, and returns each step in words.
    ///
    /// - Parameter terms: the outlet's taxes and charges; nil where they are not known.
    func check(_ terms: JSONValue?) throws(OrderFault) -> [String] {
        var steps = lines.map { line in
            "\(line.quantity) × \(line.name) at \(line.unitPrice) = \(line.cost)"
                + (line.extras > 0 ? ", of each \(line.extras) for options" : "")
        }
        steps.append("lines together \(subtotal)")
        try checkOrder()
        for charge in listed where charge.isDiscount { steps.append(try check(discount: charge)) }
        guard left.allSatisfy({ $0 >= 0 }) else { throw OrderFault("discounts take off more than a line costs") }
        let outlet = terms?["charges"]
        steps += try checkService(outlet?["service"], isKnown: terms != nil)
        for kind in ["smallOrder", "delivery"] {
            steps += try check(fee: kind, outlet?[kind], isKnown: terms != nil)
        }
        for tax in taxes { steps.append(try check(tax: tax)) }
        if let terms { try checkTaxed(terms) }
        for tip in charges where tip.kind == "tip" {
            guard tip.amount > 0, tip.shares.isEmpty else { throw OrderFault("a tip that is none") }
            steps.append("tip: \(tip.amount)")
        }
        let sum = charges.reduce(subtotal) { $0 + ($1.isIncluded ? 0 : $1.amount) }
        guard sum == total else { throw OrderFault("lines and charges come to \(sum), and the total is \(total)") }
        return steps + ["total \(total)"]
    }

    private func checkOrder() throws(OrderFault) {
        let order: [Text] = ["discount", "service", "smallOrder", "delivery", "discount", "tax", "tip"]
        var next = 0
        for charge in charges {
            guard let place = order[next...].firstIndex(of: charge.kind) else {
                throw OrderFault("a charge stands where it cannot: \(charge.kind)")
            }
            next = charge.isDiscount || charge.isTax ? place : place + 1
            guard charge.isTax || !charge.isIncluded else { throw OrderFault("\(charge.kind) is in no price") }
        }
    }

    private func check(discount: Charge) throws(OrderFault) -> String {
        guard discount.amount < 0, discount.shares.allSatisfy({ $0 <= 0 }) else {
            throw OrderFault("a discount that takes nothing off")
        }
        if discount.shares.isEmpty {
            guard let fee = listed.first(where: { $0.kind == "delivery" }), -discount.amount <= fee.amount else {
                throw OrderFault("a discount takes off more than the delivery costs")
            }
        } else if discount.shares.reduce(0, +) != discount.amount {
            throw OrderFault("the parts of a discount do not add up to it")
        }
        return "\(discount.name): \(discount.amount) off the \(discount.shares.isEmpty ? "delivery" : "lines")"
    }

    private func checkService(_ term: JSONValue?, isKnown: Bool) throws(OrderFault) -> [String] {
        let service = listed.first { $0.kind == "service" }
        guard !isKnown || (service == nil) == (term == nil) else {
            throw OrderFault("service is charged, or not, other than by the outlet")
        }
        guard let service else { return [] }
        let whole = left.reduce(0, +)
        var rate = ""
        if let term {
            let known = try term.number("rate", from: 0)
            guard service.amount == OrderBill.halfUp(whole * known, 100_000) else {
                throw OrderFault("service is not its part of the lines")
            }
            rate = "\(OrderBill.percent(known)) of \(whole) = "
        }
        guard service.amount >= 0, service.shares == OrderBill.shares(of: service.amount, by: left) else {
            throw OrderFault("service is not divided as the lines cost")
        }
        return ["service: \(rate)\(service.amount)"]
    }

    private func check(fee kind: String, _ term: JSONValue?, isKnown: Bool) throws(OrderFault) -> [String] {
        let fee = listed.first { $0.kind == Text(kind) }
        if isKnown {
            let limit = try term?.numberIfAny("freeFrom")
            let isDue = term != nil && limit.map { subtotal < $0 } ?? true
            guard isDue == (fee != nil) else {
                throw OrderFault("the fee \(kind) is \(isDue ? "missing" : "charged, and not due")")
            }
            if let fee, let term, fee.amount != (try term.number("fee", from: 0)) {
                throw OrderFault("the fee \(kind) is another than the outlet's")
            }
        }
        guard let fee else { return [] }
        guard fee.amount >= 0, fee.shares.isEmpty else { throw OrderFault("the fee \(kind) falls on no line") }
        return ["\(kind): \(fee.amount)"]
    }

    private func check(tax: Charge) throws(OrderFault) -> String {
        let places = lines.count + listed.count
        guard tax.amount >= 0, tax.shares.count == places, tax.shares.reduce(0, +) == tax.amount,
            tax.shares.allSatisfy({ $0 >= 0 })
        else {
            throw OrderFault("the parts of tax \(tax.id) do not add up to it")
        }
        let how = tax.isIncluded ? "included in the prices" : "on top"
        // It was recorded before taxes had their rates.
        guard let bases = tax.bases else {
            return "\(tax.name): \(tax.amount), \(how); what it was taken of is not recorded"
        }
        guard let rate = tax.rate, let base = tax.base, rate >= 0, bases.count == places,
            bases.allSatisfy({ $0 >= 0 }), bases.reduce(0, +) == base
        else { throw OrderFault("what tax \(tax.id) is on does not add up") }
        let worked = OrderBill.halfUp(base * rate, 100_000 + (tax.isIncluded ? rate : 0))
        guard tax.amount == worked else {
            throw OrderFault("tax \(tax.id) on \(base) is \(worked), not \(tax.amount)")
        }
        guard tax.shares == OrderBill.shares(of: tax.amount, by: bases) else {
            throw OrderFault("tax \(tax.id) is not divided as what it is on")
        }
        return "\(tax.name): \(OrderBill.percent(rate)) of \(base), \(how) = \(tax.amount)"
    }

    /// Each line and each charge is taxed once, with the rates of the outlet.
    private func checkTaxed(_ terms: JSONValue) throws(OrderFault) {
        let known = try terms.listIfAny("taxes")
        guard Set(taxes.map(\.id)).count == taxes.count else { throw OrderFault("a tax is there twice") }
        for tax in taxes {
            var isKnown = false
            for term in known where try term.text("id") == tax.id {
                isKnown = try term.number("rate") == tax.rate && terms["taxIncluded"] == .bool(tax.isIncluded)
            }
            guard isKnown, tax.bases != nil else { throw OrderFault("the outlet has another tax \(tax.id)") }
        }
        func taxed(at place: Int, by isMeant: (Charge) -> Bool = { _ in true }) -> Int128 {
            taxes.filter(isMeant).reduce(0) { $0 + ($1.bases?[place] ?? 0) }
        }
        for (place, left) in left.enumerated() where taxed(at: place) != (known.isEmpty ? 0 : left) {
            throw OrderFault("of line \(lines[place].id) \(taxed(at: place)) is taxed, not \(left)")
        }
        for (place, charge) in listed.enumerated() {
            let term = try terms["charges"]?[charge.kind.string]?.textIfAny("tax")
            var left = charge.isDiscount ? 0 : charge.amount
            if charge.kind == "delivery" {
                left += listed.reduce(0) { $0 + ($1.isDiscount && $1.shares.isEmpty ? $1.amount : 0) }
            }
            let place = lines.count + place
            guard taxed(at: place) == (term == nil ? 0 : left),
                taxed(at: place, by: { $0.id == term }) == taxed(at: place)
            else { throw OrderFault("\(charge.kind) is taxed otherwise") }
        }
    }
}

extension OrderBill.Line {
    fileprivate init(_ line: JSONValue) throws(OrderFault) {
        id = try line.text("line")
        name = try line.text("name")
        quantity = try line.number("quantity", from: 1)
        unitPrice = try line.number("unitPrice", from: 0)
        var extras: Int128 = 0
        for option in try line.listIfAny("options") {
            let (units, free) = (try option.number("units", from: 1), try option.number("free", from: 0))
            guard free <= units else {
                throw OrderFault("more units of an option of line \(id) are free than there are")
            }
            extras += (units - free) * (try option.number("price", from: 0))
        }
        guard extras <= unitPrice else { throw OrderFault("the options of line \(id) cost more than it") }
        self.extras = extras
    }
}

extension OrderBill.Charge {
    fileprivate init(_ charge: JSONValue) throws(OrderFault) {
        kind = try charge.text("kind")
        id = try charge.textIfAny("id") ?? kind
        name = try charge.textIfAny("name") ?? id
        rate = try charge.numberIfAny("rate")
        base = try charge.numberIfAny("base")
        amount = try charge.number("amount")
        guard case .bool(let isIncluded)? = charge["included"] else { throw OrderFault("'included' is missing") }
        self.isIncluded = isIncluded
        shares = try charge.numbers("shares")
        bases = charge["bases"] == nil ? nil : try charge.numbers("bases")
    }
}

/// Why what is recorded of an order cannot be, in a sentence without a full stop.
struct OrderFault: Error, Equatable {
    let description: String

    init(_ description: String) { self.description = description }
}

extension JSONValue {
    /// What an amount of the log can be. Products of two of these, and of their sums, do not overflow.
    fileprivate static let limits: ClosedRange<Int128> = -1_000_000_000_000...1_000_000_000_000

    func number(_ key: String, from least: Int128 = JSONValue.limits.lowerBound) throws(OrderFault) -> Int128 {
        guard let number = try numberIfAny(key), number >= least else {
            throw OrderFault("'\(key)' is not a number from \(least) on")
        }
        return number
    }

    func numberIfAny(_ key: String) throws(OrderFault) -> Int128? {
        guard let value = self[key] else { return nil }
        return try JSONValue.number(value, key)
    }

    func numbers(_ key: String) throws(OrderFault) -> [Int128] {
        try list(key).map { value throws(OrderFault) in try JSONValue.number(value, key) }
    }

    private static func number(_ value: JSONValue, _ key: String) throws(OrderFault) -> Int128 {
        guard case .number(let text) = value, let number = Int128(text), limits.contains(number) else {
            throw OrderFault("'\(key)' is not a number that an amount can be")
        }
        return number
    }

    func text(_ key: String) throws(OrderFault) -> Text {
        guard let text = try textIfAny(key) else { throw OrderFault("'\(key)' is missing") }
        return text
    }

    func textIfAny(_ key: String) throws(OrderFault) -> Text? {
        guard let value = self[key] else { return nil }
        guard case .string(let text) = value else { throw OrderFault("'\(key)' is not a text") }
        return Text(text)
    }

    func list(_ key: String) throws(OrderFault) -> [JSONValue] {
        guard case .array(let values)? = self[key] else { throw OrderFault("'\(key)' is not a list") }
        return values
    }

    func listIfAny(_ key: String) throws(OrderFault) -> [JSONValue] { self[key] == nil ? [] : try list(key) }
}
