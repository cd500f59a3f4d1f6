internal import EmbeddedPostgres
internal import EventLoop

/// The database that a command works on: the one named, or the embedded one of a data directory.
@LoopActor
enum Database {
    nonisolated static let specs = [
        Options.Spec(
            name: "database", value: "url",
            help: "postgres://user@host/name; without it a private PostgreSQL is run"),
        Options.Spec(name: "data-dir", value: "dir", help: "where the private PostgreSQL lives; default .tiffin"),
    ]

    /// Runs a body with the address of the database, and stops a private PostgreSQL afterwards whatever happened.
    static func run(
        _ options: Options, log: @escaping @Sendable (String) -> Void, _ body: (_ address: String) async throws -> Void
    ) async throws {
        if let address = options["database"] { return try await body(address) }
        let embedded = try await EmbeddedPostgres.start(dataDirectory: options["data-dir"] ?? ".tiffin", log: log)
        do {
            try await body(embedded.connectionString)
        } catch {
            await embedded.stop()
            throw error
        }
        await embedded.stop()
    }
}
