internal import Foundation

/// An earlier run that a run is compared with, and how much worse it may be.
///
/// **The rule.** A figure fails if the whole interval of its change, in which it lies with 95 % confidence, is beyond
/// what is allowed. So a run that is no worse than allowed fails a figure at most once in forty times, however much
/// its seconds differ: chance must not stop a change from being merged. The price is that a short or noisy run finds
/// only what is much worse. It does not pass in silence: if the interval lies on both sides of what is allowed, the
/// figure is held, and the report says that it cannot tell, and that a longer run can.
///
/// The interval says how much the seconds of these two runs differ. It does not say how much one run differs from the
/// next on the same machine. Allow more than that: 10 % or above.
///
/// Each second is compared with the same second of the other run, since both follow the same plan and the server
/// holds as much by then. The first second is left out, because connections are made and caches are cold; so is a
/// last one that is not complete.
struct Baseline: Sendable {
    /// The fewest seconds that are compared. A run of the default length has nine, without its first.
    static let leastSeconds = 6
    /// The shortest second that is compared.
    private static let whole = 0.5
    /// Differences of the environment that are reported.
    private static let maximumFacts = 5

    /// The earlier run.
    let earlier: RunReport
    /// The relative change for the worse that is allowed: 0.1 for 10 %.
    let allowed: Double

    /// What a comparison found, and what to know about it.
    struct Result: Sendable, Equatable {
        var judgements: [RunReport.Judgement]
        var remarks: [String]
    }

    /// What `--regress` asks for: `10%` is 0.1.
    static func allowed(_ text: String) throws(JudgingError) -> Double {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = text.dropFirst(digits.count).filter { !$0.isWhitespace }
        guard digits.first?.isNumber == true, let percent = Double(String(digits)), unit == "%", percent < 100 else {
            throw JudgingError("`\(text)` is not a regression that can be allowed: give 0% to 99%, such as 10%")
        }
        return percent / 100
    }

    /// Refuses a load that differs from that of the earlier run, before it begins.
    func check(_ load: RunReport.Load) throws(JudgingError) {
        let before = earlier.load
        func refuse(_ what: String, _ then: String, _ now: String) -> JudgingError {
            JudgingError("The baseline cannot be compared: its \(what) was \(then), and this run's is \(now).")
        }
        guard earlier.outcome != .couldNotRun else {
            throw JudgingError("The baseline cannot be compared: its load could not be run.")
        }
        guard before.isClosed == load.isClosed else {
            throw refuse("mode", Baseline.mode(before), Baseline.mode(load))
        }
        guard before.isChaotic == load.isChaotic else {
            throw refuse("chaos", before.isChaotic ? "on" : "off", load.isChaotic ? "on" : "off")
        }
        guard Baseline.mix(before) == Baseline.mix(load) else {
            throw refuse("mix of scenarios", Baseline.mix(before), Baseline.mix(load))
        }
        guard before.stages == load.stages else {
            throw refuse("plan", Baseline.plan(before), Baseline.plan(load))
        }
        // Reports of earlier versions do not say how large their world was.
        if let size = before.size, let now = load.size, size != now {
            throw refuse("world", Baseline.world(size), Baseline.world(now))
        }
        guard before.connections == load.connections else {
            throw refuse("number of connections", String(before.connections), String(load.connections))
        }
        guard !load.isClosed || before.pipeline == load.pipeline else {
            throw refuse("pipeline", String(before.pipeline), String(load.pipeline))
        }
        guard before.seconds == load.seconds else {
            throw refuse("length", Figures.time(before.seconds), Figures.time(load.seconds))
        }
    }

    /// Compares a run with the earlier one: throughput, median and 99th percentile of reads and of writes, the
    /// server's processor time per command, and its peak memory.
    ///
    /// - Throws: if the runs are not comparable, with the reason.
    func judge(_ report: RunReport) throws(JudgingError) -> Result {
        try check(report.load)
        let seconds = Baseline.paired(earlier.windows, report.windows)
        guard seconds.count >= Baseline.leastSeconds else {
            throw JudgingError(
                "The baseline cannot be compared: the runs have \(seconds.count) whole seconds in common after the first "
                    + "one, and \(Baseline.leastSeconds) are needed.")
        }
        var result = Result(judgements: [], remarks: remarks(report))
        for (name, flow) in [("writes", \RunReport.Window.writes), ("reads", \RunReport.Window.reads)] {
            let rates = seconds.map { before, after in
                Bootstrap.Pair(
                    before: (Double(before[keyPath: flow].answered), before.seconds),
                    after: (Double(after[keyPath: flow].answered), after.seconds))
            }
            guard rates.contains(where: { $0.before.sum > 0 || $0.after.sum > 0 }) else { continue }
            add(name + "/s", rates, .ratio, .rate, isBetterHigher: true, to: &result)
            let answered = seconds.filter { $0[keyPath: flow].answered > 0 && $1[keyPath: flow].answered > 0 }
            for (quantile, value) in [("p50", \RunReport.Flow.p50), ("p99", \RunReport.Flow.p99)] {
                let latencies = answered.map { before, after in
                    Bootstrap.Pair(
                        before: (log(Double(max(1, before[keyPath: flow][keyPath: value]))), 1),
                        after: (log(Double(max(1, after[keyPath: flow][keyPath: value]))), 1))
                }
                add("\(name) \(quantile)", latencies, .geometricMean, .nanoseconds, isBetterHigher: false, to: &result)
            }
        }
        let costs = seconds.compactMap { before, after -> Bootstrap.Pair? in
            guard let then = before.serverMicroseconds, let now = after.serverMicroseconds else { return nil }
            return Bootstrap.Pair(
                before: (Double(then) * 1_000, Double(before.reads.answered + before.writes.answered)),
                after: (Double(now) * 1_000, Double(after.reads.answered + after.writes.answered)))
        }
        add("server CPU per command", costs, .ratio, .nanoseconds, isBetterHigher: false, to: &result)
        addMemory(report, to: &result)
        return result
    }

