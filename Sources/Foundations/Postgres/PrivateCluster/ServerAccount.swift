internal import EventLoop
internal import Foundation

/// The account that PostgreSQL's programs run under.
struct ServerAccount: Sendable {
    /// The account to use when this process is root: PostgreSQL refuses to run as root.
    private static let name = "postgres"

    /// nil when it is this process's own.
    let other: ChildProcess.Launch.Account?
    let name: String

    static func current() throws(EmbeddedPostgresError) -> ServerAccount {
        guard geteuid() == 0 else { return ServerAccount(other: nil, name: NSUserName()) }
        guard let entry = getpwnam(name) else {
            throw EmbeddedPostgresError(
                "PostgreSQL does not run as root, and there is no account \(name) for it to run under: "
                    + "install the package postgresql, or start Tiffin as an ordinary user")
        }
        return ServerAccount(
            other: ChildProcess.Launch.Account(user: entry.pointee.pw_uid, group: entry.pointee.pw_gid),
            name: name)
    }

    /// Makes the account the owner of a file that this process has created.
    func own(_ path: String) throws(EmbeddedPostgresError) {
        guard let other else { return }
        guard chown(path, other.user, other.group) == 0 else { throw Files.failure("change the owner of \(path)") }
    }

    /// Asks the system itself, as the account; mode bits do not tell the whole story.
    @LoopActor
    func can(_ test: String, _ path: String) async throws(EmbeddedPostgresError) -> Bool {
        try await Tool.run("/bin/sh", ["-c", "test \(test) \"$1\"", "sh", path], as: self).status.isSuccess
    }
}
