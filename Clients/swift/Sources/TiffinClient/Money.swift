public import Foundation

/// Minor units, such as pence, of a currency.
///
/// - Precondition: amounts of two currencies are never added or compared.
public struct Money: Hashable, Codable, Sendable, Comparable, CustomStringConvertible {
    /// The minor units.
    public var minor: Int
    /// Three capital letters of ISO 4217.
    public var currency: String

    /// An amount of a currency.
    public init(_ minor: Int, _ currency: String) {
        self.minor = minor
        self.currency = currency
    }

    public static func + (left: Money, right: Money) -> Money {
        Money(left.minor + left.same(right), left.currency)
    }

    public static func - (left: Money, right: Money) -> Money {
        Money(left.minor - left.same(right), left.currency)
    }

    public static func * (amount: Money, times: Int) -> Money { Money(amount.minor * times, amount.currency) }

    public static func += (left: inout Money, right: Money) { left = left + right }

    public static prefix func - (amount: Money) -> Money { Money(-amount.minor, amount.currency) }

    public static func < (left: Money, right: Money) -> Bool { left.minor < left.same(right) }

    /// The amount in major units: `16.50`.
    public var decimal: Decimal {
        var amount = Decimal(minor)
        for _ in 0..<decimals { amount /= 10 }
        return amount
    }

    /// The amount as people write it in a place, such as `£16.50`.
    public func formatted(locale: Locale = .current) -> String {
        decimal.formatted(.currency(code: currency).precision(.fractionLength(decimals)).locale(locale))
    }

    public var description: String {
        let digits = String(minor.magnitude)
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        let point = decimals == 0 ? "" : ".\(padded.suffix(decimals))"
        return "\(minor < 0 ? "-" : "")\(padded.dropLast(decimals))\(point) \(currency)"
    }

    private var decimals: Int { Money.unusualDecimals[currency] ?? 2 }

    private func same(_ other: Money) -> Int {
        precondition(currency == other.currency, "\(currency) and \(other.currency) cannot be mixed")
        return other.minor
    }

    /// Where there are not two decimals, by ISO 4217. Those of a locale follow local custom.
    private static let unusualDecimals = [
        "BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0, "UGX": 0,
        "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0, "BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3,
        "OMR": 3, "TND": 3, "CLF": 4, "UYW": 4,
    ]
}
