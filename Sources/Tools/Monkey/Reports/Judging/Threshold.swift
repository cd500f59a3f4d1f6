/// A bound that a figure of a run has to keep: `cart.add:p99<20ms`.
///
/// Latencies are response times, from when a command was to be sent; `service.p99` counts from when it was sent.
struct Threshold: Sendable, Equatable {
    /// What was asked, as it was written, without the part that ends the run.
    var text: String
    var subject: Subject
    var metric: Metric
    var relation: Relation
    /// Nanoseconds, answers per second, a number, or a part of the whole from 0 to 1, depending on the metric.
    var bound: Double
    /// The run ends when the threshold fails this many seconds after the load began, or later; nil if it goes on.
    var abortsAfter: Double?

    /// Whose figure it is.
    enum Subject: Sendable, Equatable {
        /// One kind of command, or `reads` or `writes`.
        case call(String)
        /// Reads and writes together. Its percentiles are those of the slower of the two: no more than the given part
        /// of all commands took longer than that.
        case all
        /// What the oracle looked at.
        case checks
        /// What the monkey itself did with its plan.
        case sending
    }

    /// Which figure it is.
    enum Metric: Sendable, Equatable {
        case latency(Latency, isService: Bool)
        /// Accepted commands a second, over the whole run.
        case rate
        case count(Counted)
        /// Counted, as a part of the commands of its subject that were sent, or for `sending`, planned.
        case share(Counted)
    }

    enum Latency: String, Sendable, CaseIterable {
        case p50, p90, p99
        case p999 = "p99.9"
        case max, mean
    }

    enum Counted: String, Sendable, CaseIterable {
        /// Answers with an error that the oracle did not expect.
        case errors
        /// Commands whose outcome is unknown.
        case unknown
        case violations
        /// Checks that were made.
        case made
        case late
        case dropped
    }

    enum Relation: String, Sendable, CaseIterable {
        case atMost = "<="
        case atLeast = ">="
        case equal = "=="
        case less = "<"
        case more = ">"

        func holds(_ value: Double, _ bound: Double) -> Bool {
            switch self {
            case .atMost: value <= bound
            case .atLeast: value >= bound
            case .equal: value == bound
            case .less: value < bound
            case .more: value > bound
            }
        }
    }

    /// Whether a run held the threshold. A command that was never answered did not: it is unknown how long it takes.
    func judge(_ report: RunReport) -> RunReport.Judgement {
        guard let value = value(in: report) else {
            return RunReport.Judgement(
                name: text, found: "never answered", held: false, remark: "answered were " + Threshold.list(report))
        }
        return RunReport.Judgement(name: text, found: formatted(value), held: relation.holds(value, bound))
    }

    /// Whether a run is to end at once because of this threshold, judged by what is known so far. What has not
    /// happened yet does not end it.
    func endsRun(_ report: RunReport) -> Bool {
        guard let abortsAfter, report.seconds >= abortsAfter, let value = value(in: report) else { return false }
        return !relation.holds(value, bound)
    }

    /// The figure; nil if there were no answers to take it from.
    private func value(in report: RunReport) -> Double? {
        switch subject {
        case .checks: return value(of: report.checks, violations: report.violationCount)
        case .sending: return value(of: report.sending)
        case .call(let name): return report.call(name).flatMap { value(of: [$0], in: report) }
        case .all:
            let sums = [report.reads, report.writes].compactMap { $0 }
            return sums.isEmpty ? nil : value(of: sums, in: report)
        }
    }

    private func value(of calls: [RunReport.CallReport], in report: RunReport) -> Double? {
        let sent = calls.reduce(0) { $0 + $1.sent }
        switch metric {
        case .rate: return calls.reduce(0) { $0 + report.rate(of: $1) }
        case .count(let counted): return counted.number(of: calls, in: report).map(Double.init)
        case .share(let counted): return counted.number(of: calls, in: report).map { Double($0) / Double(max(1, sent)) }
        case .latency(let latency, let isService):
            let answered = calls.filter { $0.accepted + $0.refused > 0 }
            let values = answered.map { latency.value(of: isService ? $0.serviceTime : $0.responseTime) }
            guard latency == .mean else { return values.max() }
            let weights = answered.map { Double($0.accepted + $0.refused) }
            let sum = zip(values, weights).reduce(0) { $0 + $1.0 * $1.1 }
            return answered.isEmpty ? nil : sum / weights.reduce(0, +)
        }
    }

    private func value(of checks: RunReport.Checks, violations: Int) -> Double? {
        guard case .count(let counted) = metric else { return nil }
        return Double(counted == .made ? checks.count : violations)
    }

    private func value(of sending: RunReport.Sending) -> Double? {
        switch metric {
        case .count(let counted): Double(counted == .late ? sending.late : sending.dropped)
        case .share(let counted):
            Double(counted == .late ? sending.late : sending.dropped) / Double(max(1, sending.planned))
        case .latency, .rate: nil
        }
    }

    private func formatted(_ value: Double) -> String {
        switch metric {
        case .latency: Figures.duration(value)
        case .rate: Figures.rate(value)
        case .count: Figures.count(Int(value))
        case .share: Figures.percent(value)
        }
    }

    /// The kinds of commands that there were, for a message about another.
    private static func list(_ report: RunReport) -> String {
        let names = report.commands.filter { $0.accepted + $0.refused > 0 }.map(\.name)
        return names.isEmpty ? "none" : names.joined(separator: ", ")
    }
}

extension Threshold.Latency {
    fileprivate func value(of latency: RunReport.Latency) -> Double {
        switch self {
        case .p50: Double(latency.p50)
        case .p90: Double(latency.p90)
        case .p99: Double(latency.p99)
        case .p999: Double(latency.p999)
        case .max: Double(latency.maximum)
        case .mean: latency.mean
        }
    }
}

extension Threshold.Counted {
    /// How many there were among some kinds of commands; nil if commands have no such number.
    fileprivate func number(of calls: [RunReport.CallReport], in report: RunReport) -> Int? {
        switch self {
        case .unknown: return calls.reduce(0) { $0 + $1.unknown }
        case .errors:
            let names = Set(calls.flatMap { call in report.names(of: call) })
            return report.unexpectedErrors.lazy.filter { names.contains($0.call) }.reduce(0) { $0 + $1.count }
        case .violations, .made, .late, .dropped: return nil
        }
    }
}

extension RunReport {
    /// The commands that a sum counts; the command itself if it is not a sum.
    fileprivate func names(of call: CallReport) -> [String] {
        guard call.name == "reads" || call.name == "writes" else { return [call.name] }
        return commands.filter { $0.isWrite == call.isWrite }.map(\.name)
    }
}
