package import Application
internal import EventLoop
internal import Foundation
package import Measurement

extension LineServer {
    /// The text of `INFO`: the sections asked for, or all of them.
    func information(sections wanted: [String]) -> String {
        let isEverything = wanted.isEmpty || !Set(wanted).isDisjoint(with: ["all", "default", "everything"])
        return sections.filter { isEverything || wanted.contains($0.title.lowercased()) }
            .map { section in
                "# \(section.title)\r\n" + section.lines.map { "\($0.name):\($0.value)\r\n" }.joined()
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
        application.resetStatistics()
    }

    /// The state of the server in sections, as `INFO` shows it.
    package var sections: [Information] {
        let (resources, topics) = (ProcessResources.current, application.topics!)
        return [
            Information("Server", self.serverLines),
            Information(
                "Clients",
                [
                    ("connected_clients", "\(self.sessions.count)"),
                    ("maxclients", "\(self.configuration.maximumClients)"),
                    ("maxclients_address", "\(self.configuration.maximumClientsOfAddress)"),
                    ("client_addresses", "\(self.shares.count)"),
                    ("maxrate", "\(self.configuration.commandsPerSecond)"),
                    ("maxrate_address", "\(self.configuration.commandsPerSecondOfAddress)"),
                    ("max_output", "\(self.configuration.outputLimit)"),
                    ("clients_before_login", "\(self.strangers.count)"),
                    ("pubsub_clients", "\(self.sessions.values.count { $0.subscriber.subscriptionCount > 0 })"),
                ]),
            Information(
                "Memory",
                [
                    ("used_memory_rss", "\(resources.residentBytes)"), ("used_memory_peak", "\(resources.peakBytes)"),
                    ("maxmemory", "\(self.application.memory.limit)"),
                    ("maxmemory_reached", self.application.memory.isFull ? "1" : "0"),
                    ("mem_clients_normal", "\(self.clientBytes)"),
                    ("maxmemory_clients", "\(self.configuration.clientMemory)"),
                    ("maxmemory_address", "\(self.configuration.clientMemoryOfAddress)"),
                ]),
            Information(
                "Stats",
                [
                    ("total_connections_received", "\(self.statistics.connections)"),
                    ("total_commands_processed", "\(self.statistics.commands)"),
                    ("total_error_replies", "\(self.statistics.errors.values.reduce(0, +))"),
                    ("tls_refused_handshakes", "\(self.statistics.refusedHandshakes)"),
                    ("failed_accepts", "\(self.statistics.failedAccepts)"),
                    ("client_time_pauses", "\(self.statistics.timePauses)"),
                    ("client_reading_pauses", "\(self.statistics.readingPauses)"),
                    ("client_rate_pauses", "\(self.statistics.ratePauses)"),
                    ("acl_access_denied_auth", "\(self.application.logins.failureCount)"),
                    ("acl_access_denied_cmd", "\(self.statistics.deniedCommands)"),
                    ("acl_access_denied_key", "\(self.statistics.deniedKeys)"),
                    ("acl_access_denied_channel", "\(self.statistics.deniedChannels)"),
                    ("pubsub_channels", "\(topics.count)"),
                    ("pubsub_subscriptions", "\(topics.subscriptionCount)"),
                ]
                    + Disconnection.allCases.map { ($0.rawValue, "\(self.statistics.count(of: $0))") }),
            Information(
                "CPU",
                [
                    ("used_cpu_sys", LineServer.seconds(resources.systemMicroseconds)),
                    ("used_cpu_user", LineServer.seconds(resources.userMicroseconds)),
                ]),
            Information("Database", self.connections()),
        ] + application.information + [
            Information(
                "Commandstats", self.calledCommands.map { ("cmdstat_\($0.name)", LineServer.counts(of: $0.calls)) }),
            Information(
                "Errorstats",
                self.statistics.errors.sorted { $0.key < $1.key }.map { ("errorstat_\($0.key)", "count=\($0.value)") }),
            Information(
                "Latencystats",
                self.calledCommands.map {
                    ("latency_percentiles_usec_\($0.name)", LineServer.percentiles(of: $0.calls))
                }),
        ]
    }

    private var serverLines: Information.Lines {
        let uptime = (LoopActor.now - startedAt) / 1_000_000_000
        #if DEBUG
            let build = "debug"
        #else
            let build = "release"
        #endif
        var lines = [
            // Clients parse this one to know what they may use; it names the Redis whose protocol this is.
            ("redis_version", "7.4.0"), ("redis_mode", "standalone"), ("tiffin_version", Application.version),
            ("tiffin_build", build),
        ]
        if let version = postgresVersion() { lines.append(("postgres_version", version)) }
        return lines + [
            ("log_lines_dropped", "\(logger.droppedLines)"), ("process_id", "\(getpid())"), ("tcp_port", "\(port)"),
            ("uptime_in_seconds", "\(uptime)"),
            ("uptime_in_days", "\(uptime / 86_400)"),
        ]
    }

    private static func seconds(_ microseconds: Int64) -> String {
        String(format: "%.6f", Double(microseconds) / 1_000_000)
    }

    // MARK: Commands

    private var calledCommands: [(name: String, calls: Statistics.Calls)] {
        zip(LineCommandTable.shared.commands, statistics.calls).filter { $0.1.latency.count > 0 }
            .map { ($0.0.declaration.name.lowercased().replacing(" ", with: "|"), $0.1) }
    }

    /// The nanoseconds that the calls of each command took that was called.
    package var latencies: [(command: String, latency: Histogram)] {
        calledCommands.map { ($0.name, $0.calls.latency) }
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
}
