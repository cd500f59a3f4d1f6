internal import Audit
internal import Domain
internal import EventLog
internal import EventLoop
internal import Foundation
internal import PostgresAudit
internal import Projections

enum ReplayCommand: Subcommand {
    static let name = "replay"
    static let summary = "folds the log into a projection, as of now or of any moment, and prints it"

    static var help: String {
        let names = ReplayRows.Projection.allCases.map(\.rawValue).joined(separator: ", ")
        return Options.help(
            name, summary, specs, operands: "<\(operand)>",
            about: "Projections: \(names). With --all every one is folded, and only its size is told.")
    }

    private static let operand = "projection"
    private static let specs =
        Database.specs + [
            Options.Spec(name: "all", value: nil, help: "fold every projection, and print how large it is"),
            Options.Spec(
                name: "to", value: "position|time", help: "as of a position, or of a time such as 2026-03-01T12:00:00Z"),
            Options.Spec(name: "from-scratch", value: nil, help: "begin with the first event, not with saved rows"),
            Options.Spec(name: "output", value: "format", help: "table, json or ndjson; default table"),
            Options.Spec(name: "partition", value: "n", help: "only this partition"),
        ]

    static func run(_ arguments: [String]) async -> Int32 {
        await run(arguments, specs, operand: operand) { options in
            let projection = try options.operand.map { name throws(Options.UsageError) in
                guard let projection = ReplayRows.Projection(rawValue: name) else {
                    throw Options.UsageError(message: "there is no projection '\(name)'")
                }
                return projection
            }
            guard (projection == nil) == options.flag("all") else {
                throw Options.UsageError(message: "name a projection, or give --all")
            }
            let format = try options.choice("output", ReplayRows.Format.self) ?? .table
            let extent = try extent(options)
            let isOnly = try options.integer("partition", in: 0...Int(Int16.max))
            try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
                address in
                let source = try await PostgresAuditSource.open(address)
                defer { source.close() }
                let replay = Replay(source, extent: extent, isFromScratch: options.flag("from-scratch"))
                for head in try await source.heads() where isOnly == nil || isOnly == head.partition {
                    try await fold(head, replay, projection, format)
                }
            }
        }
    }

    @LoopActor
    private static func fold(
        _ head: LogHead, _ replay: Replay, _ projection: ReplayRows.Projection?, _ format: ReplayRows.Format
    ) async throws {
        let progress = PassProgress()
        let began = LoopActor.now
        let (model, folded) = try await replay.model(of: head) { done, total in
            progress.showSoon(done, of: total, "partition \(head.partition)")
        }
        progress.finish()
        let seconds = Double(LoopActor.now - began) / 1e9
        if let projection {
            ReplayRows(of: projection, model).print(as: format) { Terminal.print($0) }
        } else {
            for projection in ReplayRows.Projection.allCases {
                let count = ReplayRows.count(of: projection, model)
                Terminal.print("\(projection.rawValue.padded(to: 14))\(count) rows at position \(model.position)")
            }
        }
        Terminal.printError(
            "partition \(head.partition): \(folded) events folded in \(String(format: "%.2f", seconds)) s, "
                + "\(Int(Double(folded) / max(seconds, 1e-6))) a second; as of position \(model.position)")
    }

    private static func extent(_ options: Options) throws(Options.UsageError) -> Replay.Extent {
        guard let text = options["to"] else { return .everything }
        if let position = Int64(text), position >= 0 { return .position(position) }
        guard let time = Timestamp(rfc3339: text) else {
            throw Options.UsageError(
                message: "--to must be a position, or a time such as 2026-03-01T12:00:00Z, not '\(text)'")
        }
        return .time(time)
    }
}
