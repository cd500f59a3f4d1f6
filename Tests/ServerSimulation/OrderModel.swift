import Domain

/// What an outlet's orders wait for, as it said when it was registered.
struct Terms {
    var prepMinutes: Int64?
    var acceptWithin: Int64?
    /// Nil where nobody has to pay first.
    var payWithin: Int64?
    /// What is charged beside the prices of lines.
    var charges = Charges.nothing

    /// The fields of `OUTLET.PUT`.
    var fields: String {
        var fields = ""
        if let prepMinutes { fields += ",\"prepMinutes\":\(prepMinutes)" }
        if let acceptWithin { fields += ",\"acceptWithin\":\(acceptWithin)" }
        if let payWithin { fields += ",\"payment\":\"first\",\"payWithin\":\(payWithin)" }
        return fields + charges.fields
    }
}

/// What is asked of an order. Times are in milliseconds by the servers' clock.
enum OrderAction {
    case accept(readyBy: Int64?)
    case reject(String, text: String?)
    case prepare, ready, complete
    case delay(readyBy: Int64)
    case cancel(by: String, String, text: String?)
    case pay(OrderModel.Report)
    case refund(OrderModel.Part, String)
}

/// What happens to an order.
enum OrderChange: Equatable {
    /// Accepted by a moment, where somebody has to.
    case released(acceptBy: Int64?)
    case accepted(readyBy: Int64?, by: String)
    case rejected(OrderModel.Ending)
    case preparing, ready
    case completed(by: String)
    case delayed(Int64)
    case cancelled(OrderModel.Ending)
    case paid(OrderModel.Report)
    case refunded(Int64, tax: Int64, String, line: String?, units: Int)

    /// What an event of an order's life says; nil of the first, and of those that no order here has.
    init?(_ event: Order.Event) {
        func words(_ ending: Order.Ending) -> OrderModel.Ending {
            let text: String? =
                switch ending.text {
                case .plain(let text)?: text.string
                // There is only one that customers are given.
                case .sealed?: OrderModel.reason
                case nil: nil
                }
            return OrderModel.Ending(by: ending.by.rawValue, code: ending.reason.rawValue, text: text)
        }
        switch event {
        case .placed, .scheduled: return nil
        case .released(let time): self = .released(acceptBy: time?.millisecondsSinceEpoch)
        case .accepted(let time, let party):
            self = .accepted(readyBy: time?.millisecondsSinceEpoch, by: party.rawValue)
        case .rejected(let ending): self = .rejected(words(ending))
        case .preparationStarted: self = .preparing
        case .readied: self = .ready
        case .completed(let party): self = .completed(by: party.rawValue)
        case .delayed(let time): self = .delayed(time.millisecondsSinceEpoch)
        case .cancelled(let ending): self = .cancelled(words(ending))
        case .paymentReported(let payment):
            self = .paid(
                OrderModel.Report(
                    reference: payment.reference.string, state: payment.state.rawValue,
                    amount: payment.amount.minorUnits))
        case .refunded(let refund):
            self = .refunded(
                refund.amount.minorUnits, tax: refund.tax.minorUnits, refund.reason.rawValue,
                line: refund.units?.line.string,
                units: refund.units?.quantity ?? 0)
        }
    }
}

/// An order as docs/protocol.md and docs/ordering.md tell its life. It shares nothing with the domain but what events
/// look like. Times are in milliseconds by the servers' clock.
struct OrderModel {
    enum Status: String {
        case awaitingPayment, placed, accepted, preparing, ready, completed, rejected, cancelled

        var isEnd: Bool { self == .completed || self == .rejected || self == .cancelled }
        var isInKitchen: Bool { !isEnd && self != .awaitingPayment }
    }

    struct Line: Equatable {
        var id: String
        var quantity: Int
        var price: Int64
    }

    struct Ending: Equatable {
        var by: String
        var code: String
        var text: String?
    }

