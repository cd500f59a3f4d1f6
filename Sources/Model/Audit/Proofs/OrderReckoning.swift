internal import Domain
internal import EventLog
internal import TextFormats

/// What the events of an order say of its money, worked out again, step by step, in words.
struct OrderReckoning {
    /// What can be reported of a payment.
    private static let states: Set<Text> = [
        "authorised", "captured", "voided", "refunded", "chargedBack", "failed",
    ]

    /// The steps so far.
    private(set) var steps: [String] = []
    private let terms: JSONValue?
    private var bill: OrderBill
    private var given = OrderBill.Columns()
    /// How many of each line were given back.
    private var units: [Text: Int128] = [:]
    /// The sums of what was reported, by its kind.
    private var reported: [Text: Int128] = [:]
    private var hasEnded = false
    /// Whether all that was given back had its taxes one by one.
    private var isExact = true

    /// Begins with what was placed.
    private init(_ placed: JSONValue) throws(OrderFault) {
        terms = placed["pricing"]
        bill = try OrderBill(placed)
        steps.append(
            "placed with outlet \(try placed.text("outlet")); all amounts are in minor units of "
                + "\(try placed.text("currency"))")
        if terms == nil {
            steps.append(
                "  the outlet's taxes and charges are not recorded with the order: its bill is checked without them")
        }
        try checkBill()
    }

    /// The steps of an order's events.
    static func steps(of events: [RecordedEvent]) throws(OrderFault) -> [String] {
        var order: OrderReckoning?
        for event in events {
            let payload: JSONValue
            do throws(JSONReadingError) {
                payload = try JSONValue(event.payload)
            } catch {
                throw OrderFault("event \(event.version) cannot be read: \(error)")
            }
            guard (event.kind.name == "order.placed") == (order == nil) else {
                throw OrderFault("the order is not placed first, and once")
            }
            if order == nil { order = try OrderReckoning(payload) } else { try order?.take(event.kind.name, payload) }
        }
        guard var order else { throw OrderFault("there is no event") }
        order.end()
        return order.steps
    }

    private mutating func take(_ kind: String, _ event: JSONValue) throws(OrderFault) {
        switch kind {
        case "order.changed": try change(event)
        case "order.paymentReported":
            let (state, amount) = (try event.text("state"), try event.number("amount", from: 0))
            guard OrderReckoning.states.contains(state) else { throw OrderFault("nothing can be \(state)") }
            reported[state, default: 0] += amount
            steps.append("reported: \(amount) \(state) as \(try event.text("ref"))")
        case "order.refunded": try refund(event)
        case "order.rejected", "order.cancelled":
            guard try event.numberIfAny("total").map({ $0 == bill.total }) ?? true else {
                throw OrderFault("it ends with another total than it had")
            }
            hasEnded = true
            steps.append("\(kind.dropFirst(6)) by the \(try event.text("by")): \(bill.total) is not charged any more")
        default: break
        }
    }

    private mutating func checkBill() throws(OrderFault) { steps += try bill.check(terms).map { "  \($0)" } }

    // MARK: Changes

    private mutating func change(_ event: JSONValue) throws(OrderFault) {
        let before = bill
        bill = try OrderBill(event)
        steps.append("changed, as the \(try event.text("by")) proposed")
        var edits: [Text: (from: Int128, to: Int128)] = [:]
        for edit in try event.list("change") {
            let line = try edit.text("line")
            guard edits[line] == nil else { throw OrderFault("a change of a line that is there twice") }
            edits[line] = (try edit.number("from", from: 0), try edit.number("to", from: 0))
        }
        let (old, new) = (OrderReckoning.byID(before.lines), OrderReckoning.byID(bill.lines))
        guard edits.keys.allSatisfy({ old[$0] != nil || new[$0] != nil }) else {
            throw OrderFault("a line is changed that is not there")
        }
        for line in Set(old.keys).union(new.keys) {
            let (was, now) = (old[line]?.quantity ?? 0, new[line]?.quantity ?? 0)
            guard (was, now) == edits[line] ?? (was, was), was == 0 || now <= was else {
                throw OrderFault("line \(line) is changed otherwise than the change says")
            }
            if let old = old[line], let new = new[line], old.unitPrice != new.unitPrice {
                throw OrderFault("line \(line) costs something else")
            }
        }
        try checkBill()
        let left = bill.columns
        guard !isExact || given.allSatisfy({ $0.value <= left[$0.key] ?? 0 }),
            units.allSatisfy({ $0.value <= new[$0.key]?.quantity ?? 0 })
        else { throw OrderFault("the bill after the change has less than what was given back") }
    }

    private static func byID(_ lines: [OrderBill.Line]) -> [Text: OrderBill.Line] {
        Dictionary(lines.map { ($0.id, $0) }) { first, _ in first }
    }

    // MARK: Giving back

