internal import CLibCrypto

/// A SHA-256 digest.
public struct Digest: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes of a digest.
    public static let length = 32

    /// The 32 bytes.
    public let bytes: [UInt8]

    /// 32 zero bytes: what the chain of a partition begins with.
    public static let zero = Digest(uncheckedBytes: [UInt8](repeating: 0, count: length))

    /// A digest of 32 bytes, or nil where there are more or fewer.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Digest.length else { return nil }
        self.bytes = Array(bytes)
    }

    /// The digest that ``description`` gave, or nil where the text is none: 64 hexadecimal digits, in lower case.
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
        self.bytes = bytes
    }

    private init(uncheckedBytes: [UInt8]) { bytes = uncheckedBytes }

    /// The digest of some bytes.
    public static func of(_ bytes: [UInt8]) -> Digest {
        var result = [UInt8](repeating: 0, count: length)
        let succeeded = bytes.withUnsafeBytes { data in
            result.withUnsafeMutableBytes { out in
                EVP_Digest(data.baseAddress, data.count, out.baseAddress, nil, sha256.algorithm, nil)
            }
        }
        precondition(succeeded == 1, "OpenSSL has no SHA-256")
        return Digest(uncheckedBytes: result)
    }

    /// In hexadecimal.
    public var description: String { bytes.hexadecimal }

    // OpenSSL looks an algorithm up at each use unless it was fetched before; it is never freed, and OpenSSL
    // lets any thread use it.
    private struct Algorithm: @unchecked Sendable {
        let algorithm: OpaquePointer?
    }
    private static let sha256 = Algorithm(algorithm: EVP_MD_fetch(nil, "SHA256", nil))
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
