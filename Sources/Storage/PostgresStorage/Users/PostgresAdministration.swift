package import Domain
package import EventLog
package import EventLoop
internal import Postgres
package import Users

/// The users of a log and its relays, as a server lists both and changes users where an admin asks for it: with the rights
/// of the database's user, who has to own the schema.
@LoopActor
package final class PostgresAdministration {
    /// How long a database may say nothing.
    private static let silence = Duration.seconds(10)

    private let databases: LogDatabases
    private let report: @LoopActor (String) -> Void

    /// - Parameter report: learns the whole of each failure; errors say only what clients may know.
    package init(_ databases: LogDatabases, report: @escaping @LoopActor (String) -> Void) {
        self.databases = databases
        self.report = report
    }

    /// Every user, by name.
    package func users() async throws(AdministrationFailure) -> [ListedUser] { try await with { try await $0.all() } }

    /// Does something to a user, and records it in the log.
    ///
    /// - Parameter metadata: of the event that says so.
    package func perform(
        _ action: UserAction, on name: Identifier, for metadata: EventMetadata
    ) async throws(AdministrationFailure) {
        try await with(metadata) { table in
            switch action {
            case .add(let user): try await table.add(user)
            case .confine(let grants): try await table.grant(nil, grants, to: name)
            case .enable(let isEnabled): try await table.set(isEnabled: isEnabled, of: name)
            case .addToken(let token): try await table.add(token, to: name)
            case .remove: try await table.remove(name)
            }
        }
        do {
            try await PendingDeeds.deliver(in: databases, silence: PostgresAdministration.silence)
        } catch {
            // Servers see to it later.
            report("what was done to user '\(name)' is not recorded yet: \(error)")
        }
    }

    /// How far each relay is, by name and partition.
    package func relays() async throws(AdministrationFailure) -> [RelayPlace] {
        try await with { try await $0.relays() }
    }

    private func with<Result: Sendable>(
        _ metadata: EventMetadata = .none, _ body: @LoopActor (UserTable) async throws -> Result
    ) async throws(AdministrationFailure) -> Result {
        do {
            return try await UserTable.with(
                databases.first, for: metadata, silence: PostgresAdministration.silence, body)
        } catch let error as UserTableError {
            throw error.isUnknown ? .noUser(error.description) : .refused(error.description)
        } catch {
            report("users: \(error)")
            switch error as? PostgresError {
            case let error? where error.sqlState == .insufficientPrivilege:
                throw .unavailable("the server's database user may not change users: use `tiffin user`")
            case let error? where error.kind == .connection:
                throw .outcomeUnknown("the database cannot be reached; look at the list before you do it again")
            default: throw .unavailable("the database refused it")
            }
        }
    }
}
