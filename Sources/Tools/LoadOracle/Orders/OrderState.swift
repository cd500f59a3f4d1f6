/// How far an order has come, and the table of what may happen to it next.
package struct OrderState: Hashable, Sendable {
    package enum Status: String, Hashable, Sendable {
        case awaitingPayment, placed, accepted, preparing, ready, completed, rejected, cancelled

        /// Whether the kitchen sees it.
        var isInKitchen: Bool { [.placed, .accepted, .preparing, .ready].contains(self) }
        var isEnd: Bool { [.completed, .rejected, .cancelled].contains(self) }
    }

    struct Ending: Hashable, Sendable {
        var party: String
        var code: String
    }

    /// What comes of a step.
    enum Outcome: Equatable {
        case changed(OrderState)
        /// The same again: nothing changes.
        case same
        case refused(code: String)
    }

    package internal(set) var version: Int64
    package internal(set) var status: Status
    /// The earliest moment at which it ends by itself, in nanoseconds; nil where it does not in a run.
    var dueFrom: UInt64?
    var readyBy: String?
    var ending: Ending?
    /// What was given back, and how many of each line.
    var refunded = Bill.Worth()
    var units: [String: Int] = [:]
    var money = OrderMoney()
    /// Whether it waited to be paid once more.
    var hasLostCover = false

    /// The next state, one version on.
    private func next(_ status: Status, _ body: (inout OrderState) -> Void = { _ in }) -> Outcome {
        var next = self
        next.version += 1
        next.status = status
        if status != .placed { next.dueFrom = nil }
        body(&next)
        return .changed(next)
    }

    /// What comes of a step that was sent at `time`.
    func after(_ step: OrderStep, of order: OrderFacts, sentAt time: UInt64) -> Outcome {
        let refusal = Outcome.refused(code: "STATE")
        switch step {
        case .accept(let readyBy):
            if status == .placed { return next(.accepted) { $0.readyBy = readyBy ?? $0.readyBy } }
            return status == .accepted && (readyBy == nil || isSame(readyBy, self.readyBy)) ? .same : refusal
        case .reject(let code):
            if status == .placed { return next(.rejected) { $0.ending = Ending(party: "merchant", code: code) } }
            return status == .rejected && ending == Ending(party: "merchant", code: code) ? .same : refusal
        case .prepare:
            if status == .preparing { return .same }
            return [.placed, .accepted].contains(status) ? next(.preparing) : refusal
        case .ready:
            if status == .ready { return .same }
            return [.placed, .accepted, .preparing].contains(status) ? next(.ready) : refusal
        case .complete:
            if status == .completed { return .same }
            return status.isInKitchen ? next(.completed) : refusal
        case .delay(let readyBy):
            guard [.placed, .accepted, .preparing].contains(status) else { return refusal }
            return isSame(readyBy, self.readyBy) ? .same : next(status) { $0.readyBy = readyBy }
        case .cancel(let party, let code):
            let own = Ending(party: party, code: code)
            if status == .cancelled, ending == own { return .same }
            let isOpen = [.awaitingPayment, .placed].contains(status)
            guard isOpen || isSame(party, "merchant") && status.isInKitchen else { return refusal }
            return next(.cancelled) { $0.ending = own }
        case .pay(let reference, let kind, let minor, let parent):
            switch money.after(reference, kind, minor, of: parent) {
            case .same: return .same
            case .refused(let code): return .refused(code: code)
            case .taken(let money): return after(money, of: order, sentAt: time)
            }
        case .refund(let part, _):
            guard status.isInKitchen || status == .completed else { return refusal }
            return givenBack(part, of: order)
        }
    }

    /// It was not paid or accepted in time; nil if it does not wait for that at a moment.
    func overdue(at time: UInt64) -> OrderState? {
        guard let dueFrom, dueFrom <= time else { return nil }
        let code = status == .awaitingPayment ? "UNPAID" : "TIMEOUT"
        guard case .changed(let state) = next(.cancelled, { $0.ending = Ending(party: "system", code: code) }) else {
            return nil
        }
        return state
    }

    // MARK: Money

    private func after(_ money: OrderMoney, of order: OrderFacts, sentAt time: UInt64) -> Outcome {
        let (wasCovered, isCovered) = (self.isCovered(order), money.secured >= order.bill.total - refunded.money)
        return next(status) { state in
            state.money = money
            state.dueFrom = dueFrom
            switch status {
            case .awaitingPayment where isCovered:
                // The kitchen sees it from now on, and may accept everything.
                state.version += 1
                state.status = .placed
                state.dueFrom = order.terms.acceptBy(from: time)
                guard order.terms.acceptWithin == 0 else { return }
                state.version += 1
                state.status = .accepted
            case .placed, .accepted:
                guard order.isPaidFirst, let payWithin = order.terms.payWithin, wasCovered, !isCovered else { return }
                state.version += 1
                state.status = .awaitingPayment
                state.dueFrom = KitchenTerms.due(payWithin, after: time)
                state.readyBy = nil
                state.hasLostCover = true
            default: return
            }
        }
    }

    /// Whether the outlet has what it costs, or it is set aside.
    func isCovered(_ order: OrderFacts) -> Bool { money.secured >= order.bill.total - refunded.money }

    private func givenBack(_ part: OrderStep.Part, of order: OrderFacts) -> Outcome {
        let left = order.bill.worth - refunded
        // The units that are still with the customer, and what they came to.
        let kept = order.lines.indices.map { index in
            let line = order.lines[index]
            return order.bill.units(of: line.total, at: index, quantity: line.quantity).dropFirst(units[line.id] ?? 0)
        }
        let cost = kept.joined().reduce(Bill.Worth(), +)
        // What amounts took beyond the fees and the tip lowers what is left of the lines.
        let isLowered = left.money <= cost.money
        let onLines = isLowered ? left : cost
        var back: Bill.Worth
        var given: (line: String, quantity: Int)?
        switch part {
        case .rest: back = left
        case .amount(let minor):
            guard minor <= left.money else { return .refused(code: "LIMIT") }
            let beside = left - onLines
            let first = min(minor, beside.money)
            back = beside.part(first, of: beside.money) + onLines.part(minor - first, of: onLines.money)
        case .units(let id, let quantity):
            guard let index = order.lines.firstIndex(where: { isSame($0.id, id) }) else {
                return .refused(code: "NOTFOUND")
            }
            guard quantity <= kept[index].count else { return .refused(code: "LIMIT") }
            let wanted = kept[index].prefix(quantity).reduce(Bill.Worth(), +)
            if !isLowered {
                back = wanted
            } else {
                back = Bill.Worth(
                    money: Bill.Worth.part(left.money, wanted.money, of: cost.money),
                    tax: Bill.Worth.part(left.tax, wanted.tax, of: cost.tax),
                    base: Bill.Worth.part(left.base, wanted.base, of: cost.base))
            }
            given = (id, quantity)
        }
        guard left.money > 0 else { return .refused(code: "LIMIT") }
        // The last of the money comes with all of the tax.
        if back.money == left.money { back = left }
        return next(status) { state in
            state.refunded = state.refunded + back
            state.dueFrom = dueFrom
            if let given { state.units[given.line, default: 0] += given.quantity }
        }
    }
}

