package import Domain
package import EventLog
package import EventLoop
internal import Postgres
package import Users

/// The table of users, as an operator reads and changes it: with the rights of the account that owns the schema.
///
/// Servers learn of a change within a second. Each is recorded in the log, in the same transaction.
@LoopActor
package struct UserTable {
    private let connection: PostgresConnection
    private let metadata: EventMetadata

    /// Runs a body with the table in a database.
    ///
    /// - Parameters:
    ///   - metadata: of the events that record the changes.
    ///   - silence: how long the database may say nothing; nil for as long as it takes.
    package static func with<Result: Sendable>(
        _ database: String, for metadata: EventMetadata = .none, silence: Duration? = nil,
        _ body: @LoopActor (UserTable) async throws -> Result
    ) async throws -> Result {
        let connection = try await PostgresConnection.connect(
            database, applicationName: "tiffin user",
            connectTimeout: (silence == nil ? KeptConnection.Deadlines.none : .background).connecting)
        defer { connection.close() }
        connection.answerDeadline = silence
        return try await body(UserTable(connection: connection, metadata: metadata))
    }

    /// Every user, by name.
    package func all() async throws -> [ListedUser] {
        try await connection.execute(Statements.all).compactMap { row in
            User(row).map { ListedUser($0, addedAt: row["created_at"]) }
        }
    }

    /// How far each relay is, by name and partition.
    package func relays() async throws -> [RelayPlace] {
        try await connection.execute(Statements.relays).compactMap { row in
            guard let name = Identifier(row["relay"] as String) else { return nil }
            let reason: String? = row["failure"]
            return RelayPlace(
                name, partition: row["partition"], position: row["position"], heldBack: row["held_back"],
                setAside: row["set_aside"],
                failure: reason.map { (reason: $0, at: row["failed_at"]) })
        }
    }

    /// Adds a user.
    package func add(_ user: User) async throws {
        try await change(user.name, "added") { transaction, revision in
            try await check(user.name, user.role, user.grants, transaction)
            let rows = try await transaction.execute(
                Statements.add,
                [
                    .text(user.name.rawValue), .text(user.role.rawValue),
                    user.password.map { .text($0.encoded) } ?? .null,
                    .array(user.tokens.map(\.bytes)), .array(user.grants.map(\.rawValue)), .bool(user.isEnabled),
                    .int8(revision),
                ])
            guard rows.affectedCount == 1 else { throw UserTableError("there is a user '\(user.name)' already") }
        }
    }

    /// Removes a user, with everything that it could log in with.
    package func remove(_ name: Identifier) async throws {
        try await change(name, "removed") { try await execute(Statements.remove, name, [], $0, $1) }
    }

    /// Sets a user's password.
    package func set(_ password: PasswordHash, of name: Identifier) async throws {
        try await change(name, "password") {
            try await execute(Statements.password, name, [.text(password.encoded)], $0, $1)
        }
    }

    /// Lets a user log in, or not.
    package func set(isEnabled: Bool, of name: Identifier) async throws {
        try await change(name, isEnabled ? "enabled" : "disabled") {
            try await execute(Statements.enable, name, [.bool(isEnabled)], $0, $1)
        }
    }

    /// Sets the role of a user, and what it is confined to; nil for what stays as it is.
    package func grant(_ role: Role?, _ grants: [Identifier]?, to name: Identifier) async throws {
        try await change(name, "grants") { transaction, revision in
            let before = try await user(name, transaction)
            let (role, grants) = (role ?? before.role, grants ?? before.grants)
            try await check(name, role, grants, transaction)
            try await execute(
                Statements.grant, name, [.text(role.rawValue), .array(grants.map(\.rawValue))], transaction, revision)
        }
    }

    /// Gives a user another token.
    package func add(_ token: Token, to name: Identifier) async throws {
        try await change(name, "token added") { transaction, revision in
            guard try await user(name, transaction).tokens.count < User.maximumTokens else {
                throw UserTableError("'\(name)' has \(User.maximumTokens) tokens; revoke one with --revoke")
            }
            try await execute(Statements.addToken, name, [.bytes(token.digest.bytes)], transaction, revision)
        }
    }

    /// Takes a token from a user, by what ``Token/name(of:)`` says; nil for all of them. Returns how many.
    package func revoke(_ token: String?, of name: Identifier) async throws -> Int {
        try await change(name, "tokens revoked") { transaction, revision in
            let tokens = try await user(name, transaction).tokens
            let kept = token.map { token in tokens.filter { Token.name(of: $0) != token } } ?? []
            guard kept.count < tokens.count else {
                throw UserTableError("'\(name)' has no \(token.map { "token \($0)" } ?? "tokens")")
            }
            try await execute(Statements.setTokens, name, [.array(kept.map(\.bytes))], transaction, revision)
            return tokens.count - kept.count
        }
    }

    // MARK: Changes

    /// Makes one change, under the next number, and records what the user is then.
    ///
    /// - Parameter what: what is changed, in a word or two.
    private func change<Result: Sendable>(
        _ name: Identifier, _ what: Text, _ body: @LoopActor (Transaction, _ revision: Int64) async throws -> Result
    ) async throws -> Result {
        try await connection.transaction { transaction in
            let next = try await transaction.execute(Statements.next)
            guard let row = next.first else { throw UserTableError.noRevision }
            let result = try await body(transaction, row["revision"])
            let rows = try await transaction.execute(Statements.one, [.text(name.rawValue)])
            let deed = rows.first.flatMap { User($0) }.map { user in
                Deed.Event.userPut(
                    Deed.User(
                        role: Text(user.role.rawValue), grants: user.grants, isEnabled: user.isEnabled, change: what))
            }
            try await DeedRecorder.record([(name, deed ?? .userRemoved)], metadata, in: transaction)
            return result
        }
    }

    private func execute(
        _ statement: Statement, _ name: Identifier, _ parameters: [Parameter], _ transaction: Transaction,
        _ revision: Int64
    ) async throws {
        let rows = try await transaction.execute(
            statement, [.text(name.rawValue), .int8(revision)] + parameters)
        guard rows.affectedCount == 1 else { throw UserTableError.unknown(name) }
    }

    private func user(_ name: Identifier, _ transaction: Transaction) async throws -> User {
        let rows = try await transaction.execute(Statements.one, [.text(name.rawValue)])
        guard let user = rows.first.flatMap({ User($0) }) else { throw UserTableError.unknown(name) }
        return user
    }

    /// Refuses ids that a user of this role cannot be confined to, or that would let two customers use what is the
    /// other's.
    private func check(
        _ name: Identifier, _ role: Role, _ grants: [Identifier], _ transaction: Transaction
    ) async throws {
        if let problem = User.problem(confining: role, to: grants) { throw UserTableError(problem) }
        guard role == .customer, !grants.isEmpty else { return }
        var others = UserDirectory()
        for row in try await transaction.execute(Statements.confined) {
            guard let other = Identifier(row["name"] as String) else { continue }
            let grants = (row["grants"] as [String]).compactMap { Identifier($0) }
            let user = User(other, role: .customer, grants: grants)
            others.apply([UserChange(other, user)])
        }
        guard let overlap = others.overlap(of: name, grants) else { return }
        throw UserTableError(
            "'\(overlap.user)' is confined to '\(overlap.id)': one of the two could use what is the other's")
    }
}

