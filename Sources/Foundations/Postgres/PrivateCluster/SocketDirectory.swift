internal import EventLoop
internal import Foundation

/// The directory of PostgreSQL's socket, where only its account and root may write.
///
/// It lies in the cluster, which no other account can look into. If the path is too long for a socket, it lies in the
/// user's directory for such things, or in /tmp. There somebody may remove it and make one of their own in its place,
/// so it is looked at before each use.
@LoopActor
struct SocketDirectory {
    let path: String
    private let cluster: Cluster

    /// Makes a new one. The account makes it, so that it can only lie where the account may write.
    static func make(for cluster: Cluster) async throws(EmbeddedPostgresError) -> SocketDirectory {
        // Those of servers that were killed. None runs any more.
        try await run("rm -rf -- \"$1\"/socket.*", cluster.realPath, cluster)
        let parent = [cluster.realPath, runtimeDirectory(cluster)].compactMap(\.self).first(where: fits) ?? "/tmp"
        // Its name is random, and it is not taken from somebody else.
        let made = try await run(
            "umask 077 && mktemp -d \"$1/\(parent == "/tmp" ? "tiffin-" : "")socket.XXXXXX\"", parent, cluster)
        return SocketDirectory(path: made.trimmingCharacters(in: .newlines), cluster: cluster)
    }

    /// Empties it, or makes it again where it is gone.
    func renew() async throws(EmbeddedPostgresError) {
        try Self.check(path, of: cluster)
        try await Self.run("rm -rf -- \"$1\" && mkdir -m 700 -- \"$1\"", path, cluster)
    }

    /// Removes it, unless it is somebody else's by now.
    func remove() async {
        guard (try? Self.check(path, of: cluster)) != nil else { return }
        _ = try? await Self.run("rm -rf -- \"$1\"", path, cluster)
    }

    /// - Throws: if somebody else may have put the directory there.
    static func check(_ path: String, of cluster: Cluster) throws(EmbeddedPostgresError) {
        var information = stat()
        guard lstat(path, &information) == 0 else { return }
        let mode = information.st_mode
        guard mode & S_IFMT == S_IFDIR, mode & 0o022 == 0, [0, cluster.user].contains(information.st_uid) else {
            throw EmbeddedPostgresError(
                "\(path) is not used for PostgreSQL's socket, because somebody else may have put it there: it belongs "
                    + "to user \(information.st_uid) and has mode \(String(mode & 0o7777, radix: 8)), and has to be a "
                    + "directory in which only user \(cluster.user) may write. Remove it, and start Tiffin again")
        }
    }

    /// The user's directory for sockets, if PostgreSQL runs under the user's own account.
    private static func runtimeDirectory(_ cluster: Cluster) -> String? {
        guard cluster.account.other == nil, let path = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"],
            Files.exists(path), (try? check(path, of: cluster)) != nil
        else { return nil }
        return path
    }

    /// Whether a socket's path has room below a directory, and PostgreSQL's settings and addresses have no other use
    /// for a character of it.
    private static func fits(_ parent: String) -> Bool {
        let limit = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        return (parent + "/socket.XXXXXX/.s.PGSQL.5432").utf8.count < limit
            && parent.utf8.allSatisfy { byte in
                switch Unicode.Scalar(byte) {
                case "a"..."z", "A"..."Z", "0"..."9", "/", ".", "_", "-": true
                default: false
                }
            }
    }

    @discardableResult
    private static func run(
        _ script: String, _ path: String, _ cluster: Cluster
    ) async throws(EmbeddedPostgresError) -> String {
        let (status, output) = try await Tool.run("/bin/sh", ["-c", script, "sh", path], as: cluster.account)
        guard status.isSuccess else {
            throw EmbeddedPostgresError("there is no directory for PostgreSQL's socket: \(output)")
        }
        return output
    }
}
