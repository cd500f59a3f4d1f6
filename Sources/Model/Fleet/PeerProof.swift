internal import CLibSSL
internal import EventLog

/// How two servers prove to each other that they read the same database, before one carries out the other's calls.
///
/// The caller sends a nonce; the callee answers with its own and with a proof; the caller answers with another. A proof is
/// the HMAC-SHA256 of both nonces with the callee's secret, which only servers can read. With TLS it is bound to the
/// connection: whoever sits between two servers cannot pass proofs on.
public struct PeerProof: Sendable {
    /// Whose proof it is.
    public enum Side: String, Sendable {
        case caller, callee
    }

    /// The most characters that a nonce may have.
    public static let maximumNonceLength = 128

    private let secret: [UInt8]
    private let binding: [UInt8]
    /// What each side has chosen by chance.
    public var nonces = (caller: "", callee: "")

    /// - Parameters:
    ///   - secret: the callee's.
    ///   - binding: what only the two ends of the connection know; empty without TLS.
    public init(secret: [UInt8], binding: [UInt8]) {
        self.secret = secret
        self.binding = binding
    }

    /// A secret by chance.
    public static func newSecret() -> [UInt8] { (0..<32).map { _ in .random(in: 0 ... .max) } }

    /// A nonce by chance.
    public static func nonce() -> String { ServerID.random().text }

    /// A side's proof, in hexadecimal.
    public func text(of side: Side) -> String {
        // Every part has a length that no part of another message can take on.
        let parts = [side.rawValue, nonces.caller, nonces.callee].map { "\($0.utf8.count):\($0)" }.joined()
        let message = Array(parts.utf8) + binding
        var code = [UInt8](repeating: 0, count: 32)
        let made = HMAC(EVP_sha256(), secret, Int32(secret.count), message, message.count, &code, nil)
        precondition(made != nil, "OpenSSL has no SHA-256")
        return code.hexadecimal
    }

    /// Whether a text is a side's proof. It takes as long wherever it differs.
    public func isRight(_ text: String, of side: Side) -> Bool {
        let (given, right) = (Array(text.utf8), Array(self.text(of: side).utf8))
        return given.count == right.count && CRYPTO_memcmp(given, right, right.count) == 0
    }
}
