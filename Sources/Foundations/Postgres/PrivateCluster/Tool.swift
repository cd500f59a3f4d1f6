internal import EventLoop
internal import Foundation

/// Runs small programs to their end.
@LoopActor
enum Tool {
    private static let outputLimit = 64 * 1024

    static func run(
        _ executable: String, _ arguments: [String], as account: ServerAccount? = nil
    ) async throws(EmbeddedPostgresError) -> (status: ChildProcess.ExitStatus, output: String) {
        var launch = launch(executable, arguments, as: account)
        launch.output = .capture(limit: outputLimit)
        launch.errors = .capture(limit: outputLimit)
        let process: ChildProcess
        do {
            process = try ChildProcess(launch)
        } catch {
            throw EmbeddedPostgresError(error.description)
        }
        let status = await process.exit
        return (status, String(decoding: process.outputBytes + process.errorBytes, as: UTF8.self))
    }

    /// A launch that does not depend on our environment: `PGDATA` and the like would mislead the program, and the
    /// account may have no access to our working directory.
    static func launch(
        _ executable: String, _ arguments: [String], as account: ServerAccount?
    ) -> ChildProcess.Launch {
        var launch = ChildProcess.Launch(executable, arguments)
        launch.environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "LC_ALL": "C",
        ]
        launch.workingDirectory = "/"
        launch.account = account?.other
        return launch
    }
}
