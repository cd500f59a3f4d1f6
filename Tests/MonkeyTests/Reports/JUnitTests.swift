import SeededRandom
import Testing
import TextFormats

@testable import Monkey

@Suite("The JUnit XML of a run")
struct ReportsJUnitTests {
    @Test("is XML with a test case for everything that was judged", arguments: SeededGenerator.seeds)
    func any(seed: UInt64) throws {
        var report = SampleRun.any(seed).report()
        report.judgements = [
            .init(name: "cart.add:p99<20ms", found: "14.2 ms", held: true),
            .init(name: "writes:rate>5000", found: "4,321/s", held: false),
        ]
        let suite = try #require(try XMLTree.parse(report.junit).children.first)
        let cases = suite.all("testcase")
        let names = cases.map { $0.attributes["name"] ?? "" }
        #expect(names.contains("cart.add:p99<20ms") && names.contains("no unknown outcomes"))
        for check in report.checks.made { #expect(names.contains(TerminalText.lines(check.name))) }

        let failures = suite.all("failure")
        let violated = Set(report.checks.violations.map(\.check)).count
        #expect(failures.count == violated + 1 + (report.unknownOutcomes > 0 ? 1 : 0))
        #expect(suite.attributes["tests"] == String(cases.count))
        #expect(suite.attributes["failures"] == String(failures.count))
        #expect(suite.attributes["errors"] == "0")
    }

    @Test("has messages and histories unchanged, except that control characters are visible")
    func histories() throws {
        var report = SampleRun(seed: 3).report()
        report.checks.violations = [
            .init(
                check: "a < b", message: "\"1\" & '2' \u{1b}[0m", history: ["add <x>", "]]> \u{ffff}"], at: 1),
            .init(check: "a < b", message: "second", history: [], at: 2),
        ]
        report.checks.furtherViolations = 4
        report.command = "tiffin-monkey --seed 3"
        let failures = try XMLTree.parse(report.junit).all("failure")
        try #require(failures.count == 1)
        #expect(failures[0].attributes["message"] == "\"1\" & '2' \\u{1b}[0m")
        #expect(
            failures[0].text == """
                "1" & '2' \\u{1b}[0m
                  add <x>
                  ]]> \\u{ffff}

                second

                4 more violations, of this check or others, were not kept.

                tiffin-monkey --seed 3
                """)
    }

    @Test("has an error if the load could not be run")
    func couldNotRun() throws {
        var report = SampleRun(seed: 3, seconds: 0).report()
        report.outcome = .couldNotRun
        report.remarks = ["The server cannot be reached."]
        let root = try XMLTree.parse(report.junit)
        #expect(root.attributes["errors"] == "1")
        #expect(root.all("error").map { $0.attributes["message"] } == ["The server cannot be reached."])
    }

    @Test("fails if violations were only counted")
    func counted() throws {
        var report = SampleRun(seed: 3, seconds: 1).report()
        report.checks.furtherViolations = 12
        #expect(try XMLTree.parse(report.junit).attributes["failures"] == "1")
    }
}
