internal import CommandLineOptions
internal import EventLog
internal import EventLoop
internal import Foundation
internal import PostgresStorage

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

enum MoveCommand: Subcommand {
    static let name = "move"
    static let summary = "moves a partition of the log to another database, while servers use it"

    static let operands = ["<partition>"]
    static let options: [any DeclaredOption] = [Database.map, target]

    static let about: String? = """
        It copies everything that the partition has, closes it where it is, copies what came meanwhile, compares
        both, and opens it in its new place; then it removes the old copy. Servers notice by themselves, and
        writes wait for a moment. It can be stopped at any time: run it again, and it goes on.
        """

    private static let target = Option.optional(
        "to", "name", "the database that it goes to, as the map calls it", .text)

    static func run(_ options: Options) async throws -> ExitCode {
        guard options.operands.count == 1, let partition = Int(options.operands[0]), (0...255).contains(partition)
        else { throw UsageError("name a partition by its number") }
        guard options[Database.map] != nil, let name = options[target] else {
            throw UsageError("--databases and --to are needed")
        }
        try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
            try await move(partition, to: name, in: $0)
        }
        return .success
    }

    @LoopActor
    private static func move(_ partition: Int, to name: String, in databases: LogDatabases) async throws {
        let bar = PassProgress()
        defer { bar.finish() }
        let outcome = try await PartitionMove.run(partition, to: name, in: databases) { step in
            #if DEBUG
                signalForTests(at: step)
            #endif
        } progress: {
            bar.showSoon($0, of: $1, "partition \(partition)")
        }
        bar.finish()
        let end = "position \(outcome.head.position), digest \(outcome.head.digest)"
        guard let source = outcome.source else {
            Terminal.print("partition \(partition) is in '\(name)' already, up to \(end)")
            return
        }
        let milliseconds = outcome.closed / 1_000_000
        Terminal.print(
            "partition \(partition) was moved from '\(source)' to '\(name)' at \(end)"
                + (milliseconds > 0 ? "; it was closed for \(milliseconds) ms" : ""))
    }

    #if DEBUG
        @LoopActor private static var isSignalled = false

        /// For tests, which cannot know how far it is: kills it or has it stand still there. `TIFFIN_SIGNAL_AT` is a step
        /// and the number of a signal.
        @LoopActor
        private static func signalForTests(at step: PartitionMove.Step) {
            let words = ProcessInfo.processInfo.environment["TIFFIN_SIGNAL_AT"]?.split(separator: ":") ?? []
            guard words.count == 2, words[0] == step.rawValue, let signal = Int32(words[1]), !isSignalled else {
                return
            }
            isSignalled = true
            kill(getpid(), signal)
        }
    #endif
}
