/// An amount of an order beside the prices of its lines.
public struct Charge: Equatable, Sendable {
    /// What it is for.
    public enum Kind: String, Sendable, CaseIterable {
        case service, smallOrder, delivery, tax, tip
    }

    /// What it is for.
    public var kind: Kind
    /// Of a tax, its id.
    public var id: Identifier?
    /// Of a tax, what receipts call it.
    public var name: Text?
    /// Of a tax, how much of its base it is; nil in what was recorded before it was.
    public var rate: Rate?
    /// How much.
    public var amount: Amount
    /// Whether the amount is in other prices already, and not in the total once more: a tax that prices include.
    public var isIncluded: Bool
    /// What the amount falls on. Of service: each line's part. Of a tax: each line's part, then that of each charge
    /// before the taxes. Of others there are none.
    public var shares: [Amount]
    /// Of a tax: what it was taken of, of each line and then of each charge before the taxes. None in what was recorded
    /// before it was.
    public var bases: [Amount]

    /// A charge.
    public init(
        _ kind: Kind, id: Identifier? = nil, name: Text? = nil, rate: Rate? = nil, _ amount: Amount,
        isIncluded: Bool = false, shares: [Amount] = [], bases: [Amount] = []
    ) {
        self.kind = kind
        self.id = id
        self.name = name
        self.rate = rate
        self.amount = amount
        self.isIncluded = isIncluded
        self.shares = shares
        self.bases = bases
    }

    /// Of a tax, what it was taken of: with the tax in it where prices include it, and without where it is on top. Nil in
    /// what was recorded before it was.
    public var base: Amount? { bases.isEmpty ? nil : bases.saturatingSum }

    /// Whether every amount can be worked with.
    var isRecordable: Bool { amount.isRecordable && (shares + bases).allSatisfy(\.isRecordable) }
}

/// What a cart or an order costs, and why.
public struct Bill: Equatable, Sendable {
    /// The most charges: every tax, and one of each other kind.
    static let maximumCharges = PricingTerms.maximumTaxes + Charge.Kind.allCases.count - 1

    /// A line as far as its price matters.
    public struct Line: Equatable, Sendable {
        /// What all of it costs.
        public var amount: Amount
        /// The tax on it; nil for the outlet's first.
        public var tax: Identifier?
        /// What the amount is divided among, where not all of it has that tax.
        public var parts: [Part]

        /// A line.
        public init(_ amount: Amount, tax: Identifier? = nil, parts: [Part] = []) {
            self.amount = amount
            self.tax = tax
            self.parts = parts
        }
    }

    /// What of a line has a tax of its own.
    public struct Part: Equatable, Sendable {
        /// The tax on it; nil for the outlet's first.
        public var tax: Identifier?
        /// How much of the line it is, in proportion to the other parts; more than 0.
        public var weight: Int64

        /// A part.
        public init(_ weight: Int64, tax: Identifier?) {
            self.weight = weight
            self.tax = tax
        }
    }

    /// What the lines cost together.
    public let subtotal: Amount
    /// Everything else, in the order in which it is worked out: service, small order, delivery, taxes, tip.
    public let charges: [Charge]
    /// What is to be paid.
    public let total: Amount

    /// The bill for lines on an outlet's terms. The same values always give the same bill.
    ///
    /// Each tax is worked out once, on the sum of everything that it is on, rounded half up.
    ///
    /// - Throws: `INVALID` where a line names a tax that the outlet does not have, `LIMIT` where an amount is too great.
    public init(for lines: [Line], on terms: PricingTerms, tip: Amount = .zero) throws(Rejection) {
        var subtotal = Amount.zero
        for line in lines {
            guard line.amount >= .zero else { throw Rejection(.limit, "the amount of a line is less than nothing") }
            subtotal = try subtotal.adding(line.amount)
        }
        self.subtotal = subtotal
        let amounts = lines.map(\.amount.minorUnits)

        /// What is taxed, of each line and then of each charge.
        var taxed: [(place: Int, tax: Identifier?, amount: Int64)] = []
        for (place, line) in lines.enumerated() {
            for (tax, amount) in line.divided { taxed.append((place, tax ?? terms.taxes.first?.id, amount)) }
        }
        for case let tax? in taxed.lazy.map(\.tax) where !terms.taxes.contains(where: { $0.id == tax }) {
            throw .invalid("tax", "an item names the tax '\(tax)', which the outlet does not have")
        }
        var charges: [Charge] = []
        func add(_ charge: Charge, taxedWith tax: Identifier?) {
            taxed.append((lines.count + charges.count, tax, charge.amount.minorUnits))
            charges.append(charge)
        }
        if let service = terms.service {
            let amount = service.rate.share(of: subtotal.minorUnits)
            add(
                Charge(.service, Amount(minorUnits: amount), shares: amount.shares(by: amounts)), taxedWith: service.tax
            )
        }
        for (kind, fee) in [(Charge.Kind.smallOrder, terms.smallOrder), (.delivery, terms.delivery)] {
            guard let fee, fee.freeFrom.map({ subtotal < $0 }) ?? true else { continue }
            add(Charge(kind, fee.amount), taxedWith: fee.tax)
        }

        let places = lines.count + charges.count
        for tax in terms.taxes where taxed.contains(where: { $0.tax == tax.id }) {
            var base = [Int64](repeating: 0, count: places)
            for part in taxed where part.tax == tax.id { base[part.place] += part.amount }
            // Each amount is at most 10¹², so no sum overflows.
            let sum = base.reduce(0, +)
            let isIncluded = terms.taxIncluded ?? false
            let amount = isIncluded ? tax.rate.part(in: sum) : tax.rate.share(of: sum)
            charges.append(
                Charge(
                    .tax, id: tax.id, name: tax.name, rate: tax.rate, Amount(minorUnits: amount),
                    isIncluded: isIncluded, shares: amount.shares(by: base), bases: base.map(Amount.init)))
        }
        if tip > .zero { charges.append(Charge(.tip, tip)) }

        self.charges = charges
        total = try subtotal.adding(charges)
    }
}

extension Bill.Line {
    /// Its amount by its taxes, one entry for each part.
    fileprivate var divided: [(tax: Identifier?, amount: Int64)] {
        if parts.isEmpty { return [(tax, amount.minorUnits)] }
        return Array(zip(parts.map(\.tax), amount.minorUnits.allotted(by: parts.map(\.weight))))
    }
}

extension Int64 {
    fileprivate func shares(by weights: [Int64]) -> [Amount] { allotted(by: weights).map(Amount.init) }
}
