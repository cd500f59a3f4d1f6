import SeededRandom
import Testing

@testable import Monkey

@Suite("The summary of a run")
struct ReportsSummaryTests {
    private static func call(_ name: String, accepted: Int, p50: UInt64, p99: UInt64, p999: UInt64)
        -> RunReport.CallReport
    {
        let latency = RunReport.Latency(mean: 0, p50: p50, p90: 0, p99: p99, p999: p999, maximum: 0, curve: [])
        return .init(
            name: name, isWrite: name == "writes", accepted: accepted, refused: 0, unknown: 0, responseTime: latency,
            serviceTime: latency)
    }

    /// A run whose figures are all known.
    private static var plain: RunReport {
        var report = SampleRun(seed: 1).report()
        report.seconds = 10
        report.calls = [
            call("reads", accepted: 1_000_000, p50: 420_000, p99: 1_900_000, p999: 12_300_000),
            call("writes", accepted: 12_345, p50: 1_230_000, p99: 4_560_000, p999: 9_870_000),
        ]
        report.sending.late = 0
        report.checks = .init(
            made: [.init(name: "a", count: 1_234_000), .init(name: "b", count: 567)], violations: [],
            furtherViolations: 0)
        return report
    }

    @Test("is three lines when there is nothing more to say")
    func quotable() {
        #expect(
            ReportsSummaryTests.plain.summary == [
                "writes  1,235/s accepted     p50 1.23 ms   p99 4.56 ms   p99.9 9.87 ms",
                "reads   100,000/s accepted   p50 420 µs    p99 1.90 ms   p99.9 12.3 ms",
                "checks  1,234,567 made, all held",
            ])
    }

    @Test("says what is remarkable, each on its line, and how to repeat it")
    func remarkable() {
        var report = ReportsSummaryTests.plain
        report.calls.removeFirst()
        var add = ReportsSummaryTests.call("cart.add", accepted: 10, p50: 1, p99: 1, p999: 1)
        add.unknown = 2
        report.calls.append(add)
        report.errors = [
            .init(call: "cart.add", code: "BUSY", count: 12, isExpected: false),
            .init(call: "cart.add", code: "VERSION", count: 99, isExpected: true),
            .init(call: "cart.checkout", code: "UNAVAILABLE", count: 1_300, isExpected: false),
        ]
        report.sending.planned = 2_000
        report.sending.sent = 1_990
        report.sending.late = 199
        report.sending.dropped = 10
        report.sending.limit = "the monkey was busy 99 % of the time"
        report.faults = [
            .init(kind: "connection cut", count: 3, firstAt: 1), .init(kind: "server killed", count: 1, firstAt: 5),
        ]
        report.remarks = ["The run ended early."]
        report.judgements = [
            .init(name: "cart.add:p99<20ms", found: "14.2 ms", held: true),
            .init(name: "writes:rate>5000", found: "1,235/s", held: false, remark: "too few"),
        ]
        report.checks.violations = [
            .init(
                check: "count of a cart", message: "Cart c1 has 3 lines, and 4 were added.",
                history: ["add 1", "add 2"], at: 12.34)
        ]
        report.checks.furtherViolations = 1_000
        report.command = "tiffin-monkey --seed 7"
        report.outcome = .checkFailed
        #expect(
            report.summary == [
                "writes  1,235/s accepted   p50 1.23 ms   p99 4.56 ms   p99.9 9.87 ms",
                "reads   none sent",
                "checks  1,234,567 made, 1,001 failed",
                "",
                "errors  unexpected: cart.checkout UNAVAILABLE 1,300, cart.add BUSY 12",
                "unknown outcome not known: cart.add 2",
                "sends   199 late (10.0 %), 10 dropped of 2,000 planned",
                "limit   the monkey was busy 99 % of the time",
                "faults  connection cut 3, server killed 1",
                "note    The run ended early.",
                "judged  cart.add:p99<20ms  14.2 ms  held",
                "        writes:rate>5000   1,235/s  failed: too few",
                "",
                "failed  count of a cart, 12.3 s into the load",
                "  Cart c1 has 3 lines, and 4 were added.",
                "    add 1",
                "    add 2",
                "",
                "and 1,000 more",
                "",
                "repeat  tiffin-monkey --seed 7",
            ])
    }

    @Test(
        "says everything about any run and no more, and nothing that a terminal obeys", arguments: SeededGenerator.seeds
    )
    func any(seed: UInt64) {
        let report = SampleRun.any(seed).report()
        let summary = report.summary
        #expect(
            summary[0].hasPrefix("writes  ") && summary[1].hasPrefix("reads   ") && summary[2].hasPrefix("checks  "))
        #expect(
            (summary[2].hasSuffix("all held") || summary[2].hasSuffix("none made")) == report.checks.violations.isEmpty)
        #expect((summary.last?.hasPrefix("repeat  ") ?? false) == (report.outcome != .held))
        #expect(
            summary.contains { $0.hasPrefix("errors  ") } == (SampleRun.any(seed).errors > 0 && report.calls.count > 1))
        #expect(summary.count < 60)
    }
}
