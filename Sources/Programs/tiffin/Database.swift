internal import CommandLineOptions
internal import Domain
internal import EventLog
internal import EventLoop
internal import Foundation
internal import Postgres
internal import PostgresStorage

/// The database that a command works on: the one named, or several, or the embedded one of a data directory.
@LoopActor
enum Database {
    nonisolated static let url = Option.optional(
        "database", "url", "postgres://user@host/name; without it a private PostgreSQL is run", .text)
    nonisolated static let directory = Option.optional(
        "data-dir", "dir", "where the private PostgreSQL keeps its data (default .tiffin)", .text)
    nonisolated static let file = Option.optional(
        "database-file", "file", "a file with the database's address, which may have a password in it", .text)
    nonisolated static let map = Option.optional(
        "databases", "file", "a file with the names and addresses of several databases, a line each", .text)
    nonisolated static let options: [any DeclaredOption] = [url, file, map, directory]

    /// The most bytes of a file with an address.
    nonisolated private static let longestAddress = 64 << 10

    /// An option that limits a command to one partition.
    nonisolated static let partition = Option.optional(
        "partition", "n", "only this partition", OptionValue("the number of a partition") { Int($0) })

    /// Whether it is the private PostgreSQL of a data directory.
    nonisolated static func isPrivate(_ options: Options) -> Bool {
        options[url] == nil && options[file] == nil && options[map] == nil
    }

    /// Where the private PostgreSQL keeps its data.
    nonisolated static func dataDirectory(_ options: Options) -> String { options[directory] ?? ".tiffin" }

    /// The partitions that a command works on: the one that `--partition` names, or all.
    ///
    /// - Throws: `UsageError` where there is no such partition.
    nonisolated static func partitions(_ options: Options, of count: Int) throws(UsageError) -> Range<Int> {
        guard let only = options[partition] else { return 0..<count }
        guard (0..<count).contains(only) else {
            throw UsageError("--partition: the log has partitions 0 to \(count - 1)")
        }
        return only..<only + 1
    }

    /// The databases that are named; nil for the embedded one.
    nonisolated private static func named(_ options: Options) throws(UsageError) -> LogDatabases? {
        if options.isGiven(map) || options[file] == nil && options[url] == nil, let path = options[map] {
            guard !options.isGiven(url), !options.isGiven(file) else {
                throw UsageError("give --databases or the address of one database, not both")
            }
            let text = try text(of: path, "--databases")
            do throws(DatabaseMapError) {
                return try LogDatabases(map: text)
            } catch {
                throw UsageError("--databases: \(path): \(error)")
            }
        }
        if options.isGiven(url) || options[file] == nil { return options[url].map { LogDatabases($0) } }
        guard let path = options[file] else { return nil }
        return LogDatabases(try text(of: path, "--database-file").trimmingCharacters(in: .whitespacesAndNewlines))
    }

    nonisolated private static func text(of path: String, _ option: String) throws(UsageError) -> String {
        do throws(NamedFile.Failure) {
            return String(decoding: try NamedFile.contents(of: path, atMost: longestAddress), as: UTF8.self)
        } catch {
            throw UsageError("\(option): \(error)")
        }
    }

    /// Runs a body with the databases, and stops a private PostgreSQL afterwards whatever happened.
    ///
    /// - Parameters:
    ///   - besideServer: whether the body may work on a data directory that a server is using. It migrates nothing
    ///     then, so the database has to be one that this version knows.
    ///   - makesOne: whether a private PostgreSQL is made where there is none. What a mistyped directory leads to is
    ///     not.
    ///   - servers: how many servers it is for.
    static func run(
        _ options: Options, log: @escaping @Sendable (String) -> Void, besideServer: Bool = false,
        makesOne: Bool = false, _ body: (_ databases: LogDatabases) async throws -> Void
    ) async throws {
        try await run(options, log: log, besideServer: besideServer, makesOne: makesOne, onLost: {}) { databases, _ in
            try await body(databases)
        }
    }

    /// The same for a body that goes on for long, with the private PostgreSQL if there is one.
    ///
    /// - Parameter onLost: called when a private PostgreSQL cannot be kept running: the body is to end then, and what is
    ///   thrown says why.
    static func run(
        _ options: Options, log: @escaping @Sendable (String) -> Void, besideServer: Bool = false,
        makesOne: Bool, servers: Int = 1, onLost: @escaping @LoopActor () -> Void,
        _ body: (_ databases: LogDatabases, _ embedded: EmbeddedPostgres?) async throws -> Void
    ) async throws {
        func work(on databases: LogDatabases, _ embedded: EmbeddedPostgres? = nil) async throws {
            if besideServer { try await Migrations.check(databases) }
            try await body(databases, embedded)
        }
        if let databases = try named(options) { return try await work(on: databases) }
        let directory = dataDirectory(options)
        if besideServer, let address = try EmbeddedPostgres.running(dataDirectory: directory) {
            return try await work(on: LogDatabases(address))
        }
        guard makesOne || EmbeddedPostgres.exists(dataDirectory: directory) else {
            throw NoDatabase(directory: directory)
        }
        let embedded = try await EmbeddedPostgres.start(
            dataDirectory: directory, maxConnections: 24 + 16 * servers, log: log)
        embedded.onFailure = { _ in onLost() }
        do {
            try await work(on: LogDatabases(embedded.connectionString), embedded)
        } catch {
            await embedded.stop()
            throw embedded.failure ?? error
        }
        await embedded.stop()
        if let failure = embedded.failure { throw failure }
    }
}

/// There is no private PostgreSQL where one was looked for.
private struct NoDatabase: Error, CustomStringConvertible {
    var directory: String

    var description: String {
        "there is no database in \(directory): --data-dir or --database names another, and 'tiffin serve' makes one"
    }
}

extension EventMetadata {
    /// For what an operator does with the database: the account says who that is, unchecked.
    static var `operator`: EventMetadata {
        EventMetadata(commandID: nil, fingerprint: nil, actor: Text(NSUserName()))
    }
}