    /// Judges one figure by its seconds.
    private func add(
        _ name: String, _ pairs: [Bootstrap.Pair], _ figure: Bootstrap.Figure, _ unit: RunReport.Comparison.Unit,
        isBetterHigher: Bool, to result: inout Result
    ) {
        guard pairs.count >= Baseline.leastSeconds else {
            result.remarks.append("\(name) could not be compared with the baseline: too few seconds have it.")
            return
        }
        let bootstrap = Bootstrap(pairs, figure: figure)
        guard let interval = bootstrap.interval() else {
            result.remarks.append("\(name) could not be compared with the baseline: there is nothing to divide by.")
            return
        }
        let values = bootstrap.values
        result.judgements.append(
            Baseline.judgement(
                name,
                .init(
                    unit: unit, before: values.before, after: values.after, change: bootstrap.change,
                    interval: interval, allowed: allowed, isBetterHigher: isBetterHigher)))
    }

    /// A run has only one peak of memory, so its change has no interval: it fails if the change is beyond what is
    /// allowed.
    private func addMemory(_ report: RunReport, to result: inout Result) {
        guard let before = earlier.server?.peakBytes, let after = report.server?.peakBytes, before > 0, after > 0 else {
            result.remarks.append("server peak memory could not be compared with the baseline: it is not known.")
            return
        }
        result.judgements.append(
            Baseline.judgement(
                "server peak memory",
                .init(
                    unit: .bytes, before: Double(before), after: Double(after),
                    change: Double(after) / Double(before) - 1, interval: nil, allowed: allowed, isBetterHigher: false))
        )
    }

    private static func judgement(_ name: String, _ comparison: RunReport.Comparison) -> RunReport.Judgement {
        let interval = comparison.interval.map {
            " (95 %: \(Figures.change($0.low)) … \(Figures.change($0.high)) %)"
        }
        let limit = Figures.change(comparison.isBetterHigher ? -comparison.allowed : comparison.allowed) + " %"
        let held = !comparison.isWorse
        return RunReport.Judgement(
            name: name, found: Figures.change(comparison.change) + " %" + (interval ?? ""), held: held,
            remark: !held
                ? "\(limit) was allowed"
                : comparison.isDecided ? nil : "it may be beyond the \(limit) allowed; a longer run can tell",
            comparison: comparison)
    }

    /// The same seconds of both runs, without the first, and without incomplete ones.
    private static func paired(
        _ before: [RunReport.Window], _ after: [RunReport.Window]
    ) -> [(before: RunReport.Window, after: RunReport.Window)] {
        let known = Dictionary(before.dropFirst().map { (second($0), $0) }, uniquingKeysWith: { first, _ in first })
        return after.dropFirst().compactMap { window in
            guard let other = known[second(window)], window.seconds >= whole, other.seconds >= whole else { return nil }
            return (other, window)
        }
    }

    private static func second(_ window: RunReport.Window) -> Int { Int(exactly: window.start.rounded()) ?? -1 }

    /// What else differs, or was wrong with the earlier run.
    private func remarks(_ report: RunReport) -> [String] {
        var remarks: [String] = []
        if earlier.outcome == .checkFailed || earlier.outcome == .unknown {
            remarks.append("The baseline is of a run in which not every check held.")
        }
        if earlier.load.size == nil, report.load.size != nil {
            remarks.append("The baseline does not say how many outlets, items, carts and shoppers it had.")
        }
        if earlier.sending.limit != nil {
            remarks.append("The baseline says more of the monkey than of the server.")
        }
        let now = Dictionary(report.environment.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        let differences = earlier.environment.compactMap { fact in
            now[fact.name].flatMap { $0 == fact.value ? nil : "\(fact.name) \(fact.value), now \($0)" }
        }
        if !differences.isEmpty {
            let shown = differences.prefix(Baseline.maximumFacts).joined(separator: "; ")
            remarks.append("The baseline was measured with " + shown + ".")
        }
        return remarks
    }

    private static func mode(_ load: RunReport.Load) -> String { load.isClosed ? "closed" : "open" }

    /// The scenarios with their parts of the whole, in the order of their names.
    private static func mix(_ load: RunReport.Load) -> String {
        let sum = load.scenarios.reduce(0) { $0 + $1.weight }
        let parts = Dictionary(load.scenarios.map { ($0.scenario, $0.weight) }, uniquingKeysWith: +)
        return parts.sorted { $0.key < $1.key }
            .map { "\($0.key) \(Figures.percent(sum > 0 ? $0.value / sum : 0))" }.joined(separator: ", ")
    }

    private static func world(_ size: RunReport.Size) -> String {
        "\(Figures.count(size.outlets)) outlets, \(Figures.count(size.items)) items, \(Figures.count(size.carts)) carts "
            + "and \(Figures.count(size.shoppers)) shoppers"
    }

    private static func plan(_ load: RunReport.Load) -> String {
        load.stages.map { "\(Figures.rate($0.rate)) after \(Figures.time($0.seconds))" }.joined(separator: ", then ")
    }
}

extension RunReport.Comparison {
    /// Whether the change, with all of its interval, is worse than allowed.
    var isWorse: Bool {
        isBetterHigher ? (interval?.high ?? change) < -allowed : (interval?.low ?? change) > allowed
    }
}
