// Prices carts for a test that holds the prices against another model: one case a line on standard input, as numbers
// between spaces, and one answer a line. See Tests/Clients/pricing.py for what they mean.

import Domain

/// Numbers of a line, one after the other. A line that ends too early is a mistake of the test.
struct Numbers {
    private var rest: ArraySlice<Int>

    init(_ line: String) {
        rest = line.split(separator: " ").map { Int($0)! }[...]
    }

    mutating func next() -> Int { rest.removeFirst() }

    /// So many values as the next number says.
    mutating func list<Value>(_ value: (inout Numbers) -> Value) -> [Value] {
        var values: [Value] = []
        for _ in 0..<next() { values.append(value(&self)) }
        return values
    }

    /// A number that is not negative, or nothing.
    mutating func optional() -> Int? {
        let number = next()
        return number < 0 ? nil : number
    }

    mutating func amount() -> Amount { Amount(minorUnits: Int64(next())) }
}

func option(_ number: Int) -> Identifier { Identifier("o\(number)")! }
func group(_ number: Int) -> Identifier { Identifier("g\(number)")! }
func item(_ number: Int) -> Identifier { Identifier("i\(number)")! }
func tax(_ number: Int) -> Identifier { Identifier("t\(number)")! }
func rate(_ number: Int) -> Rate { Rate(thousandths: number)! }

func readTerms(_ numbers: inout Numbers) -> PricingTerms {
    var terms = PricingTerms(taxIncluded: numbers.next() == 1)
    for (index, number) in numbers.list({ $0.next() }).enumerated() {
        terms.taxes.append(.init(id: tax(index), name: "Tax", rate: rate(number)))
    }
    if let number = numbers.optional() { terms.service = .init(rate: rate(number), tax: numbers.optional().map(tax)) }
    func fee() -> PricingTerms.Fee? {
        guard let fee = numbers.optional() else { return nil }
        return PricingTerms.Fee(
            Amount(minorUnits: Int64(fee)), freeFrom: numbers.optional().map { Amount(minorUnits: Int64($0)) },
            tax: numbers.optional().map(tax))
    }
    terms.smallOrder = fee()
    terms.delivery = fee()
    return terms
}

func readMenu(_ numbers: inout Numbers) -> MenuState {
    var optionCount = 0
    var groupCount = 0
    let groups = numbers.list { numbers in
        defer { groupCount += 1 }
        let (minimum, maximum, free) = (numbers.next(), numbers.next(), numbers.next())
        let setsPrice = numbers.next() == 1
        let options = numbers.list { numbers in
            defer { optionCount += 1 }
            return MenuOption(
                id: option(optionCount), name: "Option", price: numbers.amount(),
                sizePrices: numbers.list { .init(option($0.next()), $0.amount()) }, maximum: numbers.next(),
                groups: numbers.list { group($0.next()) })
        }
        return OptionGroup(
            id: group(groupCount), title: "Group", minimum: minimum, maximum: maximum, free: free,
            setsPrice: setsPrice, options: options)
    }
    var itemCount = 0
    let items = numbers.list { numbers in
        defer { itemCount += 1 }
        return MenuItem(
            id: item(itemCount), kind: "menuItem", name: "Item",
            price: numbers.optional().map { Amount(minorUnits: Int64($0)) },
            options: numbers.list { group($0.next()) }, tax: numbers.optional().map(tax))
    }
    let section = SectionHeader(id: Identifier("all")!, title: "All", kind: "menuItems", layout: .list)
    let document = MenuDocument(sections: [MenuSection(header: section, items: items)], groups: groups)
    do {
        var menu = Menu.initial
        for event in try Menu.decide(.put(document), in: menu) { try Menu.evolve(&menu, event) }
        return menu
    } catch {
        fatalError("a menu that is refused: \(error)")
    }
}

func answer(
    _ numbers: inout Numbers, _ menu: MenuState, _ terms: PricingTerms, _ order: inout Order.State
) throws -> String {
    let tip = numbers.amount()
    var words: [String] = []
    var lines: [Bill.Line] = []
    var ordered: [CartLine] = []
    for (id, chosen, quantity) in numbers.list({ numbers in
        (item(numbers.next()), numbers.list { ChosenOption(option($0.next()), units: $0.next()) }, numbers.next())
    }) {
        let now = Timestamp(millisecondsSinceEpoch: 0)
        switch menu.offer(of: id, with: chosen.normalized, in: Currency("EUR")!, now: now) {
        case .available(let offer):
            words.append("\(offer.unitPrice.minorUnits)")
            lines.append(Bill.Line(try offer.unitPrice.multiplied(by: quantity), tax: offer.tax))
            ordered.append(
                CartLine(
                    id: Text("\(ordered.count)"), item: id, name: "Item", quantity: quantity,
                    unitPrice: offer.unitPrice))
        case .wrongChoice(.gone): words.append("gone")
        case .wrongChoice(.tooMany): words.append("many")
        case .wrongChoice(.units): words.append("units")
        case let offer: words.append("\(offer)")
        }
    }
    let bill = try Bill(for: lines, on: terms, tip: tip)
    words.append("= \(bill.subtotal.minorUnits) \(bill.total.minorUnits)")
    for charge in bill.charges {
        words.append("\(charge.kind.rawValue) \(charge.amount.minorUnits)")
        if let rate = charge.rate, let base = charge.base { words.append("\(rate.thousandths) of \(base.minorUnits)") }
        words += charge.shares.map { "\($0.minorUnits)" }
    }
    order = .unplaced
    try Order.evolve(
        &order,
        .placed(
            Order.Placement(
                cart: item(0), outlet: item(0), currency: Currency("EUR")!, lines: ordered, charges: bill.charges,
                total: bill.total)))
    return words.joined(separator: " ")
}

/// What is given back of the last cart's order: the amount, and each tax with its base.
func refund(_ numbers: inout Numbers, of order: inout Order.State) throws -> String {
    let part: Order.RefundPart =
        switch numbers.next() {
        case 0: .rest
        case 1: .amount(numbers.amount())
        default: .units(line: Text("\(numbers.next())"), quantity: numbers.next())
        }
    var words: [String] = []
    do throws(Rejection) {
        for case .refunded(let refund) in try Order.decide(.refund(part, .other), in: order) {
            words.append("\(refund.amount.minorUnits)")
            for tax in refund.taxes {
                words.append("\(tax.id?.rawValue ?? "-") \(tax.base?.minorUnits ?? -1) \(tax.amount.minorUnits)")
            }
            do throws(ImpossibleEvent) { try Order.evolve(&order, .refunded(refund)) } catch { fatalError("\(error)") }
        }
    } catch {
        return error.code.rawValue
    }
    return words.joined(separator: " ")
}

var terms = PricingTerms.none
var menu = Menu.initial
var order = Order.initial
while let line = readLine() {
    var numbers = Numbers(line)
    // A menu serves every cart up to the next one, and a cart every refund.
    switch numbers.next() {
    case 0:
        terms = readTerms(&numbers)
        menu = readMenu(&numbers)
    case 1: print(try answer(&numbers, menu, terms, &order))
    default: print(try refund(&numbers, of: &order))
    }
}
