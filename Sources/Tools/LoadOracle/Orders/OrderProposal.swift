/// What is ordered, and what that costs: as it was placed, or as a change left it.
package struct OrderContents: Hashable, Sendable {
    package var lines: [OrderFacts.Line]
    package var bill: Bill

    package init(lines: [OrderFacts.Line], bill: Bill) { (self.lines, self.bill) = (lines, bill) }

    /// How many units there are.
    var count: Int { lines.reduce(0) { $0 + $1.quantity } }

    /// How many of them are of an item.
    func units(of item: Text) -> Int {
        lines.reduce(0) { $0 + ($1.document["item"]?.text == item ? $1.quantity : 0) }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(lines.count)
        hasher.combine(bill.total)
    }
}

/// What somebody wants to change about the lines of an order.
package enum OrderEdit: Equatable, Sendable {
    /// So many of a line stay.
    case leave(line: String, quantity: Int)
    /// Some of an item take the place of a line.
    case replace(line: String, item: Int, quantity: Int)
    case add(item: Int, quantity: Int)
}

/// A change of an order that was proposed, and what became of it.
package struct OrderProposal: Hashable, Sendable {
    /// How long it waits for an answer if it does not say, in seconds.
    static let usualWait = 600

    package enum Outcome: String, Hashable, Sendable {
        case open, agreed, declined, expired, ended
    }

    /// What is different about a line.
    struct Difference: Hashable, Sendable {
        var line: String
        var name: String
        var from: Int
        var to: Int
        var replaces: String?
    }

    package var party: String
    var differences: [Difference]
    var before: OrderContents
    var after: OrderContents
    /// How long it waits for an answer, in seconds; nil if it was agreed to beforehand.
    var wait: Int?
    var outcome = Outcome.open
    var declinedBy: String?
    /// Whether the kitchen has taken note of it.
    var isNoted = false
    /// Whether its merchant takes out some of what is counted: then that is missing, and does not come back.
    var takesOut = false

    /// Who has to agree.
    package var other: String { isSame(party, "merchant") ? "customer" : "merchant" }

    func proposesTheSame(as other: OrderProposal) -> Bool {
        isSame(party, other.party) && differences == other.differences && before == other.before
            && after == other.after
    }
}

extension OrderContents {
    /// What a change leads to, as docs/ordering.md works it out; or the code of a refusal.
    ///
    /// - Parameter menu: the outlet's, where no price changes.
    func changed(
        by edits: [OrderEdit], proposedBy party: String, _ terms: OrderTerms, _ menu: MenuPlan
    ) -> (proposal: OrderProposal?, refusal: String) {
        var kept = lines
        var arrivals: [(line: OrderFacts.Line, amount: Int64, parts: [Bill.Part])] = []
        var differences: [OrderProposal.Difference] = []
        func leave(_ id: String, _ quantity: Int) -> String? {
            guard let index = kept.firstIndex(where: { isSame($0.id, id) }) else { return "NOTFOUND" }
            let old = kept[index]
            guard (0..<old.quantity).contains(quantity) else { return "INVALID" }
            kept[index].take(quantity)
            differences.append(.init(line: id, name: old.name, from: old.quantity, to: quantity))
            return nil
        }
        func arrive(_ item: Int, _ quantity: Int, inPlaceOf replaced: String?) -> String? {
            guard item < menu.itemCount else { return "NOTFOUND" }
            let plan = menu.item(item)
            guard case .priced(let priced) = menu.said(of: plan, at: plan.price, with: []) else { return "CHOICE" }
            guard (1...plan.maximum).contains(quantity) else { return "LIMIT" }
            // A line that goes by this change still had its id before.
            func isTaken(_ id: String) -> Bool {
                lines.contains { isSame($0.id, id) } || arrivals.contains { isSame($0.line.id, id) }
            }
            var (id, number) = (plan.id, 2)
            while isTaken(id) { (id, number) = ("\(plan.id)~\(number)", number + 1) }
            let amount = priced.unitPrice * Int64(quantity)
            let document: [Text: JSON] = [
                "line": JSON(id), "item": JSON(plan.id), "name": JSON(plan.name), "quantity": JSON(quantity),
                "unitPrice": JSON(priced.unitPrice), "options": .array(priced.options), "note": .null,
                "total": JSON(amount),
            ]
            arrivals.append((OrderFacts.Line(id: id, quantity: quantity, document: document), amount, priced.parts))
            differences.append(.init(line: id, name: plan.name, from: 0, to: quantity, replaces: replaced))
            return nil
        }
        guard !edits.isEmpty else { return (nil, "INVALID") }
        for edit in edits {
            let refusal: String? =
                switch edit {
                case .leave(let line, let quantity): leave(line, quantity)
                case .replace(let line, let item, let quantity):
                    leave(line, 0) ?? arrive(item, quantity, inPlaceOf: line)
                case .add(let item, let quantity): arrive(item, quantity, inPlaceOf: nil)
                }
            if let refusal { return (nil, refusal) }
        }
        let staying = kept.indices.filter { kept[$0].quantity > 0 }
        guard !staying.isEmpty || !arrivals.isEmpty else { return (nil, "STATE") }
        let amounts = staying.map { kept[$0].amount } + arrivals.map(\.amount)
        let parts = staying.map { index in
            bill.taxes.map { Bill.Part(tax: $0.id, worth: $0.bases[index]) }
        }
        // Of what was taken off a line, as much stays as stays of the line.
        var discount = bill.charges.first { isSame($0.kind, "discount") }
        if let shares = discount?.shares {
            let left = staying.map {
                -Bill.part(-shares[$0], Int64(kept[$0].quantity), of: Int64(lines[$0].quantity))
            }
            discount?.shares = left + arrivals.map { _ in 0 }
            discount?.amount = left.reduce(0, +)
            if left.allSatisfy({ $0 == 0 }) { discount = nil }
        }
        let tip = bill.charges.first { isSame($0.kind, "tip") }?.amount ?? 0
        var after = OrderContents(
            lines: staying.map { kept[$0] } + arrivals.map(\.line),
            bill: terms.charges.bill(for: amounts, less: discount, of: parts + arrivals.map(\.parts), tip: tip))
        // A tax on nothing is left out.
        after.bill.charges.removeAll { isSame($0.kind, "tax") && $0.bases.allSatisfy { $0 == 0 } }
        return (OrderProposal(party: party, differences: differences, before: self, after: after), "")
    }
}

