internal import Audit
internal import CommandLineOptions
internal import EventLog
internal import EventLoop
internal import Foundation
internal import PostgresEventLog
internal import Printing

enum LogCommand: Subcommand {
    static let name = "log"
    static let summary = "prints the events of the log, a line of JSON each"
    static let options: [any DeclaredOption] = Database.options + [stream, from, Database.partition, follow]

    private static let stream = Option.optional(
        "stream", "name", "only the events of a stream, such as cart-c1",
        OptionValue("a name such as cart-c1") { StreamName($0) })
    private static let from = Option.value(
        "from", "n", "starts at this position, or at this version of the stream", .integer(1...Int.max), default: "1")
    private static let follow = Option.flag("follow", "waits for new events until it is stopped")

    private static let chunk = 1_000

    static func run(_ options: Options) async throws -> ExitCode {
        try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
            try await printEvents(options, $0)
        }
        return .success
    }

    @LoopActor
    private static func printEvents(_ options: Options, _ database: String) async throws {
        let log = try await PostgresEventLog.open(database, isReadOnly: true)
        defer { log.close() }
        let stream = options[stream]
        var partitions = Array(try Database.partitions(options, of: log.partitionCount))
        if let stream { partitions = [Partitioning(count: log.partitionCount).partition(of: stream)] }
        var next = Dictionary(uniqueKeysWithValues: partitions.map { ($0, Int64(options[from]) - 1) })

        let stopping = options[follow] ? StopSignal() : nil
        while true {
            var isAtEnd = true
            for partition in partitions {
                let events =
                    if let stream {
                        try await log.read(
                            stream: stream, partition: partition, afterVersion: next[partition]!, limit: chunk)
                    } else {
                        try await log.read(partition: partition, after: next[partition]!, limit: chunk)
                    }
                for event in events {
                    let document = String(decoding: LogDocument.bytes(of: event), as: UTF8.self)
                    guard Terminal.print(TerminalText.line(document, .json)) else { return }
                }
                if let last = events.last { next[partition] = stream == nil ? last.position : last.version }
                if events.count == chunk { isAtEnd = false }
            }
            if isAtEnd {
                guard let stopping else { return }
                if await stopping.wait(milliseconds: 200) { return }
            }
        }
    }
}
