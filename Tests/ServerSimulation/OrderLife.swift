import Domain
import LoadOracle
import Users

/// An order with how it changed, and what it took of what its outlet has counted. Its items have the simulation's prices,
/// so the load generator's model, which prices by its own menus, is told of changes when they have been worked out here.
struct OrderLife {
    /// A line, and the prices that its options had.
    struct Line {
        var line: History.CartModel.Line
        var prices: Prices

        var document: [LoadOracle.Text: JSON] { line.document(at: prices) }
    }

    /// What changes about a line, as `change` shows it.
    struct Difference: Equatable {
        var line: String
        var from: Int
        var to: Int
        var replaces: String?

        var document: JSON {
            var members: [LoadOracle.Text: JSON] = [
                "line": JSON(line), "name": JSON("Tea"), "from": JSON(from), "to": JSON(to),
            ]
            members["replaces"] = replaces.map { JSON($0) }
            return .object(members)
        }
    }

    /// A change, with the order after it.
    struct Change {
        var by: String
        var differences: [Difference]
        var lines: [Line]
        var bill: Bill
        /// The digests of both bills, as the server says: the model has none.
        var before = ""
        var after = ""
        /// What was missing, and is not given back.
        var gone: Claims = [:]

        var takesAway: Bool { differences.contains { $0.to < $0.from } }

        /// Whether the customer has agreed to it beforehand.
        func isAgreed(beforehand missing: String, _ total: Int64) -> Bool {
            guard by == "merchant", takesAway, bill.total <= total else { return false }
            return differences.allSatisfy { $0.from > 0 || missing == "replace" && $0.replaces != nil }
                && ["remove", "replace"].contains(missing)
        }
    }

    /// A change, and what became of it.
    struct Record {
        var change: Change
        var totalBefore: Int64
        var until: Int64?
        var state = "open"
        var declinedBy: String?
        var isNoted = false

        /// - Parameter isWhole: whether the bill is shown, too.
        func document(isWhole: Bool) -> JSON {
            var after: [LoadOracle.Text: JSON] = ["total": JSON(change.bill.total), "digest": JSON(change.after)]
            if isWhole {
                after["lines"] = .array(change.lines.map { .object($0.document) })
                after["charges"] = change.bill.documents
            }
            var members: [LoadOracle.Text: JSON] = [
                "by": JSON(change.by), "change": .array(change.differences.map(\.document)),
                "before": .object(["total": JSON(totalBefore), "digest": JSON(change.before)]), "after": .object(after),
            ]
            if state != "open" { members["state"] = JSON(state) }
            members["declinedBy"] = declinedBy.map { JSON($0) }
            members["until"] = until.map { JSON(Timestamp(millisecondsSinceEpoch: $0).rfc3339) }
            return .object(members)
        }
    }

    let order: OrderFacts
    private(set) var state: OrderState
    private(set) var lines: [Line]
    /// What is done if something is missing: `ask`, `remove`, `replace` or `cancel`.
    let missing: String
    /// What it took.
    let claims: Claims
    /// What it gave back when it ended.
    private(set) var givenBack: Claims = [:]
    /// Whether the outlet's supply has that.
    private(set) var hasReturned = false
    private(set) var records: [Record] = []
    /// The digest of its bill, once that was said.
    private(set) var digest: String?
    /// What was given back to the customer.
    private var refunded: Bill.Columns = [:]
    private var units: [String: Int] = [:]
    /// Whether it changed after something was given back. What more is given back follows from both bills then, and the
    /// model knows the last one only.
    private(set) var hasTwoBills = false
    let tip: Int64

    init(_ order: OrderFacts, _ lines: [Line], missing: String, claims: Claims, due: Int64?) {
        (self.order, self.lines, self.missing, self.claims) = (order, lines, missing, claims)
        state = OrderState(placed: order, due: due)
        tip = order.bill.charges.first { $0.kind == "tip" }?.amount ?? 0
    }

    /// The change that waits for an answer.
    var proposal: Record? { records.last.flatMap { $0.state == "open" ? $0 : nil } }
    var isChangeable: Bool { order.isFollowed && [.placed, .accepted, .preparing].contains(state.status) }
    var hasUnnoted: Bool { !isOver && records.contains { $0.state == "agreed" && !$0.isNoted } }
    private var isOver: Bool { [.completed, .rejected, .cancelled].contains(state.status) }

