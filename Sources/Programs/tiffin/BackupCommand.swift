internal import Audit
internal import CommandLineOptions
internal import Domain
internal import EventLog
internal import EventLoop
internal import Foundation
internal import PostgresStorage

enum BackupCommand: Subcommand {
    static let name = "backup"
    static let summary = "copies the log to a folder, while servers write; again for what is new"
    static let operands = ["<folder>"]
    static let options = Database.options

    static let about: String? = """
        The folder then has everything that a log is made of, as of one moment: every batch, users, relays, pictures and
        customers' keys. Run again, it adds what is new; killed, it goes on where it was. The heads of that moment are
        added to anchors.jsonl in the folder.

        Whoever has the folder can read what customers wrote: keep it as you keep the database. It has the keys of the
        last backup only, so who was forgotten before that is forgotten in it, too.
        """

    static func run(_ options: Options) async throws -> ExitCode {
        guard let path = options.operands.first else { throw UsageError("which folder?") }
        let now = Timestamp(millisecondsSinceEpoch: Int64(Date().timeIntervalSince1970 * 1_000))
        try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
            databases in
            guard databases.named.isEmpty else {
                throw UsageError("--databases: a log in several databases is backed up by PostgreSQL's own means")
            }
            let bar = PassProgress()
            defer { bar.finish() }
            let outcome = try await LogBackup.run(databases.first, to: path, at: now.rfc3339) {
                bar.show($0, of: $1, "copying the log")
            }
            bar.finish()
            try AnchorFile("\(path)/anchors.jsonl").append(try await anchors(outcome.heads, databases, at: now))
            let total = outcome.heads.reduce(0) { $0 + $1.position }
            Terminal.print("\(path): \(total) events, of which \(outcome.events) are new, as of \(now.rfc3339)")
        }
        return .success
    }

    /// The heads with their trees.
    @LoopActor
    private static func anchors(
        _ heads: [LogHead], _ databases: LogDatabases, at time: Timestamp
    ) async throws -> [Anchor] {
        let storage = try await LogStorage.open(databases, isReadOnly: true)
        defer { storage.close() }
        let prover = Prover(storage.history, mendsTree: false)
        var anchors: [Anchor] = []
        for head in heads where head.position > 0 {
            anchors.append(
                Anchor(try await prover.growth(of: head.partition, head: head.position).head, at: time))
        }
        return anchors
    }
}

enum RestoreCommand: Subcommand {
    static let name = "restore"
    static let summary = "makes a log in a new database of what a backup has"
    static let operands = ["<folder>"]
    static let options = Database.options + [verify, forget]

    static let about: String? = """
        All of it is restored, or nothing. The database has to be new; --data-dir makes one. Read models are made from the
        log by the first server. Clients that knew the log before see a fork, where it had gone on: tokens are FORKED,
        relays say where.
        """

    private static let verify = Option.flag("verify", "audits the database afterwards, with the backup's anchors")
    private static let forget = Option.optional(
        "forget", "file", "customers to forget at once, an id a line: who was forgotten since the backup was made",
        .text)

    static func run(_ options: Options) async throws -> ExitCode {
        guard let path = options.operands.first else { throw UsageError("which folder?") }
        let customers = try options[forget].map { file in
            let text = String(decoding: try NamedFile.contents(of: file, atMost: 64 << 20), as: UTF8.self)
            return try text.split(whereSeparator: \.isWhitespace).map { word in
                guard let customer = Identifier(String(word)) else {
                    throw UsageError("--forget: \(file): '\(word)' is not a customer's id")
                }
                return customer
            }
        }
        let restore = try LogRestore(of: path)
        try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, makesOne: true) { databases in
            guard databases.named.isEmpty else {
                throw UsageError("--databases: a backup is restored into one database")
            }
            try await Migrations.run(databases, partitions: restore.partitions) { _ in }
            let bar = PassProgress()
            defer { bar.finish() }
            try await restore.run(into: databases.first) { bar.show($0, of: $1, "restoring the log") }
            bar.finish()
            if let customers, !customers.isEmpty {
                let forgetting = try await databases.forget(Set(customers), for: .operator)
                for outcome in forgetting.outcomes { Terminal.print("\(outcome)") }
            }
            let total = restore.heads.reduce(0) { $0 + $1.position }
            Terminal.print("\(total) events are restored, as of \(restore.time)")
        }
        guard options[verify] else { return .success }
        return try await AuditCommand.audit(options, comparedWith: AnchorFile("\(path)/anchors.jsonl"))
    }
}
