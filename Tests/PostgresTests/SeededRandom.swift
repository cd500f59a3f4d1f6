/// SplitMix64: the same values for the same seed, everywhere.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Up to 40 characters of 1 to 4 bytes in UTF-8, without the NUL that PostgreSQL does not store.
    mutating func text() -> String {
        let ranges: [ClosedRange<UInt32>] = [0x01...0x7F, 0x80...0x7FF, 0xE000...0xFFFF, 0x1F300...0x1F5FF]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...40, using: &self) {
            let range = ranges.randomElement(using: &self)!
            text.append(Unicode.Scalar(UInt32.random(in: range, using: &self))!)
        }
        return String(text)
    }

    /// Up to 300 bytes.
    mutating func bytes() -> [UInt8] {
        (0..<Int.random(in: 0...300, using: &self)).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }
}
