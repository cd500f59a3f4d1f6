/// A hash that is the same in every process and on every machine: FNV-1a with 64 bits. It tells whether something has
/// changed, and is no defence against forgery.
public struct StableHash: Sendable {
    /// The hash of what was added so far.
    public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// A hash of nothing.
    public init() {}

    private static let prime: UInt64 = 0x100_0000_01B3

    private mutating func add(byte: UInt8) { value = (value ^ UInt64(byte)) &* StableHash.prime }

    /// Adds a text, so that two texts are not the same as one of both.
    public mutating func add(_ text: Text) {
        text.withBytes { for byte in $0 { add(byte: byte) } }
        // No byte of UTF-8.
        add(byte: 0xFF)
    }

    /// Adds a number: eight bytes, the lowest first.
    public mutating func add(_ number: Int64) {
        var rest = UInt64(bitPattern: number)
        var zeros = 8
        while rest > 0 {
            add(byte: UInt8(truncatingIfNeeded: rest))
            rest >>= 8
            zeros -= 1
        }
        // A byte of zero only multiplies, and most bytes of a number are zero.
        var power = StableHash.prime
        while zeros > 0 {
            if zeros & 1 == 1 { value &*= power }
            power &*= power
            zeros >>= 1
        }
    }

    /// The hash as 16 hexadecimal digits.
    public var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
