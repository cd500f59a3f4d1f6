internal import CLibSSL

/// A private key that signs by Ed25519 (RFC 8032), as OpenSSL implements it.
public struct SigningKey: Sendable, CustomStringConvertible {
    private static let seedLength = 32
    static let publicLength = 32
    static let signatureLength = 64

    private let seed: [UInt8]
    /// The public key, 32 bytes.
    public let publicKey: [UInt8]

    private init?(seed: [UInt8]) {
        guard seed.count == SigningKey.seedLength,
            let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
        else { return nil }
        defer { EVP_PKEY_free(key) }
        var (publicKey, length) = ([UInt8](repeating: 0, count: SigningKey.publicLength), SigningKey.publicLength)
        guard EVP_PKEY_get_raw_public_key(key, &publicKey, &length) == 1 else { return nil }
        self.seed = seed
        self.publicKey = publicKey
    }

    /// A new random key.
    public static func random() -> SigningKey {
        var seed = [UInt8](repeating: 0, count: seedLength)
        precondition(RAND_priv_bytes(&seed, Int32(seedLength)) == 1, "OpenSSL has no random numbers")
        guard let key = SigningKey(seed: seed) else { preconditionFailure("OpenSSL makes no key of a seed") }
        return key
    }

    /// Reveals nothing of the key, which must not get into a log by accident.
    public var description: String { "a key" }

    /// The Ed25519 signature of a message, 64 bytes.
    public func sign(_ message: [UInt8]) -> [UInt8] {
        var (signature, length) = ([UInt8](repeating: 0, count: SigningKey.signatureLength), SigningKey.signatureLength)
        let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
        let context = EVP_MD_CTX_new()
        defer {
            EVP_MD_CTX_free(context)
            EVP_PKEY_free(key)
        }
        precondition(
            EVP_DigestSignInit(context, nil, nil, nil, key) == 1
                && EVP_DigestSign(context, &signature, &length, message, message.count) == 1, "OpenSSL could not sign")
        return signature
    }

    /// Whether a signature is one of a message, by whoever has the private key of a public one.
    static func isSignature(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
        let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, publicKey, publicKey.count)
        let context = EVP_MD_CTX_new()
        defer {
            EVP_MD_CTX_free(context)
            EVP_PKEY_free(key)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    // MARK: PEM

    /// The Ed25519 key of a text in PEM, as `openssl genpkey -algorithm ed25519` makes it; nil if it has none, or has a
    /// password.
    public init?(pem: [UInt8]) {
        let input = BIO_new_mem_buf(pem, Int32(clamping: pem.count))
        // Without the function OpenSSL asks whoever sits at the terminal for a password.
        let key = PEM_read_bio_PrivateKey(input, nil, { _, _, _, _ in -1 }, nil)
        defer {
            EVP_PKEY_free(key)
            BIO_free(input)
            ERR_clear_error()
        }
        guard key != nil, EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 else { return nil }
        var (seed, length) = ([UInt8](repeating: 0, count: SigningKey.seedLength), SigningKey.seedLength)
        guard EVP_PKEY_get_raw_private_key(key, &seed, &length) == 1 else { return nil }
        self.init(seed: seed)
    }

    /// The key in PEM, without a password.
    public var pem: [UInt8] {
        let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
        let output = BIO_new(BIO_s_mem())
        defer {
            BIO_free(output)
            EVP_PKEY_free(key)
        }
        precondition(
            PEM_write_bio_PrivateKey(output, key, nil, nil, 0, nil, nil) == 1, "OpenSSL could not write a key")
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(output))
        let length = BIO_read(output, &bytes, Int32(bytes.count))
        precondition(length == bytes.count, "OpenSSL lost a key that it has written")
        return bytes
    }
}