    /// What it took, but for what was missing.
    var kept: Claims {
        claims.filter { claim in !records.contains { $0.state == "agreed" && $0.change.gone[claim.key] != nil } }
    }

    /// What it gives back if it ends now.
    var returnable: Claims {
        switch state.status {
        case .awaitingPayment, .scheduled, .placed, .accepted: kept
        case .preparing, .ready: kept.ofPromotions
        case .completed, .rejected, .cancelled: [:]
        }
    }

    // MARK: Time

    /// When something happens by itself; nil where nothing does.
    var deadline: Int64? { proposal?.until.map { min(ownDeadline ?? $0, $0) } ?? ownDeadline }

    /// The same of the order itself: as long as a change is proposed, it does not count as handed over.
    var ownDeadline: Int64? {
        proposal != nil && state.due == nil && state.status.isInKitchen ? nil : state.deadline(of: order)
    }

    // MARK: Steps

    /// What comes of a step. Nobody goes on with an order whose change is proposed.
    func outcome(of step: OrderStep) -> OrderState.Outcome {
        let outcome = state.outcome(of: step, order)
        switch (step, outcome) {
        case (.prepare, .changes), (.ready, .changes), (.complete, .changes):
            return proposal == nil ? outcome : .refused(code: "STATE")
        default: return outcome
        }
    }

    /// Whether a step may change nothing, and be answered with the version.
    func isSame(_ step: ChangeStep) -> Bool {
        switch step {
        case .propose(let edits, let party, _):
            proposal.map { $0.change.by == party && edits.isPossible(of: $0, self) } ?? false
        case .agree(let digest): records.last.map { $0.state == "agreed" && $0.change.after == digest } ?? false
        case .decline: records.last?.state == "declined"
        case .noted: !hasUnnoted
        }
    }

    /// Whether a step may be refused with a code. What the catalogue says is left to others.
    ///
    /// - Parameter roles: those that whoever asked may have had.
    func mayRefuse(_ step: ChangeStep, with code: String, _ roles: Set<Role>) -> Bool {
        switch (step, code) {
        case (.propose(let edits, _, _), "STATE"):
            !isChangeable || proposal != nil || edits.arrivals.isEmpty && edits.leavesNothing(of: lines)
        case (.propose(let edits, _, _), "NOTFOUND"):
            edits.lines.contains { edit in !lines.contains { $0.line.id == edit.line } }
        case (.propose(let edits, _, _), "INVALID"):
            edits.lines.contains { edit in lines.contains { $0.line.id == edit.line && $0.line.quantity <= edit.left } }
        case (.propose, "LIMIT"), (.agree, "LIMIT"): refunded.money > 0 || records.count >= 20
        case (.agree(let digest), "TOTALCHANGED"): proposal.map { $0.change.after != digest } ?? false
        case (.agree, "STATE"):
            // Nobody agrees to what they have proposed.
            proposal.map { proposal in !isChangeable || roles.contains { "\($0)" == proposal.change.by } } ?? true
        case (.decline, "STATE"): proposal == nil
        default: false
        }
    }

    /// The change that edits come to; nil where there can be none.
    ///
    /// - Parameters:
    ///   - charges: those of the outlet when the order was placed.
    ///   - selling: what the outlet sells; nil if nothing.
    func change(_ edits: Edits, by party: String, _ charges: Charges, _ selling: Selling?) -> Change? {
        var left: [String: Int] = [:]
        var differences: [Difference] = []
        var arrivals: [Line] = []
        func arrive(_ arrival: Edits.Arrival, replacing line: String?) -> Bool {
            guard let selling, selling.has(arrival.choice), !arrival.choice.isTooMuch else { return false }
            var (id, number) = (arrival.choice.line, 2)
            while (lines + arrivals).contains(where: { $0.line.id == id }) {
                (id, number) = ("\(arrival.choice.line)~\(number)", number + 1)
            }
            arrivals.append(
                Line(
                    line: .init(
                        id: id, quantity: arrival.quantity, price: selling.prices.price(of: arrival.choice)),
                    prices: selling.prices))
            differences.append(Difference(line: id, from: 0, to: arrival.quantity, replaces: line))
            return true
        }
        for edit in edits.lines {
            guard let old = lines.first(where: { $0.line.id == edit.line })?.line,
                (0..<old.quantity).contains(edit.left),
                left.updateValue(edit.left, forKey: edit.line) == nil
            else { return nil }
            differences.append(Difference(line: edit.line, from: old.quantity, to: edit.left))
            if let arrival = edit.by, !arrive(arrival, replacing: edit.line) { return nil }
        }
        for arrival in edits.add where !arrive(arrival, replacing: nil) { return nil }
        var (after, off): ([Line], [Int64]) = ([], [])
        let discounts = state.contents.bill.discounts
        for (index, line) in lines.enumerated() {
            let quantity = left[line.line.id] ?? line.line.quantity
            guard quantity > 0 else { continue }
            var line = line
            let share = discounts.isEmpty ? 0 : discounts[index]
            // As much of the discount as stays of the line, rounded half up.
            off.append((2 * share * Int64(quantity) + Int64(line.line.quantity)) / (2 * Int64(line.line.quantity)))
            line.line.quantity = quantity
            after.append(line)
        }
        after += arrivals
        off += arrivals.map { _ in 0 }
        guard !after.isEmpty else { return nil }
        var bill = charges.bill(for: after.map { $0.line.price * Int64($0.line.quantity) }, tip: tip, less: off)
        bill.charges.removeAll { $0.kind == "tax" && $0.bases.reduce(0, +) == 0 }
        return isBelowRefunds(bill, after)
            ? nil : Change(by: party, differences: differences, lines: after, bill: bill)
    }

