internal import Audit
internal import CommandLineOptions
internal import Domain
internal import EventLog
internal import EventLoop
internal import Foundation
internal import PostgresStorage
internal import TextFormats

enum LogCommand: Subcommand {
    static let name = "log"
    static let summary = "prints the events of the log, a line of JSON each"
    static let options: [any DeclaredOption] =
        Database.options + [stream, from, Database.partition, kinds, since, until, actor, csv, follow]

    private static let stream = Option.optional(
        "stream", "name", "only the events of a stream, such as cart-c1",
        OptionValue("a name such as cart-c1") { StreamName($0) })
    private static let from = Option.value(
        "from", "n", "starts at this position, or at this version of the stream", .integer(1...Int.max), default: "1")
    private static let kinds = Option.optional(
        "kind", "kinds",
        "only events of these kinds, such as order.refunded,order.paymentReported; or order, for all of orders",
        OptionValue(EventFilter.Kinds.form) { EventFilter.Kinds($0) })
    private static let since = Option.optional(
        "since", "time", "only events recorded at this time or later, such as 2026-03-01T00:00:00Z", time)
    private static let until = Option.optional("until", "time", "only events recorded before this time", time)
    private static let actor = Option.optional("actor", "name", "only events of commands that this actor gave", .text)
    private static let csv = Option.flag("csv", "prints comma-separated values, the columns' names first")
    private static let time = OptionValue("a time such as 2026-03-01T12:00:00Z") { Timestamp(rfc3339: $0) }
    private static let follow = Option.flag("follow", "waits for new events until it is stopped")

    private static let chunk = 1_000

    static func run(_ options: Options) async throws -> ExitCode {
        try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
            try await printEvents(options, $0)
        }
        return .success
    }

    @LoopActor
    private static func printEvents(_ options: Options, _ databases: LogDatabases) async throws {
        let storage = try await LogStorage.open(databases, isReadOnly: true)
        defer { storage.close() }
        let log = storage.log
        let stream = options[stream]
        var partitions = Array(try Database.partitions(options, of: log.partitionCount))
        if let stream { partitions = [log.partitioning.partition(of: stream)] }
        var next = Dictionary(uniqueKeysWithValues: partitions.map { ($0, Int64(options[from]) - 1) })

        let filter = EventFilter(
            kinds: options[kinds], since: options[since], until: options[until], actor: options[actor].map { Text($0) })
        let isCSV = options[csv]
        if isCSV, !Terminal.print(record: LogRecord.header) { return }

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
                for event in events where filter.matches(event) {
                    if isCSV {
                        guard Terminal.print(record: LogRecord.line(of: event)) else { return }
                        continue
                    }
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

/// An event as a line of comma-separated values.
private enum LogRecord {
    static let header = CSV.record([
        "partition", "position", "recordedAt", "stream", "version", "kind", "schemaVersion", "actor", "payload",
        "metadata",
    ])

    static func line(of event: RecordedEvent) -> String {
        let actor = (try? EventMetadata(decoding: event.metadata))?.actor
        return CSV.record([
            "\(event.partition)", "\(event.position)", event.recordedAt.rfc3339, CSV.cell(event.stream),
            "\(event.version)", CSV.cell(event.kind.name), "\(event.kind.schemaVersion)",
            actor.map { CSV.cell($0.string) } ?? "", CSV.cell(String(decoding: event.payload, as: UTF8.self), .json),
            CSV.cell(String(decoding: event.metadata, as: UTF8.self), .json),
        ])
    }
}
