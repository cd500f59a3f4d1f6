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
    private var lines: [JSON] = []
    private var missing: String?
    /// Whether it ended before it was cooked, and whether that was by its merchant, for lack of something.
    private var endsUncooked = false
    private var mayLack = false
    /// Items of which its merchant took out some.
    private var takenOut: Set<Text> = []

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
            (status, endsUncooked) = (.rejected, true)
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
            endsUncooked = before != .preparing && before != .ready
            mayLack = isSame(missing, "cancel") && event.payload["by"]?.string == "merchant"
            switch event.payload["by"]?.string {
            case "merchant": return moves(to: status, from: [.awaitingPayment, .scheduled] + cooking)
            case "customer": return moves(to: status, from: [.awaitingPayment, .scheduled, .placed])
            default: return moves(to: status, from: [.awaitingPayment, .placed]) ?? early(event)
            }
        case "order.scheduled":
            status = .scheduled
            return moves(to: status, from: [.awaitingPayment])
        case "order.released":
            status = .placed
            due = event.payload["acceptBy"]?.integer
            return moves(to: status, from: [.awaitingPayment, .scheduled])
        case "order.coverLost":
            status = .awaitingPayment
            due = event.payload["payBy"]?.integer
            return moves(to: status, from: [.scheduled, .placed, .accepted])
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
            let before = lines
            lines = event.payload["lines"]?.array ?? []
            if event.payload["by"]?.string == "merchant" {
                takenOut.formUnion(
                    before.compactMap { $0["item"]?.text }.filter { lines.units(of: $0) < before.units(of: $0) })
            }
            if refunded > total { return "costs \(total), of which \(refunded) was given back" }
            return moves(to: status, from: [.placed, .accepted, .preparing]) ?? added(event)
        case "order.changeProposed": return moves(to: before, from: [.placed, .accepted, .preparing])
        case "order.changeDeclined", "order.changeExpired", "order.changesNoted": return nil
        default: return "has an event \(event.kind)"
        }
    }

    /// Whether it gives back what it holds of an item that its outlet counts, or else of a slot; nil if that is unknown.
    func givesBack(_ item: Text?) -> Bool? {
        guard endsUncooked else { return false }
        guard let item else { return true }
        return takenOut.contains(item) ? false : mayLack ? nil : true
    }

    private mutating func placed(_ event: LogEvent) -> String? {
        total = event.number("total")
        (lines, missing) = (event.payload["lines"]?.array ?? [], event.payload["missing"]?.string)
        due = event.payload["payBy"]?.integer ?? event.payload["acceptBy"]?.integer
        if event.payload["releaseAt"] != nil { status = .scheduled }
        if event.payload["payBy"] != nil { status = .awaitingPayment }
        for charge in event.payload["charges"]?.array ?? []
        where charge["kind"]?.string.map({ isSame($0, "tax") }) ?? false {
            taxLeft += charge["amount"]?.integer ?? 0
        }
        tax = taxLeft
        return added(event)
    }

    /// What is wrong with the total of a bill.
    private func added(_ event: LogEvent) -> String? {
        guard let lines = event.payload["lines"]?.array else { return nil }
        var sum = lines.reduce(Int64(0)) { $0 + ($1["unitPrice"]?.integer ?? 0) * ($1["quantity"]?.integer ?? 0) }
        for charge in event.payload["charges"]?.array ?? [] where charge["included"]?.bool == false {
            sum += charge["amount"]?.integer ?? 0
        }
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

extension [JSON] {
    /// How many units of an item lines have.
    func units(of item: Text) -> Int64 {
        reduce(0) { $0 + ($1["item"]?.text == item ? $1["quantity"]?.integer ?? 0 : 0) }
    }
}
