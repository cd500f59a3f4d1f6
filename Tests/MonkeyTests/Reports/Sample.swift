import Foundation
import SeededRandom

@testable import Monkey

/// An invented run, for tests of what is said about runs: the same for the same seed.
struct SampleRun {
    var seed: UInt64
    /// How many whole seconds the load lasted.
    var seconds = 30
    var readsPerSecond = 15_000.0
    var writesPerSecond = 5_000.0
    /// How much one second differs from the next at random, as a part of the value.
    var noise = 0.1
    /// How much of a second's deviation the next one keeps, 0…1.
    var memory = 0.0
    /// The factor of all latencies.
    var slowness = 1.0
    var violations = 0
    var faults: [String] = []
    var errors = 0
    var unknown = 0
    /// Text that would break out of whatever it is put into, for every field that comes from outside.
    var isHostile = false
    var hasServer = true
    var stages: [RunReport.Stage]?
    /// How many latencies each summary is made from.
    var samples = 100

    static let hostileText =
        "<script>alert(\"1\")</script> & 'x' ]]> \u{1b}[31m \0 \u{202e} --> \u{ffff} ünïcödé 🍛\r\n\tend"

    /// The kinds of commands of the sample: name, whether it writes, its share of reads or writes, how slow it is.
    private static let calls: [(name: String, isWrite: Bool, share: Double, factor: Double)] = [
        ("browse", false, 0.45, 1.6), ("outlet.home", false, 0.35, 1), ("cart.get", false, 0.2, 0.7),
        ("cart.add", true, 0.7, 1), ("cart.remove", true, 0.2, 1.1), ("cart.checkout", true, 0.1, 1.5),
    ]

    func report() -> RunReport {
        var random = SeededGenerator(seed: seed)
        let windows = windows(&random)
        var report = RunReport(
            startedAt: "2025-03-04T05:06:07Z", command: text("tiffin-monkey --seed \(seed) --rate 20000 --for 30s"),
            load: RunReport.Load(
                scenarios: [.init(scenario: "lunch", weight: 3), .init(scenario: "browse", weight: 1)], seed: seed,
                isClosed: false,
                stages: stages ?? [.init(seconds: Double(seconds), rate: readsPerSecond + writesPerSecond)],
                connections: 64, pipeline: 1, seconds: Double(seconds), isChaotic: !faults.isEmpty),
            environment: [
                .init(name: "server", value: text("tiffin 1.0.0, release")), .init(name: "kernel", value: "Linux 6.1"),
                .init(name: "processors", value: "8 × Example CPU at 3.1 GHz"), .init(name: "memory", value: "16 GB"),
                .init(name: "PostgreSQL", value: "15.6"),
            ],
            seconds: Double(seconds) + 0.2, calls: [], windows: windows,
            sending: .init(
                planned: windows.reduce(0) { $0 + $1.reads.answered + $1.writes.answered } + unknown,
                sent: windows.reduce(0) { $0 + $1.reads.answered + $1.writes.answered } + unknown, late: seconds * 7,
                dropped: 0, ownDelay: latencies(scale: 20_000, &random).service, busy: 0.41, limit: nil),
            errors: [], checks: .init(made: [], violations: [], furtherViolations: 0), faults: [], server: nil,
            outcome: .held)
        report.calls = calls(windows, &random)
        report.errors = errorCounts(report.calls)
        report.checks = checks(&random)
        report.faults = faults.enumerated().map { index, kind in
            let times = (0..<random.number(1..<12)).map { _ in
                Double(random.number(0..<max(1, seconds * 10))) / 10
            }.sorted()
            return .init(
                kind: text(kind), count: times.count, firstAt: times[0], times: index % 3 == 2 ? [] : times)
        }
        if hasServer {
            report.server = .init(
                microseconds: windows.reduce(0) { $0 + ($1.serverMicroseconds ?? 0) },
                peakBytes: windows.compactMap(\.serverBytes).max() ?? 0, batches: seconds * 400,
                events: Int(writesPerSecond) * seconds, commitMicroseconds: 900)
        }
        report.outcome = violations > 0 ? .checkFailed : unknown > 0 ? .unknown : .held
        return report
    }

    private func text(_ text: String) -> String { isHostile ? text + " " + SampleRun.hostileText : text }

    private func windows(_ random: inout SeededGenerator) -> [RunReport.Window] {
        var deviations = [Double](repeating: 0, count: 8)
        var bytes = 48_000_000.0
        return (0..<seconds).map { second in
            for index in deviations.indices {
                deviations[index] =
                    deviations[index] * memory + random.gaussian() * noise * (1 - memory * memory).squareRoot()
            }
            let wave = deviations.map { max(0.05, 1 + $0) }
            let reads = readsPerSecond * wave[0]
            let writes = writesPerSecond * wave[1]
            bytes += 40_000 * wave[6] + writesPerSecond
            return RunReport.Window(
                start: Double(second), seconds: 1,
                reads: flow(reads, p50: 420_000 * wave[2], p99: 1_900_000 * wave[3], &random),
                writes: flow(writes, p50: 1_400_000 * wave[4], p99: 6_200_000 * wave[5], &random),
                failures: errors == 0 ? 0 : random.chance(20) ? random.number(1..<20) : 0,
                inFlight: Int((reads * 0.6 + writes * 2) / 1_000) + random.number(0..<4),
                serverMicroseconds: hasServer ? Int64((reads * 18 + writes * 52) * wave[7]) : nil,
                serverBytes: hasServer ? Int64(bytes) : nil)
        }
    }