    /// Whether so much of everything is left to be given back.
    func hasLeft(_ columns: Bill.Columns) -> Bool {
        var after = self
        after.refunded.merge(columns, uniquingKeysWith: +)
        return !after.isBelowRefunds(state.contents.bill, lines)
    }

    /// Whether less would be charged of something than was given back of it.
    private func isBelowRefunds(_ bill: Bill, _ lines: [Line]) -> Bool {
        let isBelow = refunded.contains { column, amount in
            switch column {
            case .money: return bill.total < amount
            case .tax(let id): return bill.charges.first { $0.id == id && $0.kind == "tax" }?.amount ?? 0 < amount
            case .base(let id):
                return bill.charges.first { $0.id == id && $0.kind == "tax" }?.bases.reduce(0, +) ?? 0 < amount
            }
        }
        return isBelow
            || units.contains { id, count in lines.first { $0.line.id == id }?.line.quantity ?? 0 < count }
    }

    // MARK: Events

    mutating func take(_ event: Order.Event) {
        if case .refunded(let columns, _, let line, let count)? = OrderChange(event) {
            refunded.merge(columns, uniquingKeysWith: +)
            if let line { units[line, default: 0] += count }
        }
        if event.givenBack != nil { endProposal("ended") }
        if let change = OrderChange(event) { return state.take(change, due: event.due) }
        switch event {
        case .claimsReturned: hasReturned = true
        case .changeDeclined(let party): endProposal("declined", by: party.rawValue)
        case .changeExpired: endProposal("expired")
        case .changesNoted:
            for index in records.indices where records[index].state == "agreed" { records[index].isNoted = true }
        default: break
        }
        state.take(.nothing)
    }

    /// Takes in a change that is proposed, or made.
    ///
    /// - Parameter until: until when it waits for an answer; nil if it is made.
    mutating func take(_ change: Change, until: Int64?) {
        if until != nil || proposal == nil {
            records.append(Record(change: change, totalBefore: state.contents.bill.total, until: until))
        }
        state.take(.nothing)
        digest = until == nil ? change.after : change.before
        guard until == nil else { return }
        endProposal("agreed")
        hasTwoBills = hasTwoBills || refunded.money > 0
        lines = change.lines
        state.contents = OrderContents(
            lines: lines.map { .init(id: $0.line.id, quantity: $0.line.quantity, document: $0.document) },
            bill: change.bill)
    }

    private mutating func endProposal(_ state: String, by party: String? = nil) {
        guard proposal != nil else { return }
        records[records.count - 1].state = state
        records[records.count - 1].declinedBy = party
    }

    /// Takes in how it ends, with what it says it gives back. Returns whether it has to give back just that.
    ///
    /// - Parameter missing: what may be missing, and then does not come back.
    mutating func end(giving claims: Claims, butFor missing: Set<String>) -> Bool {
        givenBack = claims
        return claims.filter { !missing.contains($0.key) } == returnable.filter { !missing.contains($0.key) }
            && claims.allSatisfy { returnable[$0.key] == $0.value }
    }

    // MARK: Documents

