internal import Catalogue
internal import CommandHandling
internal import Domain
internal import EventLoop
package import Measurement
internal import Projections

extension Server {
    /// Why the last batch could not be appended, in words that strangers may read; nil if it was.
    package var trouble: String? { partitions.workers.lazy.compactMap(\.trouble).first }

    /// How the log, the read models and the catalogue are doing.
    package var information: [Facts] {
        [
            Facts("Log", self.partitions.workers.enumerated().flatMap(self.logFacts) + self.queueFacts),
            Facts(
                "Projections",
                self.partitions.workers.enumerated().flatMap(self.projectionFacts) + self.processFacts
                    + [self.catalogueFact]
                    + self.rebuilder.facts),
        ]
    }

    /// How many spans of commands were sent to the collector, and how many were lost.
    package var spans: (sent: Int, lost: Int) { tracer?.counts ?? (0, 0) }

    /// Starts counting again what ``information`` counts.
    package func resetStatistics() {
        for partition in partitions.workers { partition.batches = BatchStatistics() }
        logins.failureCount = 0
    }

    private func logFacts(_ number: Int, _ worker: PartitionWorker) -> [Fact] {
        let (batches, label) = (worker.batches, ("partition", "\(number)"))
        let (events, commit) = (batches.events, batches.commit)
        func fact(_ name: String, _ count: some BinaryInteger, _ metric: Metric) -> Fact {
            Fact("partition\(number)_\(name)", count, metric)
        }
        return [
            fact(
                "position", worker.position,
                .gauge("tiffin_partition_position", "The last event that the server has read or written.", label)),
            fact(
                "head", worker.head,
                .gauge("tiffin_partition_head", "The last event that the server knows to be in the log.", label)),
            fact(
                "missing_events", worker.missingEvents,
                .gauge("tiffin_partition_missing_events", "Positions where there was no event.", label)),
            fact(
                "lost_events", worker.lostEvents,
                .gauge("tiffin_partition_lost_events", "Events that were read, and lost by the database.", label)),
            fact(
                "waiting_commands", worker.waitingCommands,
                .gauge("tiffin_partition_waiting_commands", "Commands that wait for the log.", label)),
            fact(
                "batches", events.count,
                .counter("tiffin_partition_batches_total", "Batches that the log has answered.", label)),
            fact(
                "failed_batches", batches.failed,
                .counter(
                    "tiffin_partition_failed_batches_total",
                    "Batches of which nothing was recorded, or whose outcome is unknown.", label)),
            Fact("partition\(number)_trouble", worker.trouble ?? "none"),
            Fact(
                "partition\(number)_batch_events",
                [
                    Fact(
                        "sum", events.sum,
                        .counter("tiffin_partition_events_total", "Events that batches added to the log.", label)),
                    Fact("p50", events.quantile(0.5)), Fact("p99", events.quantile(0.99)), Fact("max", events.maximum),
                ]),
            Fact(
                "partition\(number)_commit_usec",
                [
                    Fact(
                        "sum", commit.sum / 1_000,
                        .counter(
                            "tiffin_partition_commit_seconds_total",
                            "Time from sending a batch until it was durable, of all batches.", label, scale: 1e-6)),
                    Fact("p50", commit.quantile(0.5) / 1_000), Fact("p99", commit.quantile(0.99) / 1_000),
                    Fact("max", commit.maximum / 1_000),
                ]),
        ]
    }

    private var queueFacts: [Fact] {
        [("log_questions", historyQueue), ("key_lookups", sealer.queue)].map { name, queue in
            Fact(
                name,
                [
                    Fact("under_way", queue.underWayCount), Fact("under_way_limit", queue.limits.atOnce),
                    Fact("waiting", queue.waitingCount), Fact("waiting_limit", queue.limits.waiting),
                ])
        }
    }

    /// How far the projections are behind the log, in memory and on disk; and of each its size, and up to where its
    /// saved rows go, with their digest.
    private func projectionFacts(_ number: Int, _ worker: PartitionWorker) -> [Fact] {
        let (model, keeper) = (worker.readModel, worker.keeper)
        let label = ("partition", "\(number)")
        let lag = Fact(
            "partition\(number)_lag",
            [
                Fact(
                    "unfolded_events", worker.head - model.position,
                    .gauge("tiffin_partition_unfolded_events", "Events that no answer rests on yet.", label)),
                Fact(
                    "unsaved_events", keeper.isOwner ? worker.head - keeper.savedPosition : 0,
                    .gauge("tiffin_partition_unsaved_events", "Events that the saved rows do not have.", label)),
            ])
        let carts = Fact(
            "partition\(number)_carts",
            [Fact("known", model.knowsCarts ? "yes" : "no"), Fact("in_doubt", model.doubtedCarts.count)])
        return [lag, carts]
            + ReadModel.projections.map { projection in
                Fact(
                    "partition\(number)_\(projection)",
                    [
                        Fact("rows", projection.rowCount(in: model)), Fact("saved_position", keeper.savedPosition),
                        Fact("version", projection.version), Fact("generation", keeper.generations[projection] ?? 1),
                        Fact("outdated", keeper.outdated.contains(projection) ? "yes" : "no"),
                        Fact("digest", "\(keeper.savedDigests[projection])"),
                    ])
            }
    }

    private var processFacts: [Fact] {
        let open = processes.open
        let age = open.oldest.map { max(0, clock().millisecondsSinceEpoch - $0.millisecondsSinceEpoch) / 1_000 }
        return [
            Fact(
                "processes_open", open.count,
                .gauge("tiffin_processes_open", "Checkouts and returns that have begun and not ended.")),
            Fact(
                "processes_oldest_seconds", age ?? 0,
                .gauge("tiffin_processes_oldest_seconds", "How long the oldest of them has been open.")),
        ]
    }

    private var catalogueFact: Fact {
        let catalogue = liveCatalogue.whole
        return Fact(
            Catalogue.name,
            [
                Fact(
                    "items", catalogue?.itemCount ?? 0,
                    .gauge("tiffin_catalogue_items", "Items of all outlets that are shown.")),
                Fact(
                    "outlets", catalogue?.outletCount ?? 0,
                    .gauge("tiffin_catalogue_outlets", "Outlets that are shown.")),
                Fact("saved_queries", catalogue?.savedCount ?? 0), Fact("revision", catalogue?.revision ?? 0),
                Fact("loading", liveCatalogue.loading ?? "no"),
            ])
    }
}
