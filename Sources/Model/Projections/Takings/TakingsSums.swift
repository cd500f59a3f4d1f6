public import Domain

/// What an outlet sold, took back, gave back and was paid, in sums.
public struct TakingsSums: Equatable, Sendable {
    /// What became of money.
    public enum Movement: String, CaseIterable, Sendable {
        /// An order was placed.
        case sold
        /// An order was rejected or cancelled: what it had cost is not charged any more.
        case cancelled
        /// Some of an order was given back.
        case refunded
        /// A payment service reported money.
        case paid
        /// An order was changed: the difference to what it had cost.
        case changed
    }

    /// What money is for.
    public enum Kind: Hashable, Sendable {
        /// All of it.
        case total
        /// The lines of an order.
        case lines
        /// What is charged beside them.
        case charge(Charge.Kind)
        /// What promotions took off, by who pays for them.
        case discount(Promotion.Payer)
        /// What a payment service said of it.
        case payment(Order.PaymentKind)

        /// Every kind, in the order in which they are shown.
        static let all: [Kind] =
            [.total, .lines] + Charge.Kind.allCases.filter { $0 != .discount }.map(Kind.charge)
            + Order.PaymentKind.allCases.map(Kind.payment) + Promotion.Payer.allCases.map(Kind.discount)

        /// What it is called in documents and rows. No two of one movement are called the same.
        var name: String {
            switch self {
            case .total: "total"
            case .lines: "lines"
            case .charge(let kind): kind.rawValue
            case .discount(let payer): "discount.\(payer.rawValue)"
            case .payment(let kind): kind.rawValue
            }
        }
    }

    /// What a sum is of.
    public struct Subject: Hashable, Sendable {
        public var movement: Movement
        public var kind: Kind
        /// How the order was had; nil where there was nothing to choose, and of payments.
        public var service: ServiceKind?
        /// Of a tax, its id; nil in what was recorded without it.
        public var tax: Identifier?
        /// Of a tax, its rate in thousandths of a percent; nil in what was recorded without it.
        public var rate: Int?

        /// What a sum is of.
        init(
            _ movement: Movement, _ kind: Kind, _ service: ServiceKind? = nil, tax: Identifier? = nil, rate: Int? = nil
        ) {
            self.movement = movement
            self.kind = kind
            self.service = service
            self.tax = tax
            self.rate = rate
        }

        /// The place of everything but the tax among all that there can be.
        var place: Int {
            let movement = Movement.allCases.firstIndex(of: movement) ?? 0
            let kind = Kind.all.firstIndex(of: kind) ?? 0
            let service = service.flatMap(ServiceKind.allCases.firstIndex).map { $0 + 1 } ?? 0
            return (movement * Kind.all.count + kind) * (ServiceKind.allCases.count + 1) + service
        }

        /// What has this place; nil for one that there is not.
        init?(place: Int, tax: Identifier?, rate: Int?) {
            let (rest, service) = place.quotientAndRemainder(dividingBy: ServiceKind.allCases.count + 1)
            let (movement, kind) = rest.quotientAndRemainder(dividingBy: Kind.all.count)
            guard place >= 0, Movement.allCases.indices.contains(movement) else { return nil }
            self.init(
                Movement.allCases[movement], Kind.all[kind], service == 0 ? nil : ServiceKind.allCases[service - 1],
                tax: tax, rate: rate)
        }
    }

    /// A sum. In a damaged log it stays at the largest number there is.
    public struct Sum: Equatable, Sendable {
        /// How many orders, refunds or reports it is of.
        public var count: Int64 = 0
        /// Of a tax, what it was taken of, in minor units.
        public var base: Int64 = 0
        /// In minor units.
        public var amount: Int64 = 0

        /// The same taken away.
        var negated: Sum {
            func negated(_ number: Int64) -> Int64 { number == .min ? .max : -number }
            return Sum(count: negated(count), base: negated(base), amount: negated(amount))
        }

        mutating func add(_ other: Sum) {
            count = count.addingSaturated(other.count)
            base = base.addingSaturated(other.base)
            amount = amount.addingSaturated(other.amount)
        }
    }

