public import EventLog

/// What a program logs in with in place of a password: 256 random bits. They cannot be guessed, so a plain digest is
/// enough to recognise them.
public struct Token: Sendable {
    private static let prefix = "tiffin_"

    /// The token as its owner keeps it.
    public let text: String
    /// What the database keeps.
    public let digest: Digest

    /// A new token.
    public static func random() -> Token {
        let digits = PasswordHash.randomBytes(Digest.length).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
        return Token(text: prefix + digits.joined())
    }

    /// The token that was given as a password; nil where it has not the form of one.
    public init?(_ password: [UInt8]) {
        guard password.count == Token.prefix.utf8.count + 2 * Digest.length, password.starts(with: Token.prefix.utf8)
        else { return nil }
        self.init(text: String(decoding: password, as: UTF8.self))
    }

    private init(text: String) {
        self.text = text
        digest = Digest.of(Array(text.utf8))
    }

    /// What tells a user's tokens apart: the beginning of a digest.
    public static func name(of digest: Digest) -> String { String(digest.description.prefix(8)) }
}
