/// An amount of an order beside the prices of its lines.
public struct Charge: Equatable, Sendable {
    /// What it is for.
    public enum Kind: String, Sendable, CaseIterable {
        case service, smallOrder, delivery, tax, tip
        /// What a promotion takes off: an amount below 0.
        case discount
    }

    /// What it is for.
    public var kind: Kind
    /// Of a tax, its id; of a discount, that of its promotion.
    public var id: Identifier?
    /// Of a tax or a discount, what receipts call it.
    public var name: Text?
    /// Of a discount, who pays for it.
    public var payer: Promotion.Payer?
    /// Of a tax, how much of its base it is; nil in what was recorded before it was.
    public var rate: Rate?
    /// How much.
    public var amount: Amount
    /// Whether the amount is in other prices already, and not in the total once more: a tax that prices include.
    public var isIncluded: Bool
    /// What the amount falls on. Of service, and of a discount on lines: each line's part. Of a tax: each line's part,
    /// then that of each charge before the taxes. Of others there are none.
    public var shares: [Amount]
    /// Of a tax: what it was taken of, of each line and then of each charge before the taxes. None in what was recorded
    /// before it was.
    public var bases: [Amount]

    /// A charge.
    public init(
        _ kind: Kind, id: Identifier? = nil, name: Text? = nil, by payer: Promotion.Payer? = nil, rate: Rate? = nil,
        _ amount: Amount, isIncluded: Bool = false, shares: [Amount] = [], bases: [Amount] = []
    ) {
        self.kind = kind
        self.id = id
        self.name = name
        self.payer = payer
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
    var isRecordable: Bool {
        kind == .discount
            ? discount?.isRecordable ?? false : amount.isRecordable && (shares + bases).allSatisfy(\.isRecordable)
    }

    /// What a promotion takes off, if it is that and all that it needs is there.
    public var discount: Bill.Discount? {
        guard kind == .discount, let id, let name, let payer, amount > Amount(minorUnits: .min),
            shares.allSatisfy({ $0 > Amount(minorUnits: .min) })
        else { return nil }
        return Bill.Discount(id, name, by: payer, -amount.minorUnits, shares: shares.map { -$0.minorUnits })
    }
}

/// What a cart or an order costs, and why.
public struct Bill: Equatable, Sendable {
    /// The most charges: every tax and every promotion, and one of each other kind.
    static let maximumCharges = PricingTerms.maximumTaxes + Promotions.maximumCount + Charge.Kind.allCases.count - 2

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

    /// What a promotion takes off.
    public struct Discount: Equatable, Sendable {
        /// The promotion.
        public var promotion: Identifier
        /// What it is called.
        public var title: Text
        /// Who pays for it.
        public var payer: Promotion.Payer
        /// How much, in minor units; more than 0.
        public var amount: Int64
        /// How much of each line; none of the fee for bringing it.
        public var shares: [Int64]

        /// What a promotion takes off.
        public init(
            _ promotion: Identifier, _ title: Text, by payer: Promotion.Payer, _ amount: Int64, shares: [Int64] = []
        ) {
            self.promotion = promotion
            self.title = title
            self.payer = payer
            self.amount = amount
            self.shares = shares
        }

        /// The same as a charge.
        var charge: Charge {
            Charge(
                .discount, id: promotion, name: title, by: payer, Amount(minorUnits: -amount),
                shares: shares.map { Amount(minorUnits: -$0) })
        }

        /// Whether it takes something off, and nothing else than its shares.
        var isRecordable: Bool {
            (1...Amount.maximum.minorUnits).contains(amount)
                && (shares.isEmpty
                    || shares.allSatisfy { (0...Amount.maximum.minorUnits).contains($0) }
                        && shares.reduce(0, +) == amount)
        }
    }

    /// What the lines cost together, before promotions.
    public let subtotal: Amount
    /// Everything else, in the order in which it is worked out: discounts, service, small order, delivery, the discount
    /// on that, taxes, tip.
    public let charges: [Charge]
    /// What is to be paid.
    public let total: Amount

    /// The bill for lines on an outlet's terms. The same values always give the same bill.
    ///
    /// Each tax is worked out once, on the sum of everything that it is on, rounded half up.
    ///
    /// - Parameter discounts: what promotions take off. That on a fee takes off no more than there is.
    /// - Throws: `INVALID` where a line names a tax that the outlet does not have, `LIMIT` where an amount is too great,
    ///   or a line would cost less than nothing.
    public init(
        for lines: [Line], on terms: PricingTerms, discounts: [Discount] = [], tip: Amount = .zero
    ) throws(Rejection) {
        var subtotal = Amount.zero
        for line in lines {
            guard line.amount >= .zero else { throw Rejection(.limit, "the amount of a line is less than nothing") }
            subtotal = try subtotal.adding(line.amount)
        }
        self.subtotal = subtotal
        var amounts = lines.map(\.amount.minorUnits)
        var charges: [Charge] = []
        for discount in discounts where !discount.shares.isEmpty {
            guard discount.shares.count == lines.count else { preconditionFailure("a discount on other lines") }
            for (line, share) in discount.shares.enumerated() { amounts[line] -= share }
            charges.append(discount.charge)
        }
        guard amounts.allSatisfy({ $0 >= 0 }) else {
            throw Rejection(.limit, "promotions take off more than a line costs")
        }

        /// What is taxed, of each line and then of each charge.
        var taxed: [(place: Int, tax: Identifier?, amount: Int64)] = []
        for (place, line) in lines.enumerated() {
            for (tax, amount) in line.divided(amounts[place]) {
                taxed.append((place, tax ?? terms.taxes.first?.id, amount))
            }
        }
        for case let tax? in taxed.lazy.map(\.tax) where !terms.taxes.contains(where: { $0.id == tax }) {
            throw .invalid("tax", "an item names the tax '\(tax)', which the outlet does not have")
        }
        func add(_ charge: Charge, taxedWith tax: Identifier?, less discount: Int64 = 0) {
            taxed.append((lines.count + charges.count, tax, charge.amount.minorUnits - discount))
            charges.append(charge)
        }
        if let service = terms.service {
            let amount = service.rate.share(of: amounts.reduce(0, +))
            add(
                Charge(.service, Amount(minorUnits: amount), shares: amount.shares(by: amounts)), taxedWith: service.tax
            )
        }
        if let fee = terms.smallOrder, fee.isDue(for: subtotal) {
            add(Charge(.smallOrder, fee.amount), taxedWith: fee.tax)
        }
        if let fee = terms.delivery, fee.isDue(for: subtotal) {
            var discount = discounts.first { $0.shares.isEmpty }
            let amount = min(discount?.amount ?? 0, fee.amount.minorUnits)
            discount?.amount = amount
            add(Charge(.delivery, fee.amount), taxedWith: fee.tax, less: amount)
            if let discount, amount > 0 { charges.append(discount.charge) }
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
    /// What is left of its amount by its taxes, one entry for each part.
    fileprivate func divided(_ amount: Int64) -> [(tax: Identifier?, amount: Int64)] {
        if parts.isEmpty { return [(tax, amount)] }
        return Array(zip(parts.map(\.tax), amount.allotted(by: parts.map(\.weight))))
    }
}

extension Int64 {
    fileprivate func shares(by weights: [Int64]) -> [Amount] { allotted(by: weights).map(Amount.init) }
}
