// A PostgreSQL of our own: from the installed programs, in our data directory, on a private Unix socket.
//
// It promises:
// - the server lives as long as this process at most: it stops when told to, and also when this process is
//   killed, as then the pipe ends that its supervisor reads from;
// - nobody but the account it runs under, and root, can connect; it listens on no network;
// - what it acknowledges is durable: none of its settings trades safety for speed;
// - a cluster that was half made when the power went is made anew, a finished one is never made twice;
// - one data directory serves one process at a time, and a second one is told so at once.

public import EventLoop
internal import Foundation

/// A running embedded PostgreSQL.
///
/// The data directory holds `postgres` (the cluster, or a link to it), `postgres.log` and `lock`.
@LoopActor
public final class EmbeddedPostgres {
    /// How long to wait for a server to become ready; replaying the log after a crash takes its time.
    public static let startTimeout = Duration.seconds(300)
    /// How long a fast shutdown may take before the server is stopped without its last checkpoint.
    public static let stopTimeout = Duration.seconds(60)

    /// The address of the database `tiffin`, as its owner.
    public let connectionString: String

    private let supervisor: ChildProcess
    private let lock: DirectoryLock
    private var isStopping = false

    private init(supervisor: ChildProcess, lock: DirectoryLock, socketDirectory: String) {
        self.supervisor = supervisor
        self.lock = lock
        connectionString = "postgres:///\(Cluster.database)?host=\(socketDirectory)&user=\(Cluster.owner)"
    }

    /// Starts the server, making the directory and the cluster where there are none.
    ///
    /// - Parameters:
    ///   - dataDirectory: Where everything is kept. Started as root, the server runs under the account
    ///     `postgres`; where that account cannot reach the directory, the cluster is kept under
    ///     `/var/lib/tiffin`, and linked to.
    ///   - maxConnections: How many may be open at once: a few a process, and room for psql.
    ///   - log: Told, in a line each, what a person may want to know.
    public static func start(
        dataDirectory: String, maxConnections: Int = 40, log: @escaping @LoopActor (String) -> Void
    ) async throws(EmbeddedPostgresError) -> EmbeddedPostgres {
        let directory = URL(filePath: dataDirectory).standardizedFileURL.path
        try Files.makeDirectory(directory)
        let lock = try DirectoryLock(directory)
        let account = try ServerAccount.current()
        let cluster = Cluster(dataDirectory: directory, account: account)
        let programs = try await Programs.find(major: try cluster.majorVersion())
        try await cluster.make(with: programs, log: log)
        try await cluster.stopLeftover(with: programs, log: log)

        let socketDirectory = try Files.makeTemporaryDirectory("/tmp/tiffin-", owner: account)
        let supervisor = try Supervisor.start(
            programs, cluster: cluster, socketDirectory: socketDirectory, maxConnections: maxConnections,
            logFile: directory + "/postgres.log")
        let server = EmbeddedPostgres(supervisor: supervisor, lock: lock, socketDirectory: socketDirectory)
        guard try await server.isReady(cluster, socketDirectory) else {
            await server.stop()
            throw EmbeddedPostgresError(
                "PostgreSQL did not start; \(directory)/postgres.log ends with:\n"
                    + Files.tail(directory + "/postgres.log"))
        }
        Task {
            _ = await supervisor.exit
            if !server.isStopping { log("PostgreSQL has ended by itself; see \(directory)/postgres.log") }
        }
        return server
    }

    /// Stops the server in good order and waits until it has stopped.
    public func stop() async {
        isStopping = true
        supervisor.closeInput()
        let group = supervisor.pid
        let timer = LoopTimer(milliseconds: UInt64(Self.stopTimeout / .milliseconds(1))) {
            // Immediate shutdown, for the whole of the supervisor's session; the log is replayed next time.
            kill(-group, SIGQUIT)
        }
        _ = await supervisor.exit
        timer.cancel()
        lock.release()
    }

    private func isReady(_ cluster: Cluster, _ socketDirectory: String) async throws(EmbeddedPostgresError)
        -> Bool
    {
        let deadline = ContinuousClock.now + Self.startTimeout
        while supervisor.exitStatus == nil && ContinuousClock.now < deadline {
            // A file that an earlier server left names another directory for its sockets.
            if let file = cluster.readPidFile(), file.socketDirectory == socketDirectory, file.isReady {
                return true
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return false
    }
}
