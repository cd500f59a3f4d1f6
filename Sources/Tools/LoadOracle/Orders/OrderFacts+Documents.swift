// Orders as they are shown. Times that only the server knows are taken over, once they are as far apart as the outlet
// says.

extension OrderFacts {
    /// Where an order is shown.
    package enum View: Sendable {
        /// What `ORDER.GET` answers.
        case document
        /// The element of `KITCHEN`'s answer; with whether what was promised may have passed.
        case kitchen(mayBeLate: Bool)
        /// The element of `ORDERS`'s answer.
        case row
    }

    /// How it is shown otherwise than it must be; nil if it is not.
    package func difference(_ state: OrderState, in view: View, from shown: JSON) -> String? {
        JSON.difference(document(state, in: view, like: shown), shown)
    }

    private func document(_ state: OrderState, in view: View, like shown: JSON) -> JSON {
        switch view {
        case .document: document(state, like: shown)
        case .kitchen(let mayBeLate): kitchenDocument(state, like: shown, mayBeLate: mayBeLate)
        case .row: row(state, like: shown)
        }
    }

    private func document(_ state: OrderState, like shown: JSON) -> JSON {
        var members = life(state, like: shown)
        members["cart"] = JSON(cart)
        members["outlet"] = JSON(outlet)
        members["currency"] = JSON(currency)
        members["lines"] = .array(
            state.contents.lines.map { line in
                var shown = line.document
                if let units = state.units[line.id] { shown["refunded"] = JSON(units) }
                return .object(shown)
            })
        let bill = state.contents.bill
        members["subtotal"] = JSON(bill.subtotal)
        members["charges"] = bill.documents
        members["total"] = JSON(bill.total)
        let refunded = state.refunded
        if refunded.money > 0 { members["refunded"] = JSON(refunded.money) }
        if refunded.tax > 0 { members["refundedTax"] = JSON(refunded.tax) }
        let taxes = bill.taxes.compactMap { tax -> JSON? in
            let (amount, base) = (refunded[.tax(tax.id ?? "")] ?? 0, refunded[.base(tax.id ?? "")] ?? 0)
            guard amount > 0 || base > 0 else { return nil }
            return .object([
                "id": JSON(tax.id ?? ""), "rate": JSON(tax.rate ?? 0), "base": JSON(base), "amount": JSON(amount),
            ])
        }
        if !taxes.isEmpty { members["refundedTaxes"] = .array(taxes) }
        if isPaidFirst || !state.money.movements.isEmpty {
            members["payment"] = state.money.document(price: state.price, hasEnded: state.status.isEnd)
        }
        if !state.promises.isEmpty {
            // Before the kitchen said anything, the outlet's own promise stood, if it made any.
            func time(_ said: String?) -> JSON { said.map { JSON($0) } ?? members["promisedFor"] ?? .null }
            members["promise"] = .array(
                zip([nil] + state.promises, state.promises).map { from, to in
                    .object(["from": time(from), "to": time(to), "reason": .null])
                })
        }
        let ended = state.changes.filter { $0.outcome != .open }
        write(state.proposal, isWhole: true, ended, like: shown, to: &members)
        members["updatedAt"] = shown["updatedAt"] ?? JSON("a time")
        return .object(members)
    }

    /// What is proposed, and what became of earlier proposals.
    private func write(
        _ proposal: OrderProposal?, isWhole: Bool, _ ended: [OrderProposal], like shown: JSON,
        to members: inout [Text: JSON]
    ) {
        if let proposal { members["proposal"] = document(proposal, isWhole: isWhole, like: shown["proposal"]) }
        guard !ended.isEmpty else { return }
        let shown = shown["changes"]?.array ?? []
        members["changes"] = .array(
            ended.enumerated().map { index, change in
                document(change, isWhole: false, like: shown.indices.contains(index) ? shown[index] : nil)
            })
    }

    private func document(_ change: OrderProposal, isWhole: Bool, like shown: JSON?) -> JSON {
        func bill(_ contents: OrderContents, _ key: Text, isWhole: Bool) -> JSON {
            var members: [Text: JSON] = [
                "total": JSON(contents.bill.total), "digest": shown?[key]?["digest"] ?? JSON("a digest"),
            ]
            if isWhole {
                members["lines"] = .array(contents.lines.map { .object($0.document) })
                members["charges"] = contents.bill.documents
            }
            return .object(members)
        }
        var members: [Text: JSON] = [
            "by": JSON(change.party),
            "change": .array(
                change.differences.map { line in
                    var members: [Text: JSON] = [
                        "line": JSON(line.line), "name": JSON(line.name), "from": JSON(line.from), "to": JSON(line.to),
                    ]
                    members["replaces"] = line.replaces.map { JSON($0) }
                    return .object(members)
                }),
            "before": bill(change.before, "before", isWhole: false),
            "after": bill(change.after, "after", isWhole: isWhole),
        ]
        if change.outcome != .open { members["state"] = JSON(change.outcome.rawValue) }
        members["declinedBy"] = change.declinedBy.map { JSON($0) }
        if change.wait != nil { members["until"] = shown?["until"] ?? JSON("a time") }
        return .object(members)
    }

