import SeededRandom
import Testing

@testable import Monkey

@Suite("The comparison with a baseline")
struct JudgingBaselineTests {
    private static let names = [
        "writes/s", "writes p50", "writes p99", "reads/s", "reads p50", "reads p99", "server CPU per command",
        "server peak memory",
    ]

    /// Two runs of the same load, each with its own random numbers.
    private static func runs(
        _ seed: UInt64, seconds: Int = 30, noise: Double = 0.03, memory: Double = 0,
        _ change: (inout SampleRun) -> Void = { _ in }
    ) -> (before: RunReport, after: RunReport) {
        var run = SampleRun(seed: seed &* 2 &+ 1, seconds: seconds, noise: noise, memory: memory)
        let before = run.report()
        run.seed &+= 1
        change(&run)
        var after = run.report()
        after.load = before.load
        return (before, after)
    }

    private static func judge(_ runs: (before: RunReport, after: RunReport), allowed: Double = 0.1) throws
        -> Baseline.Result
    {
        try Baseline(earlier: runs.before, allowed: allowed).judge(runs.after)
    }

    @Test("of a run with itself finds no change, and holds", arguments: SeededGenerator.seeds)
    func itself(seed: UInt64) throws {
        let report = SampleRun(seed: seed, seconds: 12 + Int(seed), noise: 0.3).report()
        let result = try Baseline(earlier: report, allowed: 0).judge(report)
        #expect(result.judgements.map(\.name) == JudgingBaselineTests.names)
        #expect(result.remarks.isEmpty)
        for judgement in result.judgements {
            #expect(judgement.held)
            #expect(judgement.verdict == "held")
            #expect(abs(judgement.comparison?.change ?? 1) < 1e-9)
            #expect(judgement.found.hasPrefix("0.0 %"))
        }
    }

