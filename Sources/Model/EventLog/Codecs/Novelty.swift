internal import Domain

/// The latest thing that an event says for which its kind has fields that it did not have at first.
enum Novelty: Int {
    /// Nothing.
    case none
    /// A way to have orders, or what they cost in it.
    case services
    /// A combo, or the tax of an option.
    case parts
    /// What is taken of what an outlet has counted, or that something is sold out because of that.
    case claims
}

extension DomainEvent {
    /// The latest thing that it says.
    var novelty: Novelty {
        switch self {
        case .cart(.checkedOut(_, _, _, _, _, _, let handover)): handover == .none ? .none : .services
        case .order(.placed(let placement)):
            !placement.claims.isEmpty ? .claims : placement.handover == .none ? .none : .services
        case .order(.rejected(let ending)), .order(.cancelled(let ending)): ending.claims.isEmpty ? .none : .claims
        case .menu(.itemSuspended(_, _, let party)), .menu(.itemResumed(_, let party)),
            .menu(.optionSuspended(_, _, let party)), .menu(.optionResumed(_, let party)):
            party == .merchant ? .none : .claims
        case .menu(.itemAdded(let item, _, _)), .menu(.itemChanged(let item)):
            item.isCombo ? .parts : item.servicePrices.isEmpty ? .none : .services
        case .menu(.groupPut(let group)):
            group.namesTax ? .parts : group.options.allSatisfy(\.servicePrices.isEmpty) ? .none : .services
        case .outlet(.registered(let details)):
            details.services.isEmpty && !details.pricing.hasRates ? .none : .services
        case .outlet(.detailsChanged(let details)): details.contains(where: \.saysServices) ? .services : .none
        case .outlet, .menu, .cart, .order, .supply, .deed: .none
        }
    }
}

extension OutletDetail {
    fileprivate var saysServices: Bool {
        switch self {
        case .services: true
        case .pricing(let pricing): pricing.hasRates
        default: false
        }
    }
}

extension PricingTerms {
    /// Whether a tax has rates by the way to have an order.
    fileprivate var hasRates: Bool { taxes.contains { !$0.rates.isEmpty } }
}