    private func kitchenDocument(_ state: OrderState, like shown: JSON, mayBeLate: Bool) -> JSON {
        var members = life(state, like: shown)
        members["late"] = mayBeLate && state.status != .ready ? shown["late"] ?? .null : .bool(false)
        members["uncovered"] = .bool(isPaidFirst && !state.isCovered)
        write(state.proposal, isWhole: false, state.unnoted, like: shown, to: &members)
        members["lines"] = .array(
            state.contents.lines.map { line in
                .object(line.document.filter { !(["unitPrice", "total"] as [Text]).contains($0.key) })
            })
        return .object(members)
    }

    private func row(_ state: OrderState, like shown: JSON) -> JSON {
        let bill = state.contents.bill
        var members: [Text: JSON] = [
            "order": JSON(id), "outlet": JSON(outlet), "customer": customer.map { JSON($0) } ?? .null,
            "version": JSON(state.version), "status": JSON(state.status.rawValue), "count": JSON(state.contents.count),
            "currency": JSON(currency), "total": JSON(bill.total),
            "tax": JSON(bill.columns.tax), "refunded": JSON(state.refunded.money),
            "refundedTax": JSON(state.refunded.tax), "paid": JSON(state.money.paid),
            // When it was recorded, which is a little later than what the order says itself.
            "doubt": .bool(state.money.isInDoubt), "placedAt": shown["placedAt"] ?? JSON("a time"),
            "updatedAt": shown["updatedAt"] ?? JSON("a time"),
        ]
        members["service"] = service.map { JSON($0) }
        return .object(members)
    }

    /// Whose it is, how far it has come, and what it waits for.
    private func life(_ state: OrderState, like shown: JSON) -> [Text: JSON] {
        var members: [Text: JSON] = [
            "order": JSON(id), "version": JSON(state.version), "status": JSON(state.status.rawValue),
            "count": JSON(state.contents.count),
        ]
        members["missing"] = missing.map { JSON($0) }
        members["customer"] = customer.map { JSON($0) }
        members["name"] = name.map { JSON($0) }
        members["service"] = service.map { JSON($0) }
        members["table"] = table.map { JSON($0) }
        if isFollowed { members["placedAt"] = time("placedAt", of: shown, after: 0) }
        if let time {
            members["promisedFor"] = JSON(time)
            if state.status == .scheduled, let promise = Moment.milliseconds(time) {
                let release = promise - Int64(terms.prepMinutes ?? 0) * 60_000
                members["releaseAt"] = self.time("releaseAt", of: shown, known: release, after: nil)
            }
        } else if let minutes = terms.prepMinutes {
            members["promisedFor"] = time("promisedFor", of: shown, after: 60 * minutes)
        }
        members["readyBy"] = state.readyBy.map { JSON($0) }
        let known = self.placedAt == nil ? nil : state.due
        if state.status == .awaitingPayment {
            let seconds = state.hasLostCover ? nil : terms.payWithin
            members["payBy"] = time("payBy", of: shown, known: known, after: seconds)
        }
        if state.status == .placed, hasToBeAccepted {
            // Of an order that waited to be paid, the time runs from then on.
            let seconds = isPaidFirst ? nil : terms.acceptWithin
            members["acceptBy"] = time("acceptBy", of: shown, known: known, after: seconds)
        }
        if let ending = state.ending {
            members["ending"] = .object([
                "by": JSON(ending.party), "code": JSON(ending.code), "reason": ending.text.map { JSON($0) } ?? .null,
            ])
        }
        return members
    }

    /// A time that is known or follows from when the order was placed; any if it does not.
    private func time(_ key: Text, of shown: JSON, known: Int64? = nil, after seconds: Int?) -> JSON {
        guard let time = Moment.milliseconds(shown[key]?.string) else { return JSON("a time") }
        let placedAt = self.placedAt ?? Moment.milliseconds(shown["placedAt"]?.string)
        let following = seconds.flatMap { seconds in placedAt.map { $0 + Int64(seconds) * 1_000 } }
        if let expected = known ?? following, time != expected { return JSON("\(expected - time) ms later") }
        return shown[key] ?? .null
    }
}
