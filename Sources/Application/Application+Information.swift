internal import Catalogue
internal import CommandHandling
internal import EventLoop
internal import Measurement
internal import Projections

/// Facts about the state of the application, under a title, each with a name.
public struct Information: Sendable {
    /// What the facts are about.
    public var title: String
    /// The facts, in the order in which they are shown.
    public var lines: [(name: String, value: String)]

    /// A section of facts.
    public init(_ title: String, _ lines: [(name: String, value: String)]) {
        self.title = title
        self.lines = lines
    }
}

extension Application {
    /// How the log, the read models and the catalogue are doing.
    public var information: [Information] {
        [
            Information("Log", partitions.enumerated().flatMap(logLines)),
            Information("Projections", partitions.enumerated().flatMap(projectionLines) + [catalogueLine]),
        ]
    }

    /// Starts counting again what ``information`` counts.
    public func resetStatistics() {
        for partition in partitions { partition.batches = BatchStatistics() }
    }

    private func logLines(_ number: Int, _ worker: PartitionWorker) -> [(name: String, value: String)] {
        let (events, commit) = (worker.batches.events, worker.batches.commit)
        return [
            ("partition\(number)_position", "\(worker.position)"),
            ("partition\(number)_head", "\(worker.head)"),
            ("partition\(number)_missing_events", "\(worker.missingEvents)"),
            ("partition\(number)_waiting_commands", "\(worker.processor.waitingCommands)"),
            ("partition\(number)_batches", "\(events.count)"),
            ("partition\(number)_failed_batches", "\(worker.batches.failed)"),
            (
                "partition\(number)_batch_events",
                "sum=\(events.sum),p50=\(events.quantile(0.5)),p99=\(events.quantile(0.99)),max=\(events.maximum)"
            ),
            (
                "partition\(number)_commit_usec",
                "sum=\(commit.sum / 1_000),p50=\(commit.quantile(0.5) / 1_000),"
                    + "p99=\(commit.quantile(0.99) / 1_000),max=\(commit.maximum / 1_000)"
            ),
        ]
    }

    /// How far the projections are behind the log, in memory and on disk; and of each its size, and up to where its
    /// saved rows go, with their digest.
    private func projectionLines(_ number: Int, _ worker: PartitionWorker) -> [(name: String, value: String)] {
        let model = worker.readModel
        let (folded, saved) = (model.position, worker.keeper.savedPosition)
        return [
            (
                "partition\(number)_lag",
                "unfolded_events=\(worker.head - folded),unsaved_events=\(worker.head - saved)"
            )
        ]
            + ReadModel.projections.map { projection in
                let rows = rowsLine(projection, projection.rowCount(in: model), worker.keeper)
                return ("partition\(number)_\(projection)", rows)
            }
    }

    private func rowsLine(_ projection: RegisteredProjection, _ count: Int, _ keeper: CheckpointKeeper) -> String {
        let isOutdated = keeper.outdated.contains(projection) ? "yes" : "no"
        return "rows=\(count),saved_position=\(keeper.savedPosition),version=\(projection.version),"
            + "generation=\(keeper.generations[projection] ?? 1),outdated=\(isOutdated),"
            + "digest=\(keeper.savedDigests[projection])"
    }

    private var catalogueLine: (name: String, value: String) {
        let catalogue = catalogue
        return (
            Catalogue.name,
            "items=\(catalogue.itemCount),outlets=\(catalogue.outletCount),saved_queries=\(catalogue.savedCount),"
                + "revision=\(catalogue.revision)"
        )
    }
}
