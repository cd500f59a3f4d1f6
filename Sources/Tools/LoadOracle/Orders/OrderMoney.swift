/// Who has the money of an order, worked out from what was reported as docs/ordering.md says.
struct OrderMoney: Hashable, Sendable {
    struct Movement: Hashable, Sendable {
        var reference: String
        var kind: String
        var minor: Int64
        /// The reference of what it is a part of; nil where that may be any of several.
        var parent: String?
    }

    /// What comes of a report.
    enum Outcome: Equatable {
        case taken(OrderMoney)
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

    /// What comes of a report.
    ///
    /// - Parameter said: what it says that it is a part of.
    func after(_ reference: String, _ kind: String, _ minor: Int64, of said: String?) -> Outcome {
        if said != nil, OrderMoney.kindOfParent(kind) == nil { return .refused(code: "INVALID") }
        if let known = movement(reference, kind) {
            let agrees = known.minor == minor && (said == nil || isSame(said, known.parent))
            return agrees ? .same : .refused(code: "IDMISMATCH")
        }
        var after = self
        after.movements.append(
            Movement(
                reference: reference, kind: kind, minor: minor, parent: said ?? impliedParent(reference, kind)))
        return .taken(after)
    }

    private func impliedParent(_ reference: String, _ kind: String) -> String? {
        guard let above = OrderMoney.kindOfParent(kind), movement(reference, above) == nil else { return reference }
        let possible = movements.filter { isSame($0.kind, above) }
        let unused = possible.filter { rest(of: $0) > 0 }
        if unused.count == 1 { return unused[0].reference }
        if unused.count > 1 { return nil }
        if isSame(kind, "captured") || possible.isEmpty { return reference }
        return possible.count == 1 ? possible[0].reference : nil
    }

    func sum(_ kind: String) -> Int64 { movements.reduce(0) { $0 + (isSame($1.kind, kind) ? $1.minor : 0) } }

    var paid: Int64 { sum("captured") - sum("refunded") - sum("chargedBack") }
    var secured: Int64 { paid + authorised }

    /// What is set aside. What is taken of it without saying of which is taken of all of it.
    var authorised: Int64 {
        let open = movements.reduce(Int64(0)) { $0 + (isSame($1.kind, "authorised") ? max(0, rest(of: $1)) : 0) }
        let lost = movements.reduce(Int64(0)) { sum, movement in
            let isLost = isSame(OrderMoney.kindOfParent(movement.kind) ?? "", "authorised")
            return sum + (isLost && why(movement) == "parent" ? movement.minor : 0)
        }
        return max(0, open - lost)
    }

    /// Where it stands.
    var state: String? {
        if sum("chargedBack") > 0 { return "chargedBack" }
        if sum("refunded") > 0 { return "refunded" }
        if sum("captured") > 0 { return "captured" }
        return authorised > 0 ? "authorised" : movements.last?.kind
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

    /// `doubt`, as orders show it.
    var doubt: [JSON] {
        movements.compactMap { movement in
            why(movement).map { why in
                .object([
                    "ref": .string(Text(movement.reference)), "kind": .string(Text(movement.kind)),
                    "why": .string(Text(why)),
                ])
            }
        }
    }
}
