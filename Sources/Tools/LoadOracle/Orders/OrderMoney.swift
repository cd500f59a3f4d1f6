/// Who has the money of an order, worked out from what was reported as docs/ordering.md says.
package struct OrderMoney: Hashable, Sendable {
    package struct Movement: Hashable, Sendable {
        var reference: String
        var kind: String
        var minor: Int64
        /// The reference of what it is a part of; nil where that may be any of several.
        var parent: String?

        package init(_ reference: String, _ kind: String, _ minor: Int64, of parent: String?) {
            (self.reference, self.kind, self.minor, self.parent) = (reference, kind, minor, parent)
        }
    }

    /// What comes of a report.
    enum Outcome {
        /// It is taken, with the parent that was found.
        case taken(Movement)
        case same
        case refused(code: String)
    }

    private(set) var movements: [Movement] = []

    private static func kindOfParent(_ kind: String) -> String? {
        switch kind {
        case "captured", "voided": "authorised"
        case "refunded", "chargedBack": "captured"
        default: nil
        }
    }

    private func movement(_ reference: String?, _ kind: String) -> Movement? {
        movements.first { isSame($0.reference, reference) && isSame($0.kind, kind) }
    }

    private func parent(of movement: Movement) -> Movement? {
        OrderMoney.kindOfParent(movement.kind).flatMap { self.movement(movement.parent, $0) }
    }

    /// What is left of one after its parts.
    private func rest(of whole: Movement) -> Int64 {
        movements.reduce(whole.minor) { $0 - (parent(of: $1) == whole ? $1.minor : 0) }
    }

    /// What comes of a report that may say what it is a part of.
    func outcome(of report: Movement) -> Outcome {
        if report.parent != nil, OrderMoney.kindOfParent(report.kind) == nil { return .refused(code: "INVALID") }
        if let known = movement(report.reference, report.kind) {
            let agrees = known.minor == report.minor && (report.parent == nil || isSame(report.parent, known.parent))
            return agrees ? .same : .refused(code: "IDMISMATCH")
        }
        var report = report
        report.parent = report.parent ?? impliedParent(report.reference, report.kind)
        return .taken(report)
    }

    mutating func take(_ movement: Movement) { movements.append(movement) }

    private func impliedParent(_ reference: String, _ kind: String) -> String? {
        guard let above = OrderMoney.kindOfParent(kind), movement(reference, above) == nil else { return reference }
        let possible = movements.filter { isSame($0.kind, above) }
        let unused = possible.filter { rest(of: $0) > 0 }
        if unused.count == 1 { return unused[0].reference }
        if unused.count > 1 { return nil }
        if isSame(kind, "captured") || possible.isEmpty { return reference }
        return possible.count == 1 ? possible[0].reference : nil
    }

    private func sum(_ kind: String) -> Int64 {
        movements.reduce(0) { $0 + (isSame($1.kind, kind) ? $1.minor : 0) }
    }

    var paid: Int64 { sum("captured") - sum("refunded") - sum("chargedBack") }
    var secured: Int64 { paid + authorised }

    /// The money that is set aside. A movement that does not say of which authorisation counts against all of them.
    private var authorised: Int64 {
        let open = movements.reduce(Int64(0)) { $0 + (isSame($1.kind, "authorised") ? max(0, rest(of: $1)) : 0) }
        let lost = movements.reduce(Int64(0)) { sum, movement in
            let isLost = isSame(OrderMoney.kindOfParent(movement.kind) ?? "", "authorised")
            return sum + (isLost && why(movement) == "parent" ? movement.minor : 0)
        }
        return max(0, open - lost)
    }

    /// Where it stands.
    private var state: String? {
        ["chargedBack", "refunded", "captured"].first { sum($0) > 0 }
            ?? (authorised > 0 ? "authorised" : movements.last?.kind)
    }

    /// Why a movement cannot be; nil where it can.
    private func why(_ movement: Movement) -> String? {
        guard OrderMoney.kindOfParent(movement.kind) != nil else { return nil }
        guard let whole = parent(of: movement) else {
            return isSame(movement.kind, "captured") && isSame(movement.parent, movement.reference) ? nil : "parent"
        }
        var taken: Int64 = 0
        for part in movements where parent(of: part) == whole {
            taken += part.minor
            if part == movement { break }
        }
        return taken > whole.minor ? "excess" : nil
    }

    /// Whether something that was reported cannot be.
    var isInDoubt: Bool { movements.contains { why($0) != nil } }

    /// `payment`, as orders show it.
    ///
    /// - Parameter price: what the order costs by now.
    func document(price: Int64, hasEnded: Bool) -> JSON {
        let (due, owed) = (max(0, price - secured), max(0, paid - price))
        var members: [Text: JSON] = [
            "state": state.map { JSON($0) } ?? .null, "authorised": JSON(authorised),
            "captured": JSON(sum("captured")), "refunded": JSON(sum("refunded")),
            "chargedBack": JSON(sum("chargedBack")), "paid": JSON(paid), "secured": JSON(secured), "due": JSON(due),
            "owed": JSON(owed),
        ]
        if hasEnded, due > 0 || owed > 0 {
            let (debtor, creditor) = due > 0 ? ("customer", "outlet") : ("outlet", "customer")
            members["debt"] = .object([
                "by": JSON(debtor), "to": JSON(creditor), "amount": JSON(max(due, owed)),
            ])
        }
        let doubt = movements.compactMap { movement in
            why(movement).map { why in
                JSON.object(["ref": JSON(movement.reference), "kind": JSON(movement.kind), "why": JSON(why)])
            }
        }
        if !doubt.isEmpty { members["doubt"] = .array(doubt) }
        return .object(members)
    }
}
