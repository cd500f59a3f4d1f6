/// A random number generator that gives the same numbers for the same seed everywhere (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    /// The seeds that properties are checked with.
    public static let seeds: Range<UInt64> = 0..<40

    private var state: UInt64

    /// A generator of that seed.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// One of the elements.
    public mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &self)! }

    /// True so many times in a hundred.
    public mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    /// A number of the range.
    public mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self) }

    /// Nil half of the time.
    public mutating func maybe<Value>(_ value: (inout SeededGenerator) -> Value) -> Value? {
        chance(50) ? value(&self) : nil
    }
}
