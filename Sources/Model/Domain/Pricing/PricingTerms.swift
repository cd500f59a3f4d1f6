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
        /// How much it is where orders are had in some ways.
        public var rates: ByService<Rate>

        /// A tax.
        public init(id: Identifier, name: Text, rate: Rate, rates: ByService<Rate> = ByService()) {
            self.id = id
            self.name = name
            self.rate = rate
            self.rates = rates
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

        /// Whether lines that cost so much pay it.
        func isDue(for subtotal: Amount) -> Bool { freeFrom.map { subtotal < $0 } ?? true }
    }

    /// What is charged beside lines and taxes.
    public struct Charges: Equatable, Sendable {
        /// The charge for service.
        public var service: Service?
        /// The fee of a small order.
        public var smallOrder: Fee?
        /// The fee for bringing it.
        public var delivery: Fee?

        /// Charges with everything that is not named left out.
        public init(service: Service? = nil, smallOrder: Fee? = nil, delivery: Fee? = nil) {
            self.service = service
            self.smallOrder = smallOrder
            self.delivery = delivery
        }

        /// Nothing.
        public static let none = Charges()

        /// Whether every amount can be worked with.
        var isRecordable: Bool {
            [smallOrder, delivery].compactMap(\.self).allSatisfy { $0.amount.isRecordable }
        }
    }

    /// Whether the prices have the taxes in them; nil where that was never said, and there are none.
    public var taxIncluded: Bool?
    /// The taxes. An item that names none has the first.
    public var taxes: [Tax]
    /// What is charged beside lines and taxes.
    public var charges: Charges

    /// The charge for service.
    public var service: Service? {
        get { charges.service }
        set { charges.service = newValue }
    }

    /// The fee of a small order.
    public var smallOrder: Fee? {
        get { charges.smallOrder }
        set { charges.smallOrder = newValue }
    }

    /// The fee for bringing it.
    public var delivery: Fee? {
        get { charges.delivery }
        set { charges.delivery = newValue }
    }

    /// Terms with everything that is not named left out.
    public init(
        taxIncluded: Bool? = nil, taxes: [Tax] = [], service: Service? = nil, smallOrder: Fee? = nil,
        delivery: Fee? = nil
    ) {
        self.taxIncluded = taxIncluded
        self.taxes = taxes
        charges = Charges(service: service, smallOrder: smallOrder, delivery: delivery)
    }

    /// Nothing but the prices.
    public static let none = PricingTerms()

    /// The terms for one way to have orders, without what they would be for others.
    public var settled: PricingTerms {
        var terms = self
        for index in terms.taxes.indices { terms.taxes[index].rates = ByService() }
        return terms
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
        try check(charges, at: "charges")
    }

    /// Rejects charges with an amount out of range, or a tax that there is not, naming the field below `path`.
    func check(_ charges: Charges, at path: String) throws(Rejection) {
        try check(charges.service?.tax, "\(path).service")
        try check(charges.smallOrder, "\(path).smallOrder")
        try check(charges.delivery, "\(path).delivery")
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
