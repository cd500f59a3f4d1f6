internal import Catalogue
internal import CommandHandling
internal import EventLoop
internal import Foundation
internal import Measurement
internal import Projections

extension Server {
    private typealias Section = (title: String, lines: [(String, String)])

    /// The text of `INFO`: the sections asked for, or all of them.
    func info(sections wanted: [String]) -> String {
        let isEverything = wanted.isEmpty || !Set(wanted).isDisjoint(with: ["all", "default", "everything"])
        return sections.filter { isEverything || wanted.contains($0.title.lowercased()) }
            .map { section in
                "# \(section.title)\r\n" + section.lines.map { "\($0):\($1)\r\n" }.joined()
            }.joined(separator: "\r\n")
    }

    /// Counts from nothing again; what is no count stays.
    func resetStatistics() {
        statistics = Statistics(commandCount: CommandTable.shared.commands.count)
        for shard in engine.partitions { shard.batches = BatchStatistics() }
    }

    private var sections: [Section] {
        let resources = ProcessResources.current
        return [
            ("Server", serverLines),
            (
                "Clients",
                [
                    ("connected_clients", "\(sessions.count)"), ("maxclients", "\(configuration.maximumClients)"),
                    ("pubsub_clients", "\(sessions.values.count { !$0.subscriptions.isEmpty })"),
                ]
            ),
            (
                "Memory",
                [
                    ("used_memory_rss", "\(resources.residentBytes)"), ("used_memory_peak", "\(resources.peakBytes)"),
                ]
            ),
            (
                "Stats",
                [
                    ("total_connections_received", "\(statistics.connections)"),
                    ("total_commands_processed", "\(statistics.commands)"),
                    ("total_error_replies", "\(statistics.errors)"),
                    ("pubsub_channels", "\(topics.count)"),
                    ("pubsub_subscriptions", "\(topics.subscriptionCount)"),
                ]
            ),
            (
                "CPU",
                [
                    ("used_cpu_sys", Server.seconds(resources.systemMicroseconds)),
                    ("used_cpu_user", Server.seconds(resources.userMicroseconds)),
                ]
            ),
            ("Log", engine.partitions.enumerated().flatMap(logLines)),
            ("Projections", engine.partitions.enumerated().flatMap(projectionLines) + [catalogueLine]),
            ("Commandstats", calledCommands.map { ("cmdstat_\($0.name)", Server.counts(of: $0.calls)) }),
            (
                "Latencystats",
                calledCommands.map { ("latency_percentiles_usec_\($0.name)", Server.percentiles(of: $0.calls)) }
            ),
        ]
    }

    private var serverLines: [(String, String)] {
        let uptime = (LoopActor.now - startedAt) / 1_000_000_000
        #if DEBUG
            let build = "debug"
        #else
            let build = "release"
        #endif
        var lines = [
            // Clients parse this one to know what they may use; it names the Redis whose protocol this is.
            ("redis_version", "7.4.0"), ("redis_mode", "standalone"), ("tiffin_version", Server.version),
            ("tiffin_build", build),
        ]
        if let version = postgresVersion() { lines.append(("postgres_version", version)) }
        return lines + [
            ("process_id", "\(getpid())"), ("tcp_port", "\(port)"), ("uptime_in_seconds", "\(uptime)"),
            ("uptime_in_days", "\(uptime / 86_400)"),
        ]
    }

    private static func seconds(_ microseconds: Int64) -> String {
        String(format: "%.6f", Double(microseconds) / 1_000_000)
    }

    // MARK: Commands

    private var calledCommands: [(name: String, calls: Statistics.Calls)] {
        zip(CommandTable.shared.commands, statistics.calls).filter { $0.1.latency.count > 0 }
            .map { ($0.0.name.lowercased(), $0.1) }
    }

    private static func counts(of calls: Statistics.Calls) -> String {
        let (count, nanoseconds) = (calls.latency.count, calls.latency.sum)
        let mean = String(format: "%.2f", calls.latency.mean / 1_000)
        // Commands refused before they are executed are among the failed ones.
        return "calls=\(count),usec=\(nanoseconds / 1_000),usec_per_call=\(mean),rejected_calls=0,"
            + "failed_calls=\(calls.failed)"
    }

    private static func percentiles(of calls: Statistics.Calls) -> String {
        let parts = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)]
        return parts.map { name, part in
            String(format: "\(name)=%.3f", Double(calls.latency.quantile(part)) / 1_000)
        }.joined(separator: ",")
    }

    // MARK: Partitions

    private func logLines(_ number: Int, _ shard: Shard) -> [(String, String)] {
        let (events, commit) = (shard.batches.events, shard.batches.commit)
        return [
            ("partition\(number)_position", "\(shard.position)"),
            ("partition\(number)_head", "\(shard.head)"),
            ("partition\(number)_missing_events", "\(shard.missingEvents)"),
            ("partition\(number)_waiting_commands", "\(shard.processor.waitingCommands)"),
            ("partition\(number)_batches", "\(events.count)"),
            ("partition\(number)_failed_batches", "\(shard.batches.failed)"),
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
    private func projectionLines(_ number: Int, _ shard: Shard) -> [(String, String)] {
        let model = shard.readModel
        let (folded, saved) = (model.position, shard.keeper.savedPosition)
        return [
            (
                "partition\(number)_lag",
                "unfolded_events=\(shard.head - folded),unsaved_events=\(shard.head - saved)"
            ),
            ("partition\(number)_outlet_home", rowsLine(.outletHome, model.outletHome.outletCount, shard.keeper)),
            ("partition\(number)_cart_counts", rowsLine(.cartCounts, model.cartCounts.cartCount, shard.keeper)),
        ]
    }

    private func rowsLine(_ name: ProjectionName, _ count: Int, _ keeper: ModelKeeper) -> String {
        "rows=\(count),saved_position=\(keeper.savedPosition),version=\(name.version),"
            + "generation=\(keeper.generations[name] ?? 1),outdated=\(keeper.outdated.contains(name) ? "yes" : "no"),"
            + "digest=\(keeper.savedDigests[name])"
    }

    private var catalogueLine: (String, String) {
        let catalogue = engine.catalogue
        return (
            Catalogue.name,
            "items=\(catalogue.itemCount),outlets=\(catalogue.outletCount),saved_queries=\(catalogue.savedCount),"
                + "revision=\(catalogue.revision)"
        )
    }
}
