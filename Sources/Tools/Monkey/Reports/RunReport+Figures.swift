extension RunReport {
    /// The sum of all reads; nil if none was sent.
    var reads: CallReport? { call("reads") }

    /// The sum of all writes; nil if none was sent.
    var writes: CallReport? { call("writes") }

    /// Every kind of command, without the sums.
    var commands: [CallReport] { calls.filter { $0.name != "reads" && $0.name != "writes" && $0.sent > 0 } }

    /// The outcomes of one kind of command, or of a sum of them; nil if none was sent.
    func call(_ name: String) -> CallReport? {
        calls.first { $0.name == name && $0.sent > 0 }
    }

    /// How many were accepted per second, over the whole run.
    func rate(of call: CallReport) -> Double { seconds > 0 ? Double(call.accepted) / seconds : 0 }

    /// Errors that the oracle did not expect, the most frequent first.
    var unexpectedErrors: [ErrorCount] {
        errors.filter { !$0.isExpected && $0.count > 0 }
            .sorted { ($1.count, $0.call, $0.code) < ($0.count, $1.call, $1.code) }
    }

    /// How many commands have an unknown outcome.
    var unknownOutcomes: Int { commands.reduce(0) { $0 + $1.unknown } }

    /// How many things the server did that it should not have.
    var violationCount: Int { checks.violations.count + checks.furtherViolations }

    /// Every check by name, and what it found: in the order of the report, then those that only a violation names.
    var checkResults: [CheckResult] {
        var results = checks.made.map { CheckResult(name: $0.name, made: $0.count) }
        for violation in checks.violations {
            let index = results.firstIndex { $0.name == violation.check } ?? results.endIndex
            if index == results.endIndex { results.append(CheckResult(name: violation.check, made: 0)) }
            results[index].violations.append(violation)
        }
        return results
    }

    /// One kind of check, and what it found.
    struct CheckResult {
        var name: String
        /// How often it was made.
        var made: Int
        /// The violations it found, as far as they were kept.
        var violations: [Violation] = []
    }
}

extension RunReport.CallReport {
    /// How many were sent: accepted, refused, or never answered.
    var sent: Int { accepted + refused + unknown }
}

extension RunReport.Sending {
    /// Whether the monkey kept to its plan so badly that a reader should know.
    var isRemarkable: Bool { dropped > 0 || sent > 0 && late * 100 >= sent }
}

extension RunReport.Judgement {
    /// How it went, in a word or two.
    var verdict: String { !held ? "failed" : comparison?.isDecided == false ? "held, cannot tell" : "held" }
}

extension RunReport.Comparison {
    /// Whether the interval lies wholly on one side of what was allowed.
    var isDecided: Bool {
        guard let interval else { return true }
        let limit = isBetterHigher ? -allowed : allowed
        return interval.high <= limit || interval.low >= limit
    }
}
