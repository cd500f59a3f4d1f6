/// What a customer wrote for people to read.
public enum PersonalText: Hashable, Sendable {
    /// Without an owner: anybody may read it, for as long as the log exists.
    case plain(Text)
    /// Encrypted with a customer's key.
    case sealed(SealedText)

    /// Whether a cart or order with that owner, or with none, may hold the text.
    static func isAllowed(_ text: PersonalText?, of customer: Identifier?) -> Bool {
        switch text {
        case nil: true
        case .plain: customer == nil
        case .sealed: customer != nil
        }
    }
}

/// A customer's text under a key of theirs.
///
/// Texts are encrypted and decrypted outside the domain, which has no keys and only compares ciphertexts. The same text
/// of the same customer always has the same ciphertext within a cart.
public struct SealedText: Hashable, Sendable {
    /// The ciphertext in base64.
    public let ciphertext: Text

    /// A text that was sealed.
    public init(ciphertext: Text) {
        self.ciphertext = ciphertext
    }
}
