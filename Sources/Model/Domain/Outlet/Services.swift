/// A way to have an order. Where an outlet offers several, the first of them is the one that a cart has until somebody
/// chooses.
public enum ServiceKind: String, CaseIterable, Sendable {
    /// The customer fetches it.
    case pickup
    /// It is brought to an address.
    case delivery
    /// It is brought to a table.
    case table
}

/// Values for some of the ways to have an order.
public struct ByService<Value: Equatable & Sendable>: Equatable, Sendable {
    private var pickup: Value?
    private var delivery: Value?
    private var table: Value?

    /// None.
    public init() {}

    /// The value for a way; nil if there is none.
    public subscript(service: ServiceKind) -> Value? {
        get {
            switch service {
            case .pickup: pickup
            case .delivery: delivery
            case .table: table
            }
        }
        set {
            switch service {
            case .pickup: pickup = newValue
            case .delivery: delivery = newValue
            case .table: table = newValue
            }
        }
    }

    /// Whether there are no values.
    public var isEmpty: Bool { pickup == nil && delivery == nil && table == nil }

    /// The ways that have values, in their order.
    public var kinds: [ServiceKind] { ServiceKind.allCases.filter { self[$0] != nil } }

    /// The values with their ways, in the order of these.
    public var list: [(service: ServiceKind, value: Value)] {
        ServiceKind.allCases.compactMap { service in self[service].map { (service, $0) } }
    }
}

/// What an outlet says of one way to have its orders. What it does not say is as the outlet says for all of them.
public struct OfferedService: Equatable, Sendable {
    /// What an order needs before it is placed.
    public enum Requirement: String, CaseIterable, Sendable {
        case name, phone, address, table
    }

    /// What is charged beside the prices, in place of all of the outlet's own charges.
    public var charges: PricingTerms.Charges?
    /// The least that the lines may cost together.
    public var minimumOrder: Amount?
    /// How long an order usually takes in the kitchen, in minutes.
    public var prepMinutes: Int?
    /// What an order needs, in the order of ``Requirement``.
    public private(set) var requirements: [Requirement]
    /// When it is usually offered: it is held against times that orders are placed ahead for.
    public var hours: [OpeningHours]?

    /// A way with everything that is not named left to the outlet.
    public init(
        charges: PricingTerms.Charges? = nil, minimumOrder: Amount? = nil, prepMinutes: Int? = nil,
        requirements: [Requirement] = [], hours: [OpeningHours]? = nil
    ) {
        self.charges = charges
        self.minimumOrder = minimumOrder
        self.prepMinutes = prepMinutes
        self.requirements = Requirement.allCases.filter(requirements.contains)
        self.hours = hours
    }
}

/// How an order is handed over, with what is needed for that.
public struct Handover: Equatable, Sendable {
    /// Nothing is said of it.
    public static let none = Handover()

    /// The way to have it; nil where its outlet offered no ways to choose from.
    public var service: ServiceKind?
    /// The table, as the outlet calls it.
    public var table: Text?
    /// The number to call.
    public var phone: SealedText?
    /// Where to bring it.
    public var address: SealedText?

    /// A handover of nothing but these.
    public init(
        _ service: ServiceKind? = nil, table: Text? = nil, phone: SealedText? = nil, address: SealedText? = nil
    ) {
        self.service = service
        self.table = table
        self.phone = phone
        self.address = address
    }

    /// Whether there are texts of a customer's.
    public var isPersonal: Bool { phone != nil || address != nil }
}

extension OutletDetails {
    /// How an order is had if a customer chose that, or nothing; nil if the outlet offers no ways to choose from.
    ///
    /// - Throws: `REQUIRED` if the outlet does not offer what was chosen any more.
    public func service(_ chosen: ServiceKind?) throws(Rejection) -> ServiceKind? {
        guard let chosen else { return services.kinds.first }
        guard services[chosen] != nil else {
            let others = services.kinds.map(\.rawValue)
            let advice = others.isEmpty ? "clear the cart" : "choose \(others.joined(separator: " or "))"
            throw Rejection(
                .required, "the outlet does not offer '\(chosen.rawValue)' any more; \(advice)", about: .service,
                allowed: [.chooseService])
        }
        return chosen
    }

    /// What is charged for orders that are had in a way, with the rates of taxes that hold for it.
    public func pricing(for service: ServiceKind?) -> PricingTerms {
        guard let service else { return pricing }
        var terms = pricing
        if let charges = services[service]?.charges { terms.charges = charges }
        for index in terms.taxes.indices {
            if let rate = terms.taxes[index].rates[service] { terms.taxes[index].rate = rate }
        }
        return terms
    }

    /// The least that the lines of orders that are had in a way may cost together.
    public func minimumOrder(for service: ServiceKind?) -> Amount? {
        service.flatMap { services[$0]?.minimumOrder } ?? minimumOrder
    }

    /// How long the kitchen usually takes for orders that are had in a way, in minutes.
    public func prepMinutes(for service: ServiceKind?) -> Int? {
        service.flatMap { services[$0]?.prepMinutes } ?? prepMinutes
    }

    /// What orders that are had in a way need before they are placed.
    public func requirements(for service: ServiceKind?) -> [OfferedService.Requirement] {
        service.flatMap { services[$0]?.requirements } ?? []
    }

    /// Rejects services with a value out of range, naming the field.
    func validateServices() throws(Rejection) {
        for (kind, service) in services.list {
            let path = "services.\(kind.rawValue)."
            if let charges = service.charges { try pricing.check(charges, at: "\(path)charges") }
            try Self.check(
                service.minimumOrder?.minorUnits, "\(path)minimumOrder", 0...Amount.maximum.minorUnits)
            try Self.check(service.prepMinutes, "\(path)prepMinutes", 0...OutletDetails.maximumPrepMinutes)
            try Self.check(service.hours?.count ?? 0, "\(path)hours")
            guard kind == .table || !service.requirements.contains(.table) else {
                throw .invalid("\(path)requires", "'table' is only known of orders at a table")
            }
        }
    }
}
