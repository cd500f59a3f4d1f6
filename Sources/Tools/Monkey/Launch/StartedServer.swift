internal import EventLoop
internal import Foundation
internal import LineProtocol

/// A server that the monkey started, with its own database in a temporary folder. Both are gone when it stops.
@LoopActor
final class StartedServer {
    /// How long it may take to listen, and to end, in seconds.
    private static let startSeconds = 60.0
    private static let stopSeconds = 30.0
    private static let outputLimit = 1 << 16
    private static let announcement = "listening on "

    private(set) var address = ServerAddress(host: "127.0.0.1", port: 0)
    private let executable: String
    private let folder: URL
    private var process: ChildProcess?

    private init(executable: String, folder: URL) {
        self.executable = executable
        self.folder = folder
    }

    /// Starts a server and waits until it listens.
    ///
    /// - Parameter executable: nil for the `tiffin` beside this program.
    static func start(executable: String?) async throws -> StartedServer {
        let executable = executable ?? sibling
        guard FileManager.default.isExecutableFile(atPath: executable) else {
            throw CannotRun("there is no server to start at \(executable); name one with --tiffin")
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "tiffin-monkey.\(UUID().uuidString)")
        // PostgreSQL may run under another account, which must be able to reach its data.
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o711])
        let server = StartedServer(executable: executable, folder: folder)
        do {
            try await server.launch()
        } catch {
            await server.stop()
            throw error
        }
        return server
    }

    private static var sibling: String {
        (Bundle.main.executableURL ?? URL(filePath: ProcessInfo.processInfo.arguments[0]))
            .deletingLastPathComponent().appending(path: "tiffin").path(percentEncoded: false)
    }

    private var dataDirectory: URL { folder.appending(path: "data") }

    private func launch() async throws {
        var launch = ChildProcess.Launch(
            executable,
            [
                "serve", "--listen", "\(address)", "--data-dir", dataDirectory.path(percentEncoded: false),
                "--log-level",
                "error",
            ])
        launch.output = .capture(limit: StartedServer.outputLimit)
        launch.errors = .capture(limit: StartedServer.outputLimit)
        // Ctrl-C in the terminal is for the monkey: it stops the server when it has asked its last question.
        launch.newSession = true
        let process = try ChildProcess(launch)
        self.process = process
        let deadline = LoopActor.now + UInt64(StartedServer.startSeconds * 1e9)
        while LoopActor.now < deadline {
            if let port = StartedServer.port(in: process.outputBytes) {
                address.port = port
                return
            }
            guard process.exitStatus == nil else { break }
            await LoopTimer.pause(milliseconds: 10)
        }
        let said = String(decoding: process.outputBytes + process.errorBytes, as: UTF8.self)
        throw CannotRun("the server did not start: \(said.trimmingCharacters(in: .whitespacesAndNewlines))")
    }

    private static func port(in output: [UInt8]) -> UInt16? {
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        // The last line may be incomplete.
        return lines.dropLast().last { $0.contains(announcement) }.flatMap { line in
            line.split(separator: ":").last.flatMap { UInt16($0) }
        }
    }

    /// Stops the server and its database, and removes what they kept.
    func stop() async {
        if let process, process.exitStatus == nil {
            process.kill(SIGCONT)
            process.kill(SIGTERM)
            let killer = LoopTimer(milliseconds: UInt64(StartedServer.stopSeconds * 1_000)) { process.kill(SIGKILL) }
            _ = await process.exit
            killer.cancel()
        }
        // A killed server leaves its PostgreSQL behind.
        if let postmaster { kill(postmaster, SIGINT) }
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: Faults

    /// Kills the server as a power failure would, and starts it again.
    func killAndRestart() async throws {
        guard let process else { return }
        process.kill(SIGKILL)
        _ = await process.exit
        try await launch()
    }

    /// Stops the server's process for a while.
    func pause(milliseconds: UInt64) async {
        process?.kill(SIGSTOP)
        await LoopTimer.pause(milliseconds: milliseconds)
        process?.kill(SIGCONT)
    }

    /// Kills PostgreSQL; the server starts it again.
    func killPostgres() {
        if let postmaster { kill(postmaster, SIGKILL) }
    }

    /// Stops all of PostgreSQL's processes for a while.
    func pausePostgres(milliseconds: UInt64) async {
        guard let postmaster else { return }
        let processes = [postmaster] + (await children(of: postmaster))
        for process in processes { kill(process, SIGSTOP) }
        await LoopTimer.pause(milliseconds: milliseconds)
        for process in processes { kill(process, SIGCONT) }
    }

    private var postmaster: pid_t? {
        let file = dataDirectory.appending(path: "postgres/postmaster.pid")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return nil }
        return text.split(separator: "\n").first.flatMap { pid_t($0) }
    }

    private func children(of parent: pid_t) async -> [pid_t] {
        var launch = ChildProcess.Launch("pgrep", ["-P", "\(parent)"])
        launch.output = .capture(limit: StartedServer.outputLimit)
        guard let process = try? ChildProcess(launch) else { return [] }
        _ = await process.exit
        return String(decoding: process.outputBytes, as: UTF8.self).split(separator: "\n").compactMap { pid_t($0) }
    }
}

/// Why there is no run.
struct CannotRun: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
