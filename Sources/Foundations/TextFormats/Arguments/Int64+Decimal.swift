extension Int64 {
    /// No more digits than these can be a 64-bit integer; as many of them cannot overflow `UInt64`.
    private static let mostDigits = 19

    /// The integer that `text` spells in the one canonical way: an optional `-`, then digits without
    /// a leading zero; no `+`, no blanks, no `-0`. Lengths and arguments are read with this.
    public init?(canonicalDecimal text: UnsafeRawBufferPointer) {
        let isNegative = text.first == .minus
        let digits = text.part((isNegative ? 1 : 0)..<text.count)
        guard !digits.isEmpty, digits.count <= Int64.mostDigits else { return nil }
        if digits[0] == .zero {
            guard text.count == 1 else { return nil }
            self = 0
            return
        }
        var magnitude: UInt64 = 0
        for digit in digits {
            guard digit.isASCIIDigit else { return nil }
            magnitude = magnitude &* 10 &+ UInt64(digit &- .zero)
        }
        if isNegative {
            guard magnitude <= Int64.min.magnitude else { return nil }
            self = Int64(truncatingIfNeeded: 0 &- magnitude)
        } else {
            guard magnitude <= Int64.max.magnitude else { return nil }
            self = Int64(magnitude)
        }
    }
}