extension Bill.Worth {
    /// So much of it as a part is of a whole, each rounded half up.
    fileprivate func part(_ part: Int64, of whole: Int64) -> Bill.Worth {
        Bill.Worth(
            money: Bill.Worth.part(money, part, of: whole), tax: Bill.Worth.part(tax, part, of: whole),
            base: Bill.Worth.part(base, part, of: whole))
    }

    fileprivate static func part(_ amount: Int64, _ part: Int64, of whole: Int64) -> Int64 {
        whole == 0 ? 0 : Bill.halfUp(amount * part, whole)
    }
}

extension KitchenTerms {
    /// The earliest moment by which an order has to be accepted that can be from a moment on; nil if it has not.
    func acceptBy(from time: UInt64) -> UInt64? { acceptWithin > 0 ? KitchenTerms.due(acceptWithin, after: time) : nil }

    /// A moment so many seconds after another. The server's clock counts milliseconds, and need not agree exactly.
    static func due(_ seconds: Int, after time: UInt64) -> UInt64 {
        let wait = UInt64(seconds) * 1_000_000_000
        return time + wait - min(wait, tolerance)
    }

    private static let tolerance: UInt64 = 50_000_000
}

/// What was ordered, which never changes.
struct OrderFacts {
    struct Line {
        var id: String
        var quantity: Int
        var total: Int64
        /// The line as orders show it, without what was given back.
        var document: [Text: JSON]
    }

    var id: String
    var cart: String
    var outlet: String
    var terms: KitchenTerms
    var lines: [Line]
    var bill: Bill

    /// Whether it waits to be paid: what costs nothing does not.
    var isPaidFirst: Bool { terms.payWithin != nil && bill.total > 0 }
}
