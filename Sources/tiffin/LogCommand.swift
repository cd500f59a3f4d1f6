internal import EventLog
internal import EventLoop
internal import Foundation
internal import PostgresEventLog
internal import Server

enum LogCommand: Subcommand {
    static let name = "log"
    static let summary = "prints the events of the log, a line of JSON each"
    static var help: String { Options.help(name, summary, specs) }

    private static let specs =
        Database.specs + [
            Options.Spec(name: "stream", value: "name", help: "only the events of a stream, such as cart-c1"),
            Options.Spec(name: "from", value: "n", help: "from this position on, or this version of the stream"),
            Options.Spec(name: "partition", value: "n", help: "only this partition"),
            Options.Spec(name: "follow", value: nil, help: "goes on with new events until it is stopped"),
        ]

    private static let chunk = 1_000

    static func run(_ arguments: [String]) async -> Int32 {
        await run(arguments, specs) { options in
            let from = Int64(try options.integer("from", in: 1...Int.max) ?? 1)
            let stream = try options["stream"].map { text throws(Options.UsageError) in
                guard let stream = StreamName(text) else {
                    throw Options.UsageError(message: "--stream must be a name such as cart-c1, not '\(text)'")
                }
                return stream
            }
            try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
                address in
                try await printEvents(of: stream, from: from, options, address)
            }
        }
    }

    @LoopActor
    private static func printEvents(
        of stream: StreamName?, from: Int64, _ options: Options, _ database: String
    ) async throws {
        let log = try await PostgresEventLog.open(database, isReadOnly: true)
        defer { log.close() }
        var partitions = Array(0..<log.partitionCount)
        if let only = try options.integer("partition", in: 0...log.partitionCount - 1) { partitions = [only] }
        if let stream { partitions = [Partitioning(count: log.partitionCount).partition(of: stream)] }
        var next = Dictionary(uniqueKeysWithValues: partitions.map { ($0, from - 1) })

        let stopping = options.flag("follow") ? StopSignal() : nil
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
                    guard Terminal.print(String(decoding: LogDocument.bytes(of: event), as: UTF8.self)) else { return }
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
