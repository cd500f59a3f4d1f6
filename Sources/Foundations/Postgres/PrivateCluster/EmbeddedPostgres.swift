// A PostgreSQL of our own: from the installed programs, in our data directory, on a private Unix socket.
//
// It promises:
// - the server never outlives this process: it stops when told to, and when this process is killed, because then the
//   pipe ends that its supervisor reads from;
// - only the account it runs under, and root, can connect; it listens on no network;
// - what it acknowledges is durable: none of its settings trades safety for speed;
// - a server that ends by itself is started again on the same socket, and recovers what it had acknowledged; one that
//   keeps ending is given up, and its owner is told. One that ends because its disk is full is started again when there
//   is room, however long that takes;
// - a cluster that was half created when the power failed is created again; a finished one never is;
// - one data directory serves one process at a time, and a second one fails at once with that reason.

public import EventLoop
internal import Foundation

/// A running embedded PostgreSQL.
///
/// The data directory holds `postgres` (the cluster, or a link to it), `postgres.log` and `lock`.
@LoopActor
public final class EmbeddedPostgres {
    /// How long to wait for a server to become ready; replaying the log after a crash takes time.
    public static let startTimeout = Duration.seconds(300)
    /// How long a fast shutdown may take before the server is stopped without its last checkpoint.
    public static let stopTimeout = Duration.seconds(60)

    /// How long before the end of a stop the server is told to stop at once, and how long before it is killed, in
    /// nanoseconds.
    private static let (immediateStop, killing): (UInt64, UInt64) = (1_500_000_000, 500_000_000)

    /// A server that ends this many times within ``endWindow`` is not started again.
    public static let endLimit = 5
    public static let endWindow = Duration.seconds(60)

    /// How long, at most, a server is not started because its disk is full: the start might succeed after all.
    private static let roomPatience = Duration.seconds(10)
    /// What PostgreSQL says when there is no room.
    private static let noRoomWords = [ENOSPC, EDQUOT].map { String(cString: strerror($0)) }

    /// The address of the database `tiffin`, as its owner. It stays the same when the server is started again.
    public let connectionString: String
    /// Why the server was given up, if it was.
    public private(set) var failure: EmbeddedPostgresError?
    /// Whether its disk has room.
    public let room: DiskRoom
    /// Called when the server is given up.
    public var onFailure: (@LoopActor (EmbeddedPostgresError) -> Void)?

    private let parts: Parts
    private let lock: DirectoryLock
    private let log: @LoopActor (String) -> Void
    private var supervisor: ChildProcess
    /// How long the server's log was when the server was started.
    private var logStart: UInt64
    /// Starts the server again whenever it ends, until it is stopped or given up.
    private var keeper: Task<Void, Never>?
    private var isStopping = false
    /// When the server must have stopped, on the clock of the loop; nil for ``stopTimeout`` after it is told to.
    private var stopBy: UInt64?

    /// What a server is started from.
    private struct Parts {
        var programs: Programs
        var cluster: Cluster
        var socketDirectory: SocketDirectory
        var maxConnections: Int
        var logFile: String

        @LoopActor
        func start() throws(EmbeddedPostgresError) -> ChildProcess {
            try Supervisor.start(
                programs, cluster: cluster, socketDirectory: socketDirectory.path, maxConnections: maxConnections,
                logFile: logFile)
        }
    }

    private init(_ parts: Parts, lock: DirectoryLock, log: @escaping @LoopActor (String) -> Void)
        throws(EmbeddedPostgresError)
    {
        self.parts = parts
        self.lock = lock
        self.log = log
        connectionString = Self.address(parts.socketDirectory.path, parts.cluster)
        logStart = Files.size(parts.logFile)
        supervisor = try parts.start()
        room = DiskRoom(of: parts.cluster, log: log)
    }

    /// Only a server that runs under the cluster's account is one.
    private static func address(_ socketDirectory: String, _ cluster: Cluster) -> String {
        let account = getpwuid(cluster.user).map { String(cString: $0.pointee.pw_name) }?
            .addingPercentEncoding(withAllowedCharacters: .alphanumerics)
        return "postgres:///\(Cluster.database)?host=\(socketDirectory)&user=\(Cluster.owner)"
            + (account.map { "&requirepeer=\($0)" } ?? "")
    }

