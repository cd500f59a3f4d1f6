package import Application
internal import EventLog
internal import EventLoop
internal import Fleet
internal import Foundation
package import Measurement
internal import Serving

extension LineServer {
    /// The text of `INFO`: the sections asked for, or all of them.
    func information(sections wanted: [String]) -> String {
        let isEverything = wanted.isEmpty || !Set(wanted).isDisjoint(with: ["all", "default", "everything"])
        return sections.filter { isEverything || wanted.contains($0.title.lowercased()) }
            .map { section in
                "# \(section.title)\r\n" + section.facts.map { "\($0.name):\($0.value)\r\n" }.joined()
            }.joined(separator: "\r\n")
    }

    /// Counts a call of a command that another front has answered, among those of ``information(sections:)``.
    package func count(_ command: Command, nanoseconds: UInt64, _ failure: Failure?) {
        if let failure { statistics.count(failure) }
        guard let index = LineCommandTable.shared.index(ofCommand: command.declaration.name) else { return }
        statistics.count(index, nanoseconds: nanoseconds, hasFailed: failure != nil)
    }

    /// Starts counting again, here and in the application.
    func resetStatistics() {
        statistics = Statistics(commandCount: LineCommandTable.shared.commands.count)
        service.resetStatistics()
    }

    /// The state of the server in sections, as `INFO` shows it.
    package var sections: [Facts] {
        [
            Facts("Server", self.serverFacts), Facts("Clients", self.clientFacts), Facts("Memory", self.memoryFacts),
            Facts("Stats", self.counts), Facts("CPU", self.processorFacts), Facts("Database", self.connections()),
            Facts("Cluster", self.clusterFacts),
        ] + service.information + [
            Facts("Commandstats", self.calledCommands.map(LineServer.counts)),
            Facts("Errorstats", self.errorFacts),
            Facts("Latencystats", self.calledCommands.map(LineServer.percentiles)),
        ]
    }

    private var serverFacts: [Fact] {
        let uptime = (LoopActor.now - startedAt) / 1_000_000_000
        #if DEBUG
            let build = "debug"
        #else
            let build = "release"
        #endif
        var facts = [
            // Clients parse this one to know what they may use; it names the Redis whose protocol this is.
            Fact("redis_version", "7.4.0"), Fact("redis_mode", hasCluster ? "cluster" : "standalone"),
            Fact("tiffin_version", Version.current),
            Fact("tiffin_build", build),
        ]
        if let version = postgresVersion() { facts.append(Fact("postgres_version", version)) }
        return facts + [
            Fact("log_lines_dropped", logger.droppedLines), Fact("process_id", getpid()), Fact("tcp_port", port),
            Fact(
                "uptime_in_seconds", uptime,
                .gauge("tiffin_uptime_seconds", "Seconds since the server began to read the log.")),
            Fact("uptime_in_days", uptime / 86_400),
        ]
    }

    /// Whether clients of Redis Cluster have more than one server to choose from.
    private var hasCluster: Bool { service.partitioning.rule == .slots && service.member?.hasOthers ?? false }

    private var clusterFacts: [Fact] {
        let enabled = Fact("cluster_enabled", service.partitioning.rule == .slots ? 1 : 0)
        guard let member = service.member else { return [enabled] }
        let leases = member.leases
        return [
            enabled,
            Fact("servers", member.servers.count, .gauge("tiffin_servers", "Servers that share the log.")),
            Fact("partitions", service.partitioning.count),
            Fact(
                "partitions_kept", leases.count { $0.holder == member.server.id },
                .gauge("tiffin_partitions_kept", "Partitions that this server decides.")),
            Fact(
                "forwarded_calls", member.forwardedCount,
                .counter("tiffin_forwarded_calls_total", "Calls that were given to the server that decides them.")),
            Fact("forwarded_calls_waiting", member.waitingCount),
            Fact(
                "received_calls", member.receivedCount,
                .counter("tiffin_received_calls_total", "Calls that other servers gave to this one.")),
        ]
            + member.servers.enumerated().map { number, server in
                Fact(
                    "server\(number)",
                    [
                        Fact("address", server.address), Fact("id", server.id.text),
                        Fact("partitions", leases.count { $0.holder == server.id }),
                        Fact("silent_ms", Int(server.silence)),
                    ])
            }
    }

    private var clientFacts: [Fact] {
        [
            Fact("connected_clients", sessions.count, .gauge("tiffin_clients", "Clients of the line protocol.")),
            Fact("maxclients", configuration.maximumClients),
            Fact("maxclients_address", configuration.maximumClientsOfAddress),
            Fact("client_addresses", shares.count),
            Fact("maxrate", configuration.commandsPerSecond),
            Fact("maxrate_address", configuration.commandsPerSecondOfAddress),
            Fact("max_output", configuration.outputLimit),
            Fact("clients_before_login", strangers.count),
            Fact("pubsub_clients", sessions.values.count { $0.subscriber.subscriptionCount > 0 }),
        ]
    }

