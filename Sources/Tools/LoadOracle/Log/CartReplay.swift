/// A cart as it follows from its events.
struct CartReplay {
    private(set) var version: Int64 = 0
    private var lines: [JSON] = []
    private var outlet = JSON.null
    private var currency = JSON.null
    private var order: JSON?
    /// Whether the order is not placed yet.
    private var isOpen = false
    private var tip: Int64 = 0
    private var service: JSON?
    private var table: JSON?
    private var time: JSON?
    private var charges: [JSON] = []
    private var updatedAt = ""

    var count: Int64 { lines.reduce(0) { $0 &+ ($1["quantity"]?.integer ?? 0) } }

    private func index(_ event: LogEvent) -> Int? {
        lines.firstIndex { $0["line"] == event.payload["line"] }
    }

    mutating func apply(_ event: LogEvent) {
        version = event.version
        updatedAt = event.recordedAt
        switch event.kind {
        case "cart.itemAdded":
            (outlet, currency) = (event.payload["outlet"] ?? .null, event.payload["currency"] ?? .null)
            if let index = index(event) {
                let quantity = (lines[index]["quantity"]?.integer ?? 0) &+ event.number("quantity")
                lines[index] = CartReplay.line(event.payload, quantity: quantity)
            } else {
                lines.append(CartReplay.line(event.payload, quantity: event.number("quantity")))
            }
        case "cart.lineEdited":
            let edited = lines.firstIndex { $0["line"] == event.payload["from"] }
            guard let edited else { return }
            let joined = index(event).flatMap { $0 == edited ? nil : $0 }
            lines[joined ?? edited] = CartReplay.line(event.payload, quantity: event.number("quantity"))
            if joined != nil { lines.remove(at: edited) }
        case "cart.quantityChanged":
            guard let index = index(event) else { return }
            lines[index] = CartReplay.line(lines[index], quantity: event.number("to"))
        case "cart.lineRemoved": lines.removeAll { $0["line"] == event.payload["line"] }
        case "cart.cleared": lines = []
        case "cart.tipSet": tip = event.number("tip")
        case "cart.serviceChosen":
            (service, table) = (event.payload["service"], event.payload["table"])
            time = event.payload["for"]?.integer.map { JSON(Moment.text(milliseconds: $0)) }
        case "cart.checkoutBegun": (order, isOpen) = (event.payload["order"], true)
        case "cart.checkoutRefused": order = nil
        case "cart.checkedOut":
            isOpen = false
            (service, table) = (event.payload["service"], event.payload["table"])
            order = event.payload["order"]
            charges = event.payload["charges"]?.array ?? []
            lines = (event.payload["lines"]?.array ?? []).map {
                CartReplay.line($0, quantity: $0["quantity"]?.integer ?? 0)
            }
        default: break
        }
        if lines.isEmpty {
            (outlet, currency, tip) = (.null, .null, 0)
            (service, table, time) = (nil, nil, nil)
        }
    }

    private static func line(_ fields: JSON, quantity: Int64) -> JSON {
        let price = fields["unitPrice"]?.integer ?? 0
        return .object([
            "line": fields["line"] ?? .null, "item": fields["item"] ?? .null, "name": fields["name"] ?? .null,
            "quantity": .number(Double(quantity)), "unitPrice": .number(Double(price)),
            "options": fields["options"] ?? .array([]), "note": fields["note"] ?? .null,
            "total": .number(Double(price &* quantity)), "problem": .null,
        ])
    }

    /// What `CART.GET` answers; null before the first event.
    func document(_ cart: String) -> JSON {
        guard version > 0 else { return .null }
        let total = lines.reduce(0.0) { sum, line in
            if case .number(let total)? = line["total"] { sum + total } else { sum }
        }
        var members: [Text: JSON] = [
            "cart": .string(Text(cart)), "outlet": outlet, "version": .number(Double(version)),
            "status": .string(order != nil ? isOpen ? "checkingOut" : "checkedOut" : lines.isEmpty ? "empty" : "open"),
            "count": .number(Double(count)), "currency": currency, "lines": .array(lines),
            "subtotal": .number(total), "updatedAt": .string(Text(updatedAt)),
        ]
        if !charges.isEmpty { members["charges"] = .array(charges) }
        let charged = charges.reduce(Int64(0)) { sum, charge in
            sum + (charge["included"]?.bool == true ? 0 : charge["amount"]?.integer ?? 0)
        }
        members["total"] = .number(total + Double(charged))
        if tip > 0 { members["tip"] = .number(Double(tip)) }
        members["order"] = order
        members["service"] = service
        members["table"] = table
        members["for"] = time
        return .object(members)
    }
}
