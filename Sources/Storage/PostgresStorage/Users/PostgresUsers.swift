// Users in PostgreSQL: how a server follows them, and how an operator changes them.

internal import Domain
internal import EventLog
package import EventLoop
internal import Postgres
package import Users

/// The users in the schema `tiffin` of a database, as a server follows them.
@LoopActor
package final class PostgresUsers {
    /// What has changed in the table.
    package struct Changes: Sendable {
        /// Who has changed.
        package var changes: [UserChange]
        /// Whether these are all users.
        package var isEverything: Bool
    }

    /// How often the table is looked at, in milliseconds.
    private static let interval: UInt64 = 200
    private static let patience = Duration.seconds(4)

    private let kept: KeptConnection
    /// The number of changes that are known; nil at first.
    private var revision: Int64?
    private var timer: LoopTimer?
    private var isReading = false

    /// The users in a migrated database.
    ///
    /// - Parameter report: learns that the database says nothing.
    package init(_ database: String, report: (@LoopActor (String) -> Void)? = nil) {
        kept = KeptConnection(
            database, name: "tiffin users", rights: .role("tiffin_server"),
            deadlines: KeptConnection.Deadlines(connecting: PostgresUsers.patience, answer: PostgresUsers.patience),
            report: report)
    }

    /// How its connection is, for `INFO`.
    package var connectionLine: (name: String, value: String) { kept.line }

    /// What has changed since the last call; at first, everybody. nil where nothing has.
    ///
    /// - Throws: also where the tables cannot be those of servers: without users, anybody may do anything.
    package func changes() async throws -> Changes? {
        guard let row = try await kept.execute(Statements.revision).first else { throw UserTableError.noRevision }
        let current: Int64 = row["revision"]
        guard current != revision else { return nil }
        // A database that was restored from a backup has an earlier number, and perhaps another past.
        let known = revision.flatMap { $0 < current ? $0 : nil }
        let rows = try await kept.execute(Statements.changed, [.int8(known ?? -1)])
        // One that is removed keeps its row.
        guard known != nil || current == 0 || !rows.isEmpty else {
            throw UserTableError(
                "tiffin.users is damaged: it has no row, and there were users. Restore it from a backup")
        }
        var changes: [UserChange] = []
        var newest = current
        for row in rows {
            newest = max(newest, row["revision"])
            guard let name = Identifier(row["name"] as String) else { continue }
            changes.append(UserChange(name, row["is_removed"] ? nil : User(row)))
        }
        revision = newest
        return Changes(changes: changes, isEverything: known == nil)
    }

    /// Calls a body with what has changed, soon after it has. While the database is away, nothing changes.
    package func follow(_ body: @escaping @LoopActor (Changes) -> Void) {
        timer = LoopTimer(milliseconds: PostgresUsers.interval, repeating: true) { [unowned self] in
            guard !isReading else { return }
            isReading = true
            LoopActor.task { [self] in
                defer { isReading = false }
                do {
                    if let changes = try await changes() { body(changes) }
                } catch {
                    // One that was lost is made anew anyway.
                    if (error as? PostgresError)?.kind != .connection { kept.close() }
                }
            }
        }
    }

    /// Follows no more.
    package func close() {
        timer?.cancel()
        timer = nil
        kept.close()
    }
}

extension User {
    /// The columns of a user that ``init(_:)`` reads.
    static let columns = "name, role, password, tokens, grants, enabled"

    /// The user in a row; nil where a newer version wrote a role that this one does not know. A hash that cannot be read
    /// is one that no password has.
    init?(_ row: Row) {
        let (role, grants): (String, [String]) = (row["role"], row["grants"])
        guard let name = Identifier(row["name"] as String),
            let role = Role.ofUsers.first(where: { $0.rawValue == role })
        else { return nil }
        let ids = grants.compactMap { Identifier($0) }
        self.init(
            name, role: role, password: (row["password"] as String?).flatMap { PasswordHash(encoded: $0) },
            tokens: (row["tokens"] as [[UInt8]]).compactMap { Digest($0) }, grants: ids,
            // A user confined to ids that cannot be read must not count as free.
            isEnabled: row["enabled"] && ids.count == grants.count)
    }
}

private enum Statements {
    static let revision = Statement("user_revision", "SELECT revision FROM tiffin.user_revision")

    static let changed = Statement(
        "changed_users",
        """
        SELECT \(User.columns), removed_at IS NOT NULL AS is_removed, revision
        FROM tiffin.users WHERE revision > $1
        """, [.int8])
}
