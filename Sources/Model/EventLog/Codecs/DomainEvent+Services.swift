internal import Domain

extension DomainEvent {
    /// Whether the event has fields that came with the ways to have orders, and its kind did not.
    var saysServices: Bool {
        switch self {
        case .cart(.checkedOut(_, _, _, _, _, _, let handover)): handover != .none
        case .order(.placed(let placement)): placement.handover != .none
        case .menu(.itemAdded(let item, _, _)), .menu(.itemChanged(let item)): !item.servicePrices.isEmpty
        case .menu(.groupPut(let group)): group.options.contains { !$0.servicePrices.isEmpty }
        case .outlet(.registered(let details)): !details.services.isEmpty || details.pricing.hasRates
        case .outlet(.detailsChanged(let details)):
            details.contains { detail in
                switch detail {
                case .services: true
                case .pricing(let pricing): pricing.hasRates
                default: false
                }
            }
        case .outlet, .menu, .cart, .order, .deed: false
        }
    }
}

extension PricingTerms {
    /// Whether a tax has rates by the way to have an order.
    fileprivate var hasRates: Bool { taxes.contains { !$0.rates.isEmpty } }
}
