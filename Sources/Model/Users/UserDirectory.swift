public import Domain

/// A user who was added, changed or, where there is none, removed.
public struct UserChange: Sendable {
    /// Who.
    public let name: Identifier
    /// The user from now on; nil where it was removed.
    public let user: User?

    /// A change.
    public init(_ name: Identifier, _ user: User?) {
        self.name = name
        self.user = user
    }
}

/// All users, as far as a server knows.
public struct UserDirectory: Sendable {
    private var users: [Identifier: User] = [:]
    /// Whether a login is required to do anything: from the first user on. Removing the last user does not open a
    /// server that runs.
    public private(set) var requiresLogin = false

    /// No users.
    public init() {}

    /// How many users there are.
    public var count: Int { users.count }

    /// The user with that name, who may be disabled.
    public subscript(name: Identifier) -> User? { users[name] }

    /// Takes changes, and returns them with the removals that they imply.
    ///
    /// - Parameter isEverything: whether these are all users.
    @discardableResult
    public mutating func apply(_ changes: [UserChange], isEverything: Bool = false) -> [UserChange] {
        var changes = changes
        if isEverything {
            let named = Set(changes.map(\.name))
            changes += users.keys.filter { !named.contains($0) }.map { UserChange($0, nil) }
        }
        for change in changes {
            users[change.name] = change.user
            if change.user != nil { requiresLogin = true }
        }
        return changes
    }

    /// The confined customer, other than the one named, whose ids carry one of these or are carried by one: each could
    /// use what is the other's. Two users with the same id share it on purpose.
    public func overlap(of name: Identifier, _ grants: [Identifier]) -> (user: Identifier, id: Identifier)? {
        for user in users.values where user.name != name && user.role == .customer {
            for (own, other) in grants.flatMap({ own in user.grants.map { (own, $0) } }) where own != other {
                if own.isCarried(by: other) || other.isCarried(by: own) { return (user.name, other) }
            }
        }
        return nil
    }
}
