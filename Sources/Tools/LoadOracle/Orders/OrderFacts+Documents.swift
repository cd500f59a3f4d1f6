// Orders as `ORDER.GET` and `KITCHEN` show them. The times are the server's own: they are taken over, once they are as
// far apart as the outlet says.

extension OrderFacts {
    /// What `ORDER.GET` answers.
    func document(_ state: OrderState, like shown: JSON) -> JSON {
        var members = life(state, like: shown)
        members["cart"] = .string(Text(cart))
        members["outlet"] = .string(Text(outlet))
        members["count"] = .number(Double(lines.reduce(0) { $0 + $1.quantity }))
        members["currency"] = .string(Text(Outlet.currency))
        members["lines"] = .array(
            lines.map { line in
                var shown = line.document
                if let units = state.units[line.id] { shown["refunded"] = .number(Double(units)) }
                return .object(shown)
            })
        members["subtotal"] = .number(Double(bill.subtotal))
        members["charges"] = .array(bill.charges.map(\.document))
        members["total"] = .number(Double(bill.total))
        let refunded = state.refunded
        if refunded.money > 0 { members["refunded"] = .number(Double(refunded.money)) }
        if refunded.tax > 0 { members["refundedTax"] = .number(Double(refunded.tax)) }
        if let rate = terms.taxRate, refunded.tax > 0 || refunded.base > 0 {
            members["refundedTaxes"] = .array([
                .object([
                    "id": .string(Text(KitchenTerms.tax)), "rate": .number(Double(rate)),
                    "base": .number(Double(refunded.base)), "amount": .number(Double(refunded.tax)),
                ])
            ])
        }
        if isPaidFirst || !state.money.movements.isEmpty { members["payment"] = payment(state) }
        members["updatedAt"] = shown["updatedAt"] ?? .string("a time")
        return .object(members)
    }

    /// The element of `KITCHEN`'s answer.
    ///
    /// - Parameter mayBeLate: whether what was promised may have passed.
    func kitchenDocument(_ state: OrderState, like shown: JSON, mayBeLate: Bool) -> JSON {
        var members = life(state, like: shown)
        let isLate = mayBeLate && state.status != .ready && state.readyBy == nil
        members["late"] = isLate ? shown["late"] ?? .null : .bool(false)
        members["uncovered"] = .bool(isPaidFirst && !state.isCovered(self))
        members["count"] = .number(Double(lines.reduce(0) { $0 + $1.quantity }))
        members["lines"] = .array(
            lines.map { line in
                .object(line.document.filter { !(["unitPrice", "total"] as [Text]).contains($0.key) })
            })
        return .object(members)
    }

    /// The element of `ORDERS`'s answer.
    func row(_ state: OrderState, like shown: JSON) -> JSON {
        .object([
            "order": .string(Text(id)), "outlet": .string(Text(outlet)), "customer": .null,
            "version": .number(Double(state.version)), "status": .string(Text(state.status.rawValue)),
            "count": .number(Double(lines.reduce(0) { $0 + $1.quantity })),
            "currency": .string(Text(Outlet.currency)), "total": .number(Double(bill.total)),
            "tax": .number(Double(bill.worth.tax)), "refunded": .number(Double(state.refunded.money)),
            "refundedTax": .number(Double(state.refunded.tax)),
            "paid": .number(Double(state.money.paid)), "doubt": .bool(state.money.isInDoubt),
            "placedAt": shown["placedAt"] ?? .string("a time"), "updatedAt": shown["updatedAt"] ?? .string("a time"),
        ])
    }

    /// How far it has come, and what it waits for.
    private func life(_ state: OrderState, like shown: JSON) -> [Text: JSON] {
        let placedAt = Moment.milliseconds(shown["placedAt"]?.string)
        func time(_ key: Text, seconds: Int?) -> JSON {
            guard let placedAt, let time = Moment.milliseconds(shown[key]?.string) else { return .string("a time") }
            if let seconds, time - placedAt != Int64(seconds) * 1_000 {
                return .string(Text("\(seconds) s after it was placed"))
            }
            return shown[key] ?? .string("a time")
        }
        var members: [Text: JSON] = [
            "order": .string(Text(id)), "version": .number(Double(state.version)),
            "status": .string(Text(state.status.rawValue)), "placedAt": time("placedAt", seconds: 0),
            "promisedFor": time("promisedFor", seconds: 60 * terms.prepMinutes),
        ]
        if let readyBy = state.readyBy { members["readyBy"] = .string(Text(readyBy)) }
        if state.status == .awaitingPayment {
            members["payBy"] = time("payBy", seconds: state.hasLostCover ? nil : terms.payWithin)
        }
        if state.status == .placed, terms.acceptWithin > 0 {
            // Of an order that waited to be paid, the time runs from then on.
            members["acceptBy"] = time("acceptBy", seconds: isPaidFirst ? nil : terms.acceptWithin)
        }
        if let ending = state.ending {
            members["ending"] = .object([
                "by": .string(Text(ending.party)), "code": .string(Text(ending.code)), "reason": .null,
            ])
        }
        return members
    }

    private func payment(_ state: OrderState) -> JSON {
        let money = state.money
        let isOff = [.rejected, .cancelled].contains(state.status)
        let price = isOff ? 0 : bill.total - state.refunded.money
        let (due, owed) = (max(0, price - money.secured), max(0, money.paid - price))
        func number(_ minor: Int64) -> JSON { .number(Double(minor)) }
        var members: [Text: JSON] = [
            "state": money.state.map { .string(Text($0)) } ?? .null, "authorised": number(money.authorised),
            "captured": number(money.sum("captured")), "refunded": number(money.sum("refunded")),
            "chargedBack": number(money.sum("chargedBack")), "paid": number(money.paid),
            "secured": number(money.secured), "due": number(due), "owed": number(owed),
        ]
        if state.status.isEnd, due > 0 || owed > 0 {
            let (debtor, creditor) = due > 0 ? ("customer", "outlet") : ("outlet", "customer")
            members["debt"] = .object([
                "by": .string(Text(debtor)), "to": .string(Text(creditor)), "amount": number(max(due, owed)),
            ])
        }
        if money.isInDoubt { members["doubt"] = .array(money.doubt) }
        return .object(members)
    }
}
