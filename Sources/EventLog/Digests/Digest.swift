internal import CLibCrypto

/// A SHA-256 digest.
public struct Digest: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes of a digest.
    public static let length = 32

    /// The bytes in place, not in an array: a log has a digest for each event. A `SIMD4` would take more room,
    /// because it is aligned to 32 bytes.
    private struct Words: Hashable {
        var first: UInt64 = 0
        var second: UInt64 = 0
        var third: UInt64 = 0
        var fourth: UInt64 = 0
    }

    private var words = Words()

    /// The 32 bytes.
    public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    /// Gives the 32 bytes to the body, without a copy of them.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        Swift.withUnsafeBytes(of: words, body)
    }

    /// 32 zero bytes: what the chain of a partition begins with.
    public static let zero = Digest()

    private init() {}

    /// The digest that the body writes into 32 bytes.
    init(writing body: (UnsafeMutablePointer<UInt8>) -> Void) {
        withUnsafeMutableBytes(of: &words) { words in words.withMemoryRebound(to: UInt8.self) { body($0.baseAddress!) }
        }
    }

    /// A digest of 32 bytes; nil if there are more or fewer.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Digest.length else { return nil }
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
    }

    /// The digest that ``description`` gave: 64 hexadecimal digits, in lower case. Nil for any other text.
    public init?(hexadecimal text: some StringProtocol) {
        guard text.utf8.count == 2 * Digest.length else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Digest.length)
        var high: UInt8?
        for character in text.utf8 {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        self.init(bytes)
    }

    /// The digest of some bytes.
    public static func of(_ bytes: [UInt8]) -> Digest {
        var digests = DigestMaker()
        bytes.withUnsafeBytes { digests.add($0) }
        return digests.finish()
    }

    /// In hexadecimal.
    public var description: String { bytes.hexadecimal }
}

/// Makes one digest after the other.
struct DigestMaker: ~Copyable {
    // The functions of OpenSSL that are used here always succeed.
    private var context = SHA256_CTX()

    init() { SHA256_Init(&context) }

    /// Adds bytes to the next digest's input.
    mutating func add(_ bytes: UnsafeRawBufferPointer) { SHA256_Update(&context, bytes.baseAddress, bytes.count) }

    /// The digest of what was added since the last one.
    mutating func finish() -> Digest {
        let digest = Digest { SHA256_Final($0, &context) }
        SHA256_Init(&context)
        return digest
    }
}

extension Collection<UInt8> {
    /// The bytes in hexadecimal, two lower-case digits each.
    public var hexadecimal: String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * count)
        func append(digit: UInt8) {
            text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
        for byte in self {
            append(digit: byte >> 4)
            append(digit: byte & 15)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
