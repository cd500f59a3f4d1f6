internal import Application
internal import HTTP
internal import Measurement

/// Text in Prometheus's format 0.0.4.
struct MetricsText {
    enum Kind: String {
        case counter, gauge, histogram
    }

    /// The upper bounds of the buckets of every histogram of times, in seconds.
    static let bounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

    private(set) var text = ""

    /// Adds a metric, unless it has no samples.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [(labels: [Label], value: String)]) {
        guard !samples.isEmpty else { return }
        begin(name, kind, help)
        for sample in samples { add(name, sample.labels, sample.value) }
    }

    /// Adds a histogram of nanoseconds as one of seconds.
    mutating func add(_ name: String, _ help: String, _ histograms: [(labels: [Label], histogram: Histogram)]) {
        guard !histograms.isEmpty else { return }
        begin(name, .histogram, help)
        for (labels, histogram) in histograms {
            var counts = [UInt64](repeating: 0, count: MetricsText.bounds.count)
            for step in histogram.steps {
                let seconds = Double(step.value) / 1e9
                if let bucket = MetricsText.bounds.firstIndex(where: { seconds <= $0 }) { counts[bucket] += step.count }
            }
            var count: UInt64 = 0
            for (bound, inBucket) in zip(MetricsText.bounds, counts) {
                count += inBucket
                add("\(name)_bucket", labels + [("le", "\(bound)")], "\(count)")
            }
            add("\(name)_bucket", labels + [("le", "+Inf")], "\(histogram.count)")
            add("\(name)_sum", labels, "\(Double(histogram.sum) / 1e9)")
            add("\(name)_count", labels, "\(histogram.count)")
        }
    }

    typealias Label = (name: String, value: String)

    private mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    private mutating func add(_ name: String, _ labels: [Label], _ value: String) {
        let quoted = labels.map { label in
            let value = label.value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                .replacing("\n", with: "\\n")
            return "\(label.name)=\"\(value)\""
        }
        text += name + (quoted.isEmpty ? "" : "{\(quoted.joined(separator: ","))}") + " \(value)\n"
    }
}

/// What of `INFO` is a metric.
struct InfoMetric {
    /// What of a line is the metric's value.
    enum Source {
        /// A line's value.
        case line(section: String, key: String)
        /// A part of a line's value, such as `calls`.
        case part(String, section: String, key: String)
        /// A line of each partition, whose key is this behind `partition<n>_`, or a part of it.
        case partition(String, part: String?, section: String)
        /// A part of each line whose key begins so; the rest of the key is a label.
        case each(prefix: String, part: String, section: String, label: String)
    }

    var name: String
    var kind: MetricsText.Kind
    var help: String
    var source: Source
    /// What the value is multiplied with.
    var factor = 1.0

    static let all: [InfoMetric] = [
        InfoMetric(
            name: "tiffin_uptime_seconds", kind: .gauge, help: "Seconds since the server began to read the log.",
            source: .line(section: "Server", key: "uptime_in_seconds")),
        InfoMetric(
            name: "tiffin_clients", kind: .gauge, help: "Clients of the line protocol.",
            source: .line(section: "Clients", key: "connected_clients")),
        InfoMetric(
            name: "tiffin_resident_memory_bytes", kind: .gauge, help: "Resident memory of the process.",
            source: .line(section: "Memory", key: "used_memory_rss")),
        InfoMetric(
            name: "tiffin_memory_limit_bytes", kind: .gauge, help: "The most memory that the process is to take.",
            source: .line(section: "Memory", key: "maxmemory")),
        InfoMetric(
            name: "tiffin_cpu_system_seconds_total", kind: .counter, help: "Processor time in the kernel.",
            source: .line(section: "CPU", key: "used_cpu_sys")),
        InfoMetric(
            name: "tiffin_cpu_user_seconds_total", kind: .counter, help: "Processor time in the server itself.",
            source: .line(section: "CPU", key: "used_cpu_user")),
        InfoMetric(
            name: "tiffin_connections_total", kind: .counter, help: "Connections of the line protocol.",
            source: .line(section: "Stats", key: "total_connections_received")),
        InfoMetric(
            name: "tiffin_rejected_connections_total", kind: .counter,
            help: "Connections of the line protocol that were not taken.",
            source: .line(section: "Stats", key: "rejected_connections")),
        InfoMetric(
            name: "tiffin_subscriptions", kind: .gauge, help: "Subscriptions of all clients.",
            source: .line(section: "Stats", key: "pubsub_subscriptions")),
        InfoMetric(
            name: "tiffin_errors_total", kind: .counter, help: "Calls that were answered with an error, by its code.",
            source: .each(prefix: "errorstat_", part: "count", section: "Errorstats", label: "code")),
        InfoMetric(
            name: "tiffin_command_failures_total", kind: .counter, help: "Calls of a command that failed.",
            source: .each(prefix: "cmdstat_", part: "failed_calls", section: "Commandstats", label: "command")),
        InfoMetric(
            name: "tiffin_partition_position", kind: .gauge,
            help: "The last event that the server has read or written.",
            source: .partition("position", part: nil, section: "Log")),
        InfoMetric(
            name: "tiffin_partition_head", kind: .gauge, help: "The last event that the server knows to be in the log.",
            source: .partition("head", part: nil, section: "Log")),
        InfoMetric(
            name: "tiffin_partition_missing_events", kind: .gauge, help: "Positions where there was no event.",
            source: .partition("missing_events", part: nil, section: "Log")),
        InfoMetric(
            name: "tiffin_partition_lost_events", kind: .gauge,
            help: "Events that were read, and lost by the database.",
            source: .partition("lost_events", part: nil, section: "Log")),
        InfoMetric(
            name: "tiffin_partition_waiting_commands", kind: .gauge, help: "Commands that wait for the log.",
            source: .partition("waiting_commands", part: nil, section: "Log")),
        InfoMetric(
            name: "tiffin_partition_batches_total", kind: .counter, help: "Batches that the log has answered.",
            source: .partition("batches", part: nil, section: "Log")),
        InfoMetric(
            name: "tiffin_partition_failed_batches_total", kind: .counter,
            help: "Batches of which nothing was recorded, or nobody knows.",
            source: .partition("failed_batches", part: nil, section: "Log")),
        InfoMetric(
            name: "tiffin_partition_events_total", kind: .counter, help: "Events that batches added to the log.",
            source: .partition("batch_events", part: "sum", section: "Log")),
        InfoMetric(
            name: "tiffin_partition_commit_seconds_total", kind: .counter,
            help: "Time from sending a batch until it was durable, of all batches.",
            source: .partition("commit_usec", part: "sum", section: "Log"), factor: 1e-6),
        InfoMetric(
            name: "tiffin_partition_unfolded_events", kind: .gauge, help: "Events that no answer rests on yet.",
            source: .partition("lag", part: "unfolded_events", section: "Projections")),
        InfoMetric(
            name: "tiffin_partition_unsaved_events", kind: .gauge, help: "Events that the saved rows do not have.",
            source: .partition("lag", part: "unsaved_events", section: "Projections")),
        InfoMetric(
            name: "tiffin_catalogue_items", kind: .gauge, help: "Items of all outlets that are shown.",
            source: .part("items", section: "Projections", key: "catalogue")),
        InfoMetric(
            name: "tiffin_catalogue_outlets", kind: .gauge, help: "Outlets that are shown.",
            source: .part("outlets", section: "Projections", key: "catalogue")),
    ]

