internal import EmbeddedPostgres
internal import EventLoop

/// The database that a command works on: the one named, or the embedded one of a data directory.
@LoopActor
struct Database {
    static let specs = [
        Options.Spec(
            name: "database", value: "url",
            help: "postgres://user@host/name; without it a private PostgreSQL is run"),
        Options.Spec(name: "data-dir", value: "dir", help: "where the private PostgreSQL lives; default .tiffin"),
    ]

    let address: String
    private let embedded: EmbeddedPostgres?

    init(_ options: Options, log: @escaping (String) -> Void) async throws {
        if let address = options["database"] {
            self.address = address
            embedded = nil
        } else {
            let embedded = try await EmbeddedPostgres.start(dataDirectory: options["data-dir"] ?? ".tiffin", log: log)
            address = embedded.connectionString
            self.embedded = embedded
        }
    }

    func stop() async { await embedded?.stop() }
}
