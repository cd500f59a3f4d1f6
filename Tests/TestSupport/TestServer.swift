internal import EventLoop
internal import Foundation
internal import Postgres

/// The one server of the test process.
@LoopActor
enum TestServer {
    private static var starting: Task<EmbeddedPostgres, any Error>?

    static func address() async throws -> String {
        if let given = ProcessInfo.processInfo.environment["TIFFIN_TEST_DATABASE"] { return given }
        let start = starting ?? Task { try await self.start() }
        starting = start
        return try await start.value.connectionString
    }

    private static func start() async throws -> EmbeddedPostgres {
        let directory = try TemporaryDirectory.make(openToAll: true)
        try TemporaryDirectory.removeAtExit(directory)
        // Every test may have several connections, and tests run concurrently.
        return try await EmbeddedPostgres.start(dataDirectory: directory, maxConnections: 500) { _ in }
    }
}
