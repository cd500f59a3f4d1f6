/// What a customer wrote for people to read.
public enum PersonalText: Hashable, Sendable {
    /// Of nobody in particular: anybody may read it, for as long as there is a log.
    case plain(String)
    /// Of a customer.
    case sealed(SealedText)

    /// Whether such a text can stand in a cart or order of that customer, or of nobody.
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
/// Texts are sealed and opened outside the domain, which knows no keys: here it counts alone whether two are the
/// same. One text of one customer is the same ciphertext wherever it stands in a cart.
public struct SealedText: Hashable, Sendable {
    /// The ciphertext in base64.
    public let ciphertext: String

    /// A text that was sealed.
    public init(ciphertext: String) {
        self.ciphertext = ciphertext
    }
}
