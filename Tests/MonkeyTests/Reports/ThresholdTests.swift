import SeededRandom
import Testing

@testable import Monkey

@Suite("A threshold")
struct JudgingThresholdTests {
    private static func latency(_ scale: UInt64) -> RunReport.Latency {
        .init(
            mean: Double(15 * scale), p50: 10 * scale, p90: 20 * scale, p99: 50 * scale, p999: 80 * scale,
            maximum: 100 * scale, curve: [])
    }

    private static func call(_ name: String, isWrite: Bool, accepted: Int, scale: UInt64) -> RunReport.CallReport {
        .init(
            name: name, isWrite: isWrite, accepted: accepted, refused: 100, unknown: name == "cart.get" ? 0 : 4,
            responseTime: latency(scale), serviceTime: latency(scale / 2))
    }

    /// A run of 10 s whose figures are all known: writes at 50 ms in the 99th percentile, reads at 5 ms.
    private static var report: RunReport {
        var report = SampleRun(seed: 1, seconds: 1).report()
        report.seconds = 10
        report.calls = [
            call("reads", isWrite: false, accepted: 99_900, scale: 100_000),
            call("writes", isWrite: true, accepted: 9_896, scale: 1_000_000),
            call("cart.get", isWrite: false, accepted: 99_900, scale: 100_000),
            call("cart.add", isWrite: true, accepted: 9_896, scale: 1_000_000),
        ]
        report.errors = [
            .init(call: "cart.add", code: "BUSY", count: 50, isExpected: false),
            .init(call: "cart.add", code: "VERSION", count: 50, isExpected: true),
            .init(call: "cart.get", code: "CORRUPT", count: 7, isExpected: false),
        ]
        report.checks = .init(made: [.init(name: "a", count: 1_000)], violations: [], furtherViolations: 3)
        report.sending.planned = 200_000
        report.sending.late = 200
        report.sending.dropped = 5
        return report
    }

    @Test(
        "is held or not, and says what was found",
        arguments: [
            ("cart.add:p99<50ms", "50.0 ms", false), ("cart.add:p99<=50ms", "50.0 ms", true),
            ("cart.add:p99<50001us", "50.0 ms", true), ("cart.add:service.p99<26ms", "25.0 ms", true),
            ("cart.add:p50<10.1ms", "10.0 ms", true), ("cart.add:p90>20ms", "20.0 ms", false),
            ("cart.add:p99.9<0.1s", "80.0 ms", true), ("cart.add:max<100000000ns", "100 ms", false),
            ("cart.add:mean<15.5ms", "15.0 ms", true), ("reads:p99.9<=5ms", "8.00 ms", false),
            ("all:p99<49ms", "50.0 ms", false), ("all:mean<2.8ms", "2.73 ms", true),
            ("writes:rate>5000", "990/s", false), ("writes:rate>=989.6/s", "990/s", true),
            ("all:rate>10979", "10,980/s", true), ("cart.add:errors<1%", "0.50 %", true),
            ("cart.add:errors<=50", "50", true), ("cart.add:errors==0", "50", false), ("writes:errors<50", "50", false),
            ("all:errors<=57", "57", true), ("reads:unknown==0", "4", false), ("cart.get:unknown==0", "0", true),
            ("all:unknown<0.01%", "0.01 %", true), ("checks:violations==0", "3", false),
            ("checks:made>999", "1,000", true), ("sending:late<=0.1%", "0.10 %", true),
            ("sending:dropped==0", "5", false),
            (" cart.add : p99 < 60 ms ", "50.0 ms", true),
        ])
    func judged(text: String, found: String, isHeld: Bool) throws {
        let judgement = try Threshold(text).judge(JudgingThresholdTests.report)
        #expect(judgement.found == found)
        #expect(judgement.held == isHeld)
        #expect(judgement.comparison == nil)
    }