    @Test("finds latencies that are longer by half, and nothing else", arguments: SeededGenerator.seeds.prefix(10))
    func slower(seed: UInt64) throws {
        let result = try JudgingBaselineTests.judge(JudgingBaselineTests.runs(seed) { $0.slowness = 1.5 })
        #expect(
            result.judgements.filter { !$0.held }.map(\.name) == ["writes p50", "writes p99", "reads p50", "reads p99"])
    }

    @Test("finds a throughput and a cost that are worse", arguments: SeededGenerator.seeds.prefix(10))
    func fewer(seed: UInt64) throws {
        var runs = JudgingBaselineTests.runs(seed) { $0.writesPerSecond = 4_000 }
        for index in runs.after.windows.indices { runs.after.windows[index].serverMicroseconds? *= 2 }
        runs.after.server?.peakBytes = (runs.before.server?.peakBytes ?? 0) * 6 / 5
        let result = try JudgingBaselineTests.judge(runs)
        let failed = result.judgements.filter { !$0.held }
        #expect(failed.map(\.name) == ["writes/s", "server CPU per command", "server peak memory"])
        #expect(failed.last?.found == "+20.0 %")
        #expect(failed.first?.remark == "−10.0 % was allowed")
        #expect(failed.last?.remark == "+10.0 % was allowed")
    }

    @Test("does not blame what is better", arguments: SeededGenerator.seeds.prefix(10))
    func better(seed: UInt64) throws {
        let result = try JudgingBaselineTests.judge(
            JudgingBaselineTests.runs(seed) {
                $0.slowness = 0.5
                $0.writesPerSecond = 7_000
            }, allowed: 0.4)
        #expect(!result.judgements.contains { !$0.held })
    }

    @Test("is not led astray by noise of 3 %")
    func noise() throws {
        var failed = 0
        for seed in SeededGenerator.seeds {
            let result = try JudgingBaselineTests.judge(JudgingBaselineTests.runs(seed), allowed: 0.03)
            failed += result.judgements.contains { !$0.held } ? 1 : 0
        }
        #expect(failed * 20 <= SeededGenerator.seeds.count)
    }

    @Test("finds a change of 15 % if 10 % is allowed, in half a minute with noise of 3 %")
    func sensitive() throws {
        var found = 0
        for seed in SeededGenerator.seeds {
            let result = try JudgingBaselineTests.judge(JudgingBaselineTests.runs(seed) { $0.slowness = 1.15 })
            found += result.judgements.count { !$0.held }
        }
        #expect(found * 20 >= SeededGenerator.seeds.count * 4 * 19)
    }

    @Test("says that it cannot tell if the interval is on both sides of what is allowed")
    func undecided() throws {
        let runs = JudgingBaselineTests.runs(5, seconds: 14, noise: 0.3) { $0.slowness = 1.1 }
        let result = try JudgingBaselineTests.judge(runs)
        let undecided = result.judgements.filter { $0.comparison?.isDecided == false }
        try #require(!undecided.isEmpty)
        for judgement in undecided {
            #expect(judgement.held)
            #expect(judgement.verdict == "held, cannot tell")
            #expect(judgement.remark?.contains("a longer run can tell") == true)
        }
    }

    @Test("is reported with its interval")
    func told() throws {
        let runs = JudgingBaselineTests.runs(3) { $0.writesPerSecond = 4_800 }
        let judgement = try #require(try JudgingBaselineTests.judge(runs).judgements.first)
        let form = #/−\d\.\d % \(95 %: −\d\.\d … −\d\.\d %\)/#
        #expect(judgement.found.wholeMatch(of: form) != nil, "\(judgement.found)")
        let comparison = try #require(judgement.comparison)
        let interval = try #require(comparison.interval)
        #expect(interval.low < comparison.change && comparison.change < interval.high)
        #expect(abs(comparison.before - 5_000) < 100 && abs(comparison.after - 4_800) < 100)
    }

    @Test("compares what there is, and says what could not be compared")
    func parts() throws {
        var run = SampleRun(seed: 1, writesPerSecond: 0, hasServer: false)
        let before = run.report()
        run.seed = 2
        var after = run.report()
        after.load.seed = before.load.seed + 1
        let result = try Baseline(earlier: before, allowed: 0.2).judge(after)
        #expect(result.judgements.map(\.name) == ["reads/s", "reads p50", "reads p99"])
        #expect(
            result.remarks.map { $0.prefix { $0 != "," && $0 != ":" } } == [
                "server CPU per command could not be compared with the baseline",
                "server peak memory could not be compared with the baseline",
            ])
    }

    @Test("fails writes that came to a standstill")
    func standstill() throws {
        var runs = JudgingBaselineTests.runs(1)
        for index in runs.after.windows.indices { runs.after.windows[index].writes.answered = 0 }
        let result = try JudgingBaselineTests.judge(runs)
        #expect(result.judgements.first?.found == "−100 % (95 %: −100 … −100 %)")
        #expect(result.judgements.first?.held == false)
        #expect(result.remarks.contains { $0.hasPrefix("writes p50 could not be compared") })
    }

    @Test("leaves out the first second, and incomplete ones")
    func ends() throws {
        var runs = JudgingBaselineTests.runs(1, seconds: 12)
        let expected = try JudgingBaselineTests.judge(runs)
        runs.after.windows[0].reads.p99 = 9_000_000_000
        runs.after.windows[0].writes.answered = 1
        var last = runs.after.windows[11]
        last.start = 12
        last.seconds = 0.2
        last.reads.p50 = 9_000_000_000
        runs.after.windows.append(last)
        last.seconds = 1
        runs.before.windows.append(last)
        #expect(try JudgingBaselineTests.judge(runs) == expected)
    }

    @Test("says what is different about the machine, and what was wrong with the earlier run")
    func remarks() throws {
        var runs = JudgingBaselineTests.runs(1)
        runs.before.environment[1].value = "Linux 5.4"
        runs.before.outcome = .checkFailed
        runs.before.sending.limit = "busy"
        #expect(
            try JudgingBaselineTests.judge(runs).remarks == [
                "The baseline is of a run in which not every check held.",
                "The baseline says more of the monkey than of the server.",
                "The baseline was measured with kernel Linux 5.4, now Linux 6.1.",
            ])
    }

    @Test("of runs that cannot be compared is refused, with the reason")
    func refusals() throws {
        let base = SampleRun(seed: 1).report()
        let changes: [((inout RunReport.Load) -> Void, String)] = [
            ({ $0.isClosed = true }, "its mode was open, and this run's is closed."),
            ({ $0.isChaotic = true }, "its chaos was off, and this run's is on."),
            (
                { $0.scenarios[0].weight = 1 },
                "its mix of scenarios was browse 25.0 %, lunch 75.0 %, and this run's is browse 50.0 %, lunch 50.0 %."
            ),
            (
                { $0.stages[0].rate = 10_000 },
                "its plan was 20,000/s after 30 s, and this run's is 10,000/s after 30 s."
            ),
            ({ $0.connections = 8 }, "its number of connections was 64, and this run's is 8."),
            ({ $0.seconds = 60 }, "its length was 30 s, and this run's is 1 min."),
        ]
        for (change, message) in changes {
            var report = base
            change(&report.load)
            let baseline = Baseline(earlier: base, allowed: 0.1)
            let error = #expect(throws: JudgingError.self) { try baseline.judge(report) }
            #expect(error?.description == "The baseline cannot be compared: " + message)
            #expect(throws: JudgingError.self) { try baseline.check(report.load) }
        }
        var closed = base
        closed.load.isClosed = true
        var deeper = closed
        deeper.load.pipeline = 16
        let pipelined = #expect(throws: JudgingError.self) { try Baseline(earlier: closed, allowed: 0).judge(deeper) }
        #expect(pipelined?.description.contains("its pipeline was 1, and this run's is 16") == true)
    }

    @Test("is not refused for weights with the same proportions")
    func sameMix() throws {
        let report = SampleRun(seed: 1).report()
        var other = report
        other.load.scenarios = [.init(scenario: "browse", weight: 0.5), .init(scenario: "lunch", weight: 1.5)]
        #expect(throws: Never.self) { try Baseline(earlier: report, allowed: 0).check(other.load) }
    }

    @Test("judges two runs of the default length, which are ten seconds", arguments: UInt64(0)..<3)
    func defaultLength(seed: UInt64) throws {
        let report = SampleRun(seed: seed, seconds: 10).report()
        var last = report
        last.windows[9].seconds = 0.3
        for earlier in [report, last] {
            #expect(
                try Baseline(earlier: earlier, allowed: 0.1).judge(report).judgements.contains { $0.name == "reads/s" })
        }
    }

    @Test("is refused for a world of another size, and says if the size is not known")
    func sizes() throws {
        let report = SampleRun(seed: 1).report()
        var (small, large) = (report, report)
        small.load.size = .init(outlets: 8, items: 320, carts: 0, shoppers: 1_000)
        large.load.size = .init(outlets: 1_000, items: 100_000, carts: 0, shoppers: 1_000)
        let error = #expect(throws: JudgingError.self) { try Baseline(earlier: small, allowed: 0).check(large.load) }
        #expect(error?.description.contains("its world was 8 outlets, 320 items") == true)
        #expect(throws: Never.self) { try Baseline(earlier: small, allowed: 0).check(small.load) }
        let remarks = try Baseline(earlier: report, allowed: 0).judge(small).remarks
        #expect(remarks.contains { $0.contains("does not say how many outlets") })
    }

    @Test("is refused if the runs were too short, or one could not be run")
    func tooShort() throws {
        let short = SampleRun(seed: 1, seconds: 6).report()
        let error = #expect(throws: JudgingError.self) { try Baseline(earlier: short, allowed: 0).judge(short) }
        #expect(error?.description.contains("the runs have 5 whole seconds in common") == true)
        var none = SampleRun(seed: 1).report()
        none.outcome = .couldNotRun
        #expect(throws: JudgingError.self) {
            try Baseline(earlier: none, allowed: 0).judge(SampleRun(seed: 1).report())
        }
    }

    @Test(
        "parses the allowed change",
        arguments: [
            ("10%", 0.1), ("0%", 0), (" 2.5 %", nil), ("2.5 %", 0.025), ("10", nil), ("-1%", nil), ("100%", nil),
            ("ten%", nil), ("", nil),
        ])
    func allowed(text: String, part: Double?) throws {
        guard let part else {
            let error = #expect(throws: JudgingError.self) { try Baseline.allowed(text) }
            #expect(error?.description.contains("give 0% to 99%, such as 10%") == true)
            return
        }
        #expect(try Baseline.allowed(text) == part)
    }
}
