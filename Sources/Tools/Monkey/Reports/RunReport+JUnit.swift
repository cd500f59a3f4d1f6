extension RunReport {
    /// The run as JUnit XML, which continuous integration reads: a test case for every kind of check, for every
    /// threshold and comparison, and for no outcome being unknown.
    var junit: String {
        let cases = testCases
        let failures = cases.count { $0.failure != nil }
        let errors = cases.count { $0.error != nil }
        let totals: Markup = "tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"\(errors)\""
        let time = Figures.plain(seconds)
        let facts = [Fact(name: "command", value: command), Fact(name: "seed", value: String(load.seed))] + environment
        let document: Markup = """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="tiffin-monkey" \(totals) time="\(time)">
              <testsuite name="tiffin-monkey" \(totals) skipped="0" time="\(time)" timestamp="\(startedAt)">
                <properties>
            \(facts.map { "      <property name=\"\($0.name)\" value=\"\($0.value)\"/>" })
                </properties>
            \(cases.map(\.markup))
                <system-out>\(summary.joined(separator: "\n"))</system-out>
              </testsuite>
            </testsuites>

            """
        return document.text
    }

    private var testCases: [TestCase] {
        var cases = [TestCase(group: "run", name: "the load could be run")]
        if outcome == .couldNotRun {
            cases[0].error = TestCase.Message(
                title: remarks.first ?? "It could not be run.", text: remarks.joined(separator: "\n"))
        }
        cases += checkResults.map { result in
            var testCase = TestCase(group: "checks", name: result.name)
            if let first = result.violations.first {
                testCase.failure = TestCase.Message(title: first.message, text: text(of: result))
            }
            return testCase
        }
        if checks.furtherViolations > 0, checks.violations.isEmpty {
            var testCase = TestCase(group: "checks", name: "all checks")
            let title = "\(Figures.count(checks.furtherViolations)) violations, none of which was kept"
            testCase.failure = TestCase.Message(title: title, text: command)
            cases.append(testCase)
        }
        cases += judgements.map { judgement in
            let group = judgement.comparison == nil ? "thresholds" : "baseline"
            var testCase = TestCase(group: group, name: judgement.name)
            if !judgement.held {
                let title = [judgement.found, judgement.remark].compactMap { $0 }.joined(separator: ": ")
                testCase.failure = TestCase.Message(title: title, text: "\(judgement.name)\n\(title)\n\n\(command)")
            }
            return testCase
        }
        var unknown = TestCase(group: "answers", name: "no unknown outcomes")
        if unknownOutcomes > 0 {
            unknown.failure = TestCase.Message(
                title: "The outcome of \(Figures.count(unknownOutcomes)) commands is unknown.",
                text: commands.filter { $0.unknown > 0 }.map { "\($0.name) \(Figures.count($0.unknown))" }
                    .joined(separator: "\n"))
        }
        return cases + [unknown]
    }

    /// Everything that one check found, with what shows it.
    private func text(of result: CheckResult) -> String {
        let violations = result.violations.map { violation in
            ([violation.message] + violation.history.map { "  " + $0 }).joined(separator: "\n")
        }
        let further =
            checks.furtherViolations > 0
            ? ["\(Figures.count(checks.furtherViolations)) more violations, of this check or others, were not kept."]
            : []
        return (violations + further + [command]).joined(separator: "\n\n")
    }

    /// One test as JUnit knows it.
    private struct TestCase {
        var group: String
        var name: String
        var failure: Message?
        var error: Message?

        struct Message {
            var title: String
            var text: String
        }

        var markup: Markup {
            let head: Markup = "    <testcase classname=\"tiffin-monkey.\(group)\" name=\"\(name)\" time=\"0\""
            if let error {
                return head + "><error message=\"\(error.title)\" type=\"run\">\(error.text)</error></testcase>"
            }
            guard let failure else { return head + "/>" }
            return head
                + "><failure message=\"\(failure.title)\" type=\"\(group)\">\(failure.text)</failure></testcase>"
        }
    }
}
