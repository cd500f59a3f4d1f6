import EventLoop
import Foundation
import Postgres
import TestSupport
import Testing

@Suite(.serialized)
struct EmbeddedPostgresTests {
    init() { LoopActor.startInBackground() }

    @LoopActor private func directory(openToAll: Bool = true) throws -> String {
        let directory = try TemporaryDirectory.make(openToAll: openToAll)
        try TemporaryDirectory.removeAtExit(directory)
        return directory
    }

    @LoopActor private func run(_ sql: String, on server: EmbeddedPostgres) async throws -> Rows {
        let connection = try await PostgresConnection.connect(server.connectionString)
        defer { connection.close() }
        return try await connection.execute(Statement("run", sql))
    }

    @Test @LoopActor func `Stored data is there after a restart`() async throws {
        let directory = try directory()
        let first = try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        _ = try await run("CREATE TABLE dishes AS SELECT 'dosa' AS name", on: first)
        await first.stop()
        await #expect(throws: PostgresError.self) { try await run("SELECT 1", on: first) }
        let second = try await EmbeddedPostgres.start(dataDirectory: directory) {
            Issue.record("a second start should log nothing: \($0)")
        }
        #expect(try await run("SELECT name FROM dishes", on: second).text(0, 0) == "dosa")
        await second.stop()
    }

    @Test @LoopActor func `It listens on no network, trades no safety for speed, and detects damage`()
        async throws
    {
        let server = try await EmbeddedPostgres.start(dataDirectory: try directory()) { _ in }
        let rows = try await run(
            """
            SELECT current_setting('listen_addresses'), current_setting('fsync'),
                   current_setting('synchronous_commit'), current_setting('full_page_writes'),
                   current_setting('data_checksums'), current_setting('server_encoding'), current_user::text
            """, on: server)
        #expect((0..<7).map { rows.text(0, $0) } == ["", "on", "on", "on", "on", "UTF8", "tiffin"])
        await server.stop()
    }

