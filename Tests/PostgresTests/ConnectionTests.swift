import EventLoop
import Postgres
import TestSupport
import Testing

struct ConnectionTests {
    init() { LoopActor.startInBackground() }

    @Test @LoopActor func `A connection ended by the server loses its outstanding statements, once`() async throws {
        let address = try await TestDatabase.create()
        let victim = try await PostgresConnection.connect(address)
        let (lost, signalLost) = AsyncStream<PostgresError>.makeStream()
        victim.onLost = { signalLost.yield($0) }
        let pid = try await victim.execute(Statement("pid", "SELECT pg_backend_pid()")).int4(0, 0)
        let failures = await withCheckedContinuation { continuation in
            let failures = Failures()
            for _ in 0..<2 {
                victim.execute(Statement("sleep", "SELECT pg_sleep(60)")) { result in
                    if case .failure(let error) = result { failures.all.append(error) }
                    if failures.all.count == 2 { continuation.resume(returning: failures.all) }
                }
            }
            Task { @LoopActor in
                let killer = try await PostgresConnection.connect(address)
                _ = try await killer.execute(
                    Statement("kill", "SELECT pg_terminate_backend($1)", [.int4]), [.int4(pid)])
                killer.close()
            }
        }
        #expect(failures.map(\.kind) == [.connection, .connection])
        #expect(failures.map(\.sqlState) == [.adminShutdown, .adminShutdown])
        var iterator = lost.makeAsyncIterator()
        #expect(await iterator.next()?.sqlState == .adminShutdown)
        #expect(!victim.isOpen)
        let error = await #expect(throws: PostgresError.self) {
            try await victim.execute(Statement("pid", "SELECT pg_backend_pid()"))
        }
        #expect(error?.kind == .connection)
    }

    @LoopActor private final class Failures {
        var all: [PostgresError] = []
    }

    @Test @LoopActor func `An idle connection notices that it is lost`() async throws {
        let address = try await TestDatabase.create()
        let victim = try await PostgresConnection.connect(address)
        let (lost, signalLost) = AsyncStream<PostgresError>.makeStream()
        victim.onLost = { signalLost.yield($0) }
        let pid = try await victim.execute(Statement("pid", "SELECT pg_backend_pid()")).int4(0, 0)
        let killer = try await PostgresConnection.connect(address)
        defer { killer.close() }
        _ = try await killer.execute(
            Statement("kill", "SELECT pg_terminate_backend($1)", [.int4]), [.int4(pid)])
        var iterator = lost.makeAsyncIterator()
        #expect(await iterator.next()?.kind == .connection)
    }

    @Test @LoopActor func `A server that is silent for too long is lost`() async throws {
        let connection = try await TestDatabase.connect()
        connection.answerDeadline = .milliseconds(100)
        let error = await #expect(throws: PostgresError.self) {
            try await connection.execute(Statement("sleep", "SELECT pg_sleep(60)"))
        }
        #expect(error?.kind == .connection)
        #expect(!connection.isOpen)
    }

    @Test @LoopActor func `What a server could not pass on to another one has an unknown outcome`() async throws {
        let connection = try await TestDatabase.connect()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.execute(
                Statement("raise", "DO $$ BEGIN RAISE EXCEPTION 'no worker' USING ERRCODE = '08006'; END $$"))
        }
        #expect(error?.kind == .connection)
        #expect(error?.message == "no worker")
    }

    @Test @LoopActor func `Closing fails outstanding statements and is not a loss`() async throws {
        let connection = try await TestDatabase.connect()
        connection.onLost = { _ in Issue.record("lost") }
        let result = await withCheckedContinuation { continuation in
            connection.execute(Statement("sleep", "SELECT pg_sleep(60)")) {
                continuation.resume(returning: $0)
            }
            connection.close()
            connection.close()
        }
        let error = #expect(throws: PostgresError.self) { try result.get() }
        #expect(error?.kind == .connection)
    }

    @Test(arguments: [
        "postgres://cook:s3cret@[::1/tiffin", "postgres://cook:s3cret@host/tiffin?nonsense=1",
        "password=s3cret port", "host=127.0.0.1 port=1 user=cook password=s3cret",
        "postgres://cook:s3cret@127.0.0.1:1/tiffin",
    ])
    @LoopActor func `An address that leads nowhere gives an error without the password`(address: String) async {
        let error = await #expect(throws: PostgresError.self) {
            try await PostgresConnection.connect(address)
        }
        #expect(error?.sqlState == .cannotConnect)
        #expect(error.map { "\($0) \($0.detail ?? "")" }?.contains("s3cret") == false)
    }

    @Test @LoopActor func `A server that does not answer is given up`() async throws {
        let listener = try TCPListener(host: "127.0.0.1", port: 0) { $0.startReading { _ in } }
        defer { listener.close() }
        let error = await #expect(throws: PostgresError.self) {
            try await PostgresConnection.connect(
                "host=127.0.0.1 port=\(listener.port) user=cook", connectTimeout: .milliseconds(50))
        }
        #expect(error?.sqlState == .noAnswer)
    }

    @Test @LoopActor func `A host that says nothing is passed over, and the next time tried last`() async throws {
        var attempts = 0
        let silent = try TCPListener(host: "127.0.0.1", port: 0) {
            attempts += 1
            $0.startReading { _ in }
        }
        defer { silent.close() }
        let known = try await PostgresConnection.connect(try await TestDatabase.create())
        defer { known.close() }
        let rows = try await known.execute(
            Statement(
                "place",
                "SELECT split_part(current_setting('unix_socket_directories'), ',', 1), "
                    + "current_setting('port'), current_user, current_database()"))
        let address =
            "host=127.0.0.1,\(rows.text(0, 0)) port=\(silent.port),\(rows.text(0, 1)) "
            + "user=\(rows.text(0, 2)) dbname=\(rows.text(0, 3))"
        for _ in 0..<3 {
            try await PostgresConnection.connect(address, connectTimeout: .seconds(4)).close()
            #expect(attempts == 1)
        }
    }

    @Test(arguments: [
        "postgres://cook@%2Fno%2Fone,%2Fno%2Ftwo/", "host=/no/one,/no/two", "host=/no/one,/no/two port=1",
    ])
    @LoopActor func `Hosts need no ports`(address: String) async throws {
        let error = await #expect(throws: PostgresError.self) { try await PostgresConnection.connect(address) }
        let text = error.map { "\($0) \($0.detail ?? "")" }
        #expect(text?.contains("/no/two") == true)
    }

    @Test @LoopActor func `If no host answers, that is said in the time that was given`() async throws {
        let silent = try TCPListener(host: "127.0.0.1", port: 0) { $0.startReading { _ in } }
        defer { silent.close() }
        let error = await #expect(throws: PostgresError.self) {
            try await PostgresConnection.connect(
                "host=127.0.0.1,127.0.0.1 port=\(silent.port) user=cook", connectTimeout: .milliseconds(50))
        }
        #expect(error?.sqlState == .noAnswer)
    }

    @Test @LoopActor func `The server sees the service's name`() async throws {
        let connection = try await PostgresConnection.connect(
            try await TestDatabase.create(), applicationName: "kitchen")
        defer { connection.close() }
        let rows = try await connection.execute(
            Statement("name", "SELECT current_setting('application_name')"))
        #expect(rows.text(0, 0) == "kitchen")
    }
}
