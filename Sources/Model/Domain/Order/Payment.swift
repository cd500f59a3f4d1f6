extension Order {
    /// What a payment service says became of an amount of money.
    public enum PaymentKind: String, CaseIterable, Sendable {
        /// It is set aside for the outlet.
        case authorised
        /// The outlet has it.
        case captured
        /// It is no longer set aside.
        case voided
        /// The customer has it back from the outlet.
        case refunded
        /// The customer has it back from the bank.
        case chargedBack
        /// Nothing moved.
        case failed

        /// What it is a part of; nil where it is of nothing else.
        public var parent: PaymentKind? {
            switch self {
            case .authorised, .failed: nil
            case .captured, .voided: .authorised
            case .refunded, .chargedBack: .captured
            }
        }
    }

    /// A report of a payment service. Tiffin moves no money: it records who has it.
    public struct Payment: Equatable, Sendable {
        /// Which report it is a part of: a capture of an authorisation, a refund of a capture.
        public enum Parent: Equatable, Sendable {
            /// The one with its own reference, or none.
            case own
            case report(Text)
            /// One of several; the report did not say which.
            case unclear
        }

        /// What the service calls it.
        public var reference: Text
        /// What became of it.
        public var kind: PaymentKind
        /// How much.
        public var amount: Amount
        /// What it is a part of.
        public var parent: Parent

        /// A report.
        public init(reference: Text, _ kind: PaymentKind, _ amount: Amount, of parent: Parent = .own) {
            self.reference = reference
            self.kind = kind
            self.amount = amount
            self.parent = parent
        }

        /// The reference of what it is a part of; nil if that is unknown.
        var parentReference: Text? {
            switch parent {
            case .own: reference
            case .report(let reference): reference
            case .unclear: nil
            }
        }

        /// What the outlet has after it, if it had that much before.
        public func paid(after before: Int64) -> Int64 {
            switch kind {
            case .captured: before.adding(amount.minorUnits)
            case .refunded, .chargedBack: before.subtracting(amount.minorUnits)
            case .authorised, .voided, .failed: before
            }
        }

        /// Whether it comes from the time when reports had no parents: everything was of its own reference, and nothing
        /// was doubted.
        var isOfOldSchema: Bool { parent == .report(reference) }
    }

    /// Something that was reported and cannot be.
    public struct PaymentDoubt: Equatable, Sendable {
        /// Why it cannot be.
        public enum Reason: String, CaseIterable, Sendable {
            /// The report that it is a part of was never made, or may be any of several.
            case parent
            /// It is more than what is left of its parent.
            case excess
        }

        /// What was reported.
        public var report: Payment
        /// Why it cannot be.
        public var reason: Reason
    }

    /// Who has the money of an order, as far as it was reported.
    public struct Payments: Equatable, Sendable {
        /// The most reports of an order.
        public static let maximumReports = 100

        /// The reports, in order.
        public private(set) var reports: [Payment] = []

        /// No reports.
        public init() {}

        /// What was set aside and neither captured nor given free. A report that refers to an unknown authorisation
        /// counts against all of them, so that nothing is counted twice.
        public var authorised: Int64 {
            let tally = tally
            let open = reports.indices.reduce(Int64(0)) { sum, index in
                reports[index].kind == .authorised ? sum.adding(max(0, tally.left[index])) : sum
            }
            return max(0, open.subtracting(tally.loose))
        }

        /// What the outlet got.
        public var captured: Int64 { total(.captured) }

        /// What the customer got back from the outlet.
        public var refunded: Int64 { total(.refunded) }

        /// What the customer got back from the bank.
        public var chargedBack: Int64 { total(.chargedBack) }

        /// What the outlet has; less than nothing where it is said to have given back more than it got.
        public var paid: Int64 { reports.reduce(0) { $1.paid(after: $0) } }

        /// What the outlet has, and what is set aside for it.
        public var secured: Int64 { paid.adding(authorised) }

        /// What was reported and cannot be.
        public var doubts: [PaymentDoubt] { tally.doubts }

        /// Where it stands.
        public var state: PaymentKind? {
            if chargedBack > 0 { return .chargedBack }
            if refunded > 0 { return .refunded }
            if captured > 0 { return .captured }
            if authorised > 0 { return .authorised }
            return reports.last?.kind
        }

        /// Takes in a report.
        public mutating func take(_ payment: Payment) { reports.append(payment) }

        /// The parent of a report that names none, if only one is possible.
        func parent(for payment: Payment) -> Payment.Parent {
            guard let kind = payment.kind.parent else { return .own }
            let left = tally.left
            let all = reports.indices.filter { reports[$0].kind == kind }
            guard !all.contains(where: { reports[$0].reference == payment.reference }) else { return .own }
            let open = all.filter { left[$0] > 0 }
            if open.isEmpty, payment.kind == .captured { return .own }
            switch open.isEmpty ? all : open {
            case let known where known.count == 1: return .report(reports[known[0]].reference)
            case let known: return known.isEmpty ? .own : .unclear
            }
        }

        /// For each report, the amount that the reports referring to it leave; the sum taken of unknown authorisations;
        /// and the reports that cannot be right.
        private var tally: (left: [Int64], loose: Int64, doubts: [PaymentDoubt]) {
            var left = reports.map(\.amount.minorUnits)
            var loose: Int64 = 0
            var doubts: [PaymentDoubt] = []
            for report in reports {
                guard let kind = report.kind.parent else { continue }
                let parent = report.parentReference.flatMap { reference in
                    reports.firstIndex { $0.kind == kind && $0.reference == reference }
                }
                if let parent {
                    left[parent] = left[parent].subtracting(report.amount.minorUnits)
                    if left[parent] < 0, !report.isOfOldSchema {
                        doubts.append(PaymentDoubt(report: report, reason: .excess))
                    }
                } else if !report.isOfOldSchema, report.kind != .captured || report.parent != .own {
                    if kind == .authorised { loose = loose.adding(report.amount.minorUnits) }
                    doubts.append(PaymentDoubt(report: report, reason: .parent))
                }
            }
            return (left, loose, doubts)
        }

        private func total(_ kind: PaymentKind) -> Int64 {
            reports.reduce(0) { sum, payment in
                payment.kind == kind ? sum.adding(payment.amount.minorUnits) : sum
            }
        }
    }

    /// Rejects a reference that is no name of a payment, and one that may be the number of a card: a log that keeps
    /// everything must not have it.
    static func check(reference: Text, _ subject: Rejection.Subject = "ref") throws(Rejection) {
        try TextRules.check(reference, subject, TextRules.name)
        var digits: [Int] = []
        for byte in Array(reference.utf8) + [0] {
            if (0x30...0x39).contains(byte) {
                digits.append(Int(byte - 0x30))
            } else if byte != UInt8(ascii: " "), byte != UInt8(ascii: "-") {
                guard !isCardNumber(digits) else {
                    throw .invalid(subject, "looks like the number of a card, which is not recorded")
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
    /// The sum, or the number nearest to it: only a damaged log has so much.
    func adding(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other > 0 ? .max : .min) : sum
    }

    /// The difference, or the number nearest to it.
    func subtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }
}
