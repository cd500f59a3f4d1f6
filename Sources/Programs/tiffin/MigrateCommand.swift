internal import CommandLineOptions
internal import EventLoop
internal import PostgresStorage

enum MigrateCommand: Subcommand {
    static let name = "migrate"
    static let summary = "brings a database to the present schema"
    static let options = Database.options + [partitions]

    private static let partitions = Option.optional(
        "partitions", "n", "how many partitions a new log gets, for good (default 1)",
        .integer(1...Migrations.maximumPartitions))

    static func run(_ options: Options) async throws -> ExitCode {
        var changes = 0
        // An operator who sets the number of partitions wants a new log.
        try await Database.run(
            options, log: { Terminal.printError("tiffin: \($0)") }, makesOne: options[partitions] != nil
        ) { databases in
            let bar = PassProgress()
            defer { bar.finish() }
            try await Migrations.run(databases, partitions: options[partitions]) {
                bar.show($0, of: $1, "moving the log")
            } log: {
                changes += 1
                bar.finish()
                Terminal.print($0)
            }
        }
        if changes == 0 { Terminal.print("nothing to do: the schema is up to date") }
        return .success
    }
}