    struct Report: Equatable {
        var reference: String
        var state: String
        var amount: Int64
    }

    /// What is given back.
    enum Part {
        case rest
        case amount(Int64)
        case units(Int, line: String)
    }

    /// What comes of a command.
    enum Outcome {
        /// It is refused, with this code.
        case refused(String)
        /// It changes nothing.
        case nothing
        case changes([OrderChange])
    }

    let id: String
    let cart: String
    let outlet: String
    let lines: [Line]
    let bill: Bill
    /// Whose it is, where that was said, and the name on it.
    let customer: String?
    let name: String?
    /// When it was placed, and what it waits for since then.
    let placedAt: Int64
    private let terms: Terms
    private(set) var status: Status
    private(set) var acceptBy: Int64?
    private(set) var readyBy: Int64?
    private(set) var ending: Ending?
    private(set) var reports: [Report] = []
    private(set) var refunded: Int64 = 0
    /// How much of it is tax.
    private(set) var refundedTax: Int64 = 0
    private(set) var refundedUnits: [String: Int] = [:]

    /// An order as it is when it is placed, before anything is said of it.
    init(
        _ id: String, from cart: String, at outlet: String, _ lines: [Line], _ bill: Bill, of customer: String?,
        name: String?, placedAt: Int64, _ terms: Terms
    ) {
        (self.id, self.cart, self.outlet, self.lines, self.bill) = (id, cart, outlet, lines, bill)
        (self.customer, self.name) = (customer, name)
        (self.placedAt, self.terms) = (placedAt, terms)
        status = terms.payWithin != nil ? .awaitingPayment : .placed
        if status == .placed { acceptBy = acceptBy(from: placedAt) }
    }

    /// The text that customers are given as a reason, and the name that is on their orders.
    static let reason = "for a reason"
    static let anyName = "Ann"

    var total: Int64 { bill.total }

    // MARK: Times

    /// Whether its life is followed to the end.
    var isFollowed: Bool { terms.acceptWithin != nil || terms.payWithin != nil }
    var payBy: Int64? { terms.payWithin.map { placedAt + $0 * 1_000 } }
    var promisedFor: Int64? { terms.prepMinutes.map { placedAt + $0 * 60_000 } }
    var promise: Int64? { readyBy ?? promisedFor }

    /// Until when it is to be accepted if the kitchen sees it from a moment on.
    private func acceptBy(from time: Int64) -> Int64? {
        terms.acceptWithin.flatMap { $0 > 0 ? time + $0 * 1_000 : nil }
    }

    /// Whether somebody has to accept it once the kitchen sees it.
    var mayHaveToBeAccepted: Bool { terms.acceptWithin.map { $0 > 0 } ?? false }

    /// Whether it is accepted as soon as the kitchen sees it.
    var isAcceptedAtOnce: Bool { terms.acceptWithin == 0 }

    /// When the kitchen saw it, by the time until which it has to be accepted.
    func released(with acceptBy: Int64) -> Int64 { acceptBy - (terms.acceptWithin ?? 0) * 1_000 }

    /// When something happens to it by itself; nil where nothing does.
    var deadline: Int64? {
        switch status {
        case .completed, .rejected, .cancelled: nil
        case .awaitingPayment: payBy
        case .placed where acceptBy != nil: acceptBy
        case .placed, .accepted, .preparing, .ready:
            isFollowed ? max(promise ?? placedAt, placedAt) + 86_400_000 : nil
        }
    }

    /// What happens to it by itself then.
    var whenTimePasses: [OrderChange] {
        switch status {
        case .awaitingPayment: [.cancelled(Ending(by: "system", code: "UNPAID"))]
        case .placed where acceptBy != nil: [.cancelled(Ending(by: "system", code: "TIMEOUT"))]
        case .placed, .accepted, .preparing, .ready: [.completed(by: "system")]
        case .completed, .rejected, .cancelled: []
        }
    }

