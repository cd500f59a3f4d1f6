/// An order as it follows from its events, and what is wrong with one that cannot follow.
struct OrderReplay {
    private(set) var version: Int64 = 0
    private(set) var status = OrderState.Status.placed
    private(set) var refunded: Int64 = 0
    private var total: Int64 = 0
    /// Its taxes, and what of them was not given back.
    private var tax: Int64 = 0
    private var taxLeft: Int64 = 0
    /// When it ends by itself, in milliseconds since the Unix epoch.
    private var due: Int64?

    /// Takes the next event. Returns what is wrong with it.
    mutating func apply(_ event: LogEvent) -> String? {
        defer { version = event.version }
        guard event.version == version + 1 else { return "goes from version \(version) to \(event.version)" }
        let before = status
        func moves(to next: OrderState.Status, from possible: [OrderState.Status]) -> String? {
            possible.contains(before) ? nil : "is \(before.rawValue), and becomes \(next.rawValue)"
        }
        let cooking: [OrderState.Status] = [.placed, .accepted, .preparing, .ready]
        switch event.kind {
        case "order.placed": return placed(event)
        case "order.accepted":
            status = .accepted
            return moves(to: status, from: [.placed])
        case "order.rejected":
            status = .rejected
            return moves(to: status, from: [.placed])
        case "order.preparationStarted":
            status = .preparing
            return moves(to: status, from: [.placed, .accepted])
        case "order.readied":
            status = .ready
            return moves(to: status, from: [.placed, .accepted, .preparing])
        case "order.completed":
            status = .completed
            return moves(to: status, from: cooking)
        case "order.delayed": return moves(to: before, from: [.placed, .accepted, .preparing])
        case "order.cancelled":
            status = .cancelled
            switch event.payload["by"]?.string {
            case "merchant": return moves(to: status, from: [.awaitingPayment] + cooking)
            case "customer": return moves(to: status, from: [.awaitingPayment, .placed])
            default: return moves(to: status, from: [.awaitingPayment, .placed]) ?? early(event)
            }
        case "order.released":
            status = .placed
            due = event.payload["acceptBy"]?.integer
            return moves(to: status, from: [.awaitingPayment])
        case "order.coverLost":
            status = .awaitingPayment
            due = event.payload["payBy"]?.integer
            return moves(to: status, from: [.placed, .accepted])
        case "order.paymentReported": return nil
        case "order.claimsReturned": return moves(to: before, from: [.rejected, .cancelled])
        case "order.refunded":
            refunded += event.number("amount")
            if refunded > total { return "was paid with \(total), and gives back \(refunded)" }
            for tax in event.payload["taxes"]?.array ?? [] { taxLeft -= tax["amount"]?.integer ?? 0 }
            if taxLeft < 0 || refunded == total && taxLeft > 0 {
                return "gives back \(refunded) of \(total), and \(taxLeft) of the tax is left"
            }
            return moves(to: before, from: cooking + [.completed])
        case "order.changed":
            let taxes = (event.payload["charges"]?.array ?? []).filter { $0["kind"]?.string == "tax" }
            (total, taxLeft) = (
                event.number("total"), taxes.reduce(taxLeft - tax) { $0 + ($1["amount"]?.integer ?? 0) }
            )
            tax = taxes.reduce(0) { $0 + ($1["amount"]?.integer ?? 0) }
            return moves(to: before, from: [.placed, .accepted, .preparing])
        case "order.changeProposed": return moves(to: before, from: [.placed, .accepted, .preparing])
        case "order.changeDeclined", "order.changeExpired", "order.changesNoted": return nil
        default: return "has an event \(event.kind)"
        }
    }

    private mutating func placed(_ event: LogEvent) -> String? {
        total = event.number("total")
        due = event.payload["payBy"]?.integer ?? event.payload["acceptBy"]?.integer
        if event.payload["payBy"] != nil { status = .awaitingPayment }
        guard let lines = event.payload["lines"]?.array else { return nil }
        var sum = lines.reduce(Int64(0)) { $0 + ($1["unitPrice"]?.integer ?? 0) * ($1["quantity"]?.integer ?? 0) }
        for charge in event.payload["charges"]?.array ?? [] {
            let amount = charge["amount"]?.integer ?? 0
            if charge["included"]?.bool == false { sum += amount }
            if charge["kind"]?.string.map({ isSame($0, "tax") }) ?? false { taxLeft += amount }
        }
        tax = taxLeft
        return sum == total ? nil : "costs \(total), and its lines and charges \(sum)"
    }

    /// Whether something that happens by itself happened before its time.
    private func early(_ event: LogEvent) -> String? {
        guard let due, let time = Moment.milliseconds(event.recordedAt), time >= due else {
            return "ended by itself at \(event.recordedAt), before its time"
        }
        return nil
    }
}
