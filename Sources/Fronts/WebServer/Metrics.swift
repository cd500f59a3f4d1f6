internal import Application
internal import HTTP
internal import Measurement
internal import Serving

/// Text in Prometheus's format 0.0.4.
struct MetricsText {
    /// The upper bounds of the buckets of every histogram of times, in seconds.
    static let bounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

    private(set) var text = ""

    /// Adds metrics. The numbers of one stand together.
    mutating func add(_ numbers: [(metric: Metric, number: String)]) {
        var begun: Set<String> = []
        for (metric, _) in numbers where begun.insert(metric.name).inserted {
            begin(metric.name, metric.kind.rawValue, metric.help)
            for (other, number) in numbers where other.name == metric.name { add(other.name, other.labels, number) }
        }
    }

    /// Adds a histogram of nanoseconds as one of seconds.
    mutating func add(_ name: String, _ help: String, _ histograms: [(labels: [Metric.Label], histogram: Histogram)]) {
        guard !histograms.isEmpty else { return }
        begin(name, "histogram", help)
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

    private mutating func begin(_ name: String, _ kind: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    }

    private mutating func add(_ name: String, _ labels: [Metric.Label], _ value: String) {
        let quoted = labels.map { label in
            let value = label.value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                .replacing("\n", with: "\\n")
            return "\(label.name)=\"\(value)\""
        }
        text += name + (quoted.isEmpty ? "" : "{\(quoted.joined(separator: ","))}") + " \(value)\n"
    }
}

extension WebServer {
    /// Everything that can be measured.
    var metrics: HTTPAnswer {
        var text = MetricsText()
        text.add((information?() ?? []).flatMap(\.facts).flatMap(\.measured))
        text.add(
            "tiffin_command_seconds", "Time from the start of a call until its reply is made.",
            (latencies?() ?? []).map { ([("command", $0.command)], $0.latency) })
        text.add(facts.flatMap(\.measured))
        text.add(
            "tiffin_http_request_seconds", "Time from a request until its answer is made.", [([], statistics.latency)])
        return HTTPAnswer(
            .ok,
            fields: [("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), ("Cache-Control", "no-store")]
                + Fields.ofData,
            body: Array(text.text.utf8)[...])
    }

    /// What the web server itself counts.
    private var facts: [Fact] {
        [
            Fact("connections", connections.count, .gauge("tiffin_http_connections", "Connections of browsers.")),
            Fact("streams", streams.values.reduce(0, +), .gauge("tiffin_http_streams", "Event streams.")),
            Fact(
                "refused", statistics.refused,
                .counter("tiffin_http_refused_connections_total", "Connections of browsers that were not taken.")),
            Fact(
                "passed_over", statistics.passedOver,
                .counter(
                    "tiffin_http_left_out_messages_total", "Messages that were left out for slow readers of streams.")),
        ]
            + statistics.answers.sorted { $0.key < $1.key }.map { status, count in
                Fact(
                    "answers", count,
                    .counter(
                        "tiffin_http_answers_total", "Answers to requests, by status.", ("status", "\(status)")))
            }
    }
}
