/// An amount of money in minor units (cents, paise) of a currency that is given with it.
public struct Amount: Hashable, Comparable, Sendable {
    /// No money.
    public static let zero = Amount(minorUnits: 0)
    /// The largest price or total the domain accepts: 10¹², so that sums of a cart cannot come near overflow
    /// and every amount is exact in clients that read JSON numbers as doubles.
    public static let maximum = Amount(minorUnits: 1_000_000_000_000)

    /// The number of minor units.
    public let minorUnits: Int64

    /// An amount of that many minor units.
    public init(minorUnits: Int64) {
        self.minorUnits = minorUnits
    }

    /// The sum, or a `LIMIT` rejection where it exceeds ``maximum``.
    public func adding(_ other: Amount) throws(Rejection) -> Amount {
        let (sum, overflow) = minorUnits.addingReportingOverflow(other.minorUnits)
        return try Amount.limited(sum, overflow)
    }

    /// The sum with all charges that are not in other prices already, or a `LIMIT` rejection where it exceeds
    /// ``maximum``.
    func adding(_ charges: [Charge]) throws(Rejection) -> Amount {
        var sum = self
        for charge in charges where !charge.isIncluded { sum = try sum.adding(charge.amount) }
        return sum
    }

    /// The product, or a `LIMIT` rejection where it exceeds ``maximum``.
    public func multiplied(by quantity: Int) throws(Rejection) -> Amount {
        let (product, overflow) = minorUnits.multipliedReportingOverflow(by: Int64(quantity))
        return try Amount.limited(product, overflow)
    }

    /// Whether it can be a price or a fee of the log.
    var isRecordable: Bool { (Amount.zero...Amount.maximum).contains(self) }

    /// Rejects an amount that cannot be a price or a fee, naming its field.
    func check(_ subject: @autoclosure () -> Rejection.Subject) throws(Rejection) {
        guard isRecordable else {
            throw .invalid(subject(), "must be from 0 to \(Amount.maximum.minorUnits) minor units")
        }
    }

    private static func limited(_ value: Int64, _ overflow: Bool) throws(Rejection) -> Amount {
        guard !overflow, value <= maximum.minorUnits else {
            throw Rejection(.limit, "the amount exceeds \(maximum.minorUnits) minor units")
        }
        return Amount(minorUnits: value)
    }

    /// Orders by size.
    public static func < (a: Amount, b: Amount) -> Bool { a.minorUnits < b.minorUnits }
}

extension [Amount] {
    /// The sum, or the largest number there is: only a damaged log has so much.
    var saturatingSum: Amount {
        reduce(.zero) { sum, amount in
            let (total, overflow) = sum.minorUnits.addingReportingOverflow(amount.minorUnits)
            return Amount(minorUnits: overflow ? .max : total)
        }
    }
}
