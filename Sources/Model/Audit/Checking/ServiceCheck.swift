internal import Domain
internal import EventLog

/// Checks that orders were had in ways that their outlets offered, cost what followed from that, and less only by
/// promotions that there were.
///
/// An outlet whose events are in the same partition is known as it was when the order was placed: the order was decided
/// on exactly that. Of others it is only known what they offered at some time.
struct ServiceCheck {
    /// Something that an outlet offers.
    private struct Offer: Hashable {
        enum Kind: Hashable {
            /// A way to have its orders.
            case service(ServiceKind)
            case promotion(Identifier)
        }

        var outlet: Identifier
        var kind: Kind
    }

    private let partition: Int
    private let partitioning: Partitioning
    /// The outlets; nil where their events cannot be understood.
    private var outlets: [Identifier: Outlet.State?] = [:]
    /// Their promotions, in the same way.
    private var promotions: [Identifier: Promotions.State?] = [:]
    /// What outlets of this partition have offered.
    private var offered: Set<Offer> = []
    /// The first order that had what an outlet in another partition offers.
    private var elsewhere: [Offer: (order: Identifier, position: Int64)] = [:]

    init(partition: Int, _ partitioning: Partitioning) {
        self.partition = partition
        self.partitioning = partitioning
    }

    // MARK: Outlets

    mutating func take(_ event: Outlet.Event, of outlet: Identifier) {
        guard var state = outlets[outlet, default: Outlet.initial] else { return }
        do throws(ImpossibleEvent) { try Outlet.evolve(&state, event) } catch { return lose(outlet) }
        outlets[outlet] = .some(state)
        for service in state.details?.services.kinds ?? [] {
            offered.insert(Offer(outlet: outlet, kind: .service(service)))
        }
    }

    mutating func take(_ event: Promotions.Event, of outlet: Identifier) {
        guard var state = promotions[outlet, default: Promotions.initial] else { return }
        do throws(ImpossibleEvent) { try Promotions.evolve(&state, event) } catch { return losePromotions(of: outlet) }
        promotions[outlet] = .some(state)
        if case .put(let promotion) = event { offered.insert(Offer(outlet: outlet, kind: .promotion(promotion.id))) }
    }

    /// An event of an outlet cannot be understood, so what it offers is not known any more.
    mutating func lose(_ outlet: Identifier) { outlets[outlet] = .some(nil) }

    /// The same of its promotions.
    mutating func losePromotions(of outlet: Identifier) { promotions[outlet] = .some(nil) }

    // MARK: Orders

    /// What is wrong with an order; nil if nothing is, or that cannot be known here.
    mutating func problem(of placement: Order.Placement, _ order: Identifier, at position: Int64) -> String? {
        let outlet = placement.outlet
        guard partitioning.partition(of: StreamName(.outlet, outlet)) == partition else {
            let had =
                (placement.handover.service.map { [.service($0)] } ?? [])
                + placement.discounts.map { Offer.Kind.promotion($0.promotion) }
            for kind in had where elsewhere[Offer(outlet: outlet, kind: kind)] == nil {
                elsewhere[Offer(outlet: outlet, kind: kind)] = (order, position)
            }
            return nil
        }
        if let problem = problemOfDiscounts(in: placement) { return problem }
        guard let details = outlets[outlet]??.details else { return nil }
        let terms = placement.pricing
        guard terms == .none || terms == details.pricing(for: placement.handover.service).settled else {
            return "says that outlet '\(outlet)' had other taxes and charges than it had"
        }
        guard let service = placement.handover.service else {
            return details.services.isEmpty
                ? nil : "does not say how it is had, and outlet '\(outlet)' offered \(details.offer)"
        }
        guard details.services[service] != nil else {
            return "is for \(service.rawValue), and outlet '\(outlet)' offered \(details.offer)"
        }
        let missing = details.requirements(for: service).filter { requirement in
            switch requirement {
            case .name: placement.name == nil
            case .phone: placement.handover.phone == nil
            case .address: placement.handover.address == nil
            case .table: placement.handover.table == nil
            }
        }
        if !missing.isEmpty {
            return "lacks what outlet '\(outlet)' needed for \(service.rawValue): "
                + missing.map(\.rawValue).joined(separator: ", ")
        }
        guard placement.follows(from: details.pricing(for: service)) else {
            return "has other charges than outlet '\(outlet)' had for \(service.rawValue)"
        }
        return nil
    }

