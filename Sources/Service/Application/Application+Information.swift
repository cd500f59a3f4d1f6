internal import Catalogue
internal import CommandHandling
package import EventLoop
internal import Measurement
internal import Projections

/// Facts about the state of the application, under a title, each with a name.
@LoopActor
package struct Information {
    /// A section's facts, in the order in which they are shown.
    package typealias Lines = [(name: String, value: String)]

    /// What the facts are about.
    package let title: String
    private let makeLines: @LoopActor () -> Lines

    /// A section whose facts are found when they are asked for: percentiles take a while.
    package init(_ title: String, _ lines: @LoopActor @escaping @autoclosure () -> Lines) {
        self.title = title
        makeLines = lines
    }

    /// The facts as they are now.
    package var lines: Lines { makeLines() }
}

extension Application {
    /// Why the last batch could not be appended, in words that strangers may read; nil if it was.
    package var trouble: String? { partitions.lazy.compactMap(\.trouble).first }

    /// How the log, the read models and the catalogue are doing.
    package var information: [Information] {
        [
            Information("Log", self.partitions.enumerated().flatMap(self.logLines) + self.queueLines),
            Information(
                "Projections",
                self.partitions.enumerated().flatMap(self.projectionLines) + [self.catalogueLine] + self.rebuilder.lines
            ),
        ]
    }

    /// Starts counting again what ``information`` counts.
    package func resetStatistics() {
        for partition in partitions { partition.batches = BatchStatistics() }
        logins.failureCount = 0
    }

    private func logLines(_ number: Int, _ worker: PartitionWorker) -> Information.Lines {
        let (events, commit) = (worker.batches.events, worker.batches.commit)
        return [
            ("partition\(number)_position", "\(worker.position)"),
            ("partition\(number)_head", "\(worker.head)"),
            ("partition\(number)_missing_events", "\(worker.missingEvents)"),
            ("partition\(number)_lost_events", "\(worker.lostEvents)"),
            ("partition\(number)_waiting_commands", "\(worker.processor.waitingCommands)"),
            ("partition\(number)_batches", "\(events.count)"),
            ("partition\(number)_failed_batches", "\(worker.batches.failed)"),
            ("partition\(number)_trouble", worker.trouble ?? "none"),
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

    private var queueLines: Information.Lines {
        [("log_questions", historyQueue), ("key_lookups", textSealer.queue)].map { name, queue in
            (
                name,
                "under_way=\(queue.underWayCount),under_way_limit=\(queue.limits.atOnce),"
                    + "waiting=\(queue.waitingCount),waiting_limit=\(queue.limits.waiting)"
            )
        }
    }

    /// How far the projections are behind the log, in memory and on disk; and of each its size, and up to where its
    /// saved rows go, with their digest.
    private func projectionLines(_ number: Int, _ worker: PartitionWorker) -> Information.Lines {
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
