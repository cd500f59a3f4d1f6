internal import EventLoop
internal import Foundation

/// Directories that are removed soon after the test process ends.
package enum TemporaryDirectory {
    /// Makes a directory that only this account can enter, or, `openToAll`, every account.
    package static func make(openToAll: Bool) throws -> String {
        // Short, as the path of a socket in it has at most 107 bytes.
        let name = "tiffin-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        let path = FileManager.default.temporaryDirectory.appending(path: name).path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false,
            attributes: [.posixPermissions: openToAll ? 0o755 : 0o700])
        return path
    }

    /// Leaves the removal to a shell that notices the end of this process, however it ends, and then waits for the
    /// PostgreSQL inside, which also notices it.
    @LoopActor
    package static func removeAtExit(_ path: String) throws {
        let script = """
            read -r line
            for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
                [ -e "$1/postgres/postmaster.pid" ] || break
                sleep 0.5
            done
            rm -rf "$(readlink "$1/postgres")" "$1"
            """
        var launch = ChildProcess.Launch("/bin/sh", ["-c", script, "sh", path])
        launch.newSession = true
        launch.input = .pipe
        // If it held the test's own outputs open, it would keep their readers waiting.
        launch.output = .none
        launch.errors = .none
        _ = try ChildProcess(launch)
    }
}