    // MARK: Commands

    /// What comes of a command. Of an order that is released, the time until which it is to be accepted is left out.
    func outcome(of action: OrderAction) -> Outcome {
        switch action {
        case .accept(let time):
            if status == .placed { return .changes([.accepted(readyBy: time, by: "merchant")]) }
            return status == .accepted && (time == nil || time == readyBy) ? .nothing : .refused("STATE")
        case .reject(let code, let text):
            let wanted = Ending(by: "merchant", code: code, text: text)
            if status == .placed { return .changes([.rejected(wanted)]) }
            return status == .rejected && ending == wanted ? .nothing : .refused("STATE")
        case .prepare: return step(to: .preparing, .preparing, from: [.placed, .accepted])
        case .ready: return step(to: .ready, .ready, from: [.placed, .accepted, .preparing])
        case .complete:
            return step(to: .completed, .completed(by: "merchant"), from: [.placed, .accepted, .preparing, .ready])
        case .delay(let time):
            guard [.placed, .accepted, .preparing].contains(status) else { return .refused("STATE") }
            return time == readyBy ? .nothing : .changes([.delayed(time)])
        case .cancel(let party, let code, let text):
            let wanted = Ending(by: party, code: code, text: text)
            if status == .cancelled, ending == wanted { return .nothing }
            let isTooLate = party == "customer" && ![.awaitingPayment, .placed].contains(status)
            return status.isEnd || isTooLate ? .refused("STATE") : .changes([.cancelled(wanted)])
        case .pay(let report): return outcome(of: report)
        case .refund(let part, let code): return outcome(ofRefund: part, code)
        }
    }

    private func step(to next: Status, _ change: OrderChange, from possible: [Status]) -> Outcome {
        if status == next { return .nothing }
        return possible.contains(status) ? .changes([change]) : .refused("STATE")
    }

    private func outcome(of report: Report) -> Outcome {
        if let known = reports.first(where: { $0.reference == report.reference && $0.state == report.state }) {
            return known.amount == report.amount ? .nothing : .refused("IDMISMATCH")
        }
        var after = self
        after.reports.append(report)
        guard status == .awaitingPayment, after.captured + after.authorised >= total else {
            return .changes([.paid(report)])
        }
        return .changes(
            [.paid(report), .released(acceptBy: nil)]
                + (isAcceptedAtOnce ? [.accepted(readyBy: nil, by: "system")] : []))
    }

    private func outcome(ofRefund part: Part, _ code: String) -> Outcome {
        guard ![.awaitingPayment, .rejected, .cancelled].contains(status) else { return .refused("STATE") }
        let (left, taxLeft) = (total - refunded, bill.tax - refundedTax)
        var (amount, line, units) = (left, String?.none, 0)
        var lineTax: Int64?
        switch part {
        case .rest: break
        case .amount(let wanted): amount = wanted
        case .units(let wanted, let id):
            guard let index = lines.firstIndex(where: { $0.id == id }) else { return .refused("NOTFOUND") }
            let (all, before) = (lines[index].quantity, refundedUnits[id, default: 0])
            guard wanted <= all - before else { return .refused("LIMIT") }
            amount = Bill.share(bill.paid(at: index), of: wanted, after: before, outOf: all)
            lineTax = Bill.share(bill.tax(at: index), of: wanted, after: before, outOf: all)
            (line, units) = (id, wanted)
        }
        guard left > 0, amount <= left else { return .refused("LIMIT") }
        // As much of the tax that is left as of the money, and never so much less that it would remain without it.
        let share = lineTax ?? Bill.halfUp(taxLeft * amount, left)
        let tax = min(max(share, taxLeft - (left - amount)), taxLeft, amount)
        return .changes([.refunded(amount, tax: tax, code, line: line, units: units)])
    }

    // MARK: Money

