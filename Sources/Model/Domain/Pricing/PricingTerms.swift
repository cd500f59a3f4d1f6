/// What an outlet charges beside its items' prices.
public struct PricingTerms: Equatable, Sendable {
    /// The most taxes of an outlet.
    public static let maximumTaxes = 20

    /// A tax.
    public struct Tax: Equatable, Sendable {
        /// Unique among the outlet's taxes.
        public var id: Identifier
        /// What receipts call it.
        public var name: Text
        /// How much of the price it is.
        public var rate: Rate

        /// A tax.
        public init(id: Identifier, name: Text, rate: Rate) {
            self.id = id
            self.name = name
            self.rate = rate
        }
    }

    /// A charge for service, in proportion to the lines.
    public struct Service: Equatable, Sendable {
        /// How much of the lines it is.
        public var rate: Rate
        /// The tax on it; nil for none.
        public var tax: Identifier?

        /// A charge for service.
        public init(rate: Rate, tax: Identifier? = nil) {
            self.rate = rate
            self.tax = tax
        }
    }

    /// A fee that an order's size decides about.
    public struct Fee: Equatable, Sendable {
        /// How much it is.
        public var amount: Amount
        /// Lines that come to this much or more do not pay it; nil where all do.
        public var freeFrom: Amount?
        /// The tax on it; nil for none.
        public var tax: Identifier?

        /// A fee.
        public init(_ amount: Amount, freeFrom: Amount? = nil, tax: Identifier? = nil) {
            self.amount = amount
            self.freeFrom = freeFrom
            self.tax = tax
        }
    }

    /// Whether the prices have the taxes in them; nil where that was never said, and there are none.
    public var taxIncluded: Bool?
    /// The taxes. An item that names none has the first.
    public var taxes: [Tax]
    /// The charge for service.
    public var service: Service?
    /// The fee of a small order.
    public var smallOrder: Fee?
    /// The fee for bringing it.
    public var delivery: Fee?

    /// Terms with everything that is not named left out.
    public init(
        taxIncluded: Bool? = nil, taxes: [Tax] = [], service: Service? = nil, smallOrder: Fee? = nil,
        delivery: Fee? = nil
    ) {
        self.taxIncluded = taxIncluded
        self.taxes = taxes
        self.service = service
        self.smallOrder = smallOrder
        self.delivery = delivery
    }

    /// Nothing but the prices.
    public static let none = PricingTerms()

    /// Whether every amount can be worked with.
    var isRecordable: Bool {
        [smallOrder, delivery].compactMap(\.self).allSatisfy { $0.amount.isRecordable }
    }

    /// Rejects terms with a value out of range, naming the field.
    func validate() throws(Rejection) {
        guard taxes.count <= Self.maximumTaxes else {
            throw .invalid("taxes", "must have at most \(Self.maximumTaxes) entries")
        }
        for (index, tax) in taxes.enumerated() {
            try TextRules.check(tax.name, "taxes[\(index)].name", TextRules.name)
            guard !taxes[..<index].contains(where: { $0.id == tax.id }) else {
                throw .invalid("taxes[\(index)].id", "'\(tax.id)' is used by another tax")
            }
        }
        guard taxes.isEmpty || taxIncluded != nil else {
            throw .invalid("taxIncluded", "is missing: do the prices have the taxes in them?")
        }
        try check(service?.tax, "charges.service")
        try check(smallOrder, "charges.smallOrder")
        try check(delivery, "charges.delivery")
    }

    private func check(_ fee: Fee?, _ path: String) throws(Rejection) {
        guard let fee else { return }
        try fee.amount.check("\(path).fee")
        if let limit = fee.freeFrom { try limit.check("\(path).freeFrom") }
        try check(fee.tax, path)
    }

    private func check(_ tax: Identifier?, _ path: String) throws(Rejection) {
        guard let tax, !taxes.contains(where: { $0.id == tax }) else { return }
        throw .invalid("\(path).tax", "no tax '\(tax)'")
    }
}
