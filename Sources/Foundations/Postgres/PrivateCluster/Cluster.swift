internal import EventLoop
internal import Foundation

/// The files of the embedded PostgreSQL: `postgres` in the data directory, or what it links to.
@LoopActor
struct Cluster {
    static let owner = "tiffin"
    static let database = "tiffin"
    /// Where a cluster is kept when the server's account cannot reach the data directory.
    private static let refuge = "/var/lib/tiffin"
    /// With less room than this, in bytes, the server may lack it for the next two segments of its log.
    static let leastRoom: UInt64 = 32 << 20
    private static let leftoverTimeout = Duration.seconds(30)
    /// How long a server may take to stop in good order.
    private static let fastStopSeconds: Int64 = 10
    /// How long to wait before saying what it is waiting for.
    private static let leftoverPatience = Duration.seconds(1)

    let path: String
    let account: ServerAccount

    /// The path with links resolved: the account may be unable to reach the link.
    var realPath: String { Files.realPath(path) }

    /// Whose data it is: the user that its server runs under.
    var user: uid_t {
        var information = stat()
        return stat(path, &information) == 0 ? information.st_uid : geteuid()
    }

    /// Whether there is room for what may be written.
    ///
    /// - Parameter more: whether to ask for half as much again, so that the answer does not change all the time.
    func hasRoom(more: Bool = false) -> Bool {
        // The log may be a link to another disk. What cannot be looked at may have room.
        [path, path + "/pg_wal"].allSatisfy { path in
            Files.room(path).map { $0 >= (more ? Self.leastRoom / 2 * 3 : Self.leastRoom) } ?? true
        }
    }

    private let dataDirectory: String
    /// Where a cluster, or a link to one, is kept until it is complete.
    private var unfinished: String { path + ".new" }

    init(dataDirectory: String, account: ServerAccount) {
        self.dataDirectory = dataDirectory
        self.account = account
        path = Cluster.path(in: dataDirectory)
    }

    /// Where the cluster of a data directory is.
    static func path(in dataDirectory: String) -> String { dataDirectory + "/postgres" }

    /// The version of PostgreSQL that made the cluster; nil when there is none.
    func majorVersion() throws(EmbeddedPostgresError) -> Int? {
        guard Files.exists(path) else {
            guard let target = Files.linkTarget(path) else { return nil }
            throw EmbeddedPostgresError("the data that \(path) links to is gone: \(target)")
        }
        let text = Files.text(path + "/PG_VERSION")?.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let major = text.flatMap({ Int($0) }) else {
            throw EmbeddedPostgresError("\(path) is not a PostgreSQL cluster, or cannot be read")
        }
        return major
    }

    /// Creates the cluster if there is none, and checks that the account can use it.
    func make(
        with programs: Programs, log: @LoopActor (String) -> Void
    ) async throws(EmbeddedPostgresError) {
        if !Files.exists(path) {
            log("Creating a PostgreSQL \(programs.major) cluster in \(path)")
            try removeUnfinished()
            try await prepareDirectory(log: log)
            try await initialize(with: programs)
            guard rename(unfinished, path) == 0 else { throw Files.failure("rename \(unfinished)") }
            // After a power cut, the unfinished cluster would be removed, with all that was written to it since.
            try Files.sync(directory: dataDirectory)
        }
        guard try await account.can("-w", realPath) else {
            throw EmbeddedPostgresError(
                "the account \(account.name), which PostgreSQL runs under, cannot use \(path): "
                    + "start Tiffin as the user who made it, or change its owner")
        }
    }

    private func removeUnfinished() throws(EmbeddedPostgresError) {
        if let target = Files.linkTarget(unfinished), target.hasPrefix(Self.refuge + "/"),
            Files.exists(target)
        {
            try Files.remove(target)
        }
        if Files.exists(unfinished) || Files.linkTarget(unfinished) != nil { try Files.remove(unfinished) }
    }

    /// An empty directory at `unfinished`, or one linked from there, that the account can reach and owns.
    private func prepareDirectory(log: @LoopActor (String) -> Void) async throws(EmbeddedPostgresError) {
        if try await account.can("-x", dataDirectory) {
            guard mkdir(unfinished, 0o700) == 0 else {
                throw Files.failure("create the directory \(unfinished)")
            }
            try account.own(unfinished)
        } else {
            try Files.makeDirectory(Self.refuge)
            let refuge = try Files.makeTemporaryDirectory(Self.refuge + "/", owner: account)
            try Files.sync(directory: Self.refuge)
            guard symlink(refuge, unfinished) == 0 else { throw Files.failure("link to \(refuge)") }
            log("The account \(account.name) cannot reach \(dataDirectory): the data is kept in \(refuge)")
        }
    }

    /// Makes the cluster and, in single-user mode, its database.
    private func initialize(with programs: Programs) async throws(EmbeddedPostgresError) {
        let made = try await Tool.run(
            programs.initdb,
            [
                "-D", Files.realPath(unfinished), "-U", Self.owner, "-E", "UTF8", "--locale=C", "-k",
                "--auth=trust",
                "--no-instructions",
            ], as: account)
        guard made.status.isSuccess else {
            throw EmbeddedPostgresError("initdb failed:\n\(made.output)")
        }
        let script = #"echo "CREATE DATABASE \#(Self.database)" | "$1" --single -D "$2" postgres"#
        let created = try await Tool.run(
            "/bin/sh", ["-c", script, "sh", programs.postgres, Files.realPath(unfinished)], as: account)
        // Single-user mode exits with 0 after a statement that failed.
        guard created.status.isSuccess, !created.output.contains("ERROR:") else {
            throw EmbeddedPostgresError("the database could not be made:\n\(created.output)")
        }
    }

