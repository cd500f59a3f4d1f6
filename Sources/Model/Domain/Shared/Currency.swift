/// A currency by its ISO 4217 code, such as `INR`.
///
/// It keeps the letters and no string: it is copied with every price, and has no references to count.
public struct Currency: Hashable, BitwiseCopyable, Sendable, CustomStringConvertible {
    /// A letter a byte, the first one uppermost.
    private let letters: UInt32

    /// A currency, or nil where the text is not three capital letters.
    public init?(_ code: String) {
        guard code.utf8.count == 3, code.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else { return nil }
        letters = code.utf8.reduce(0) { letters, letter in letters << 8 | UInt32(letter) }
    }

    /// The three-letter code.
    public var code: String {
        String(unsafeUninitializedCapacity: 3) { code in
            for (index, shift) in [16, 8, 0].enumerated() { code[index] = UInt8(truncatingIfNeeded: letters >> shift) }
            return 3
        }
    }

    /// The three-letter code.
    public var description: String { code }
}