/// Why a user was not changed.
package struct UserTableError: Error, CustomStringConvertible {
    /// What is wrong.
    package let description: String
    /// Whether there is no such user.
    let isUnknown: Bool

    init(_ description: String, isUnknown: Bool = false) {
        self.description = description
        self.isUnknown = isUnknown
    }

    static let noRevision = UserTableError(
        "tiffin.user_revision is damaged: it has no row. Restore it from a backup")

    static func unknown(_ name: Identifier) -> UserTableError {
        UserTableError("there is no user '\(name)'", isUnknown: true)
    }
}

private enum Statements {
    static let all = Statement(
        "all_users",
        """
        SELECT \(User.columns), created_at FROM tiffin.users
        WHERE removed_at IS NULL ORDER BY name
        """)

    static let relays = Statement(
        "relay_places",
        """
        SELECT c.relay, c.partition, c.position, c.failure, c.failed_at,
            count(d.*) FILTER (WHERE d.set_aside_at IS NULL) AS held_back, count(d.set_aside_at) AS set_aside
        FROM tiffin.relay_cursors AS c LEFT JOIN tiffin.relay_deliveries AS d USING (relay, partition)
        GROUP BY c.relay, c.partition ORDER BY c.relay, c.partition
        """)

    static let one = Statement(
        "one_user",
        "SELECT \(User.columns) FROM tiffin.users WHERE name = $1 AND removed_at IS NULL",
        [.text])

    static let confined = Statement(
        "confined_customers",
        "SELECT name, grants FROM tiffin.users WHERE role = 'customer' AND grants <> '{}' AND removed_at IS NULL")

    static let next = Statement(
        "next_revision", "UPDATE tiffin.user_revision SET revision = revision + 1 RETURNING revision")

    // In the place of a removed user of that name, if there was one.
    static let add = Statement(
        "add_user",
        """
        INSERT INTO tiffin.users (name, role, password, tokens, grants, enabled, created_at, revision)
        VALUES ($1, $2, $3, $4, $5, $6, now(), $7)
        ON CONFLICT (name) DO UPDATE SET role = excluded.role, password = excluded.password, tokens = excluded.tokens,
            grants = excluded.grants, enabled = excluded.enabled, created_at = excluded.created_at, removed_at = NULL,
            revision = excluded.revision
        WHERE users.removed_at IS NOT NULL
        """, [.text, .text, .text, .byteaArray, .textArray, .bool, .int8])

    static let remove = change("remove_user", "removed_at = now(), enabled = false, password = NULL, tokens = '{}'", [])
    static let password = change("set_password", "password = $3", [.text])
    static let enable = change("enable_user", "enabled = $3", [.bool])
    static let grant = change("grant_user", "role = $3, grants = $4", [.text, .textArray])
    static let addToken = change("add_token", "tokens = array_append(tokens, $3)", [.bytea])
    static let setTokens = change("set_tokens", "tokens = $3", [.byteaArray])

    private static func change(_ name: String, _ assignments: String, _ types: [PostgresType]) -> Statement {
        Statement(
            name, "UPDATE tiffin.users SET revision = $2, \(assignments) WHERE name = $1 AND removed_at IS NULL",
            [.text, .int8] + types)
    }
}
