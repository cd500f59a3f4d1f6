extension Order {
    /// What a payment service says became of an amount of money.
    public enum PaymentState: String, CaseIterable, Sendable {
        /// It is set aside for the outlet.
        case authorised
        /// The outlet has it.
        case captured
        /// It is no longer set aside.
        case voided
        /// The customer has it back.
        case refunded
        /// Nothing moved.
        case failed
    }

    /// A report of a payment service. Tiffin moves no money: it records who has it.
    public struct Payment: Equatable, Sendable {
        /// What the service calls it.
        public var reference: Text
        /// What became of it.
        public var state: PaymentState
        /// How much.
        public var amount: Amount

        /// A report.
        public init(reference: Text, _ state: PaymentState, _ amount: Amount) {
            self.reference = reference
            self.state = state
            self.amount = amount
        }
    }

    /// Who has the money of an order, as far as it was reported.
    public struct Payments: Equatable, Sendable {
        /// The most reports of an order.
        public static let maximumReports = 100

        /// The reports, in order.
        public private(set) var reports: [Payment] = []

        /// No reports.
        public init() {}

        /// What was set aside and neither captured nor given free, by reference.
        public var authorised: Int64 {
            references.reduce(0) { sum, reference in
                let left = total(.authorised, reference).subtractingReportingOverflow(total(.captured, reference))
                let free = left.partialValue.subtractingReportingOverflow(total(.voided, reference))
                return sum.adding(max(0, free.partialValue))
            }
        }

        /// What the outlet got.
        public var captured: Int64 { total(.captured) }

        /// What the customer got back.
        public var refunded: Int64 { total(.refunded) }

        /// Where it stands.
        public var state: PaymentState? {
            if refunded > 0 { return .refunded }
            if captured > 0 { return .captured }
            if authorised > 0 { return .authorised }
            return reports.last?.state
        }

        /// Whether the outlet has a total, or it is set aside.
        func cover(_ total: Amount) -> Bool { captured.adding(authorised) >= total.minorUnits }

        mutating func take(_ payment: Payment) { reports.append(payment) }

        private var references: Set<Text> { Set(reports.map(\.reference)) }

        private func total(_ state: PaymentState, _ reference: Text? = nil) -> Int64 {
            reports.reduce(0) { sum, payment in
                guard payment.state == state, reference == nil || payment.reference == reference else { return sum }
                return sum.adding(payment.amount.minorUnits)
            }
        }
    }

    /// Rejects a reference that is no name of a payment, and one that may be the number of a card: a log that keeps
    /// everything must not have it.
    static func check(reference: Text) throws(Rejection) {
        try TextRules.check(reference, "ref", TextRules.name)
        var digits: [Int] = []
        for byte in Array(reference.utf8) + [0] {
            if (0x30...0x39).contains(byte) {
                digits.append(Int(byte - 0x30))
            } else if byte != UInt8(ascii: " "), byte != UInt8(ascii: "-") {
                guard !isCardNumber(digits) else {
                    throw .invalid("ref", "looks like the number of a card, which is not recorded")
                }
                digits = []
            }
        }
    }

    /// Whether digits can be the number of a card: 13 to 19 that pass the check of ISO/IEC 7812, by Luhn.
    private static func isCardNumber(_ digits: [Int]) -> Bool {
        guard (13...19).contains(digits.count) else { return false }
        let sum = digits.reversed().enumerated().reduce(0) { sum, entry in
            let (place, digit) = entry
            let weighed = place.isMultiple(of: 2) ? digit : 2 * digit
            return sum + (weighed > 9 ? weighed - 9 : weighed)
        }
        return sum.isMultiple(of: 10)
    }
}

extension Int64 {
    /// The sum, or the largest number there is: only a damaged log has so much.
    fileprivate func adding(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
