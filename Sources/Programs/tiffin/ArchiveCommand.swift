internal import CommandLineOptions
internal import Domain
internal import EventLoop
internal import Foundation
internal import PostgresStorage

enum ArchiveCommand: Subcommand {
    static let name = "archive"
    static let summary = "keeps the events of old days in a backup's folder alone, where servers find them"
    static let operands = ["<folder>"]
    static let options = Database.options + [before]

    static let about: String? = """
        What was recorded before the day leaves the database, as far as the folder has it. It is read in the folder first, and
        compared with the log's digests and with the database. Positions, times and digests stay. Servers, audits and whoever
        else reads the log need the folder from then on, under the same path on each machine: keep copies of it.

        Without --before, everything that was archived is read in the folder, and is looked for there from then on: to check
        an archive, or after it was moved.
        """

    private static let before = Option.optional(
        "before", "day", "archives what was recorded before that day begins, in UTC",
        OptionValue("a day before today, such as 2026-03-01") { day -> Timestamp? in
            guard day.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil,
                let time = Timestamp(rfc3339: "\(day)T00:00:00Z"),
                // A server that was away for a moment reads on where it was.
                time.millisecondsSinceEpoch <= Int64(Date().timeIntervalSince1970 * 1_000) - 86_400_000
            else { return nil }
            return time
        })

    static func run(_ options: Options) async throws -> ExitCode {
        guard let operand = options.operands.first else { throw UsageError("which folder?") }
        let path = URL(fileURLWithPath: operand).standardizedFileURL.path
        try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
            databases in
            guard databases.named.isEmpty else {
                throw UsageError(
                    "--databases: a log in several databases has no backup by tiffin, so no archive either")
            }
            let bar = PassProgress()
            defer { bar.finish() }
            let outcome = try await LogArchive.run(databases.first, to: path, before: options[before]) {
                bar.show($0, of: $1, "reading the folder")
            }
            bar.finish()
            Terminal.print("\(path): \(words(outcome, isArchiving: options[before] != nil))")
        }
        return .success
    }

    private static func words(_ outcome: LogArchive.Outcome, isArchiving: Bool) -> String {
        guard isArchiving else {
            return outcome.checked == 0
                ? "no events were archived yet; --before says which are to be"
                : "all \(outcome.checked) events that were archived are there"
        }
        var words = "\(outcome.archived) event\(outcome.archived == 1 ? "" : "s") left the database"
        if outcome.checked > 0 { words += ", and \(outcome.checked) that had left it are there" }
        return words + (outcome.oldest.map { "; the next one was recorded at \($0.rfc3339)" } ?? "")
    }
}