    private func sum(_ state: String, _ reference: String? = nil) -> Int64 {
        reports.reduce(0) { sum, report in
            report.state == state && (reference == nil || report.reference == reference) ? sum + report.amount : sum
        }
    }

    private var captured: Int64 { sum("captured") }
    private var authorised: Int64 {
        Set(reports.map(\.reference)).reduce(0) {
            $0 + max(0, sum("authorised", $1) - sum("captured", $1) - sum("voided", $1))
        }
    }

    // MARK: Changes

    mutating func take(_ change: OrderChange) {
        switch change {
        case .released(let time): (status, acceptBy) = (.placed, time)
        case .accepted(let time, _): (status, readyBy) = (.accepted, time ?? readyBy)
        case .rejected(let ending): (status, self.ending) = (.rejected, ending)
        case .preparing: status = .preparing
        case .ready: status = .ready
        case .completed: status = .completed
        case .delayed(let time): readyBy = time
        case .cancelled(let ending): (status, self.ending) = (.cancelled, ending)
        case .paid(let report): reports.append(report)
        case .refunded(let amount, let tax, _, let line, let units):
            refunded += amount
            refundedTax += tax
            if let line { refundedUnits[line, default: 0] += units }
        }
        if status != .placed { acceptBy = nil }
    }

    // MARK: Documents

    /// The members of `ORDER.GET` that are compared, those of an object with its name before them.
    static let members =
        ["order", "cart", "outlet", "status", "total", "subtotal", "count", "placedAt", "promisedFor", "readyBy"]
        + [
            "customer", "name", "payBy", "acceptBy", "refunded", "refundedTax", "ending.by", "ending.code",
            "ending.reason",
        ]
        + ["state", "authorised", "captured", "refunded", "due", "owed"].map { "payment." + $0 }

    /// What `ORDER.GET` shows of it, by ``members`` and the ids of lines.
    var shown: [String: String] {
        func time(_ milliseconds: Int64?) -> String? {
            milliseconds.map { Timestamp(millisecondsSinceEpoch: $0).rfc3339 }
        }
        var shown: [String: String?] = [
            "order": id, "cart": cart, "outlet": outlet, "status": status.rawValue, "total": "\(total)",
            "subtotal": "\(bill.subtotal)", "customer": customer, "name": name,
            "count": "\(lines.reduce(0) { $0 + $1.quantity })",
            "placedAt": time(isFollowed ? placedAt : nil), "promisedFor": time(promisedFor), "readyBy": time(readyBy),
            "payBy": time(status == .awaitingPayment ? payBy : nil), "acceptBy": time(acceptBy),
            "ending.by": ending?.by, "ending.code": ending?.code, "ending.reason": ending?.text,
            "refunded": refunded > 0 ? "\(refunded)" : nil,
            "refundedTax": refundedTax > 0 ? "\(refundedTax)" : nil,
            "charges": bill.charges.map(\.text).joined(separator: ", "),
        ]
        for line in lines {
            let back = refundedUnits[line.id].map { ", \($0) given back" } ?? ""
            shown[line.id] = "\(line.quantity) at \(line.price) = \(line.price * Int64(line.quantity))\(back)"
        }
        guard !reports.isEmpty || terms.payWithin != nil else { return shown.compactMapValues { $0 } }
        let back = sum("refunded")
        let price = status == .rejected || status == .cancelled ? 0 : total - refunded
        let missing = price - (captured - back)
        shown["payment.state"] =
            back > 0
            ? "refunded" : captured > 0 ? "captured" : authorised > 0 ? "authorised" : reports.last?.state
        shown["payment.authorised"] = "\(authorised)"
        shown["payment.captured"] = "\(captured)"
        shown["payment.refunded"] = "\(back)"
        shown["payment.due"] = "\(max(0, missing))"
        shown["payment.owed"] = "\(max(0, -missing))"
        return shown.compactMapValues { $0 }
    }
}