    @Test("on a command that was never sent is not held, and says what was")
    func neverHappened() throws {
        let judgement = try Threshold("cart.checkout:p99<1s").judge(JudgingThresholdTests.report)
        #expect(
            judgement
                == .init(
                    name: "cart.checkout:p99<1s", found: "never answered", held: false,
                    remark: "answered were cart.get, cart.add"))
        var report = JudgingThresholdTests.report
        report.calls = []
        for text in ["reads:rate>=0", "all:p50<1s", "all:errors==0"] {
            let judgement = try Threshold(text).judge(report)
            #expect(!judgement.held)
        }
    }

    @Test("on a latency is not held if nothing was answered")
    func neverAnswered() throws {
        var report = JudgingThresholdTests.report
        report.calls[3].accepted = 0
        report.calls[3].refused = 0
        for (text, isHeld) in [("cart.add:p99<1s", false), ("cart.add:mean<1s", false), ("cart.add:unknown==4", true)] {
            let judgement = try Threshold(text).judge(report)
            #expect(judgement.held == isHeld)
        }
    }

    @Test(
        "ends the run after its delay, but not for something that has not happened yet",
        arguments: [
            ("cart.add:p99<20ms,abortOnFail=5s", 5.0, true), ("cart.add:p99<20ms,abortOnFail=5s", 4.9, false),
            ("cart.add:p99<20ms, abortOnFail", 0.1, true), ("cart.add:p99<20ms,abortOnFail=500ms", 0.4, false),
            ("cart.add:p99<20ms,abortOnFail=500ms", 0.5, true), ("cart.add:p99<20ms", 100, false),
            ("cart.add:p99<60ms,abortOnFail", 9, false), ("cart.checkout:p99<1ms,abortOnFail", 9, false),
        ])
    func endsRun(text: String, seconds: Double, ends: Bool) throws {
        var report = JudgingThresholdTests.report
        report.seconds = seconds
        let threshold = try Threshold(text)
        #expect(threshold.endsRun(report) == ends)
        #expect(threshold.judge(report).name == String(text.prefix { $0 != "," }))
    }

    @Test(
        "that cannot be understood says what is allowed",
        arguments: [
            ("", "it has no bound"), ("cart.add:p99", "it has no bound"), ("p99<20ms", "whose figure"),
            (":p99<20ms", "whose figure"), ("a:b:p99<20ms", "whose figure"),
            ("cart.add:p99=20ms", "one of <, <=, >, >= and =="),
            ("cart.add:p98<20ms", "p50, p90, p99, p99.9, max, mean"),
            ("cart.add:<20ms", "p50, p90, p99, p99.9, max, mean"),
            ("cart.add:p99<20", "a time in ns, us, ms or s"), ("cart.add:p99<20m", "a time in ns, us, ms or s"),
            ("cart.add:p99<1%", "a time in ns, us, ms or s"), ("cart.add:p99<", "is not a number"),
            ("cart.add:p99<-1ms", "is not a number"), ("cart.add:p99<infs", "is not a number"),
            ("cart.add:p99<1.2.3s", "is not a number"),
            ("cart.add:p99<.5s", "is not a number"), ("cart.add:p99<0x10ms", "a time in"),
            ("cart.add:p99==20ms", "never equal"),
            ("writes:rate==5", "never equal"), ("writes:errors==1%", "never equal"),
            ("writes:rate>5%", "a number per second"),
            ("writes:rate>5k", "a number per second"), ("writes:errors<1ms", "a number, or a part in %"),
            ("writes:violations==0", "p50, p90"), ("checks:p99<1s", "violations, made"),
            ("checks:violations<1%", "a number, not"),
            ("sending:rate>1", "late, dropped"), ("checks:errors==0", "violations, made"),
            ("cart.add:p99<20ms,abortOnFail=5", "not a time such as 5s"),
            ("cart.add:p99<20ms,abort=5s", "only abortOnFail"),
            ("cart.add:p99<20ms,", "only abortOnFail"), ("cart.add:p99<20ms,abortOnFail=5s=6s", "only abortOnFail"),
            ("cart.ad:p99<20ms", "there is no `cart.ad`; there are reads, writes, all, checks, sending, cart.add"),
        ])
    func mistakes(text: String, message: String) {
        let error = #expect(throws: JudgingError.self) { try Threshold(text, calls: ["cart.add", "a"]) }
        #expect(error?.description.hasPrefix("`\(text)` is not a threshold: ") == true)
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
    }

    @Test("is held exactly if its opposite is not", arguments: SeededGenerator.seeds)
    func opposites(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var run = SampleRun(seed: seed, seconds: 5)
        run.errors = 40
        let report = run.report()
        for _ in 0..<50 {
            let subject = random.pick(["reads", "writes", "all", "cart.add", "browse"])
            let figure = random.pick([
                "p50", "p99.9", "max", "mean", "service.p99", "service.mean", "rate", "errors", "unknown",
            ])
            let unit =
                figure == "rate" ? "/s" : ["errors", "unknown"].contains(figure) ? random.pick(["", "%"]) : "us"
            let bound = "\(random.number(0..<10_000))\(unit)"
            for (one, other) in [("<", ">="), (">", "<=")] {
                let first = try Threshold("\(subject):\(figure)\(one)\(bound)").judge(report)
                let second = try Threshold("\(subject):\(figure)\(other)\(bound)").judge(report)
                #expect(first.held != second.held, "\(first)")
                #expect(first.found == second.found)
            }
        }
    }
}
