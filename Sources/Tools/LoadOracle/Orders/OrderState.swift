/// An order as it was placed.
package struct OrderFacts: Sendable {
    package struct Line: Hashable, Sendable {
        package var id: String
        package var quantity: Int
        /// The line as orders show it, without what was given back.
        var document: [Text: JSON]

        package init(id: String, quantity: Int, document: [Text: JSON]) {
            (self.id, self.quantity, self.document) = (id, quantity, document)
        }
    }

    package var id: String
    package var cart: String
    package var outlet: String
    package var terms: OrderTerms
    /// What was ordered, and what that cost.
    package var contents: OrderContents
    package var currency: String
    /// Whose it is, where that was said, and the name on it.
    package var customer: String?
    package var name: String?
    /// How it is had, where there was anything to choose, and at which table.
    package var service: String?
    package var table: String?
    /// When it was placed by the server's clock, in milliseconds; nil for a judge that only sees documents.
    package var placedAt: Int64?
    /// What is to be done if something is missing, where that was said.
    package var missing: String?
    /// When it is to be had, if not as soon as it can be.
    package var time: String?
    /// What its outlet has, for a judge of changes; its prices do not change.
    package var menu: MenuPlan?
    /// The item that its outlet counts, if it has some of that.
    var countedItem: Text?

    package init(
        id: String, cart: String, outlet: String, terms: OrderTerms, lines: [Line], bill: Bill, currency: String,
        customer: String? = nil, name: String? = nil, service: String? = nil, table: String? = nil,
        placedAt: Int64? = nil, missing: String? = nil, time: String? = nil, menu: MenuPlan? = nil,
        countedItem: Int? = nil
    ) {
        (self.id, self.cart, self.outlet, self.terms) = (id, cart, outlet, terms)
        contents = OrderContents(lines: lines, bill: bill)
        (self.service, self.table, self.missing, self.time, self.menu) = (service, table, missing, time, menu)
        (self.currency, self.customer, self.name, self.placedAt) = (currency, customer, name, placedAt)
        let counted = countedItem.map { Text(ItemPlan.id($0)) }
        if let counted, contents.units(of: counted) > 0 { self.countedItem = counted }
    }

    /// What it cost when it was placed.
    package var bill: Bill { contents.bill }
    /// Whether it waits to be paid: what costs nothing does not.
    package var isPaidFirst: Bool { terms.payWithin != nil && bill.total > 0 }
    /// Whether its life is followed to the end.
    package var isFollowed: Bool { terms.acceptWithin != nil || terms.payWithin != nil }
    /// Whether somebody has to accept it once the kitchen sees it.
    package var hasToBeAccepted: Bool { terms.acceptWithin ?? 0 > 0 }

    /// What happens as soon as the kitchen sees it.
    package var whenReleased: [OrderChange] {
        terms.acceptWithin == 0 ? [.accepted(readyBy: nil, by: "system")] : []
    }
}

/// What happens to an order, an event each.
package enum OrderChange: Hashable, Sendable {
    /// It is paid, and the kitchen will see it later.
    case scheduled
    /// The kitchen sees it from now on.
    case released
    case accepted(readyBy: String?, by: String)
    case rejected(OrderState.Ending)
    case preparing, ready
    case completed(by: String)
    case delayed(readyBy: String)
    /// - Parameter isForLack: whether something that is counted was missing.
    case cancelled(OrderState.Ending, isForLack: Bool = false)
    case paid(OrderMoney.Movement, isInDoubt: Bool)
    /// It waits to be paid again.
    case coverLost
    case refunded(Bill.Columns, code: String, line: String?, units: Int)
    /// A change is made that was proposed, or that was agreed to beforehand.
    case changed(OrderProposal)
    case changeProposed(OrderProposal)
    case changeDeclined(by: String)
    case changeExpired
    case changesNoted
    /// What it held of what is counted came back.
    case claimsReturned
}

