/// A share of an amount, in thousandths of a percent: 8.875 % is 8875.
public struct Rate: Equatable, Sendable {
    /// Everything: 100 %.
    static let whole: Int64 = 100_000

    /// Thousandths of a percent, from 0 to 100,000.
    public let thousandths: Int

    /// A rate, or nil where it is out of range.
    public init?(thousandths: Int) {
        guard (0...Int(Rate.whole)).contains(thousandths) else { return nil }
        self.thousandths = thousandths
    }

    /// The share of an amount, rounded half up.
    func share(of amount: Int64) -> Int64 { Rate.rounded(amount, Int64(thousandths), Rate.whole) }

    /// The part of an amount that was added to the rest at this rate, rounded half up.
    func part(in amount: Int64) -> Int64 {
        Rate.rounded(amount, Int64(thousandths), Rate.whole + Int64(thousandths))
    }

    /// An amount times a number, divided by another, rounded half up. None of them is negative, and the first number
    /// is no greater than the second.
    private static func rounded(_ amount: Int64, _ factor: Int64, _ divisor: Int64) -> Int64 {
        let product = amount.multipliedFullWidth(by: factor)
        let (quotient, remainder) = divisor.dividingFullWidth(product)
        return quotient + (remainder >= divisor - remainder ? 1 : 0)
    }
}

extension Int64 {
    /// The amount divided in proportion to the weights. Each part is rounded down, and what is left goes to those that
    /// lost most, one unit each, of equals to the first; so the parts add up to the amount.
    ///
    /// - Precondition: nothing is negative, and the weights add up to an `Int64`.
    func allotted(by weights: [Int64]) -> [Int64] {
        let sum = weights.reduce(0, +)
        guard sum > 0 else { return weights.map { _ in 0 } }
        var parts: [Int64] = []
        var losses: [(loss: Int64, index: Int)] = []
        for (index, weight) in weights.enumerated() {
            let (quotient, remainder) = sum.dividingFullWidth(multipliedFullWidth(by: weight))
            parts.append(quotient)
            losses.append((remainder, index))
        }
        let rest = Int(self - parts.reduce(0, +))
        losses.sort { $0.loss != $1.loss ? $0.loss > $1.loss : $0.index < $1.index }
        for (_, index) in losses.prefix(rest) { parts[index] += 1 }
        return parts
    }
}