    @Test @LoopActor func `A second process is told who has the directory`() async throws {
        let directory = try directory()
        let server = try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        let error = await #expect(throws: EmbeddedPostgresError.self) {
            try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        }
        #expect(error?.description == "another Tiffin (process \(getpid())) is using \(directory)")
        await server.stop()
    }

    @Test @LoopActor func `The server ends with a process that is killed, and nothing is lost`() async throws {
        let directory = try directory()
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = directory as String] in
            LoopActor.startInBackground()
            try await Self.storeAndDie(directory)
        }
        // Only its supervisor is left to stop it.
        let pidFile = directory + "/postgres/postmaster.pid"
        for _ in 0..<500 where FileManager.default.fileExists(atPath: pidFile) {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(!FileManager.default.fileExists(atPath: pidFile))
        let server = try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        #expect(try await run("SELECT name FROM dishes", on: server).text(0, 0) == "vada")
        await server.stop()
    }

    @Test @LoopActor func `A start right after a kill waits for the old server`() async throws {
        let directory = try directory()
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = directory as String] in
            LoopActor.startInBackground()
            try await Self.storeAndDie(directory)
        }
        let server = try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        #expect(try await run("SELECT name FROM dishes", on: server).text(0, 0) == "vada")
        await server.stop()
    }

    @LoopActor private static func storeAndDie(_ directory: String) async throws {
        let server = try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        let connection = try await PostgresConnection.connect(server.connectionString)
        try await connection.runScript("CREATE TABLE dishes AS SELECT 'vada' AS name")
        kill(getpid(), SIGKILL)
    }

    /// The number of the server's process, or nil while the file is missing or not yet written.
    private static func pid(in directory: String) -> Int32? {
        let text = try? String(contentsOfFile: directory + "/postgres/postmaster.pid", encoding: .utf8)
        return text?.split(separator: "\n").first.flatMap { Int32($0) }
    }

    /// Kills the server and waits until it serves again, as another process.
    @LoopActor private func killAndWait(_ server: EmbeddedPostgres, in directory: String) async throws {
        let killed = try #require(Self.pid(in: directory))
        kill(killed, SIGKILL)
        for _ in 0..<1_500 {
            let isAnother = Self.pid(in: directory).map { $0 != killed } ?? false
            if isAnother, (try? await run("SELECT 1", on: server)) != nil { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("the server was not started again")
    }

    @Test @LoopActor func `A server that is killed is started again, and nothing is lost`() async throws {
        let directory = try directory()
        var lines: [String] = []
        let server = try await EmbeddedPostgres.start(dataDirectory: directory) { lines.append($0) }
        _ = try await run("CREATE TABLE dishes AS SELECT 'dosa' AS name", on: server)
        lines = []
        try await killAndWait(server, in: directory)
        #expect(try await run("SELECT name FROM dishes", on: server).text(0, 0) == "dosa")
        _ = try await run("INSERT INTO dishes VALUES ('vada')", on: server)
        // It says so only once it has asked, which may be after a client was let in.
        for _ in 0..<1_500 where lines.count < 2 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(lines.count == 2 && lines[0].hasPrefix("PostgreSQL has ended by itself and is started again"))
        await server.stop()
        #expect(server.failure == nil)

        let again = try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        #expect(try await run("SELECT count(*) FROM dishes", on: again).int8(0, 0) == 2)
        await again.stop()
    }

    @Test @LoopActor func `A server that is killed again and again is given up`() async throws {
        let directory = try directory()
        let server = try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        let failure: EmbeddedPostgresError = try await withCheckedThrowingContinuation { continuation in
            server.onFailure = { continuation.resume(returning: $0) }
            Task { @LoopActor in
                do {
                    for _ in 1..<EmbeddedPostgres.endLimit { try await killAndWait(server, in: directory) }
                    kill(try #require(Self.pid(in: directory)), SIGKILL)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
        #expect(failure.description.hasPrefix("PostgreSQL has ended by itself 5 times within 60 s"))
        #expect(server.failure?.description == failure.description)
        await server.stop()
    }

    @Test @LoopActor func `A server that was killed can be stopped while it is started again`() async throws {
        let directory = try directory()
        var lines: [String] = []
        let server = try await EmbeddedPostgres.start(dataDirectory: directory) { lines.append($0) }
        lines = []
        kill(try #require(Self.pid(in: directory)), SIGKILL)
        while lines.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        await server.stop()
        #expect(server.failure == nil)
        await #expect(throws: PostgresError.self) { try await run("SELECT 1", on: server) }
        let again = try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        #expect(try await run("SELECT 1", on: again).int4(0, 0) == 1)
        await again.stop()
    }

    // MARK: The socket's directory

    private static func socketDirectory(in directory: String) throws -> String {
        let text = try String(contentsOfFile: directory + "/postgres/postmaster.pid", encoding: .utf8)
        return String(try #require(text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(4).first))
    }

    /// A data directory whose path is too long for a socket's.
    @LoopActor private func deepDirectory() throws -> String {
        let deep = try directory() + "/" + String(repeating: "d", count: 100)
        try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: false)
        return deep
    }

    @Test @LoopActor func `The socket lies where nobody else can reach it`() async throws {
        let directory = try directory()
        let server = try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        let socket = try Self.socketDirectory(in: directory)
        let data = try #require(realpath(directory + "/postgres", nil).map { String(cString: $0) })
        #expect(socket.hasPrefix(data + "/socket."))
        #expect(try EmbeddedPostgres.running(dataDirectory: directory) == server.connectionString)
        await server.stop()
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    @Test @LoopActor func `A socket's directory that is gone is made again`() async throws {
        let directory = try deepDirectory()
        let server = try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        try FileManager.default.removeItem(atPath: try Self.socketDirectory(in: directory))
        try await killAndWait(server, in: directory)
        #expect(
            try FileManager.default.attributesOfItem(atPath: Self.socketDirectory(in: directory))[.posixPermissions]
                as? Int == 0o700)
        await server.stop()
    }

    @Test @LoopActor func `A socket's directory that somebody else made is refused`() async throws {
        let directory = try deepDirectory()
        let server = try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        let socket = try Self.socketDirectory(in: directory)
        #expect(!socket.hasPrefix(directory))
        try FileManager.default.removeItem(atPath: socket)
        try FileManager.default.createDirectory(
            atPath: socket, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o777])
        defer { try? FileManager.default.removeItem(atPath: socket) }
        #expect(chmod(socket, 0o777) == 0)
        #expect(throws: EmbeddedPostgresError.self) { try EmbeddedPostgres.running(dataDirectory: directory) }
        let failure: EmbeddedPostgresError = try await withCheckedThrowingContinuation { continuation in
            server.onFailure = { continuation.resume(returning: $0) }
            do {
                kill(try #require(Self.pid(in: directory)), SIGKILL)
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(failure.description.contains("\(socket) is not used for PostgreSQL's socket"))
        #expect(failure.description.contains("mode 777"))
        await server.stop()
    }

    @Test @LoopActor func `A half-created cluster is created again`() async throws {
        let directory = try directory()
        try FileManager.default.createDirectory(
            atPath: directory + "/postgres.new/base", withIntermediateDirectories: true)
        let server = try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        #expect(try await run("SELECT 1", on: server).int4(0, 0) == 1)
        #expect(!FileManager.default.fileExists(atPath: directory + "/postgres.new"))
        await server.stop()
    }

    @Test(.enabled("only root runs PostgreSQL under another account") { geteuid() == 0 })
    @LoopActor func `A directory that only root can enter gets a link to where the data is`() async throws {
        let directory = try directory(openToAll: false)
        var lines: [String] = []
        let server = try await EmbeddedPostgres.start(dataDirectory: directory) { lines.append($0) }
        let target = try FileManager.default.destinationOfSymbolicLink(atPath: directory + "/postgres")
        #expect(target.hasPrefix("/var/lib/tiffin/"))
        #expect(lines.contains { $0.hasSuffix("cannot reach \(directory): the data is kept in \(target)") })
        _ = try await run("CREATE TABLE dishes AS SELECT 'idli' AS name", on: server)
        await server.stop()
        let again = try await EmbeddedPostgres.start(dataDirectory: directory) { lines.append($0) }
        #expect(try await run("SELECT name FROM dishes", on: again).text(0, 0) == "idli")
        await again.stop()
    }

    @Test @LoopActor func `Data of another version is refused, with the version`() async throws {
        let directory = try directory()
        try FileManager.default.createDirectory(
            atPath: directory + "/postgres", withIntermediateDirectories: true)
        try "9\n".write(toFile: directory + "/postgres/PG_VERSION", atomically: true, encoding: .utf8)
        let error = await #expect(throws: EmbeddedPostgresError.self) {
            try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        }
        #expect(error?.description.hasPrefix("the data was made by PostgreSQL 9, and only ") == true)
    }

    @Test @LoopActor func `A server that cannot start gives an error with the end of its log`() async throws {
        let directory = try directory()
        let server = try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        await server.stop()
        try "nonsense = 1\n".write(
            toFile: directory + "/postgres/postgresql.conf", atomically: false, encoding: .utf8)
        let error = await #expect(throws: EmbeddedPostgresError.self) {
            try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
        }
        #expect(error?.description.contains("nonsense") == true)
    }

    @Test func `If PostgreSQL is missing, the error says how to install it`() async throws {
        await #expect(processExitsWith: .success) {
            LoopActor.startInBackground()
            setenv("TIFFIN_POSTGRES_BIN", "/nowhere", 1)
            let directory = try TemporaryDirectory.make(openToAll: true)
            try await TemporaryDirectory.removeAtExit(directory)
            let error = await #expect(throws: EmbeddedPostgresError.self) {
                try await EmbeddedPostgres.start(dataDirectory: directory) { _ in }
            }
            #expect(error?.description.contains("apt install postgresql") == true)
            #expect(error?.description.contains("brew install postgresql") == true)
        }
    }
}