extension OrderFacts.Line {
    fileprivate var name: String { document["name"]?.string ?? "" }

    /// What it costs.
    fileprivate var amount: Int64 { document["total"]?.integer ?? 0 }

    /// Takes another quantity at the same price.
    fileprivate mutating func take(_ quantity: Int) {
        self.quantity = quantity
        document["quantity"] = JSON(quantity)
        document["total"] = JSON((document["unitPrice"]?.integer ?? 0) * Int64(quantity))
    }
}

extension OrderState {
    /// The most changes and proposals of an order.
    private static let mostChanges = 20

    /// What comes of a proposal.
    ///
    /// - Parameter wait: how long it waits for an answer, in seconds.
    func proposed(_ edits: [OrderEdit], _ party: String, _ wait: Int, _ order: OrderFacts) -> Outcome {
        guard order.isFollowed, status.isChangeable, let menu = order.menu else { return .refused(code: "STATE") }
        let found = contents.changed(by: edits, proposedBy: party, order.terms, menu)
        guard var change = found.proposal else { return .refused(code: found.refusal) }
        if let item = order.countedItem, isSame(party, "merchant") {
            change.takesOut = change.after.units(of: item) < contents.units(of: item)
        }
        if let proposal { return proposal.proposesTheSame(as: change) ? .same : .refused(code: "STATE") }
        guard changes.count < OrderState.mostChanges else { return .refused(code: "LIMIT") }
        let takesAway = change.differences.contains { $0.to < $0.from }
        if isSame(party, "merchant"), takesAway {
            if isSame(order.missing, "cancel") {
                return .changes([.cancelled(Ending("merchant", "ITEMS"), isForLack: change.takesOut)])
            }
            let brings = change.differences.filter { $0.from == 0 }
            let isMeant =
                isSame(order.missing, "remove") && brings.isEmpty
                || isSame(order.missing, "replace") && brings.allSatisfy { $0.replaces != nil }
            if isMeant, change.after.bill.total <= contents.bill.total { return .changes([.changed(change)]) }
        }
        change.wait = wait
        return .changes([.changeProposed(change)])
    }

    func agreed(to bill: OrderContents?) -> Outcome {
        guard let proposal else {
            let isLast = changes.last.map { $0.outcome == .agreed && $0.after == bill } ?? false
            return isLast ? .same : .refused(code: "STATE")
        }
        guard proposal.after == bill else { return .refused(code: "TOTALCHANGED") }
        return status.isChangeable ? .changes([.changed(proposal)]) : .refused(code: "STATE")
    }
}

// MARK: Words

extension OrderEdit {
    /// What `ORDER.CHANGE` takes.
    static func json(_ edits: [OrderEdit]) -> String {
        var (lines, adds): ([String], [String]) = ([], [])
        func item(_ item: Int, _ quantity: Int) -> String {
            "{\"item\":\"\(ItemPlan.id(item))\",\"quantity\":\(quantity)}"
        }
        for edit in edits {
            switch edit {
            case .leave(let line, let quantity): lines.append("{\"line\":\"\(line)\",\"quantity\":\(quantity)}")
            case .replace(let line, let new, let quantity):
                lines.append("{\"line\":\"\(line)\",\"by\":\(item(new, quantity))}")
            case .add(let new, let quantity): adds.append(item(new, quantity))
            }
        }
        return "{\"lines\":[\(lines.joined(separator: ","))],\"add\":[\(adds.joined(separator: ","))]}"
    }

    /// The edits that a text asks for; nil if it asks for something else.
    static func reading(_ text: String) -> [OrderEdit]? {
        guard let document = JSON(Array(text.utf8)) else { return nil }
        func arrival(_ value: JSON?) -> (item: Int, quantity: Int)? {
            guard let item = value?["item"]?.string.flatMap({ ItemPlan.index(of: $0) }),
                let quantity = value?["quantity"]?.integer
            else { return nil }
            return (item, Int(quantity))
        }
        var edits: [OrderEdit] = []
        for line in document["lines"]?.array ?? [] {
            guard let id = line["line"]?.string else { return nil }
            if let quantity = line["quantity"]?.integer {
                edits.append(.leave(line: id, quantity: Int(quantity)))
            } else if let new = arrival(line["by"]) {
                edits.append(.replace(line: id, item: new.item, quantity: new.quantity))
            }
        }
        for entry in document["add"]?.array ?? [] {
            if let new = arrival(entry) { edits.append(.add(item: new.item, quantity: new.quantity)) }
        }
        return edits
    }
}
