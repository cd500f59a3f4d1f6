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
    case paid(OrderModel.Report, isInDoubt: Bool)
    /// It waits to be paid again, until a moment.
    case coverLost(payBy: Int64?)
    case refunded(Bill.Columns, String, line: String?, units: Int)

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
        case .paymentReported(let payment, let isInDoubt):
            let parent: String? =
                switch payment.parent {
                case .own: payment.reference.string
                case .report(let reference): reference.string
                case .unclear: nil
                }
            self = .paid(
                OrderModel.Report(
                    reference: payment.reference.string, kind: payment.kind.rawValue,
                    amount: payment.amount.minorUnits, parent: parent), isInDoubt: isInDoubt)
        case .coverLost(let time): self = .coverLost(payBy: time.millisecondsSinceEpoch)
        case .refunded(let refund):
            var columns: Bill.Columns = [.money: refund.amount.minorUnits]
            for tax in refund.taxes {
                columns[.tax(tax.id?.rawValue ?? "")] = tax.amount.minorUnits
                columns[.base(tax.id?.rawValue ?? "")] = tax.base?.minorUnits
            }
            self = .refunded(
                columns.filter { $0.value > 0 }, refund.reason.rawValue, line: refund.units?.line.string,
                units: refund.units?.quantity ?? 0)
        }
    }
}

