public import Domain

/// The hash slot of a key, as in Redis Cluster: its CRC16, modulo 16,384. Where something stands between a key's first
/// `{` and the next `}`, only that counts, so that clients can give several keys the same slot.
public struct HashSlot: Equatable, Sendable {
    /// How many slots there are.
    public static let count = 16_384

    /// From 0.
    public let number: Int

    /// The slot of a number from 0.
    public init(number: Int) { self.number = number }

    /// The slot of a key.
    public init(of key: UnsafeRawBufferPointer) {
        number = Int(CRC16.checksum(of: HashSlot.tag(of: key))) % HashSlot.count
    }

    /// The slot of what has this id.
    public init(of id: Identifier) { self = id.withBytes { HashSlot(of: $0) } }

    // MARK: Leading a text to a slot

    private static let suffixLength = 4
    private static let digits = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)

    /// By the slot that they have, the first four digits and small letters, in their order, that have it: one in each
    /// byte.
    private static let suffixes: [UInt32] = {
        var suffixes = [UInt32](repeating: 0, count: count)
        var missing = count
        func extend(_ suffix: UInt32, _ checksum: UInt16, by length: Int) {
            for digit in digits where missing > 0 {
                let (suffix, checksum) = (suffix << 8 | UInt32(digit), CRC16.appending(checksum, digit))
                let slot = Int(checksum) % count
                if length > 1 {
                    extend(suffix, checksum, by: length - 1)
                } else if suffixes[slot] == 0 {
                    suffixes[slot] = suffix
                    missing -= 1
                }
            }
        }
        extend(0, 0, by: suffixLength)
        precondition(missing == 0, "a slot that four characters do not lead to")
        return suffixes
    }()

    /// Four digits and small letters. A text without braces that ends in them has this slot.
    ///
    /// CRC16 is linear: the checksum of text and suffix is that of the suffix, XOR that of the text with four zero bytes
    /// in place of the suffix.
    func suffix(for text: String) -> String {
        let rest = CRC16.checksum(of: Array(text.utf8) + [UInt8](repeating: 0, count: HashSlot.suffixLength))
        return withUnsafeBytes(of: HashSlot.suffixes[number ^ Int(rest) % HashSlot.count].bigEndian) {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// The part of a key that counts.
    private static func tag(of key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard let open = key.firstIndex(of: UInt8(ascii: "{")) else { return key }
        let rest = key[(open + 1)...]
        guard let close = rest.firstIndex(of: UInt8(ascii: "}")), close > rest.startIndex else { return key }
        return UnsafeRawBufferPointer(rebasing: rest[..<close])
    }
}

/// CRC-16/XMODEM: the polynomial 0x1021, beginning with 0, the highest bit first.
enum CRC16 {
    private static let table: [UInt16] = (0..<256).map { byte in
        (0..<8).reduce(UInt16(byte) << 8) { value, _ in value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x1021 }
    }

    static func checksum(of bytes: some Sequence<UInt8>) -> UInt16 { bytes.reduce(0, appending) }

    /// The checksum of what had that checksum, with another byte behind it.
    static func appending(_ checksum: UInt16, _ byte: UInt8) -> UInt16 {
        checksum << 8 ^ table[Int(UInt8(truncatingIfNeeded: checksum >> 8) ^ byte)]
    }
}
