internal import CLibSSL

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
    public static func of(_ bytes: [UInt8]) -> Digest { bytes.withUnsafeBytes(of) }

    /// The digest of some bytes.
    public static func of(_ bytes: UnsafeRawBufferPointer) -> Digest {
        Digest { digest in
            let succeeded = EVP_Digest(bytes.baseAddress, bytes.count, digest, nil, sha256.algorithm, nil)
            precondition(succeeded == 1, noAlgorithm)
        }
    }

    fileprivate static let noAlgorithm = "OpenSSL has no SHA-256"

    /// In hexadecimal.
    public var description: String { bytes.hexadecimal }

    // OpenSSL looks an algorithm up at each use unless it was fetched before. This one is never freed, and OpenSSL
    // lets any thread use it.
    fileprivate struct Algorithm: @unchecked Sendable {
        let algorithm: OpaquePointer?
    }
    fileprivate static let sha256 = Algorithm(algorithm: EVP_MD_fetch(nil, "SHA256", nil))
}

/// Makes one digest after the other, and saves the cost of beginning each by itself.
struct DigestMaker: ~Copyable {
    private let context: OpaquePointer

    init() {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("OpenSSL has no memory") }
        self.context = context
        begin(Digest.sha256.algorithm)
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Without an algorithm, begins with the one of before, and keeps its memory.
    private func begin(_ algorithm: OpaquePointer? = nil) {
        let succeeded = EVP_DigestInit_ex2(context, algorithm, nil)
        precondition(succeeded == 1, Digest.noAlgorithm)
    }

    /// Adds bytes to the next digest's input.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        let succeeded = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        precondition(succeeded == 1, Digest.noAlgorithm)
    }

    /// The digest of what was added since the last one.
    mutating func finish() -> Digest {
        let digest = Digest { digest in
            let succeeded = EVP_DigestFinal_ex(context, digest, nil)
            precondition(succeeded == 1, Digest.noAlgorithm)
        }
        begin()
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
