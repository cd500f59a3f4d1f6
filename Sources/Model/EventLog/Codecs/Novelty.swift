internal import Domain

/// The latest thing that an event says for which its kind has fields that it did not have at first.
enum Novelty: Int {
    /// Nothing.
    case none
    /// A way to have orders, or what they cost in it.
    case services
    /// A combo, or the tax of an option.
    case parts
    /// A time that an order is wanted for, a part of the day, when an outlet opens, or why a promise changed.
    case times
    /// What is taken of what an outlet has counted, or that something is sold out because of that.
    case claims
    /// What a promotion takes off, or which one an item shows.
    case promotions
}

extension DomainEvent {
    /// The latest thing that it says.
    var novelty: Novelty {
        switch self {
        case .cart(.checkedOut(_, _, let charges, _, _, _, let handover)):
            charges.haveDiscounts ? .promotions : handover == .none ? .none : .services
        case .order(.delayed(_, let text)): text == nil ? .none : .times
        case .cart(.serviceChosen(_, _, let wanted)): wanted == nil ? .none : .times
        case .menu(.sectionAdded(let header, _)), .menu(.sectionChanged(let header)):
            header.daypart == nil ? .none : .times
        case .order(.placed(let placement)):
            placement.charges.haveDiscounts
                ? .promotions : !placement.claims.isEmpty ? .claims : placement.handover == .none ? .none : .services
        case .order(.rejected(let ending)), .order(.cancelled(let ending)): ending.claims.isEmpty ? .none : .claims
        case .menu(.itemSuspended(_, _, let party)), .menu(.itemResumed(_, let party)),
            .menu(.optionSuspended(_, _, let party)), .menu(.optionResumed(_, let party)):
            party == .merchant ? .none : .claims
        case .menu(.itemAdded(let item, _, _)), .menu(.itemChanged(let item)):
            item.promotion != nil
                ? .promotions
                : item.daypart != nil ? .times : item.isCombo ? .parts : item.servicePrices.isEmpty ? .none : .services
        case .menu(.groupPut(let group)):
            group.namesTax ? .parts : group.options.allSatisfy(\.servicePrices.isEmpty) ? .none : .services
        case .outlet(.registered(let details)): details.all.lazy.filter { !$0.isAbsent }.map(\.novelty).max() ?? .none
        case .outlet(.detailsChanged(let details)): details.map(\.novelty).max() ?? .none
        case .outlet(.closedByHours(let opensAt)): opensAt == nil ? .none : .times
        case .outlet, .menu, .cart, .order, .supply, .promotions, .deed: .none
        }
    }
}

extension Novelty: Comparable {
    /// Orders by when events began to say it.
    static func < (a: Novelty, b: Novelty) -> Bool { a.rawValue < b.rawValue }
}

extension OutletDetail {
    /// The latest thing that it says.
    fileprivate var novelty: Novelty {
        switch self {
        case .services: .services
        case .pricing(let pricing): pricing.hasRates ? .services : .none
        case .orderAheadDays, .slots, .dayparts: .times
        // Periods that do not say their day of the week.
        case .specialDays(let days): days.allSatisfy(\.hours.isEmpty) ? .none : .times
        default: .none
        }
    }
}

extension PricingTerms {
    /// Whether a tax has rates by the way to have an order.
    fileprivate var hasRates: Bool { taxes.contains { !$0.rates.isEmpty } }
}

extension [Charge] {
    /// Whether promotions take something off.
    fileprivate var haveDiscounts: Bool { contains { $0.kind == .discount } }
}