/// An order as docs/reference/ and docs/ordering.md tell its life. It shares nothing with the domain but what events
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
        var kind: String
        var amount: Int64
        /// What it says that it is a part of; once it is recorded, what that was found to be. Nil where nobody knows.
        var parent: String?
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
    /// Until when it is to be paid.
    private(set) var payBy: Int64?
    private(set) var readyBy: Int64?
    private(set) var ending: Ending?
    private(set) var reports: [Report] = []
    private(set) var refunded: Bill.Columns = [:]
    private(set) var refundedUnits: [String: Int] = [:]

    /// An order as it is when it is placed, before anything is said of it.
    init(
        _ id: String, from cart: String, at outlet: String, _ lines: [Line], _ bill: Bill, of customer: String?,
        name: String?, placedAt: Int64, _ terms: Terms
    ) {
        (self.id, self.cart, self.outlet, self.lines, self.bill) = (id, cart, outlet, lines, bill)
        (self.customer, self.name) = (customer, name)
        (self.placedAt, self.terms) = (placedAt, terms)
        status = terms.payWithin != nil && bill.total > 0 ? .awaitingPayment : .placed
        if status == .placed { acceptBy = acceptBy(from: placedAt) }
        payBy = isPaidFirst ? terms.payWithin.map { placedAt + $0 * 1_000 } : nil
    }

    /// The text that customers are given as a reason, and the name that is on their orders.
    static let reason = "for a reason"
    static let anyName = "Ann"

    var total: Int64 { bill.total }

    // MARK: Times

    /// Whether its life is followed to the end.
    var isFollowed: Bool { terms.acceptWithin != nil || terms.payWithin != nil }
    /// Whether it has to be paid before the kitchen sees it.
    var isPaidFirst: Bool { terms.payWithin != nil && bill.total > 0 }
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

    /// When it began to wait to be paid, by the time until which it is to be.
    func uncovered(with payBy: Int64) -> Int64 { payBy - (terms.payWithin ?? 0) * 1_000 }

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

    /// What comes of a command. The time until which an order is to be accepted or paid from then on is left out.
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
        if let known = reports.first(where: { $0.reference == report.reference && $0.kind == report.kind }) {
            let agrees = known.amount == report.amount && (report.parent == nil || report.parent == known.parent)
            return agrees ? .nothing : .refused("IDMISMATCH")
        }
        var report = report
        if report.parent == nil { report.parent = parent(for: report) }
        var after = self
        after.reports.append(report)
        let paid = OrderChange.paid(report, isInDoubt: !after.doubts.isEmpty)
        switch status {
        case .awaitingPayment where after.isCovered:
            return .changes(
                [paid, .released(acceptBy: nil)]
                    + (isAcceptedAtOnce ? [.accepted(readyBy: nil, by: "system")] : []))
        case .placed, .accepted:
            let waitsAgain = isPaidFirst && isCovered && !after.isCovered
            return .changes([paid] + (waitsAgain ? [.coverLost(payBy: nil)] : []))
        default: return .changes([paid])
        }
    }

    private func outcome(ofRefund part: Part, _ code: String) -> Outcome {
        guard ![.awaitingPayment, .rejected, .cancelled].contains(status) else { return .refused("STATE") }
        let whole = bill.columns
        let left = whole.mapValuesWithKeys { $1 - refunded[$0, default: 0] }
        // What is left of the units that were not given back, as they cost.
        let cost = lines.indices.reduce(into: Bill.Columns()) { sum, index in
            let back = refundedUnits[lines[index].id, default: 0]
            let all = lines[index].quantity
            sum.merge(Bill.units(all - back, after: back, outOf: all, of: bill.columns(at: index)), uniquingKeysWith: +)
        }
        let moneyLeft = left[.money, default: 0]
        let isLowered = moneyLeft <= cost[.money, default: 0]
        let onLines = isLowered ? left : cost
        var columns = left
        var (line, units) = (String?.none, 0)
        switch part {
        case .rest: break
        case .amount(let wanted):
            guard moneyLeft == 0 || wanted <= moneyLeft else { return .refused("LIMIT") }
            // First of what no line gives back, then of the lines.
            let beside = moneyLeft - onLines[.money, default: 0]
            let first = min(wanted, beside)
            columns = left.mapValuesWithKeys { column, amount in
                let ofLines = onLines[column, default: 0]
                return Bill.part(amount - ofLines, first, of: beside)
                    + Bill.part(ofLines, wanted - first, of: onLines[.money, default: 0])
            }
        case .units(let wanted, let id):
            guard let index = lines.firstIndex(where: { $0.id == id }) else { return .refused("NOTFOUND") }
            let (all, before) = (lines[index].quantity, refundedUnits[id, default: 0])
            guard wanted <= all - before else { return .refused("LIMIT") }
            let cheap = Bill.units(wanted, after: before, outOf: all, of: bill.columns(at: index))
            if !isLowered {
                columns = cheap
            } else {
                columns = left.mapValuesWithKeys {
                    Bill.part($1, cheap[$0, default: 0], of: cost[$0, default: 0])
                }
            }
            (line, units) = (id, wanted)
        }
        guard moneyLeft > 0 else { return .refused("LIMIT") }
        // Whatever gives back the last of the money has the last of everything.
        if columns[.money] == moneyLeft { columns = left }
        return .changes([.refunded(columns.filter { $0.value > 0 }, code, line: line, units: units)])
    }

    private var refundedTax: Int64 {
        refunded.reduce(0) { if case .tax = $1.key { $0 + $1.value } else { $0 } }
    }

    /// Each tax in what was given back, as it is compared.
    private var refundedTaxes: [String] {
        bill.charges.compactMap { charge in
            let id = charge.id ?? ""
            let (tax, base) = (refunded[.tax(id)] ?? 0, refunded[.base(id)] ?? 0)
            return charge.kind == "tax" && (tax > 0 || base > 0) ? "\(id) \(charge.rate ?? -1) \(base) \(tax)" : nil
        }
    }

    // MARK: Money

    /// What each kind of report is a part of.
    private static let kindOfParent = [
        "captured": "authorised", "voided": "authorised", "refunded": "captured", "chargedBack": "captured",
    ]

    private func sum(_ kind: String) -> Int64 {
        reports.filter { $0.kind == kind }.reduce(0) { $0 + $1.amount }
    }

    private func parts(of whole: Report) -> [Report] {
        reports.filter { Self.kindOfParent[$0.kind] == whole.kind && $0.parent == whole.reference }
    }

    private func rest(of whole: Report) -> Int64 { whole.amount - parts(of: whole).reduce(0) { $0 + $1.amount } }

    /// What a report that does not say so is a part of; its own reference where that is nothing or has the same.
    private func parent(for report: Report) -> String? {
        let wholes = reports.filter { $0.kind == Self.kindOfParent[report.kind] }
        if wholes.isEmpty || wholes.contains(where: { $0.reference == report.reference }) { return report.reference }
        let unused = wholes.filter { rest(of: $0) > 0 }
        if unused.isEmpty, report.kind == "captured" { return report.reference }
        let possible = unused.isEmpty ? wholes : unused
        return possible.count == 1 ? possible[0].reference : nil
    }

    /// Reports that cannot be, with the reason.
    private var doubts: [(report: Report, why: String)] {
        reports.compactMap { report in
            guard let kind = Self.kindOfParent[report.kind] else { return nil }
            guard let whole = reports.first(where: { $0.kind == kind && $0.reference == report.parent }) else {
                let isItsOwn = report.kind == "captured" && report.parent == report.reference
                return isItsOwn ? nil : (report, "parent")
            }
            let parts = parts(of: whole)
            let last = parts.firstIndex(of: report) ?? 0
            return parts[...last].reduce(0) { $0 + $1.amount } > whole.amount ? (report, "excess") : nil
        }
    }

    /// What is set aside; less what was taken of it, nobody knows of which part.
    private var authorised: Int64 {
        let open = reports.filter { $0.kind == "authorised" }.reduce(0) { $0 + max(0, rest(of: $1)) }
        let lost = doubts.filter { $0.why == "parent" && Self.kindOfParent[$0.report.kind] == "authorised" }
        return max(0, open - lost.reduce(0) { $0 + $1.report.amount })
    }

    private var paid: Int64 { sum("captured") - sum("refunded") - sum("chargedBack") }

    /// Whether what it costs was paid or is set aside.
    private var isCovered: Bool { paid + authorised >= total - refunded[.money, default: 0] }

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
        case .paid(let report, _): reports.append(report)
        case .coverLost(let time): (status, payBy, readyBy) = (.awaitingPayment, time, nil)
        case .refunded(let columns, _, let line, let units):
            refunded.merge(columns, uniquingKeysWith: +)
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
        + [
            "state", "authorised", "captured", "refunded", "chargedBack", "paid", "secured", "due", "owed", "debt.by",
            "debt.to", "debt.amount",
        ].map { "payment." + $0 }

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
            "refunded": refunded[.money].map { "\($0)" },
            "refundedTax": refundedTax > 0 ? "\(refundedTax)" : nil,
            "refundedTaxes": refundedTaxes.isEmpty ? nil : refundedTaxes.joined(separator: ", "),
            "charges": bill.charges.map(\.text).joined(separator: ", "),
        ]
        for line in lines {
            let back = refundedUnits[line.id].map { ", \($0) given back" } ?? ""
            shown[line.id] = "\(line.quantity) at \(line.price) = \(line.price * Int64(line.quantity))\(back)"
        }
        guard !reports.isEmpty || isPaidFirst else { return shown.compactMapValues { $0 } }
        let price = status == .rejected || status == .cancelled ? 0 : total - refunded[.money, default: 0]
        let (due, owed) = (max(0, price - paid - authorised), max(0, paid - price))
        let moved = ["chargedBack", "refunded", "captured"].first { sum($0) > 0 }
        let still: String? = authorised > 0 ? "authorised" : reports.last?.kind
        let state: String? = moved ?? still
        shown["payment.state"] = state
        shown["payment.authorised"] = "\(authorised)"
        for kind in ["captured", "refunded", "chargedBack"] { shown["payment." + kind] = "\(sum(kind))" }
        shown["payment.paid"] = "\(paid)"
        shown["payment.secured"] = "\(paid + authorised)"
        shown["payment.due"] = "\(due)"
        shown["payment.owed"] = "\(owed)"
        if !doubts.isEmpty {
            shown["payment.doubt"] = doubts.map { "\($0.report.reference) \($0.report.kind) \($0.why)" }
                .joined(separator: ", ")
        }
        if status.isEnd, due > 0 || owed > 0 {
            shown["payment.debt.by"] = due > 0 ? "customer" : "outlet"
            shown["payment.debt.to"] = due > 0 ? "outlet" : "customer"
            shown["payment.debt.amount"] = "\(max(due, owed))"
        }
        return shown.compactMapValues { $0 }
    }
}

extension Bill.Columns {
    fileprivate func mapValuesWithKeys(_ transform: (Key, Int64) -> Int64) -> Bill.Columns {
        Bill.Columns(uniqueKeysWithValues: map { ($0.key, transform($0.key, $0.value)) })
    }
}
