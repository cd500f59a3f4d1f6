internal import CommandLineOptions
internal import EventLog
internal import EventLoop
internal import Foundation
internal import PostgresStorage
internal import Projections

enum RebuildCommand: Subcommand {
    static let name = "rebuild"
    static let summary = "rebuilds the stored rows of a projection from the log, while servers use them"

    static let operands = ["<projection>"]
    static let options: [any DeclaredOption] = Database.options + [all, undo, Database.partition]

    static var about: String? {
        """
        Projections: \(RegisteredProjection.names). With --all it rebuilds every one.

        It folds the log from the first event and writes the rows next to those in use. When they have caught up, it
        compares both and switches to the new ones, all in one transaction: if anything fails, nothing has changed.
        Servers go on serving, and use the new rows within seconds. The old rows are kept until the next rebuild;
        --undo goes back to them and brings them up to date.
        """
    }

    private static let all = Option.flag("all", "every projection")
    private static let undo = Option.flag("undo", "go back to the rows from before")

    static func run(_ options: Options) async throws -> ExitCode {
        let projections = try projections(options)
        try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
            databases in
            let storage = try await LogStorage.open(databases, isReadOnly: true)
            defer { storage.close() }
            let log = storage.log
            let partitions = try Database.partitions(options, of: log.partitionCount)
            var rebuilt = 0
            for partition in partitions {
                let rebuild = Rebuild(projections, store: storage.store(of: partition), log: log)
                if try await run(rebuild, partition, isUndo: options[undo]) { rebuilt += 1 }
            }
            guard rebuilt > 0 else { throw ReadModelStoreFailure.nothingHappened }
        }
        return .success
    }

    private static func projections(_ options: Options) throws(UsageError) -> Set<RegisteredProjection> {
        guard options.operands.isEmpty == options[all] else {
            throw UsageError("name a projection, or give --all")
        }
        guard let name = options.operands.first else { return Set(ReadModel.projections) }
        guard let projection = RegisteredProjection(name: name) else {
            throw UsageError(
                name == "catalogue"
                    ? "the catalogue has no rows of its own: it is made of those of outlet_home"
                    : "there is no projection '\(name)'; there are \(RegisteredProjection.names)")
        }
        return [projection]
    }

    /// Gives whether there was anything to rebuild.
    @LoopActor
    private static func run(_ rebuild: Rebuild, _ partition: Int, isUndo: Bool) async throws -> Bool {
        let progress = PassProgress()
        let show: @Sendable (Int64, Int64) -> Void = { progress.showSoon($0, of: $1, "partition \(partition)") }
        let began = LoopActor.now
        let report =
            isUndo
            ? try await rebuild.undo(partition: partition, progress: show)
            : try await rebuild.run(partition: partition, progress: show)
        progress.finish()
        guard let report else {
            Terminal.printError("partition \(partition): nothing has \(isUndo ? "been saved" : "happened") yet")
            return false
        }
        let seconds = String(format: "%.2f", Double(LoopActor.now - began) / 1e9)
        for change in report.changes.sorted(by: { $0.projection.name < $1.projection.name }) {
            let count = change.differenceCount
            let told =
                report.isFirst
                ? "nothing was saved before"
                : count == 0
                    ? "no row differs"
                    : "\(count) row\(count == 1 ? " is" : "s are") not as before: \(examples(change))"
            Terminal.print(
                "partition \(partition)  \(change.projection.name.padded(to: 13))generation \(change.generation) "
                    + "is active, at position \(report.position): \(told)")
        }
        Terminal.printError("partition \(partition): \(isUndo ? "went back" : "rebuilt") in \(seconds) s")
        return true
    }

    private static func examples(_ change: RebuildReport.Change) -> String {
        change.examples.joined(separator: ", ") + (change.differenceCount > change.examples.count ? ", …" : "")
    }
}