    private mutating func refund(_ event: JSONValue) throws(OrderFault) {
        let money = try event.number("amount", from: 0)
        let before = given[.money] ?? 0
        guard before + money <= bill.total else { throw OrderFault("more is given back than the order cost") }
        guard isExact, event["tax"] == nil else {
            isExact = false
            given[.money] = before + money
            steps.append("given back: \(money); its taxes were recorded together, and are not worked out")
            return
        }
        let whole = bill.columns
        let left = whole.each { max(0, (whole[$0] ?? 0) - (given[$0] ?? 0)) }
        var cost: OrderBill.Columns = left.mapValues { _ in 0 }
        for (place, line) in bill.lines.enumerated() {
            cost.merge(bill.columns(of: place, from: back(of: line), to: line.quantity), uniquingKeysWith: +)
        }
        let onLines = left.money > cost.money ? left.each { min(left[$0] ?? 0, cost[$0] ?? 0) } : left
        var portion: OrderBill.Columns
        var what = "of whatever"
        if let id = try event.textIfAny("line") {
            guard let place = bill.lines.firstIndex(where: { $0.id == id }) else {
                throw OrderFault("there is no line \(id)")
            }
            let (line, quantity) = (bill.lines[place], try event.number("quantity", from: 1))
            let first = back(of: line)
            guard first + quantity <= line.quantity else {
                throw OrderFault("more of line \(id) is given back than there is")
            }
            let wanted = bill.columns(of: place, from: first, to: first + quantity)
            portion = left.each { OrderBill.share(onLines[$0] ?? 0, wanted[$0] ?? 0, of: cost[$0] ?? 0) }
            units[id] = first + quantity
            what = "\(quantity) × \(line.name)"
        } else {
            let beside = left.each { (left[$0] ?? 0) - (onLines[$0] ?? 0) }
            let first = min(money, beside.money)
            portion = left.each {
                OrderBill.share(beside[$0] ?? 0, first, of: beside.money)
                    + OrderBill.share(onLines[$0] ?? 0, min(money - first, onLines.money), of: onLines.money)
            }
        }
        if portion.money == left.money { portion = left }
        guard portion.money == money else {
            throw OrderFault("what is given back comes to \(portion.money), not to \(money)")
        }
        let taxes = try self.taxes(of: event)
        for column in Set(portion.keys).union(taxes.keys) where column != .money {
            guard taxes[column] ?? 0 == portion[column] ?? 0 else {
                throw OrderFault(
                    "of \(column.words) \(portion[column] ?? 0) is to be given back, not \(taxes[column] ?? 0)")
            }
        }
        given.merge(portion, uniquingKeysWith: +)
        let ofIt = bill.taxes.compactMap { tax in taxes[.tax(tax.id)].map { "\($0) \(tax.id)" } }.joined(
            separator: ", ")
        steps.append("given back: \(what) = \(money)" + (ofIt.isEmpty ? "" : ", of it taxes \(ofIt)"))
    }

    /// The taxes that an event gives back, and what they were taken of.
    private func taxes(of event: JSONValue) throws(OrderFault) -> OrderBill.Columns {
        var taxes = OrderBill.Columns()
        for tax in try event.listIfAny("taxes") {
            let id = try tax.text("id")
            taxes[.tax(id)] = try tax.number("amount", from: 0)
            taxes[.base(id)] = try tax.numberIfAny("base")
            guard let known = bill.taxes.first(where: { $0.id == id }), known.rate == (try tax.numberIfAny("rate"))
            else {
                throw OrderFault("tax \(id) is given back at another rate")
            }
        }
        return taxes
    }

    private func back(of line: OrderBill.Line) -> Int128 { min(units[line.id] ?? 0, line.quantity) }

    // MARK: The end

    private mutating func end() {
        let back = given.money
        let price = hasEnded ? 0 : bill.total - back
        steps.append(
            "in the end: \(bill.total) for the order, \(back) of it given back"
                + (hasEnded ? ", and nothing is charged" : ": it costs \(price)"))
        guard reported.values.contains(where: { $0 > 0 }) else { return }
        let (captured, returned) = (
            reported["captured"] ?? 0, (reported["refunded"] ?? 0) + (reported["chargedBack"] ?? 0)
        )
        let paid = captured - returned
        steps.append("reported: \(captured) was paid, and \(returned) of it came back: the outlet has \(paid)")
        if paid < 0 {
            steps.append("in doubt: more came back than was paid")
        } else if paid > price {
            steps.append("the outlet owes the customer \(paid - price)")
        }
    }
}

extension OrderBill.Columns {
    fileprivate var money: Int128 { self[.money] ?? 0 }

    /// The same columns with other amounts.
    fileprivate func each(_ amount: (Key) -> Int128) -> OrderBill.Columns {
        Dictionary(uniqueKeysWithValues: keys.map { ($0, amount($0)) })
    }
}

extension OrderBill.Column {
    fileprivate var words: String {
        switch self {
        case .money: "money"
        case .tax(let id): "tax \(id)"
        case .base(let id): "base \(id)"
        }
    }
}