    /// How it is shown otherwise than it must be; nil if it is not.
    func difference(in view: OrderFacts.View, from shown: JSON) -> String? {
        var rest = shown
        for key: LoadOracle.Text in ["proposal", "changes", "missing"] { rest[key] = nil }
        if let difference = order.difference(state, in: view, from: rest) { return difference }
        var expected: [LoadOracle.Text: JSON] = [:]
        var listed: [Record] = []
        switch view {
        case .row: break
        case .document:
            listed = records.filter { $0.state != "open" }
            expected["proposal"] = proposal?.document(isWhole: true)
        case .kitchen:
            listed = records.filter { $0.state == "agreed" && !$0.isNoted }
            expected["proposal"] = proposal?.document(isWhole: false)
        }
        if !listed.isEmpty { expected["changes"] = .array(listed.map { $0.document(isWhole: false) }) }
        if case .row = view {} else if missing != "ask" { expected["missing"] = JSON(missing) }
        for key: LoadOracle.Text in ["proposal", "changes", "missing"] where shown[key] != expected[key] {
            return "\(key.string): \(shown[key] ?? .null) instead of \(expected[key] ?? .null)"
        }
        return nil
    }
}

/// What is asked of an order so that it becomes another.
enum ChangeStep {
    case propose(Edits, by: String, within: Int)
    case agree(digest: String)
    case decline(by: String)
    case noted

    /// The command about an order.
    func words(_ order: String) -> [String] {
        switch self {
        case .propose(let edits, let party, let seconds):
            ["ORDER.CHANGE", order, edits.json, "BY", party, "WITHIN", "\(seconds)"]
        case .agree(let digest): ["ORDER.AGREE", order, digest]
        case .decline(let party): ["ORDER.DECLINE", order, "BY", party]
        case .noted: ["ORDER.NOTED", order]
        }
    }

    /// The errors that may be answered.
    var codes: [String] {
        switch self {
        case .propose: ["STATE", "NOTFOUND", "INVALID", "LIMIT", "CLOSED", "SOLDOUT", "CHOICE"]
        case .agree: ["STATE", "NOTFOUND", "LIMIT", "TOTALCHANGED"]
        case .decline: ["STATE", "NOTFOUND"]
        case .noted: ["NOTFOUND"]
        }
    }
}

/// What is to be different.
struct Edits {
    struct Arrival {
        var choice: Choice
        var quantity: Int

        var json: String {
            """
            {"item":"\(Prices.item)","quantity":\(quantity),"options":"\(choice.words.joined(separator: ","))"}
            """
        }
    }

    /// How many of lines are left, and what comes in place of the rest.
    var lines: [(line: String, left: Int, by: Arrival?)] = []
    var add: [Arrival] = []

    var arrivals: [Arrival] { lines.compactMap(\.by) + add }

    var json: String {
        let lines = lines.map { line, left, by in
            "{\"line\":\"\(line)\",\"quantity\":\(left)\(by.map { ",\"by\":" + $0.json } ?? "")}"
        }
        return "{\"lines\":[\(lines.joined(separator: ","))],\"add\":[\(add.map(\.json).joined(separator: ","))]}"
    }

    func leavesNothing(of lines: [OrderLife.Line]) -> Bool {
        lines.allSatisfy { line in self.lines.contains { $0.line == line.line.id && $0.left == 0 } }
    }

    /// Whether a proposal may have come of them.
    fileprivate func isPossible(of record: OrderLife.Record, _: OrderLife) -> Bool {
        record.change.differences.count == lines.count + arrivals.count
            && lines.allSatisfy { line in
                record.change.differences.contains { $0.line == line.line && $0.to == line.left && $0.from > 0 }
            }
    }
}

extension OrderChange {
    /// A version more, and nothing else.
    fileprivate static let nothing = OrderChange.refunded([:], code: "", line: nil, units: 0)
}

extension Order.Event {
    /// What it gives back, if the order ends by it before it is handed over.
    var givenBack: Claims? {
        switch self {
        case .rejected(let ending), .cancelled(let ending): Claims(ending.claims)
        default: nil
        }
    }

    /// Whether the servers say it by themselves, when what they asked for was done.
    var isEndOfReturn: Bool { if case .claimsReturned = self { true } else { false } }

    /// The change that is proposed or made, and until when it waits for an answer.
    var change: (change: Order.Change, until: Int64?)? {
        switch self {
        case .changeProposed(let change, let until): (change, until.millisecondsSinceEpoch)
        case .changed(let change): (change, nil)
        default: nil
        }
    }
}