    /// Stops a server that a killed process left behind, and waits for it. If the server itself was killed, waits for
    /// the processes that it had started.
    ///
    /// Only a PostgreSQL process counts: after a power cut, the number in the file may belong to any process.
    func stopLeftover(
        with programs: Programs, log: @LoopActor (String) -> Void
    ) async throws(EmbeddedPostgresError) {
        guard let file = try await writtenPidFile() else { return }
        let seconds = Self.leftoverTimeout.components.seconds
        if Self.isPostgres(file.pid) {
            log("Waiting for an earlier PostgreSQL (process \(file.pid)) to stop")
            // One that recovers from a crash may not notice that it is to stop. An immediate stop only costs the next
            // start time.
            for (mode, patience) in [("fast", Self.fastStopSeconds), ("immediate", seconds)] {
                guard Self.isPostgres(file.pid) else { break }
                _ = try await Tool.run(
                    programs.pgctl, ["stop", "-D", realPath, "-m", mode, "-w", "-t", "\(patience)"], as: account)
            }
        }
        // Its processes end by themselves when they notice. Until then PostgreSQL refuses to start.
        let began = ContinuousClock.now
        var isLogged = false
        while file.hasProcesses, ContinuousClock.now - began < Self.leftoverTimeout {
            if !isLogged, ContinuousClock.now - began > Self.leftoverPatience {
                log("Waiting for the processes of an earlier PostgreSQL (process \(file.pid)) to end")
                isLogged = true
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
        // The file is removed last. The process may stay in the system's table until its exit status is collected.
        let isGone = readPidFile() != file || !Self.isPostgres(file.pid)
        guard isGone, !file.hasProcesses else {
            throw EmbeddedPostgresError(
                "an earlier PostgreSQL (process \(file.pid)), or a process that it started, still uses \(path) "
                    + "after \(seconds) s: stop it first")
        }
    }

    /// What `postmaster.pid` says, after it was removed if it says nothing: then the power went before its words were on
    /// the disk, and no PostgreSQL would start on it.
    private func writtenPidFile() async throws(EmbeddedPostgresError) -> PidFile? {
        let path = path + "/postmaster.pid"
        // A server that has just made it writes into it at once.
        let began = ContinuousClock.now
        while Files.exists(path), ContinuousClock.now - began < Self.leftoverPatience {
            if let file = readPidFile() { return file }
            try? await Task.sleep(for: .milliseconds(20))
        }
        if Files.exists(path), readPidFile() == nil { try Files.remove(path) }
        return readPidFile()
    }

    /// The processes that a process has started.
    static func children(of parent: Int32) -> [Int32] {
        #if canImport(Darwin)
            var children = [pid_t](repeating: 0, count: 1_024)
            let count = proc_listchildpids(parent, &children, Int32(children.count * MemoryLayout<pid_t>.size))
            return Array(children.prefix(max(0, Int(count))))
        #else
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return names.compactMap { Int32($0) }.filter { process in
                // The parent is the second word behind the name, which may have any characters in it.
                let words = Files.text("/proc/\(process)/stat")?.split(separator: ")").last?.split(separator: " ")
                return words.flatMap { $0.count > 1 ? Int32($0[1]) : nil } == parent
            }
        #endif
    }

    static func isPostgres(_ pid: Int32) -> Bool {
        #if canImport(Darwin)
            var name = [CChar](repeating: 0, count: 64)
            guard proc_name(pid, &name, UInt32(name.count)) > 0 else { return false }
            return name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }.hasPrefix("postgres")
        #else
            return Files.text("/proc/\(pid)/comm")?.hasPrefix("postgres") ?? false
        #endif
    }

    /// What `postmaster.pid` says, about a running server or one that was killed.
    func readPidFile() -> PidFile? { Files.text(path + "/postmaster.pid").flatMap(PidFile.init) }

    /// The contents of `postmaster.pid`.
    struct PidFile: Equatable {
        let pid: Int32
        /// When the server was started: tells it apart from another process with the same number.
        let startTime: String
        let socketDirectory: String
        let isReady: Bool
        /// The segment of shared memory that the server made and that its processes are attached to.
        private let sharedMemory: Int32?

        /// Source: PostgreSQL's pidfile.h. The lines are written one after the other as the server starts.
        init?(_ text: String) {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            guard let pid = lines.first.flatMap({ Int32($0) }) else { return nil }
            self.pid = pid
            startTime = lines.count > 2 ? String(lines[2]) : ""
            socketDirectory = lines.count > 4 ? String(lines[4]) : ""
            // The key of the segment and its id.
            sharedMemory =
                lines.count > 6 ? lines[6].split(separator: " ").dropFirst().first.flatMap { Int32($0) } : nil
            isReady = lines.count > 7 && lines[7].trimmingCharacters(in: .whitespaces) == "ready"
        }

        /// Whether the server or any process that it started is still running.
        var hasProcesses: Bool {
            var information = shmid_ds()
            guard let sharedMemory, shmctl(sharedMemory, IPC_STAT, &information) == 0 else { return false }
            // After a restart of the machine the id may be that of another server's segment.
            return information.shm_cpid == pid && information.shm_nattch > 0
        }
    }
}