    private var memoryFacts: [Fact] {
        let resources = ProcessResources.current
        return [
            Fact(
                "used_memory_rss", resources.residentBytes,
                .gauge("tiffin_resident_memory_bytes", "Resident memory of the process.")),
            Fact("used_memory_peak", resources.peakBytes),
            Fact(
                "maxmemory", service.memory.limit,
                .gauge("tiffin_memory_limit_bytes", "The most memory that the process is to take.")),
            Fact("maxmemory_reached", service.memory.isFull ? 1 : 0),
            Fact("mem_clients_normal", clientBytes),
            Fact("maxmemory_clients", configuration.clientMemory),
            Fact("maxmemory_address", configuration.clientMemoryOfAddress),
        ]
    }

    private var counts: [Fact] {
        [
            Fact(
                "total_connections_received", statistics.connections,
                .counter("tiffin_connections_total", "Connections of the line protocol.")),
            Fact("total_commands_processed", statistics.commands),
            Fact("total_error_replies", statistics.errors.values.reduce(0, +)),
            Fact("spans_sent", service.spans.sent),
            Fact(
                "spans_lost", service.spans.lost,
                .counter("tiffin_lost_spans_total", "Spans that the collector of traces did not take.")),
            Fact("tls_refused_handshakes", statistics.refusedHandshakes),
            Fact("failed_accepts", statistics.failedAccepts),
            Fact("client_time_pauses", statistics.timePauses),
            Fact("client_reading_pauses", statistics.readingPauses),
            Fact("client_rate_pauses", statistics.ratePauses),
            Fact("acl_access_denied_auth", service.logins.failureCount),
            Fact("acl_access_denied_cmd", statistics.deniedCommands),
            Fact("acl_access_denied_key", statistics.deniedKeys),
            Fact("acl_access_denied_channel", statistics.deniedChannels),
            Fact("pubsub_channels", service.topics.count),
            Fact(
                "pubsub_subscriptions", service.topics.subscriptionCount,
                .gauge("tiffin_subscriptions", "Subscriptions of all clients.")),
        ]
            + Disconnection.allCases.map { kind in
                Fact(
                    kind.rawValue, statistics.count(of: kind),
                    kind == .rejected
                        ? .counter(
                            "tiffin_rejected_connections_total", "Connections of the line protocol that were not taken."
                        )
                        : nil)
            }
    }

    private var errorFacts: [Fact] {
        statistics.errors.sorted { $0.key < $1.key }.map { code, count in
            let metric = Metric.counter(
                "tiffin_errors_total", "Calls that were answered with an error, by its code.", ("code", code))
            return Fact("errorstat_\(code)", [Fact("count", count, metric)])
        }
    }

    private var processorFacts: [Fact] {
        let resources = ProcessResources.current
        return [
            Fact(
                "used_cpu_sys", .decimal(Double(resources.systemMicroseconds) / 1e6, digits: 6),
                .counter("tiffin_cpu_system_seconds_total", "Processor time in the kernel.")),
            Fact(
                "used_cpu_user", .decimal(Double(resources.userMicroseconds) / 1e6, digits: 6),
                .counter("tiffin_cpu_user_seconds_total", "Processor time in the server itself.")),
        ]
    }

    // MARK: Commands

    private typealias Called = (name: String, calls: Statistics.Calls)

    private var calledCommands: [Called] {
        zip(LineCommandTable.shared.commands, statistics.calls).filter { $0.1.latency.count > 0 }
            .map { ($0.0.declaration.name.lowercased().replacing(" ", with: "|"), $0.1) }
    }

    /// The nanoseconds that the calls of each command took that was called.
    package var latencies: [(command: String, latency: Histogram)] {
        calledCommands.map { ($0.name, $0.calls.latency) }
    }

    private static func counts(of command: Called) -> Fact {
        let latency = command.calls.latency
        return Fact(
            "cmdstat_\(command.name)",
            [
                Fact("calls", latency.count), Fact("usec", latency.sum / 1_000),
                Fact("usec_per_call", .decimal(latency.mean / 1_000, digits: 2)),
                // Commands refused before they are executed are among the failed ones.
                Fact("rejected_calls", 0),
                Fact(
                    "failed_calls", command.calls.failed,
                    .counter(
                        "tiffin_command_failures_total", "Calls of a command that failed.", ("command", command.name))),
            ])
    }

    private static func percentiles(of command: Called) -> Fact {
        Fact(
            "latency_percentiles_usec_\(command.name)",
            [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)].map { name, part in
                Fact(name, .decimal(Double(command.calls.latency.quantile(part)) / 1_000, digits: 3))
            })
    }
}