    /// The values in the sections.
    func samples(in sections: [String: [(name: String, value: String)]]) -> [(
        labels: [MetricsText.Label], value: String
    )] {
        switch source {
        case .line(let section, let key):
            return (sections[section] ?? []).filter { $0.name == key }.compactMap { sample([], $0.value, nil) }
        case .part(let part, let section, let key):
            return (sections[section] ?? []).filter { $0.name == key }.compactMap { sample([], $0.value, part) }
        case .partition(let key, let part, let section):
            return (sections[section] ?? []).compactMap { line in
                guard let name = line.name.wholeMatch(of: /partition(\d+)_(.*)/), name.2 == key else { return nil }
                return sample([("partition", String(name.1))], line.value, part)
            }
        case .each(let prefix, let part, let section, let label):
            return (sections[section] ?? []).filter { $0.name.hasPrefix(prefix) }.compactMap {
                sample([(label, String($0.name.dropFirst(prefix.count)))], $0.value, part)
            }
        }
    }

    private func sample(
        _ labels: [MetricsText.Label], _ text: String, _ part: String?
    ) -> (labels: [MetricsText.Label], value: String)? {
        var text = text
        if let part {
            guard let found = text.split(separator: ",").first(where: { $0.hasPrefix("\(part)=") }) else { return nil }
            text = String(found.dropFirst(part.count + 1))
        }
        guard let number = Double(text) else { return nil }
        return (labels, factor == 1 ? text : "\(number * factor)")
    }
}

extension WebServer {
    /// Everything that can be measured.
    var metrics: HTTPAnswer {
        var text = MetricsText()
        let sections = Dictionary(
            (information?() ?? []).map { ($0.title, $0.lines) }
        ) { first, _ in first }
        for metric in InfoMetric.all { text.add(metric.name, metric.kind, metric.help, metric.samples(in: sections)) }
        text.add(
            "tiffin_command_seconds", "Time from the start of a call until its reply is made.",
            (latencies?() ?? []).map { ([("command", $0.command)], $0.latency) })
        text.add(
            "tiffin_http_connections", .gauge, "Connections of browsers.", [([], "\(connections.count)")])
        text.add(
            "tiffin_http_streams", .gauge, "Event streams.", [([], "\(streams.values.reduce(0, +))")])
        text.add(
            "tiffin_http_refused_connections_total", .counter, "Connections of browsers that were not taken.",
            [([], "\(statistics.refused)")])
        text.add(
            "tiffin_http_left_out_messages_total", .counter, "Messages that were left out for slow readers of streams.",
            [([], "\(statistics.passedOver)")])
        text.add(
            "tiffin_http_answers_total", .counter, "Answers to requests, by status.",
            statistics.answers.sorted { $0.key < $1.key }.map { ([("status", "\($0.key)")], "\($0.value)") })
        text.add(
            "tiffin_http_request_seconds", "Time from a request until its answer is made.", [([], statistics.latency)])
        return HTTPAnswer(
            .ok,
            fields: [("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), ("Cache-Control", "no-store")]
                + Fields.ofData,
            body: Array(text.text.utf8)[...])
    }
}
