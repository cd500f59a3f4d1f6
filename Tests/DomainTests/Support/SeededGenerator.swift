import Domain

/// A random number generator that gives the same numbers for the same seed everywhere (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    /// The seeds that properties are checked with.
    static let seeds: Range<UInt64> = 0..<40

    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &self)! }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    /// Nil half of the time.
    mutating func maybe<Value>(_ value: (inout SeededGenerator) -> Value) -> Value? {
        chance(50) ? value(&self) : nil
    }

    /// A whole number, often one at a boundary of what the domain or the machine can hold.
    mutating func hostileInt() -> Int {
        pick([.min, -1, 0, 1, 2, 98, 99, 100, 1_000_000, 1_000_001, .max - 1, .max])
    }

    mutating func hostileAmount() -> Amount {
        Amount(minorUnits: pick([.min, -1, 0, 1, 500, Amount.maximum.minorUnits, Amount.maximum.minorUnits + 1, .max]))
    }
}