    private func flow(_ rate: Double, p50: Double, p99: Double, _ random: inout SeededGenerator) -> RunReport.Flow {
        guard rate >= 1 else { return .init(answered: 0, p50: 0, p99: 0, maximum: 0) }
        let spike = random.chance(4) ? 12.0 : 1.6 + Double(random.number(0..<200)) / 100
        return .init(
            answered: Int(rate), p50: UInt64(p50 * slowness), p99: UInt64(p99 * slowness),
            maximum: UInt64(p99 * spike * slowness))
    }

    private func calls(_ windows: [RunReport.Window], _ random: inout SeededGenerator) -> [RunReport.CallReport] {
        func call(_ name: String, isWrite: Bool, share: Double, scale: Double, unknown: Int) -> RunReport.CallReport? {
            let answered = windows.reduce(0) { $0 + (isWrite ? $1.writes : $1.reads).answered }
            let count = Int(Double(answered) * share)
            guard count > 0 else { return nil }
            let (service, response) = latencies(scale: scale, &random)
            return .init(
                name: name, isWrite: isWrite, accepted: count - count / 50, refused: count / 50, unknown: unknown,
                responseTime: response, serviceTime: service)
        }
        let sums = [
            call("reads", isWrite: false, share: 1, scale: 420_000, unknown: 0),
            call("writes", isWrite: true, share: 1, scale: 1_400_000, unknown: unknown),
        ]
        let single = SampleRun.calls.map {
            call(
                text($0.name), isWrite: $0.isWrite, share: $0.share,
                scale: ($0.isWrite ? 1_400_000 : 420_000) * $0.factor, unknown: $0.name == "cart.add" ? unknown : 0)
        }
        return (sums + single).compactMap { $0 }
    }

    /// Service times with a tail: most near `scale`, a few many times that; and response times, for some of which
    /// there was a wait before.
    private func latencies(
        scale: Double, _ random: inout SeededGenerator
    ) -> (service: RunReport.Latency, response: RunReport.Latency) {
        let service = (0..<samples).map { _ in
            let tail = random.chance(2) ? 1 + pow(Double(random.number(0..<1_000)) / 1_000, 6) * 20 : 1
            return UInt64(scale * slowness * tail * max(0.2, 1 + random.gaussian() * 0.35))
        }
        let response = service.map { $0 + (random.chance(3) ? UInt64(random.number(0..<Int(scale * 8))) : 2_000) }
        return (SampleRun.latency(of: service), SampleRun.latency(of: response))
    }

    private static func latency(of values: [UInt64]) -> RunReport.Latency {
        let values = values.sorted()
        func quantile(_ part: Double) -> UInt64 { values[min(values.count - 1, Int(part * Double(values.count)))] }
        var (parts, rest) = ([0, 0.25, 0.5], 0.5)
        while rest * Double(values.count) > 1 {
            rest /= 1.6
            parts.append(1 - rest)
        }
        return RunReport.Latency(
            mean: Double(values.reduce(0, +)) / Double(values.count), p50: quantile(0.5), p90: quantile(0.9),
            p99: quantile(0.99), p999: quantile(0.999), maximum: values[values.count - 1],
            curve: (parts + [1]).map { .init(part: $0, value: quantile($0)) })
    }

    private func errorCounts(_ calls: [RunReport.CallReport]) -> [RunReport.ErrorCount] {
        var counts = calls.dropFirst(2).map {
            RunReport.ErrorCount(call: $0.name, code: text("VERSION"), count: $0.refused, isExpected: true)
        }
        if errors > 0, let write = calls.last {
            counts.append(.init(call: write.name, code: text("BUSY"), count: errors, isExpected: false))
            counts.append(.init(call: write.name, code: text("UNAVAILABLE"), count: 1, isExpected: false))
        }
        return counts
    }

    private func checks(_ random: inout SeededGenerator) -> RunReport.Checks {
        let names = [
            "count of a cart", "total of a cart", "own writes are read", "same page twice", "order is the cart",
        ]
        let kept = min(violations, 20)
        return .init(
            made: names.map { .init(name: text($0), count: seconds * random.number(1_000..<20_000)) },
            violations: (0..<kept).map { index in
                .init(
                    check: text(names[index % 2]),
                    message: text("The cart c\(index) has 3 lines, and 4 were added."),
                    history: ["12.031 s  cart.add c\(index) i1 → OK 1", "12.034 s  cart.add c\(index) i2 → OK 2"].map(
                        text),
                    at: Double(random.number(0..<max(1, seconds))))
            },
            furtherViolations: violations - kept)
    }
}

extension SeededGenerator {
    /// A number with nearly a normal distribution: the sum of a few uniform ones.
    mutating func gaussian() -> Double {
        let sum = (0..<4).reduce(0) { sum, _ in sum + Double(next() >> 11) * 0x1p-53 }
        return (sum - 2) * 3.0.squareRoot()
    }
}

extension SampleRun {
    /// Runs of all sorts: long and short ones, held and failed ones, without reads, without writes, without a server
    /// that reports anything, with texts that would break out.
    static func any(_ seed: UInt64) -> SampleRun {
        var random = SeededGenerator(seed: seed)
        var run = SampleRun(seed: seed)
        run.seconds = random.pick([0, 1, 2, 7, 30, 90])
        run.noise = Double(random.number(0..<30)) / 100
        if random.chance(20) { run.readsPerSecond = 0 }
        if random.chance(20) { run.writesPerSecond = 0 }
        run.violations = random.pick([0, 0, 1, 3, 40])
        run.faults = random.pick([
            [], ["connection cut"], ["connection cut", "server killed", "slow reader", "half line"],
        ])
        run.errors = random.pick([0, 0, 12, 12_345])
        run.unknown = random.pick([0, 0, 2])
        run.isHostile = random.chance(40)
        run.hasServer = random.chance(80)
        return run
    }
}