/// How far an order has come, and the table of what may happen to it next.
package struct OrderState: Hashable, Sendable {
    package enum Status: String, Hashable, Sendable {
        case awaitingPayment, scheduled, placed, accepted, preparing, ready, completed, rejected, cancelled

        /// Whether the kitchen sees it.
        package var isInKitchen: Bool { [.placed, .accepted, .preparing, .ready].contains(self) }
        var isEnd: Bool { [.completed, .rejected, .cancelled].contains(self) }
        package var isChangeable: Bool { [.placed, .accepted, .preparing].contains(self) }
    }

    package struct Ending: Hashable, Sendable {
        var party: String
        var code: String
        var text: String?

        package init(_ party: String, _ code: String, _ text: String? = nil) {
            (self.party, self.code, self.text) = (party, code, text)
        }
    }

    /// What comes of a step.
    package enum Outcome: Equatable {
        case changes([OrderChange])
        /// The same again: nothing changes.
        case same
        case refused(code: String)
    }

    package private(set) var version: Int64 = 1
    package private(set) var status: Status
    /// Until when it is to be paid or accepted; nil if it is not, or that is unknown. It is by the judge's clock: for a
    /// judge that reads the log, the exact moment in milliseconds; for another, the earliest moment in nanoseconds.
    package private(set) var due: Int64?
    private(set) var readyBy: String?
    /// What the kitchen said one after the other; nil for nothing any more.
    private(set) var promises: [String?] = []
    private(set) var ending: Ending?
    /// What was given back, and how many of each line.
    private(set) var refunded: Bill.Columns = [:]
    private(set) var units: [String: Int] = [:]
    private(set) var money = OrderMoney()
    /// Whether it waited to be paid once more.
    private(set) var hasLostCover = false
    /// What is ordered by now.
    package var contents: OrderContents
    /// The changes that were made or proposed.
    private(set) var changes: [OrderProposal] = []
    /// Until when a proposal waits for an answer, as ``due`` is.
    private(set) var answerDue: Int64?

    /// Whether it holds what its outlet counts and can be sold again, and whether that comes back a moment later.
    private var holds: Bool
    private(set) var givesBack = false

    /// The change that waits for an answer.
    package var proposal: OrderProposal? { changes.last.flatMap { $0.outcome == .open ? $0 : nil } }
    /// What the kitchen has not taken note of.
    var unnoted: [OrderProposal] {
        status.isEnd ? [] : changes.filter { $0.outcome == .agreed && !$0.isNoted }
    }

    /// An order as it was placed, before anything else happened.
    package init(placed order: OrderFacts, due: Int64? = nil) {
        status = order.isPaidFirst ? .awaitingPayment : order.time == nil ? .placed : .scheduled
        contents = order.contents
        holds = order.countedItem != nil || order.time != nil
        self.due = due
    }

    // MARK: Changes

    /// - Parameter due: until when it is to be paid or accepted from then on, or its proposal to be answered.
    package mutating func take(_ change: OrderChange, due: Int64? = nil) {
        version += 1
        let wasCooked = status == .preparing || status == .ready
        switch change {
        case .scheduled: status = .scheduled
        case .released: (status, self.due) = (.placed, due)
        case .accepted(let time, _):
            status = .accepted
            if let time { promise(time) }
        case .rejected(let ending): (status, self.ending) = (.rejected, ending)
        case .preparing: status = .preparing
        case .ready: status = .ready
        case .completed: status = .completed
        case .delayed(let time): promise(time)
        case .cancelled(let ending, let isForLack):
            (status, self.ending) = (.cancelled, ending)
            holds = holds && !isForLack
        case .paid(let movement, _): money.take(movement)
        case .coverLost:
            (status, self.due, hasLostCover) = (.awaitingPayment, due, true)
            promise(nil)
        case .refunded(let columns, _, let line, let units):
            refunded.merge(columns, uniquingKeysWith: +)
            if let line { self.units[line, default: 0] += units }
        case .changeProposed(let proposal):
            changes.append(proposal)
            answerDue = due
        case .changed(let change):
            if proposal == nil { changes.append(change) }
            holds = holds && !change.takesOut
            contents = change.after
            endProposal(.agreed)
        case .changeDeclined(let party): endProposal(.declined, by: party)
        case .changeExpired: endProposal(.expired)
        case .claimsReturned: givesBack = false
        case .changesNoted:
            for index in changes.indices where changes[index].outcome == .agreed { changes[index].isNoted = true }
        }
        if status != .placed, status != .awaitingPayment { self.due = nil }
        if status.isEnd {
            endProposal(.ended)
            givesBack = givesBack || holds && !wasCooked && status != .completed
            holds = false
        }
    }

    private mutating func endProposal(_ outcome: OrderProposal.Outcome, by party: String? = nil) {
        guard proposal != nil else { return }
        changes[changes.count - 1].outcome = outcome
        changes[changes.count - 1].declinedBy = party
        answerDue = nil
    }

    private mutating func promise(_ time: String?) {
        if !isSame(time, readyBy) { promises.append(time) }
        readyBy = time
    }

    /// What happens by itself when its time has passed.
    package var whenTimePasses: [OrderChange] {
        switch status {
        case .awaitingPayment: [.cancelled(Ending("system", "UNPAID"))]
        case .placed where due != nil: [.cancelled(Ending("system", "TIMEOUT"))]
        case .placed, .accepted, .preparing, .ready: [.completed(by: "system")]
        case .scheduled, .completed, .rejected, .cancelled: []
        }
    }

    /// When that is, for a judge that reads the log; nil where nothing happens by itself.
    package func deadline(of order: OrderFacts) -> Int64? {
        guard let placedAt = order.placedAt, due == nil, status.isInKitchen, order.isFollowed else { return due }
        let promise = Moment.milliseconds(readyBy) ?? placedAt + Int64(order.terms.prepMinutes ?? 0) * 60_000
        return max(promise, placedAt) + 86_400_000
    }

    // MARK: Steps

    /// What comes of a step.
    ///
    /// - Parameter bills: what digests stand for, as far as they were shown.
    package func outcome(of step: OrderStep, _ order: OrderFacts, bills: [String: OrderContents] = [:]) -> Outcome {
        func moves(_ next: Status, _ change: OrderChange, from possible: [Status]) -> Outcome {
            if status == next { return .same }
            return possible.contains(status) && proposal == nil ? .changes([change]) : .refused(code: "STATE")
        }
        func ends(_ next: Status, _ change: (Ending) -> OrderChange, _ ending: Ending, _ isPossible: Bool) -> Outcome {
            if status == next, self.ending == ending { return .same }
            return isPossible ? .changes([change(ending)]) : .refused(code: "STATE")
        }
        switch step {
        case .accept(let time):
            if status == .accepted, time == nil || isSame(time, readyBy) { return .same }
            return status == .placed ? .changes([.accepted(readyBy: time, by: "merchant")]) : .refused(code: "STATE")
        case .reject(let code, let text):
            return ends(.rejected, OrderChange.rejected, Ending("merchant", code, text), status == .placed)
        case .prepare: return moves(.preparing, .preparing, from: [.placed, .accepted])
        case .ready: return moves(.ready, .ready, from: [.placed, .accepted, .preparing])
        case .complete:
            return moves(.completed, .completed(by: "merchant"), from: [.placed, .accepted, .preparing, .ready])
        case .delay(let time):
            guard [.placed, .accepted, .preparing].contains(status) else { return .refused(code: "STATE") }
            return isSame(time, readyBy) ? .same : .changes([.delayed(readyBy: time)])
        case .cancel(let party, let code, let text):
            let isOpen = [.awaitingPayment, .scheduled, .placed].contains(status)
            return ends(
                .cancelled, { .cancelled($0) }, Ending(party, code, text),
                isOpen || isSame(party, "merchant") && status.isInKitchen)
        case .pay(let reference, let kind, let minor, let parent):
            return paid(OrderMoney.Movement(reference, kind, minor, of: parent), order)
        case .refund(let part, let code):
            guard status.isInKitchen || status == .completed else { return .refused(code: "STATE") }
            return givenBack(part, code)
        case .change(let edits, let party, let seconds):
            return proposed(edits, party, seconds ?? OrderProposal.usualWait, order)
        case .agree(let digest): return agreed(to: bills[digest])
        case .decline(let party):
            guard let proposal else { return changes.last?.outcome == .declined ? .same : .refused(code: "STATE") }
            return .changes([.changeDeclined(by: party ?? proposal.other)])
        case .note: return unnoted.isEmpty ? .same : .changes([.changesNoted])
        }
    }

    // MARK: Money

    /// What it costs by now.
    var price: Int64 {
        [.rejected, .cancelled].contains(status) ? 0 : contents.bill.total - refunded.money
    }

    /// Whether the outlet has what it costs, or it is set aside.
    var isCovered: Bool { money.secured >= contents.bill.total - refunded.money }

    private func paid(_ report: OrderMoney.Movement, _ order: OrderFacts) -> Outcome {
        let movement: OrderMoney.Movement
        switch money.outcome(of: report) {
        case .same: return .same
        case .refused(let code): return .refused(code: code)
        case .taken(let taken): movement = taken
        }
        var after = self
        after.money.take(movement)
        let paid = OrderChange.paid(movement, isInDoubt: after.money.isInDoubt)
        switch status {
        // The kitchen sees it from now on.
        case .awaitingPayment where after.isCovered:
            return .changes(order.time == nil ? [paid, .released] + order.whenReleased : [paid, .scheduled])
        case .scheduled, .placed, .accepted:
            let waitsAgain = order.isPaidFirst && isCovered && !after.isCovered
            return .changes([paid] + (waitsAgain ? [.coverLost] : []))
        default: return .changes([paid])
        }
    }

    private func givenBack(_ part: OrderStep.Part, _ code: String) -> Outcome {
        let (bill, lines) = (contents.bill, contents.lines)
        let left = bill.columns.mapColumns { $1 - refunded[$0, default: 0] }
        func columns(of wanted: Int, at index: Int) -> Bill.Columns {
            let line = lines[index]
            return bill.columns(of: wanted, after: units[line.id] ?? 0, outOf: line.quantity, at: index)
        }
        func kept(at index: Int) -> Int { lines[index].quantity - (units[lines[index].id] ?? 0) }
        // What the units that are still with the customer came to.
        let cost = lines.indices.reduce(into: Bill.Columns()) {
            $0.merge(columns(of: kept(at: $1), at: $1), uniquingKeysWith: +)
        }
        // Refunds of amounts that went beyond the fees and the tip lower the rest of the lines.
        let isLowered = left.money <= cost.money
        let onLines = isLowered ? left : cost
        var back = left
        var (line, count) = (String?.none, 0)
        switch part {
        case .rest: break
        case .amount(let minor):
            guard minor <= left.money else { return .refused(code: "LIMIT") }
            // First of what no line gives back, then of the lines.
            let beside = left.money - onLines.money
            let first = min(minor, beside)
            back = left.mapColumns { column, amount in
                let ofLines = onLines[column, default: 0]
                return Bill.part(amount - ofLines, first, of: beside)
                    + Bill.part(ofLines, minor - first, of: onLines.money)
            }
        case .units(let id, let quantity):
            guard let index = lines.firstIndex(where: { isSame($0.id, id) }) else {
                return .refused(code: "NOTFOUND")
            }
            guard quantity <= kept(at: index) else { return .refused(code: "LIMIT") }
            let wanted = columns(of: quantity, at: index)
            back =
                isLowered
                ? left.mapColumns { Bill.part($1, wanted[$0, default: 0], of: cost[$0, default: 0]) } : wanted
            (line, count) = (id, quantity)
        }
        guard left.money > 0 else { return .refused(code: "LIMIT") }
        // A refund of the last of the money includes the last of each tax.
        if back.money == left.money { back = left }
        return .changes([.refunded(back.filter { $0.value > 0 }, code: code, line: line, units: count)])
    }
}

extension Bill.Columns {
    fileprivate func mapColumns(_ transform: (Key, Int64) -> Int64) -> Bill.Columns {
        Bill.Columns(uniqueKeysWithValues: map { ($0.key, transform($0.key, $0.value)) })
    }
}
