public import Domain
public import EventLog

/// Somebody who can log in.
public struct User: Sendable {
    /// The most tokens of a user.
    public static let maximumTokens = 16
    /// The most ids that a user may be confined to.
    public static let maximumGrants = 100

    /// What the user logs in as.
    public let name: Identifier
    /// What the user may do.
    public let role: Role
    /// What is kept of the password; nil where the user has none.
    public let password: PasswordHash?
    /// The digests of the tokens.
    public let tokens: [Digest]
    /// The ids that the user is confined to; empty where it is not.
    public let grants: [Identifier]
    /// Whether the user can log in.
    public let isEnabled: Bool
    /// The same ids, as what decides; nil where the user is not confined.
    public let confinement: Confinement?

    /// A user.
    public init(
        _ name: Identifier, role: Role, password: PasswordHash? = nil, tokens: [Digest] = [],
        grants: [Identifier] = [], isEnabled: Bool = true
    ) {
        self.name = name
        self.role = role
        self.password = password
        self.tokens = tokens
        self.grants = grants
        self.isEnabled = isEnabled
        confinement = grants.isEmpty ? nil : Confinement(role, grants)
    }

    /// Whether it is a token of this user, found in the same time whichever it is.
    public func has(_ token: Token) -> Bool {
        tokens.reduce(false) { found, digest in ConstantTime.equal(digest.bytes, token.digest.bytes) || found }
    }

    /// Why a user of that role cannot be confined to these ids; nil if it can.
    public static func problem(confining role: Role, to grants: [Identifier]) -> String? {
        if grants.isEmpty { return nil }
        guard role == .customer || role == .merchant else { return "only customers and merchants can be confined" }
        guard grants.count <= maximumGrants else { return "a user can be confined to at most \(maximumGrants) ids" }
        return nil
    }
}