    /// Whether there is a cluster in the data directory, or a link to one, of whatever state.
    public static func exists(dataDirectory: String) -> Bool {
        let path = Cluster.path(in: URL(filePath: dataDirectory).standardizedFileURL.path)
        return Files.exists(path) || Files.linkTarget(path) != nil
    }

    /// The address of the server that another process runs in the data directory, for reading its data; nil if none
    /// is ready.
    ///
    /// - Throws: if somebody else may have put the directory of its socket there.
    public static func running(dataDirectory: String) throws(EmbeddedPostgresError) -> String? {
        let directory = URL(filePath: dataDirectory).standardizedFileURL.path
        guard let account = try? ServerAccount.current() else { return nil }
        let cluster = Cluster(dataDirectory: directory, account: account)
        guard let file = cluster.readPidFile(), file.isReady, kill(file.pid, 0) == 0,
            Files.exists(file.socketDirectory)
        else { return nil }
        try SocketDirectory.check(file.socketDirectory, of: cluster)
        return address(file.socketDirectory, cluster)
    }

    /// Starts the server. Creates the directory and the cluster if they do not exist.
    ///
    /// - Parameters:
    ///   - dataDirectory: Where everything is kept. If this process is root, the server runs under the account
    ///     `postgres`; if that account cannot reach the directory, the cluster is kept under `/var/lib/tiffin`, and
    ///     the directory has a link to it.
    ///   - maxConnections: How many may be open at once: a few for each process, and room for psql.
    ///   - log: Called with each line that a person may want to read.
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

