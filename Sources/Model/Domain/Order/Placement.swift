extension Order {
    /// What was ordered, where, from which cart, and what it waits for.
    public struct Placement: Equatable, Sendable {
        /// The cart it was placed from.
        public var cart: Identifier
        /// The outlet that cooks it.
        public var outlet: Identifier
        /// The currency of every price.
        public var currency: Currency
        /// What was ordered, at the prices agreed.
        public var lines: [CartLine]
        /// Everything that is charged beside the lines.
        public var charges: [Charge]
        /// What it costs.
        public var total: Amount
        /// Who ordered, where that was said.
        public var customer: Identifier?
        /// The name on it.
        public var name: SealedText?
        /// What it waits for, and until when.
        public var terms: Terms
        /// How it is handed over.
        public var handover: Handover
        /// What the customer wants if something of it cannot be had.
        public var missing: Missing
        private var kept = KeptPricing.none

        /// What the outlet charged beside the prices when it was placed, for the way in which it is had: what its bill is
        /// worked out by if it changes. Only known where its life is followed.
        public var pricing: PricingTerms {
            get { if case .terms(let terms) = kept { terms } else { .none } }
            set { kept = newValue == .none ? .none : .terms(newValue) }
        }

        /// Indirect, as most orders that are held need it no more.
        private indirect enum KeptPricing: Equatable, Sendable {
            case none
            case terms(PricingTerms)
        }
        /// What it took of what the outlet has counted.
        public var claims: [Claim]

        /// A placement.
        public init(
            cart: Identifier, outlet: Identifier, currency: Currency, lines: [CartLine],
            charges: [Charge] = [], total: Amount, customer: Identifier? = nil, name: SealedText? = nil,
            terms: Terms = .none, handover: Handover = .none, missing: Missing = .ask, pricing: PricingTerms = .none,
            claims: [Claim] = []
        ) {
            self.cart = cart
            self.outlet = outlet
            self.currency = currency
            self.lines = lines
            self.charges = charges
            self.total = total
            self.customer = customer
            self.name = name
            self.terms = terms
            self.handover = handover
            self.missing = missing
            self.claims = claims
            self.pricing = pricing
        }

        /// The sum of quantities.
        public var count: Int { lines.reduce(0) { $0 + $1.quantity } }

        /// What the lines cost together, or a `LIMIT` rejection.
        public func subtotal() throws(Rejection) -> Amount { try lines.total() }

        /// The taxes, in prices or on top.
        public var taxes: [Charge] { charges.filter { $0.kind == .tax } }

        /// All of the taxes.
        public var tax: Amount { taxes.map(\.amount).saturatingSum }

        /// What promotions take off.
        public var discounts: [Bill.Discount] { charges.compactMap(\.discount) }

        /// What promotions take off each line, in minor units.
        var discounted: [Int64] {
            var sums = lines.map { _ in Int64(0) }
            for discount in discounts {
                for (line, share) in zip(sums.indices, discount.shares) { sums[line] += share }
            }
            return sums
        }

        /// What it costs, and why.
        public var price: Price { Price(total, charges) }
    }

    /// What an order costs, without what was ordered.
    public struct Price: Equatable, Sendable {
        /// All of it.
        public var total: Amount
        /// Everything that is charged beside the lines.
        public var charges: [Charge]

        /// A price.
        public init(_ total: Amount, _ charges: [Charge]) {
            self.total = total
            self.charges = charges
        }

        /// What the lines cost together.
        public var lines: Amount {
            let beside = charges.filter { !$0.isIncluded }.map(\.amount).saturatingSum
            return Amount(minorUnits: total.minorUnits.subtracting(beside.minorUnits))
        }
    }

    /// What an order waits for, and until when: the moments that follow from its outlet's details when it is placed.
    public struct Terms: Equatable, Sendable {
        /// It waits for nothing, and nothing is promised: so was every order before outlets could say otherwise.
        public static let none = Terms()

        /// When it was placed, where its life is followed to the end; nil if it needs neither acceptance nor payment
        /// first.
        public var placedAt: Timestamp?
        /// When it is promised to be ready.
        public var promisedFor: Timestamp?
        /// When the kitchen is to see it; nil for as soon as it can.
        public var releaseAt: Timestamp?
        /// Until when it has to be accepted, where it can be from the beginning.
        public var acceptBy: Timestamp?
        /// Until when it has to be paid.
        public var payBy: Timestamp?
        /// How long it waits to be accepted once it can be, in seconds; nil if it does not have to be.
        public var acceptWithin: Int?

        /// Terms of nothing but these.
        public init(
            placedAt: Timestamp? = nil, promisedFor: Timestamp? = nil, releaseAt: Timestamp? = nil,
            acceptBy: Timestamp? = nil, payBy: Timestamp? = nil, acceptWithin: Int? = nil
        ) {
            self.placedAt = placedAt
            self.promisedFor = promisedFor
            self.releaseAt = releaseAt
            self.acceptBy = acceptBy
            self.payBy = payBy
            self.acceptWithin = acceptWithin
        }

        /// The terms of an order that an outlet gets at a moment.
        ///
        /// - Parameters:
        ///   - service: how it is had; nil where there is nothing to choose.
        ///   - wanted: the time that it is wanted for; nil for as soon as it can be had.
        public init(
            of details: OutletDetails, for service: ServiceKind? = nil, at now: Timestamp, wanted: Timestamp? = nil
        ) {
            self.init()
            let prepMinutes = details.prepMinutes(for: service)
            promisedFor = wanted ?? prepMinutes.map { now.adding(minutes: $0) }
            let head = Int.zero.subtractingReportingOverflow(prepMinutes ?? 0).partialValue
            if let release = wanted?.adding(minutes: head), release > now { releaseAt = release }
            acceptWithin = details.acceptWithin
            if details.payment == .first {
                payBy = now.adding(seconds: details.payWithin ?? OutletDetails.usualPayWait)
            } else if releaseAt == nil {
                acceptBy = acceptBy(from: now)
            }
            placedAt = acceptWithin != nil || payBy != nil || wanted != nil ? now : nil
        }

        /// Until when it has to be accepted if it can be from that moment on; nil if it does not have to be, or is
        /// accepted at once.
        func acceptBy(from now: Timestamp) -> Timestamp? {
            acceptWithin.flatMap { $0 > 0 ? now.adding(seconds: $0) : nil }
        }

        /// How long it waits to be paid, in seconds; nil if it does not have to be paid first.
        var payWithin: Int? {
            guard let payBy else { return nil }
            guard let placedAt, placedAt <= payBy else { return OutletDetails.usualPayWait }
            let (wait, overflow) = payBy.millisecondsSinceEpoch.subtractingReportingOverflow(
                placedAt.millisecondsSinceEpoch)
            return overflow ? OutletDetails.usualPayWait : Int(clamping: wait / 1_000)
        }

        /// The terms of an order that is placed so much later, in milliseconds. The time that it is wanted for stays.
        func moved(by wait: Int64) -> Terms {
            guard wait > 0 else { return self }
            func moved(_ time: Timestamp?) -> Timestamp? {
                time.map {
                    let (sum, overflow) = $0.millisecondsSinceEpoch.addingReportingOverflow(wait)
                    return Timestamp(millisecondsSinceEpoch: overflow ? .max : sum)
                }
            }
            return Terms(
                placedAt: moved(placedAt), promisedFor: releaseAt == nil ? moved(promisedFor) : promisedFor,
                releaseAt: releaseAt, acceptBy: moved(acceptBy), payBy: moved(payBy), acceptWithin: acceptWithin)
        }

        /// The terms without a payment to wait for.
        var paid: Terms {
            guard payBy != nil else { return self }
            var terms = self
            terms.payBy = nil
            if releaseAt == nil { terms.acceptBy = placedAt.flatMap { acceptBy(from: $0) } }
            return terms
        }

        /// Whether it is accepted as soon as it can be.
        var isAcceptedAtOnce: Bool { acceptWithin == 0 }
    }
}

extension Timestamp {
    /// The moment so many minutes later; the last one there is where that is out of range.
    func adding(minutes: Int) -> Timestamp {
        let (seconds, overflow) = minutes.multipliedReportingOverflow(by: 60)
        return adding(seconds: overflow ? (minutes < 0 ? .min : .max) : seconds)
    }
}
