internal import CLibSSL
public import Domain
internal import Foundation

/// Who a sealed text belongs to, and which cart it is on; for an order, the cart that it was made from.
public struct TextOwner: Hashable, Sendable {
    /// Who wrote it.
    public var customer: Identifier
    /// The cart.
    public var cart: Identifier

    /// A customer's texts on a cart.
    public init(customer: Identifier, cart: Identifier) {
        self.customer = customer
        self.cart = cart
    }
}

/// What a personal text is.
public enum TextKind: String, CaseIterable, Sendable {
    /// A note on a line.
    case note
    /// The name on an order.
    case name
    /// The number to call about an order.
    case phone
    /// Where to bring an order.
    case address
    /// Why an order was rejected or cancelled.
    case reason
}

/// A customer's key in one partition. Texts sealed with it can be read as long as the key exists, and never afterwards.
///
/// Texts are sealed by AES-256 in SIV mode (RFC 5297), as OpenSSL implements it. It is deterministic, so that the
/// same note is the same line of a cart, and the same call sent again is the same call. It reveals only which texts
/// of one customer on one cart are equal, and how long they are. A ciphertext opens only for its own owner and kind.
public struct SealingKey: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes of a key.
    public static let length = 64
    private static let tagLength = 16

    /// The key itself.
    public let bytes: [UInt8]

    /// A key of 64 bytes; nil if there are more or fewer.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == SealingKey.length else { return nil }
        self.bytes = Array(bytes)
    }

    /// A new random key.
    public static func random() -> SealingKey {
        var bytes = [UInt8](repeating: 0, count: length)
        precondition(RAND_priv_bytes(&bytes, Int32(length)) == 1, "OpenSSL has no random numbers")
        guard let key = SealingKey(bytes) else { preconditionFailure("a key of another length") }
        return key
    }

    /// Reveals nothing of the key, which must not get into a log by accident.
    public var description: String { "a key" }

    /// Seals a text.
    public func seal(_ text: Text, _ kind: TextKind, of owner: TextOwner) -> SealedText {
        let context = SealingKey.begin(encrypting: true, with: self, kind, owner)
        defer { EVP_CIPHER_CTX_free(context) }
        let plain = Array(text.utf8)
        var sealed = [UInt8](repeating: 0, count: SealingKey.tagLength + plain.count)
        let succeeded = sealed.withUnsafeMutableBufferPointer { out in
            var length: Int32 = 0
            guard let tag = out.baseAddress,
                EVP_CipherUpdate(context, tag + SealingKey.tagLength, &length, plain, Int32(plain.count)) == 1,
                EVP_CipherFinal_ex(context, tag + SealingKey.tagLength + Int(length), &length) == 1
            else { return false }
            return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(SealingKey.tagLength), tag) == 1
        }
        precondition(succeeded, "OpenSSL could not seal")
        return SealedText(ciphertext: Text(Data(sealed).base64EncodedString()))
    }

    /// The text; nil if it was not sealed with this key for this owner as this kind.
    public func open(_ text: SealedText, _ kind: TextKind, of owner: TextOwner) -> String? {
        guard let data = Data(base64Encoded: text.ciphertext.string), data.count > SealingKey.tagLength else {
            return nil
        }
        let sealed = Array(data)
        let context = SealingKey.begin(encrypting: false, with: self, kind, owner)
        defer { EVP_CIPHER_CTX_free(context) }
        var tag = Array(sealed.prefix(SealingKey.tagLength))
        let ciphertext = Array(sealed.dropFirst(SealingKey.tagLength))
        var plain = [UInt8](repeating: 0, count: ciphertext.count)
        var length: Int32 = 0
        guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1,
            EVP_CipherUpdate(context, &plain, &length, ciphertext, Int32(ciphertext.count)) == 1,
            Int(length) == plain.count
        else { return nil }
        return String(validating: plain, as: UTF8.self)
    }

    /// Begins with the data that binds the text to its place.
    private static func begin(
        encrypting: Bool, with key: SealingKey, _ kind: TextKind, _ owner: TextOwner
    ) -> OpaquePointer? {
        let context = EVP_CIPHER_CTX_new()
        precondition(
            EVP_CipherInit_ex2(context, siv.algorithm, key.bytes, nil, encrypting ? 1 : 0, nil) == 1,
            "OpenSSL has no AES-256-SIV")
        for text in [kind.rawValue, owner.customer.rawValue, owner.cart.rawValue] {
            let bytes = Array(text.utf8)
            var length: Int32 = 0
            precondition(
                EVP_CipherUpdate(context, nil, &length, bytes, Int32(bytes.count)) == 1, "OpenSSL could not bind a text"
            )
        }
        return context
    }

    // Fetched once, as the digest's algorithm is.
    private struct Algorithm: @unchecked Sendable {
        let algorithm: OpaquePointer?
    }
    private static let siv = Algorithm(algorithm: EVP_CIPHER_fetch(nil, "AES-256-SIV", nil))
}
