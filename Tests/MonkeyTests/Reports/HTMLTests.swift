import SeededRandom
import Testing
import TextFormats

@testable import Monkey

@Suite("The page of a run")
struct ReportsHTMLTests {
    /// A run of any sort, with everything that can be judged about it.
    private static func report(_ seed: UInt64) throws -> RunReport {
        let run = SampleRun.any(seed)
        var report = run.report()
        report.judgements = [try Threshold("writes:p99<1ms").judge(report), try Threshold("all:rate>0").judge(report)]
        if run.seconds > 10 {
            var other = run
            other.seed += 1
            other.slowness = 1.2
            var earlier = other.report()
            earlier.load = report.load
            let result = try Baseline(earlier: earlier, allowed: 0.1).judge(report)
            report.judgements += result.judgements
            report.remarks = result.remarks
        }
        return report
    }

    @Test("is well-formed, complete in itself, and small", arguments: SeededGenerator.seeds)
    func wellFormed(seed: UInt64) throws {
        let html = try ReportsHTMLTests.report(seed).html
        let root = try XMLTree.parse(html)
        #expect(root.name == "html")
        let names = Set(root.all.map(\.name))
        #expect(
            names.isDisjoint(with: [
                "script", "link", "img", "iframe", "object", "embed", "base", "form", "use", "image",
            ]))
        for element in root.all {
            for (name, value) in element.attributes {
                #expect(!["src", "href", "srcset", "action", "data", "background"].contains(name))
                #expect(!name.hasPrefix("on"))
                #expect(!value.contains("url("))
            }
        }
        let style = try #require(root.all("style").first).text
        #expect(!style.contains("url(") && !style.contains("@import"))
        #expect(html.utf8.count < 250_000)
        let ids = root.all.compactMap { $0.attributes["id"] }
        #expect(Set(ids).count == ids.count)
    }

    @Test(
        "says the verdict, the figures worth quoting, and everything that was found", arguments: SeededGenerator.seeds)
    func contents(seed: UInt64) throws {
        let report = try ReportsHTMLTests.report(seed)
        let root = try XMLTree.parse(report.html)
        let text = root.text
        func shows(_ part: String) -> Bool { text.contains(TerminalText.lines(part)) }

        let verdict = try #require(root.all("h1").first)
        #expect((verdict.attributes["class"] == "good") == (report.outcome == .held))
        #expect(verdict.text.hasPrefix(report.outcome == .held ? "✓" : "✗"))
        for call in [report.writes, report.reads].compactMap({ $0 }) {
            #expect(shows(Figures.rate(report.rate(of: call))))
            #expect(shows(Figures.duration(call.responseTime.p999)))
        }
        for call in report.commands { #expect(shows(call.name)) }
        for check in report.checks.made { #expect(shows(check.name)) }
        for violation in report.checks.violations {
            #expect(shows(violation.message))
            #expect(shows(violation.history.joined(separator: "\n")))
        }
        for error in report.errors where error.count > 0 { #expect(shows(error.code)) }
        for judgement in report.judgements {
            #expect(shows(judgement.name))
            #expect(shows(judgement.found))
        }
        for fault in report.faults { #expect(shows(fault.kind)) }
        for remark in report.remarks { #expect(shows(remark)) }
        for fact in report.environment { #expect(shows(fact.name) && shows(fact.value)) }
        #expect(shows(report.command))
    }

    @Test(
        "has the outcome of the run as its heading",
        arguments: [
            (RunReport.Outcome.held, 0, "✓ Every check held"), (.checkFailed, 1, "✗ A check failed"),
            (.checkFailed, 1_234, "✗ 1,234 checks failed"), (.couldNotRun, 0, "✗ The load could not be run"),
            (.unknown, 0, "✗ The outcome of 2 commands is unknown"),
            (.thresholdFailed, 0, "✗ A threshold was not held"),
        ])
    func headlines(outcome: RunReport.Outcome, violations: Int, text: String) throws {
        var report = SampleRun(seed: 1, seconds: 2, violations: violations, unknown: 2).report()
        report.outcome = outcome
        report.judgements = [.init(name: "a", found: "b", held: false)]
        #expect(try XMLTree.parse(report.html).all("h1").first?.text == text)
    }

    @Test("of a run that is worse than before says so")
    func worse() throws {
        let run = SampleRun(seed: 1)
        var slower = SampleRun(seed: 2, slowness: 1.5).report()
        slower.load = run.report().load
        slower.judgements = try Baseline(earlier: run.report(), allowed: 0.1).judge(slower).judgements
        slower.outcome = .thresholdFailed
        let root = try XMLTree.parse(slower.html)
        #expect(root.all("h1").first?.text == "✗ 4 figures are worse than before")
        let drawings = root.all("svg").filter { $0.attributes["class"] == "interval" }
        #expect(drawings.count == 8)
        #expect(drawings.count { $0.all("path").contains { $0.attributes["class"] == "bad dot" } } == 4)
    }

    @Test("is complete for a load that could not be run")
    func couldNotRun() throws {
        var report = SampleRun(seed: 1, seconds: 0, readsPerSecond: 0, writesPerSecond: 0, hasServer: false).report()
        report.outcome = .couldNotRun
        report.remarks = ["The server at 127.0.0.1:7379 cannot be reached."]
        report.checks.made = []
        report.load.isClosed = true
        let root = try XMLTree.parse(report.html)
        #expect(root.text.contains("cannot be reached"))
        #expect(root.all("figure").isEmpty)
    }
}
