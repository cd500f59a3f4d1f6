internal import EventLoop
internal import Foundation

/// A shell that starts the server, and stops it when this process says so or dies.
@LoopActor
enum Supervisor {
    /// The watcher's `read` returns when this process closes its end of the pipe, or dies. If the server ends by
    /// itself, the watcher is killed, and the sockets' directory stays for the next start. The watcher signals more
    /// than once, because a shell starts background processes with SIGINT ignored, and PostgreSQL handles it only
    /// once it has started up.
    private static let script = """
        sockets=$1; shift
        "$@" &
        server=$!
        exec 3<&0
        (read -r line <&3; : >"$sockets/stopping"; while kill -INT $server; do sleep 0.2; done) 2>/dev/null &
        watcher=$!
        wait $server
        status=$?
        kill $watcher 2>/dev/null
        if [ -e "$sockets/stopping" ]; then rm -rf "$sockets"; fi
        exit $status
        """

    /// Starts the server in a session of its own, which a terminal's Ctrl-C does not reach.
    static func start(
        _ programs: Programs, cluster: Cluster, socketDirectory: String, maxConnections: Int, logFile: String
    ) throws(EmbeddedPostgresError) -> ChildProcess {
        let log = try Files.openLog(logFile)
        defer { close(log) }
        let settings = settings(socketDirectory, maxConnections).flatMap { ["-c", "\($0)=\($1)"] }
        var launch = Tool.launch(
            "/bin/sh",
            ["-c", script, "tiffin-postgres", socketDirectory, programs.postgres, "-D", cluster.realPath]
                + settings,
            as: cluster.account)
        launch.newSession = true
        launch.input = .pipe
        launch.output = .descriptor(log)
        launch.errors = .descriptor(log)
        do {
            return try ChildProcess(launch)
        } catch {
            throw EmbeddedPostgresError(error.description)
        }
    }

    /// Settings that differ from PostgreSQL's defaults. None of them affects durability. Others that could matter to an
    /// append were measured, and do not: docs/performance.md.
    private static func settings(_ socketDirectory: String, _ maxConnections: Int) -> [(String, String)] {
        [
            ("listen_addresses", ""),
            ("unix_socket_directories", socketDirectory),
            ("unix_socket_permissions", "0700"),
            ("max_connections", "\(maxConnections)"),
            // Fewer checkpoints: after each, every page that changes goes into the log in full once more.
            ("checkpoint_timeout", "15min"),
            ("max_wal_size", "2GB"),
            ("wal_compression", "on"),
            // Each connection would load the compiler for queries that take less long than that.
            ("jit", "off"),
        ]
    }
}
