/// Why a text is not a threshold or a baseline: a sentence for the user who typed it, with what is allowed.
struct JudgingError: Error, Equatable, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}

extension Threshold {
    /// How thresholds are written, for help texts.
    static let grammar = """
        <call|reads|writes|all>:[service.]<p50|p90|p99|p99.9|max|mean><bound><ns|us|ms|s>
        <call|reads|writes|all>:rate<bound>[/s]
        <call|reads|writes|all>:<errors|unknown><bound>[%]
        sending:<late|dropped><bound>[%]
        checks:<violations|made><bound>
        where a bound is one of <, <=, >, >= (and == for a number) with a value,
        and ",abortOnFail=5s" after it ends the run when it fails after the first 5 s
        """

    /// The threshold that a text asks for. `calls` are the kinds of commands that there can be; nil if that is not
    /// known.
    init(_ text: String, calls: [String]? = nil) throws(JudgingError) {
        let parts = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false).map(Threshold.trimmed)
        let asked = parts[0]
        func mistake(_ what: String) -> JudgingError { JudgingError("`\(text)` is not a threshold: \(what)") }

        guard let sign = asked.firstIndex(where: { "<>=".contains($0) }) else {
            throw mistake("it has no bound; write it like cart.add:p99<20ms, with <, <=, >, >= or ==")
        }
        let figure = asked[..<sign].split(separator: ":", omittingEmptySubsequences: false).map(Threshold.trimmed)
        guard figure.count == 2, !figure[0].isEmpty else {
            throw mistake("it does not say whose figure it is; write it like cart.add:p99<20ms")
        }
        guard let relation = Relation.allCases.first(where: { asked[sign...].hasPrefix($0.rawValue) }) else {
            throw mistake("a bound is one of <, <=, >, >= and ==")
        }
        let bound = Threshold.trimmed(asked[sign...].dropFirst(relation.rawValue.count))

        self.text = asked
        self.relation = relation
        subject = Threshold.subject(figure[0])
        if case .call(let name) = subject, let calls, name != "reads", name != "writes", !calls.contains(name) {
            throw mistake(
                "there is no `\(name)`; there are reads, writes, all, checks, sending, \(Threshold.list(calls))")
        }
        guard let isShare = Threshold.isShare(bound), let number = Threshold.number(bound) else {
            throw mistake("`\(bound)` is not a number with a unit, such as 20ms, 1% or 5000")
        }
        let names = subject.metrics
        guard names.contains(figure[1]), let metric = Metric(figure[1], isShare: isShare) else {
            throw mistake("`\(figure[1])` is not one of its figures, which are \(Threshold.list(names))")
        }
        self.metric = metric
        guard let scale = metric.scale(of: number.unit, subject: subject) else {
            throw mistake("the value of \(figure[1]) is \(metric.units(subject)), not `\(bound)`")
        }
        if relation == .equal {
            guard case .count = metric else { throw mistake("== is for numbers; a measurement is never equal") }
        }
        self.bound = number.value * scale
        if parts.count == 2 { abortsAfter = try Threshold.delay(parts[1], mistake) }
    }

    private static func subject(_ name: String) -> Subject {
        switch name {
        case "all": .all
        case "checks": .checks
        case "sending": .sending
        default: .call(name)
        }
    }

    /// `abortOnFail`, or `abortOnFail=5s`.
    private static func delay(_ text: String, _ mistake: (String) -> JudgingError) throws(JudgingError) -> Double {
        let words = text.split(separator: "=", omittingEmptySubsequences: false).map(trimmed)
        guard words[0] == "abortOnFail", words.count <= 2 else {
            throw mistake("after a comma, only abortOnFail or abortOnFail=5s can follow")
        }
        guard words.count == 2 else { return 0 }
        guard let delay = number(words[1]), let nanoseconds = Metric.nanoseconds[delay.unit] else {
            throw mistake("`\(words[1])` is not a time such as 5s or 500ms")
        }
        return delay.value * nanoseconds / 1e9
    }

    /// A number that is not negative, and what follows it.
    private static func number(_ text: String) -> (value: Double, unit: String)? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard digits.first?.isNumber == true, let value = Double(String(digits)), value.isFinite else { return nil }
        return (value, trimmed(text.dropFirst(digits.count)))
    }

    private static func isShare(_ bound: String) -> Bool? { number(bound).map { $0.unit == "%" } }

    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }

    private static func trimmed(_ text: some StringProtocol) -> String {
        String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}

extension Threshold.Subject {
    /// The names of its figures.
    fileprivate var metrics: [String] {
        switch self {
        case .call, .all:
            let latencies = Threshold.Latency.allCases.map(\.rawValue)
            return latencies + latencies.map { "service." + $0 } + ["rate", "errors", "unknown"]
        case .checks: return ["violations", "made"]
        case .sending: return ["late", "dropped"]
        }
    }
}

extension Threshold.Metric {
    fileprivate static let nanoseconds: [String: Double] = ["ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9]

    fileprivate init?(_ name: String, isShare: Bool) {
        let isService = name.hasPrefix("service.")
        if name == "rate" {
            self = .rate
        } else if let latency = Threshold.Latency(rawValue: isService ? String(name.dropFirst(8)) : name) {
            self = .latency(latency, isService: isService)
        } else if let counted = Threshold.Counted(rawValue: name) {
            self = isShare ? .share(counted) : .count(counted)
        } else {
            return nil
        }
    }

    /// What a value with that unit is multiplied by; nil if the unit measures something else.
    fileprivate func scale(of unit: String, subject: Threshold.Subject) -> Double? {
        switch self {
        case .latency: Threshold.Metric.nanoseconds[unit]
        case .rate: unit.isEmpty || unit == "/s" ? 1 : nil
        case .count: unit.isEmpty ? 1 : nil
        case .share: subject == .checks ? nil : 0.01
        }
    }

    /// What its values are, in words.
    fileprivate func units(_ subject: Threshold.Subject) -> String {
        switch self {
        case .latency: "a time in ns, us, ms or s"
        case .rate: "a number per second"
        case .count, .share: subject == .checks ? "a number" : "a number, or a part in %"
        }
    }
}
