#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A random number generator that gives the same numbers for the same seed on every machine: SplitMix64 (Steele, Lea,
/// Flood: Fast Splittable Pseudorandom Number Generators, 2014).
///
/// Its numbers are part of what users see (`SURPRISE … SEED n`, `tiffin-monkey --seed n`) and never change.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator for that seed.
    public init(seed: UInt64) {
        state = seed
    }

    /// One of several independent generators that share a seed.
    public init(seed: UInt64, of index: Int) {
        var mixed = SeededGenerator(seed: seed)
        state = mixed.next() ^ (UInt64(truncatingIfNeeded: index) &* 0xD6E8_FEB8_6659_FD93)
        _ = next()
    }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A number from 0 up to, but not including, `bound`.
    public mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// A number of the range, which must not be empty.
    public mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self) }

    /// A number of the range.
    public mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    /// A number from 0 up to, but not including, 1.
    public mutating func fraction() -> Double { Double.random(in: 0..<1, using: &self) }

    /// True with a probability in percent.
    public mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// True with a probability in thousandths.
    public mutating func happens(permille: Int) -> Bool { below(1_000) < permille }

    /// One of the elements; there must be at least one.
    public mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// The index of one of the weights, with a probability in proportion to it.
    public mutating func pick(weights: [Double]) -> Int {
        var rest = fraction() * weights.reduce(0, +)
        for (index, weight) in weights.enumerated() {
            rest -= weight
            if rest < 0 { return index }
        }
        return weights.count - 1
    }
}

// MARK: Property tests

extension SeededGenerator {
    /// The seeds that properties are tested with: 10, or as many as `TIFFIN_TEST_SEEDS` says.
    public static let seeds: Range<UInt64> = {
        let count = getenv("TIFFIN_TEST_SEEDS").flatMap { UInt64(String(cString: $0)) }
        return 0..<max(1, count ?? 10)
    }()

    /// A value, or nil half of the time.
    public mutating func maybe<Value>(_ value: (inout SeededGenerator) -> Value) -> Value? {
        chance(50) ? value(&self) : nil
    }
}
