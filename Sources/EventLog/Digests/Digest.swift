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
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