        let parts = Parts(
            programs: programs, cluster: cluster,
            socketDirectory: try await SocketDirectory.make(for: cluster),
            maxConnections: maxConnections, logFile: directory + "/postgres.log")
        let earlier = cluster.readPidFile()
        let server = try EmbeddedPostgres(parts, lock: lock, log: log)
        guard await server.isReady(after: earlier) else {
            let reason = server.lacksRoom() ? ", because its disk is full" : ""
            await server.stop()
            throw EmbeddedPostgresError(
                "PostgreSQL did not start\(reason); \(parts.logFile) ends with:\n" + Files.tail(parts.logFile))
        }
        server.keeper = Task { await server.keepRunning() }
        return server
    }

    /// Bounds how long ``stop()`` may still take, whenever it is called.
    public func mustStop(within time: Duration) {
        stopBy = LoopActor.now + UInt64(max(.zero, time) / .nanoseconds(1))
    }

    /// Stops the server in good order and waits until it has stopped. If it takes too long, it is stopped without its
    /// last checkpoint. If it stands still and does not even stop then, it is killed: the log is replayed next time.
    public func stop() async {
        isStopping = true
        room.stop()
        let server = parts.cluster.readPidFile()
        supervisor.closeInput()
        let end = stopBy ?? LoopActor.now + UInt64(Self.stopTimeout / .nanoseconds(1))
        let now = LoopActor.now
        let rest = { (before: UInt64) in (max(end, now + before) - before - now) / 1_000_000 }
        let timers = [
            LoopTimer(milliseconds: rest(Self.immediateStop)) { [self] in
                if supervisor.exitStatus == nil { kill(-supervisor.pid, SIGQUIT) }
            },
            LoopTimer(milliseconds: rest(Self.killing)) { [self] in killProcesses() },
        ]
        await keeper?.value
        _ = await supervisor.exit
        // A supervisor that was told to stop at once leaves behind what does not.
        while server?.hasProcesses == true, LoopActor.now < end { try? await Task.sleep(for: .milliseconds(20)) }
        for timer in timers { timer.cancel() }
        // The supervisor leaves it if the server ended by itself.
        await parts.socketDirectory.remove()
        lock.release()
    }

    private func killProcesses() {
        // First those that the server has started: once it is gone, nothing tells that they were its own.
        if let server = parts.cluster.readPidFile()?.pid, Cluster.isPostgres(server) {
            for process in Cluster.children(of: server) + [server] { kill(process, SIGKILL) }
        }
        if supervisor.exitStatus == nil { kill(-supervisor.pid, SIGKILL) }
    }

    /// Waits until the server is ready. Returns false if it ends first, or is stopped.
    ///
    /// - Parameter earlier: what `postmaster.pid` said before: a killed server may have left it.
    private func isReady(after earlier: Cluster.PidFile?) async -> Bool {
        let deadline = ContinuousClock.now + Self.startTimeout
        while supervisor.exitStatus == nil, !isStopping, ContinuousClock.now < deadline {
            if let file = parts.cluster.readPidFile(), file.isReady, file != earlier,
                file.socketDirectory == parts.socketDirectory.path
            {
                return true
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return false
    }

    // MARK: Starting again

    private func keepRunning() async {
        var ends: [ContinuousClock.Instant] = []
        var endsWithoutRoom = 0
        while true {
            _ = await supervisor.exit
            guard !isStopping else { return }
            room.look()
            if lacksRoom() {
                endsWithoutRoom += 1
                if endsWithoutRoom == 1 {
                    log(
                        "PostgreSQL has ended because its disk is full, and is started again when there is room; see "
                            + parts.logFile)
                }
                await pauseForRoom(afterEnds: endsWithoutRoom)
            } else {
                let now = ContinuousClock.now
                ends = ends.filter { now - $0 < Self.endWindow } + [now]
                guard ends.count < Self.endLimit else {
                    return giveUp(
                        EmbeddedPostgresError(
                            "PostgreSQL has ended by itself \(Self.endLimit) times within "
                                + "\(Self.endWindow.components.seconds) s and is not started again; \(parts.logFile) "
                                + "ends with:\n" + Files.tail(parts.logFile)))
                }
                log("PostgreSQL has ended by itself and is started again; see \(parts.logFile)")
                // The first restart is immediate. A server that keeps ending gets a little time before the next one.
                await pause { $0 >= .seconds(ends.count - 1) }
            }
            do throws(EmbeddedPostgresError) {
                if try await startAgain() { endsWithoutRoom = 0 }
            } catch {
                guard lacksRoom(error.description) else { return giveUp(error) }
            }
        }
    }

    /// Starts the server again. Returns whether it became ready: if it never does, that counts as another end.
    private func startAgain() async throws(EmbeddedPostgresError) -> Bool {
        guard !isStopping else { return false }
        try await parts.cluster.stopLeftover(with: parts.programs, log: log)
        guard !isStopping else { return false }
        try await parts.socketDirectory.renew()
        let earlier = parts.cluster.readPidFile()
        logStart = Files.size(parts.logFile)
        supervisor = try parts.start()
        guard await isReady(after: earlier) else {
            supervisor.closeInput()
            return false
        }
        log("PostgreSQL is running again")
        return true
    }

    /// Lets time pass until the condition holds for how long that was, or the server is stopped.
    private func pause(until isEnough: (Duration) -> Bool) async {
        let began = ContinuousClock.now
        while !isStopping, !isEnough(ContinuousClock.now - began) {
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    // MARK: Room on the disk

    /// Whether there is no room for the server, or it has just said so.
    ///
    /// - Parameter words: what was said; without it, what the server's log says.
    private func lacksRoom(_ words: String? = nil) -> Bool {
        guard parts.cluster.hasRoom() else { return true }
        let words = words ?? Files.tail(parts.logFile, after: logStart, limit: Files.excerptLimit)
        return Self.noRoomWords.contains { words.contains($0) }
    }

    /// Waits until there is room. If there seems to be some already, waits a little longer with every end.
    private func pauseForRoom(afterEnds ends: Int) async {
        let least = Duration.seconds(parts.cluster.hasRoom() ? min(ends, 5) : 0)
        await pause { $0 >= Self.roomPatience || $0 >= least && parts.cluster.hasRoom() }
    }

    private func giveUp(_ failure: EmbeddedPostgresError) {
        self.failure = failure
        onFailure?(failure)
    }
}
