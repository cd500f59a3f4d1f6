public import Domain

/// What an admin does to a user.
public enum UserAction: Sendable {
    /// Adds it.
    case add(User)
    /// Confines it to these ids; to none where it is free.
    case confine([Identifier])
    /// Lets it log in, or not.
    case enable(Bool)
    /// Gives it another token.
    case addToken(Token)
    /// Removes it, with everything that it could log in with.
    case remove
}

/// A user, as an admin sees it.
public struct ListedUser: Sendable {
    /// The user.
    public let user: User
    /// When it was added.
    public let addedAt: Timestamp

    /// A user that was added at a time.
    public init(_ user: User, addedAt: Timestamp) {
        self.user = user
        self.addedAt = addedAt
    }
}

/// Why nothing was read or changed for an admin. It has nothing that one could log in with.
public enum AdministrationFailure: Error {
    /// There is no such user.
    case noUser(String)
    /// It may not be so.
    case refused(String)
    /// Nothing was changed.
    case unavailable(String)
    /// Nobody knows whether something was changed.
    case outcomeUnknown(String)
}
