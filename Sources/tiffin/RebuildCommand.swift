internal import CommandLineOptions
internal import EventLog
internal import EventLoop
internal import Foundation
internal import PostgresEventLog
internal import PostgresProjections
internal import Projections

enum RebuildCommand: Subcommand {
    static let name = "rebuild"
    static let summary = "makes the stored rows of a projection anew from the log, while servers use them"

    static let operands = ["<projection>"]
    static let options: [any DeclaredOption] = Database.options + [all, undo, Database.partition]

    static var about: String? {
        """
        Projections: \(names). With --all both.

        The log is folded from its first event, and the rows are written beside those in use. When they have
        caught up with these, both are compared, and the new ones take their place, all in one transaction:
        where anything fails, nothing was changed. Servers go on serving, and take up the new rows within
        seconds. The rows from before are kept until the next time; --undo goes back to them, brought up to
        date.
        """
    }

    private static var names: String { ProjectionName.allCases.map(\.rawValue).joined(separator: ", ") }
    private static let all = Option.flag("all", "every projection")
    private static let undo = Option.flag("undo", "go back to the rows from before")

    static func run(_ options: Options) async throws -> ExitCode {
        let projections = try projections(options)
        try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
            address in
            let log = try await PostgresEventLog.open(address, isReadOnly: true)
            defer { log.close() }
            let partitions = try Database.partitions(options, of: log.partitionCount)
            let store = PostgresReadModelStore(address)
            defer { store.close() }
            let rebuild = Rebuild(projections, store: store, log: log)
            for partition in partitions { try await run(rebuild, partition, isUndo: options[undo]) }
        }
        return .success
    }

    private static func projections(_ options: Options) throws(UsageError) -> Set<ProjectionName> {
        guard options.operands.isEmpty == options[all] else {
            throw UsageError("name a projection, or give --all")
        }
        guard let name = options.operands.first else { return Set(ProjectionName.allCases) }
        guard let projection = ProjectionName(rawValue: name) else {
            throw UsageError(
                name == "catalogue"
                    ? "the catalogue has no rows of its own: it is made of those of outlet_home"
                    : "there is no projection '\(name)'; there are \(names)")
        }
        return [projection]
    }

    @LoopActor
    private static func run(_ rebuild: Rebuild, _ partition: Int, isUndo: Bool) async throws {
        let progress = PassProgress()
        let show: @Sendable (Int64, Int64) -> Void = { progress.showSoon($0, of: $1, "partition \(partition)") }
        let began = LoopActor.now
        let report =
            isUndo
            ? try await rebuild.undo(partition: partition, progress: show)
            : try await rebuild.run(partition: partition, progress: show)
        progress.finish()
        let seconds = String(format: "%.2f", Double(LoopActor.now - began) / 1e9)
        for change in report.changes.sorted(by: { $0.projection.rawValue < $1.projection.rawValue }) {
            let count = change.differenceCount
            let told =
                count == 0
                ? "no row differs" : "\(count) row\(count == 1 ? " is" : "s are") not as before: \(examples(change))"
            Terminal.print(
                "partition \(partition)  \(change.projection.rawValue.padded(to: 13))generation \(change.generation) "
                    + "is active, at position \(report.position): \(told)")
        }
        Terminal.printError("partition \(partition): \(isUndo ? "went back" : "made anew") in \(seconds) s")
    }

    private static func examples(_ change: Rebuild.Change) -> String {
        change.examples.joined(separator: ", ") + (change.differenceCount > change.examples.count ? ", …" : "")
    }
}