    /// The sums that are not 0, in the order in which they are shown.
    public private(set) var entries: [(subject: Subject, sum: Sum)] = []

    /// Nothing.
    public init() {}

    /// The sum of something; 0 if there is none.
    public subscript(subject: Subject) -> Sum { entries.first { $0.subject == subject }?.sum ?? Sum() }

    /// Adds to the sum of something.
    mutating func add(_ subject: Subject, _ sum: Sum) {
        let index = entries.firstIndex { !($0.subject < subject) } ?? entries.count
        if index < entries.count, entries[index].subject == subject {
            entries[index].sum.add(sum)
        } else {
            entries.insert((subject, sum), at: index)
        }
    }

    /// Adds other sums.
    public mutating func add(_ other: TakingsSums) {
        for (subject, sum) in other.entries { add(subject, sum) }
    }

    public static func == (one: TakingsSums, other: TakingsSums) -> Bool {
        one.entries.elementsEqual(other.entries) { $0 == $1 }
    }
}

extension TakingsSums.Subject: Comparable {
    /// The order in which sums are shown.
    public static func < (one: Self, other: Self) -> Bool {
        guard one.place == other.place else { return one.place < other.place }
        guard one.tax == other.tax else {
            return one.tax.map { tax in other.tax.map { tax < $0 } ?? false } ?? true
        }
        return one.rate ?? -1 < other.rate ?? -1
    }
}

// MARK: What an event adds

extension TakingsSums {
    /// What an event of an order moved.
    ///
    /// - Parameter sale: what is known of the order.
    init(of event: Order.Event, _ sale: Orders.Sale) {
        switch event {
        case .placed(let placement): add(.sold, placement.price, sale.service)
        case .rejected(let ending), .cancelled(let ending): add(.cancelled, ending.price ?? sale.price, sale.service)
        case .refunded(let refund):
            add(.refunded, .total, sale.service, refund.amount)
            for tax in refund.taxes {
                let subject = Subject(
                    .refunded, .charge(.tax), sale.service, tax: tax.id, rate: tax.rate?.thousandths)
                add(subject, Sum(count: 1, base: tax.base?.minorUnits ?? 0, amount: tax.amount.minorUnits))
            }
        case .paymentReported(let payment, _): add(.paid, .payment(payment.kind), nil, payment.amount)
        case .changed(let change):
            var (before, after) = (TakingsSums(), TakingsSums())
            before.add(.changed, sale.price, sale.service)
            after.add(.changed, change.price, sale.service)
            for (subject, sum) in before.entries { after.add(subject, sum.negated) }
            for (subject, difference) in after.entries where difference.amount != 0 || difference.base != 0 {
                var sum = difference
                sum.count = 1
                add(subject, sum)
            }
            if entries.first?.subject.kind != .total {
                add(Subject(.changed, .total, sale.service), Sum(count: 1))
            }
        case .coverLost, .scheduled, .released, .accepted, .preparationStarted, .readied, .completed, .delayed,
            .changeProposed, .changeDeclined, .changeExpired, .changesNoted, .claimsReturned:
            break
        }
    }

    private mutating func add(_ movement: Movement, _ kind: Kind, _ service: ServiceKind?, _ amount: Amount) {
        add(Subject(movement, kind, service), Sum(count: 1, amount: amount.minorUnits))
    }

    private mutating func add(_ movement: Movement, _ price: Order.Price, _ service: ServiceKind?) {
        add(movement, .total, service, price.total)
        add(movement, .lines, service, price.lines)
        for charge in price.charges {
            let isTax = charge.kind == .tax
            let subject = Subject(
                movement, charge.payer.map(Kind.discount) ?? .charge(charge.kind), service,
                tax: isTax ? charge.id : nil,
                rate: isTax ? charge.rate?.thousandths : nil)
            add(subject, Sum(count: 1, base: charge.base?.minorUnits ?? 0, amount: charge.amount.minorUnits))
        }
    }
}

extension Int64 {
    fileprivate func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
