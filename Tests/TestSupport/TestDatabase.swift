// What tests share: databases of their own, on one server for the whole test process.

internal import EventLoop
package import Postgres
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Databases for tests, on a server that is discarded after them.
///
/// The server is the one at the address in the environment variable `TIFFIN_TEST_DATABASE`, if the account may create
/// databases there, or else an embedded one, started once in a temporary directory.
package enum TestDatabase {
    /// Creates an empty database and returns its address.
    @LoopActor
    package static func create() async throws -> String {
        let server = try await TestServer.address()
        let number = counter.wrappingAdd(1, ordering: .relaxed).newValue
        let name = "tiffin_test_\(getpid())_\(number)"
        let connection = try await PostgresConnection.connect(server)
        defer { connection.close() }
        try await connection.runScript("CREATE DATABASE \(name)")
        // The later part of an address wins, in a URL and in a list of keywords.
        return server + (server.contains("://") ? (server.contains("?") ? "&" : "?") : " ") + "dbname=\(name)"
    }

    /// Connects to a new database.
    @LoopActor
    package static func connect(statementTimeout: Duration? = nil) async throws -> PostgresConnection {
        try await PostgresConnection.connect(try await create(), statementTimeout: statementTimeout)
    }

    private static let counter = Atomic<Int>(0)
}
