internal import Domain
internal import EventLog
internal import Projections

/// Checks that every order with claims has one hold of just these, that every hold has its order, and that what orders
/// gave back was taken back.
///
/// Orders and supplies may be in different partitions, each read as it was at another moment. So only what was recorded
/// before the audit began is missed where its counterpart is not found: that is older, or was read later.
struct ClaimCheck {
    /// What was recorded of the claims of an order.
    private struct Note {
        var partition: Int
        var position: Int64
        /// Of the outlet and the claims.
        var content: UInt64
    }

    /// The supplies of the partition that is read; nil where their events cannot be understood.
    private var supplies: [Identifier: Supply.State?] = [:]
    /// Holds whose orders have not been read yet, orders whose holds have not, and the same of what was given back.
    private var holds: [Identifier: Note] = [:]
    private var orders: [Identifier: Note] = [:]
    private var takenBack: [Identifier: Note] = [:]
    private var givenBack: [Identifier: Note] = [:]
    /// What is under way.
    private var open: Set<Identifier> = []
    private(set) var findings = Findings()

    private static func note(
        _ claims: [Claim], at outlet: Identifier, _ partition: Int, _ position: Int64
    ) -> Note {
        var hash = StableHash()
        hash.add(Text(outlet.rawValue))
        for claim in claims {
            hash.add(Text(claim.key.kind.rawValue))
            hash.add(claim.key.id)
            hash.add(claim.count)
        }
        return Note(partition: partition, position: position, content: hash.value)
    }

    // MARK: Supplies

    /// Takes the next event of an outlet's supply. Returns what is wrong with it.
    mutating func take(_ change: Supply.Event, _ event: DecodedEvent) -> String? {
        let outlet = event.stream.id
        guard var state = supplies[outlet, default: Supply.initial] else { return nil }
        // Taken out, so that it is changed in place.
        supplies[outlet] = .some(nil)
        do throws(ImpossibleEvent) { try Supply.evolve(&state, change) } catch {
            return "is impossible: \(error)"
        }
        supplies[outlet] = .some(state)
        switch change {
        case .stocked, .refused: break
        case .held(let claims, let order, _):
            pair(
                order, ClaimCheck.note(claims, at: outlet, event.partition, event.position), in: \.holds,
                with: \.orders,
                "holds something else at outlet '\(outlet)' than it claims")
        case .returned(let claims, let order):
            pair(
                order, ClaimCheck.note(claims, at: outlet, event.partition, event.position), in: \.takenBack,
                with: \.givenBack, "gave back something else than outlet '\(outlet)' took back")
        }
        return nil
    }

    /// An event of an outlet's supply cannot be understood.
    mutating func lose(_ outlet: Identifier) { supplies[outlet] = .some(nil) }

    // MARK: Orders

    /// Takes the next event of an order.
    ///
    /// - Parameter outlet: the one that cooks it.
    mutating func take(_ change: Order.Event, _ event: DecodedEvent, at outlet: Identifier?) {
        let order = event.stream.id
        guard let outlet else { return }
        switch change {
        case .placed(let placement) where !placement.claims.isEmpty:
            pair(
                order, ClaimCheck.note(placement.claims, at: outlet, event.partition, event.position), in: \.orders,
                with: \.holds, "claims something else than it holds at outlet '\(outlet)'")
        case .rejected(let ending), .cancelled(let ending):
            guard !ending.claims.isEmpty else { return }
            pair(
                order, ClaimCheck.note(ending.claims, at: outlet, event.partition, event.position), in: \.givenBack,
                with: \.takenBack, "gave back something else than outlet '\(outlet)' took back")
        default: break
        }
    }

    private mutating func pair(
        _ order: Identifier, _ note: Note, in mine: WritableKeyPath<ClaimCheck, [Identifier: Note]>,
        with others: WritableKeyPath<ClaimCheck, [Identifier: Note]>, _ difference: String
    ) {
        if let other = self[keyPath: others].removeValue(forKey: order) {
            if other.content != note.content { found(note, order, difference) }
        } else if self[keyPath: mine].updateValue(note, forKey: order) != nil {
            found(note, order, "is recorded twice")
        }
    }

    private mutating func found(_ note: Note, _ order: Identifier, _ message: String) {
        findings.add(
            Finding(
                .difference, partition: note.partition, position: note.position, subject: "order-\(order)", message))
    }

    // MARK: All partitions

    /// A partition is read to its end.
    mutating func finishPartition(_ model: ReadModel) {
        supplies = [:]
        open.formUnion(model.processes.open.keys)
    }

    /// Looks at what is left after all partitions were read.
    ///
    /// - Parameter heads: where each partition ended when the audit began.
    mutating func finish(_ heads: [Int: Int64]) {
        func report(_ notes: [Identifier: Note], _ message: String) {
            for (order, note) in notes.sorted(by: { $0.value.position < $1.value.position })
            where note.position <= heads[note.partition] ?? 0 && !open.contains(order) {
                found(note, order, message)
            }
        }
        report(orders, "claims what no outlet's supply holds for it")
        report(holds, "holds what an outlet has left, and was never placed")
        report(givenBack, "gave back what no outlet's supply has taken back")
        report(takenBack, "gave nothing back, and an outlet's supply took it")
        (orders, holds, givenBack, takenBack) = ([:], [:], [:], [:])
    }
}
