/// Chance that can be repeated: the same numbers for the same seed everywhere (SplitMix64).
struct Chance: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// Chance of its own for everybody who shares a seed.
    init(seed: UInt64, of index: Int) {
        var mixed = Chance(seed: seed)
        state = mixed.next() ^ (UInt64(truncatingIfNeeded: index) &* 0xD6E8_FEB8_6659_FD93)
        _ = next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A number below `bound`.
    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// A number of the range.
    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    /// True so many times in a thousand.
    mutating func happens(permille: Int) -> Bool { below(1_000) < permille }

    /// From 0 up to, and without, 1.
    mutating func fraction() -> Double { Double.random(in: 0..<1, using: &self) }

    /// One of the elements, of which there must be some.
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// The index of one of the weights, each as likely as it is large.
    mutating func pick(weights: [Double]) -> Int {
        var rest = fraction() * weights.reduce(0, +)
        for (index, weight) in weights.enumerated() {
            rest -= weight
            if rest < 0 { return index }
        }
        return weights.count - 1
    }
}
