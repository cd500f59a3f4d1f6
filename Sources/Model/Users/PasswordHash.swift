internal import CLibSSL
internal import Foundation

/// What is kept of a password: it can be recognised by it, and found only by trying, where every try costs as much
/// memory and time as a login.
///
/// scrypt (RFC 7914), written with its cost and salt in one string: `$scrypt$ln=15,r=8,p=1$salt$key`. So the cost can
/// be raised for new passwords while old ones still work.
public struct PasswordHash: Hashable, Sendable {
    /// How many bytes a password may have.
    public static let passwordLength = 8...1_024

    private static let logarithm = 15
    private static let blockSize = 8
    private static let lanes = 1
    private static let saltLength = 16
    private static let keyLength = 32
    /// The most memory that one check takes: a stored hash that asks for more matches nothing.
    private static let maximumMemory = 256 << 20

    private let logarithm: Int
    private let blockSize: Int
    private let lanes: Int
    private let salt: [UInt8]
    private let key: [UInt8]

    /// Hashes a password. Takes a tenth of a second, and 32 MB.
    public init(of password: [UInt8]) {
        (logarithm, blockSize, lanes) = (PasswordHash.logarithm, PasswordHash.blockSize, PasswordHash.lanes)
        salt = PasswordHash.randomBytes(PasswordHash.saltLength)
        guard let key = PasswordHash.key(of: password, salt, logarithm, blockSize, lanes, PasswordHash.keyLength) else {
            preconditionFailure("OpenSSL has no scrypt, or no memory")
        }
        self.key = key
    }

    /// A hash that no password has: with it, a login of somebody unknown takes as long as any other.
    public static let ofNobody = PasswordHash()

    private init() {
        (logarithm, blockSize, lanes) = (PasswordHash.logarithm, PasswordHash.blockSize, PasswordHash.lanes)
        salt = PasswordHash.randomBytes(PasswordHash.saltLength)
        key = PasswordHash.randomBytes(PasswordHash.keyLength)
    }

    /// Whether it is the password. Takes as long as hashing it.
    public func matches(_ password: [UInt8]) -> Bool {
        guard let key = PasswordHash.key(of: password, salt, logarithm, blockSize, lanes, key.count) else {
            return false
        }
        // To scrypt, zeros at the end of a short password make no difference.
        return ConstantTime.equal(key, self.key) && !password.contains(0)
    }

    // MARK: As text

    /// The hash as it is stored.
    public var encoded: String {
        "$scrypt$ln=\(logarithm),r=\(blockSize),p=\(lanes)$\(PasswordHash.base64(salt))$\(PasswordHash.base64(key))"
    }

    /// A stored hash; nil where the text is none, or asks for too much.
    public init?(encoded: String) {
        let parts = encoded.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt" else { return nil }
        let cost = parts[2].split(separator: ",").map { $0.split(separator: "=").map(String.init) }
        guard cost.map(\.first) == ["ln", "r", "p"], cost.allSatisfy({ $0.count == 2 }),
            let logarithm = Int(cost[0][1]), let blockSize = Int(cost[1][1]), let lanes = Int(cost[2][1]),
            (1...24).contains(logarithm), (1...64).contains(blockSize), (1...16).contains(lanes),
            128 * blockSize << logarithm <= PasswordHash.maximumMemory,
            let salt = PasswordHash.bytes(base64: parts[3]), let key = PasswordHash.bytes(base64: parts[4]),
            (8...64).contains(salt.count), (16...64).contains(key.count)
        else { return nil }
        (self.logarithm, self.blockSize, self.lanes, self.salt, self.key) = (logarithm, blockSize, lanes, salt, key)
    }

    // Without padding, as such strings have it everywhere.
    private static func base64(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("=", with: "")
    }

    private static func bytes(base64 text: Substring) -> [UInt8]? {
        Data(base64Encoded: text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)).map { Array($0) }
    }

    // MARK: scrypt

    private static func key(
        of password: [UInt8], _ salt: [UInt8], _ logarithm: Int, _ blockSize: Int, _ lanes: Int, _ length: Int
    ) -> [UInt8]? {
        var key = [UInt8](repeating: 0, count: length)
        let succeeded = password.withUnsafeBytes { password in
            EVP_PBE_scrypt(
                // Even an empty password needs an address.
                password.assumingMemoryBound(to: CChar.self).baseAddress, password.count, salt, salt.count,
                1 << UInt64(logarithm), UInt64(blockSize), UInt64(lanes), UInt64(maximumMemory + (1 << 20)), &key,
                length)
        }
        return succeeded == 1 ? key : nil
    }

    static func randomBytes(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in .random(in: 0 ... .max, using: &random) }
    }
}

/// Comparisons that take the same time wherever the difference is.
enum ConstantTime {
    static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
    }
}

/// A digest that only this process can make: reading its memory later reveals no password.
struct KeyedDigest {
    private let key = PasswordHash.randomBytes(32)

    func of(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let made = HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &digest, nil)
        precondition(made != nil, "OpenSSL has no SHA-256")
        return digest
    }
}
