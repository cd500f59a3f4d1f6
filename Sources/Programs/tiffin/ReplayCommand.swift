internal import Audit
internal import CommandLineOptions
internal import Domain
internal import EventLog
internal import EventLoop
internal import Foundation
internal import PostgresStorage
internal import Projections

enum ReplayCommand: Subcommand {
    static let name = "replay"
    static let summary = "folds the log into a projection, as of now or of any moment, and prints it"

    static let operands = ["<projection>"]
    static let options: [any DeclaredOption] =
        Database.options + [all, extent, fromScratch, output, csv, Database.partition]

    static var about: String? {
        let names = ReplayRows.Subject.all.map(\.name).joined(separator: ", ")
        return "Projections: \(names). With --all it folds every one, and prints only its size."
    }

    private static let all = Option.flag("all", "fold every projection, and print how large it is")
    private static let extent = Option.optional(
        "to", "position|time", "as of a position, or of a time such as 2026-03-01T12:00:00Z",
        OptionValue("a position, or a time such as 2026-03-01T12:00:00Z") { text -> Replay.Extent? in
            if let position = Int64(text), position >= 0 { return .position(position) }
            return Timestamp(rfc3339: text).map { .time($0) }
        })
    private static let fromScratch = Option.flag("from-scratch", "begin with the first event, not with saved rows")
    private static let output = Option.value(
        "output", "format", "table, json, ndjson or csv", OptionValue<ReplayRows.Format>.choice, default: "table")
    private static let csv = Option.flag("csv", "the same as --output csv")

    static func run(_ options: Options) async throws -> ExitCode {
        let subject = try options.operands.first.map { name throws(UsageError) in
            guard let subject = ReplayRows.Subject(name: name) else {
                throw UsageError("there is no projection '\(name)'")
            }
            return subject
        }
        guard (subject == nil) == options[all] else {
            throw UsageError("name a projection, or give --all")
        }
        try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
            let source = try await AuditSources.open($0)
            defer { source.close() }
            let replay = Replay(source, extent: options[extent] ?? .everything, isFromScratch: options[fromScratch])
            let heads = try await source.heads()
            let partitions = try Database.partitions(options, of: heads.count)
            for head in heads where partitions.contains(head.partition) {
                try await fold(
                    head.head, replay, subject, options[csv] ? .csv : options[output],
                    isFirst: head.partition == partitions.lowerBound)
            }
        }
        return .success
    }

    @LoopActor
    private static func fold(
        _ head: LogHead, _ replay: Replay, _ subject: ReplayRows.Subject?, _ format: ReplayRows.Format, isFirst: Bool
    ) async throws {
        let progress = PassProgress()
        let began = LoopActor.now
        let (model, folded, note) = try await replay.model(of: head) { done, total in
            progress.showSoon(done, of: total, "partition \(head.partition)")
        }
        progress.finish()
        if let note { Terminal.printError("\(note): folded the log from its beginning") }
        let seconds = Double(LoopActor.now - began) / 1e9
        if let subject {
            ReplayRows(of: subject, model).print(as: format, isFirst: isFirst) { line in
                if format == .csv { Terminal.print(record: line) } else { Terminal.print(line) }
            }
        } else {
            for subject in ReplayRows.Subject.all {
                let count = ReplayRows.count(of: subject, model)
                Terminal.print("\(subject.name.padded(to: 14))\(count.counted("row")) at position \(model.position)")
            }
        }
        Terminal.printError(
            "partition \(head.partition): \(folded) events folded in \(String(format: "%.2f", seconds)) s, "
                + "\(Int(Double(folded) / max(seconds, 1e-6))) a second; as of position \(model.position)")
    }
}