    private func problemOfDiscounts(in placement: Order.Placement) -> String? {
        guard let state = promotions[placement.outlet, default: Promotions.initial] else { return nil }
        var claims: [Claim] = []
        for discount in placement.discounts {
            guard let promotion = state[discount.promotion], promotion.title == discount.title,
                promotion.payer == discount.payer, (promotion.target == .delivery) == discount.shares.isEmpty,
                promotion.service ?? placement.handover.service == placement.handover.service,
                promotion.cap.map({ discount.amount <= $0.minorUnits }) ?? true
            else { return "has a discount of promotion '\(discount.promotion)' that there was not" }
            guard !state.spent.contains(promotion.id) else {
                return "has a discount of promotion '\(promotion.id)', which was used up"
            }
            claims += promotion.claims(by: placement.customer)
        }
        guard claims.summed == placement.claims.filter(\.key.kind.isOfPromotions) else {
            return "does not claim the promotions that it uses"
        }
        return nil
    }

    // MARK: All partitions

    /// What is wrong with orders at outlets of other partitions.
    ///
    /// - Parameter others: the checks of all partitions.
    func findings(beside others: [ServiceCheck]) -> Findings {
        var findings = Findings()
        for (offer, first) in elsewhere.sorted(by: { $0.value.position < $1.value.position }) {
            let home = partitioning.partition(of: StreamName(.outlet, offer.outlet))
            // An outlet that is not known is not looked for here: another check says what the log lacks.
            guard let check = others.first(where: { $0.partition == home }), check.knows(offer),
                !check.offered.contains(offer)
            else { continue }
            let words =
                switch offer.kind {
                case .service(let service): "is for \(service.rawValue)"
                case .promotion(let promotion): "has a discount of promotion '\(promotion)'"
                }
            findings.add(
                Finding(
                    .difference, partition: partition, position: first.position, subject: "order-\(first.order)",
                    "\(words), which outlet '\(offer.outlet)' never offered"))
        }
        return findings
    }

    private func knows(_ offer: Offer) -> Bool {
        switch offer.kind {
        case .service: outlets[offer.outlet]??.details != nil
        case .promotion: promotions[offer.outlet, default: Promotions.initial] != nil
        }
    }
}

extension Outlet.State {
    /// What it said last; nil before it was registered.
    fileprivate var details: OutletDetails? {
        switch self {
        case .unregistered: nil
        case .registered(let details, _, _), .removed(let details): details
        }
    }
}

extension OutletDetails {
    /// The ways that it offers, for people.
    fileprivate var offer: String {
        services.isEmpty ? "nothing to choose from" : services.kinds.map(\.rawValue).joined(separator: ", ")
    }
}

extension Order.Placement {
    /// Whether the charges are those of a bill on these terms.
    func follows(from terms: PricingTerms) -> Bool {
        let lines = lines.enumerated().map { index, line in
            // One of no amount is taxed with nothing.
            (try? line.total()).map { Bill.Line($0, parts: parts(ofLine: index)) }
        }
        guard !lines.contains(where: { $0 == nil }) else { return false }
        let tip = charges.first { $0.kind == .tip }?.amount ?? .zero
        guard let bill = try? Bill(for: lines.compactMap(\.self), on: terms, discounts: discounts, tip: tip) else {
            return false
        }
        func isOfSomething(_ charge: Charge) -> Bool { charge.kind != .tax || charge.base != .zero }
        return bill.charges.filter(isOfSomething) == charges.filter(isOfSomething) && bill.total == total
    }
}
