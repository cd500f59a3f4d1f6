extension Amount {
    /// In major units, without the currency: `6.95`.
    public func majorUnits(of currency: Currency) -> String {
        let digits = currency.decimals
        guard digits > 0 else { return "\(minorUnits)" }
        var scale: UInt64 = 1
        for _ in 0..<digits { scale *= 10 }
        let (whole, rest) = minorUnits.magnitude.quotientAndRemainder(dividingBy: scale)
        let fraction = "\(rest)"
        let zeros = String(repeating: "0", count: digits - fraction.count)
        return "\(minorUnits < 0 ? "-" : "")\(whole).\(zeros)\(fraction)"
    }

    /// In major units, with the currency: `6.95 GBP`.
    public func words(in currency: Currency) -> String { "\(majorUnits(of: currency)) \(currency)" }
}
