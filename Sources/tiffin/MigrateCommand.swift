internal import EventLoop
internal import PostgresEventLog

enum MigrateCommand: Subcommand {
    static let name = "migrate"
    static let summary = "brings a database to the present schema"
    static var help: String { Options.help(name, summary, specs) }

    private static let specs =
        Database.specs + [
            Options.Spec(
                name: "partitions", value: "n",
                help: "how many partitions a new log gets, for good; default 1")
        ]

    static func run(_ arguments: [String]) async -> Int32 {
        await run(arguments, specs) { options in
            let partitions = try options.integer("partitions", in: 1...Migrations.maximumPartitions)
            var changes = 0
            try await Database.run(options) {
                Terminal.printError("tiffin: \($0)")
            } _: { address in
                try await Migrations.run(address, partitions: partitions) {
                    changes += 1
                    Terminal.print($0)
                }
            }
            if changes == 0 { Terminal.print("nothing to do: the schema is up to date") }
        }
    }
}
