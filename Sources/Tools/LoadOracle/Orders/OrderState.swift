/// What was ordered, which never changes.
package struct OrderFacts: Sendable {
    package struct Line: Sendable {
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
    package var lines: [Line]
    package var bill: Bill
    package var currency: String
    /// Whose it is, where that was said, and the name on it.
    package var customer: String?
    package var name: String?
    /// How it is had, where there was anything to choose, and at which table.
    package var service: String?
    package var table: String?
    /// When it was placed by the server's clock, in milliseconds; nil for a judge that only sees documents.
    package var placedAt: Int64?

    package init(
        id: String, cart: String, outlet: String, terms: OrderTerms, lines: [Line], bill: Bill, currency: String,
        customer: String? = nil, name: String? = nil, service: String? = nil, table: String? = nil,
        placedAt: Int64? = nil
    ) {
        (self.id, self.cart, self.outlet, self.terms, self.lines, self.bill) = (id, cart, outlet, terms, lines, bill)
        (self.service, self.table) = (service, table)
        (self.currency, self.customer, self.name, self.placedAt) = (currency, customer, name, placedAt)
    }

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

    /// How many units were ordered.
    var count: Int { lines.reduce(0) { $0 + $1.quantity } }
}

/// What happens to an order, an event each.
package enum OrderChange: Hashable, Sendable {
    /// The kitchen sees it from now on.
    case released
    case accepted(readyBy: String?, by: String)
    case rejected(OrderState.Ending)
    case preparing, ready
    case completed(by: String)
    case delayed(readyBy: String)
    case cancelled(OrderState.Ending)
    case paid(OrderMoney.Movement, isInDoubt: Bool)
    /// It waits to be paid again.
    case coverLost
    case refunded(Bill.Columns, code: String, line: String?, units: Int)
}

/// How far an order has come, and the table of what may happen to it next.
package struct OrderState: Hashable, Sendable {
    package enum Status: String, Hashable, Sendable {
        case awaitingPayment, placed, accepted, preparing, ready, completed, rejected, cancelled

        /// Whether the kitchen sees it.
        package var isInKitchen: Bool { [.placed, .accepted, .preparing, .ready].contains(self) }
        var isEnd: Bool { [.completed, .rejected, .cancelled].contains(self) }
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

    /// An order as it was placed, before anything else happened.
    package init(placed order: OrderFacts, due: Int64? = nil) {
        status = order.isPaidFirst ? .awaitingPayment : .placed
        self.due = due
    }

    // MARK: Changes

    /// - Parameter due: until when it is to be paid or accepted from then on.
    package mutating func take(_ change: OrderChange, due: Int64? = nil) {
        version += 1
        switch change {
        case .released: (status, self.due) = (.placed, due)
        case .accepted(let time, _):
            status = .accepted
            if let time { promise(time) }
        case .rejected(let ending): (status, self.ending) = (.rejected, ending)
        case .preparing: status = .preparing
        case .ready: status = .ready
        case .completed: status = .completed
        case .delayed(let time): promise(time)
        case .cancelled(let ending): (status, self.ending) = (.cancelled, ending)
        case .paid(let movement, _): money.take(movement)
        case .coverLost:
            (status, self.due, hasLostCover) = (.awaitingPayment, due, true)
            promise(nil)
        case .refunded(let columns, _, let line, let units):
            refunded.merge(columns, uniquingKeysWith: +)
            if let line { self.units[line, default: 0] += units }
        }
        if status != .placed, status != .awaitingPayment { self.due = nil }
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
        case .completed, .rejected, .cancelled: []
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
    package func outcome(of step: OrderStep, _ order: OrderFacts) -> Outcome {
        func moves(_ next: Status, _ change: OrderChange, from possible: [Status]) -> Outcome {
            status == next ? .same : possible.contains(status) ? .changes([change]) : .refused(code: "STATE")
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
            let isOpen = [.awaitingPayment, .placed].contains(status)
            return ends(
                .cancelled, OrderChange.cancelled, Ending(party, code, text),
                isOpen || isSame(party, "merchant") && status.isInKitchen)
        case .pay(let reference, let kind, let minor, let parent):
            return paid(OrderMoney.Movement(reference, kind, minor, of: parent), order)
        case .refund(let part, let code):
            guard status.isInKitchen || status == .completed else { return .refused(code: "STATE") }
            return givenBack(part, code, order)
        }
    }

    // MARK: Money

    /// What it costs by now.
    func price(_ order: OrderFacts) -> Int64 {
        [.rejected, .cancelled].contains(status) ? 0 : order.bill.total - refunded.money
    }

    /// Whether the outlet has what it costs, or it is set aside.
    func isCovered(_ order: OrderFacts) -> Bool { money.secured >= order.bill.total - refunded.money }

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
        case .awaitingPayment where after.isCovered(order): return .changes([paid, .released] + order.whenReleased)
        case .placed, .accepted:
            let waitsAgain = order.isPaidFirst && isCovered(order) && !after.isCovered(order)
            return .changes([paid] + (waitsAgain ? [.coverLost] : []))
        default: return .changes([paid])
        }
    }

    private func givenBack(_ part: OrderStep.Part, _ code: String, _ order: OrderFacts) -> Outcome {
        let bill = order.bill
        let left = bill.columns.mapColumns { $1 - refunded[$0, default: 0] }
        func columns(of wanted: Int, at index: Int) -> Bill.Columns {
            let line = order.lines[index]
            return bill.columns(of: wanted, after: units[line.id] ?? 0, outOf: line.quantity, at: index)
        }
        func kept(at index: Int) -> Int { order.lines[index].quantity - (units[order.lines[index].id] ?? 0) }
        // What the units that are still with the customer came to.
        let cost = order.lines.indices.reduce(into: Bill.Columns()) {
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
            guard let index = order.lines.firstIndex(where: { isSame($0.id, id) }) else {
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
