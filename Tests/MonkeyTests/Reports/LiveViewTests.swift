import SeededRandom
import Testing

@testable import Monkey

@Suite("The live view")
struct LiveViewTests {
    /// A small terminal: it does what the view may ask of one, and fails the test for anything else.
    private struct Terminal {
        var rows: [[Character]] = [[]]
        var row = 0
        var column = 0
        var showsCursor = true
        var isColoured = false
        var wasColoured = false
        var widest = 0

        mutating func write(_ text: String) throws {
            var rest = Array(text.unicodeScalars)[...]
            while let scalar = rest.popFirst() {
                switch scalar {
                case "\r": column = 0
                case "\n":
                    row += 1
                    if row == rows.count { rows.append([]) }
                case "\u{1b}":
                    try #require(rest.popFirst() == "[")
                    var argument = ""
                    while let next = rest.popFirst() {
                        if next.properties.isAlphabetic {
                            try obey(next, argument)
                            break
                        }
                        argument.unicodeScalars.append(next)
                    }
                default:
                    try #require(scalar.value >= 0x20)
                    if rows[row].count <= column {
                        rows[row] += [Character](repeating: " ", count: column + 1 - rows[row].count)
                    }
                    rows[row][column] = Character(scalar)
                    column += 1
                    widest = max(widest, column)
                }
            }
        }

        private mutating func obey(_ command: Unicode.Scalar, _ argument: String) throws {
            switch (command, argument) {
            case ("A", _):
                let up = try #require(Int(argument))
                try #require(up <= row)
                row -= up
            case ("K", "2"): rows[row] = []
            case ("J", ""):
                rows.removeSubrange((row + 1)...)
                rows[row].removeSubrange(min(column, rows[row].count)...)
            case ("l", "?25"): showsCursor = false
            case ("h", "?25"): showsCursor = true
            case ("m", _):
                isColoured = argument != "0"
                wasColoured = true
            default: Issue.record("the terminal does not know \(argument)\(command)")
            }
        }

        var text: [String] { rows.map { String($0) } }
    }

    /// The snapshots of a run, second by second.
    private static func snapshots(_ seed: UInt64) -> [LiveSnapshot] {
        var random = SeededGenerator(seed: seed)
        let report = SampleRun.any(seed).report()
        return (0...report.windows.count).map { second in
            var snapshot = LiveSnapshot(
                elapsed: Double(second) + 0.01, planned: random.chance(80) ? report.seconds : nil)
            snapshot.windows = Array(report.windows.prefix(second))
            snapshot.checks = second * 12_345
            snapshot.violations = second > 5 ? report.violationCount : 0
            snapshot.errors = second > 3 ? report.errors : []
            snapshot.faults = second > 4 ? report.faults : []
            snapshot.inFlight = random.number(0..<400)
            snapshot.late = random.number(0..<2) * 1_000_000
            snapshot.unknown = report.unknownOutcomes
            snapshot.phase =
                random.chance(10) ? "waiting for 12 answers" + (seed % 2 == 0 ? SampleRun.hostileText : "") : nil
            return snapshot
        }
    }

    @Test("is drawn in place, never wider than the terminal, and leaves it clean", arguments: SeededGenerator.seeds)
    func inPlace(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let columns = random.pick([0, 1, 8, 20, 40, 50, 80, 120, 300])
        let hasColour = random.chance(50)
        var view = LiveView(columns: columns, isTerminal: true, hasColour: hasColour)
        var terminal = Terminal()
        try terminal.write("before\n")
        for snapshot in LiveViewTests.snapshots(seed) {
            let frame = view.frame(snapshot)
            try terminal.write(frame)
            var alone = Terminal()
            var fresh = LiveView(columns: columns, isTerminal: true, hasColour: hasColour)
            try alone.write("before\n")
            try alone.write(fresh.frame(snapshot))
            #expect(terminal.text == alone.text)
            #expect(terminal.text.count == (snapshot.faults.isEmpty ? 7 : 8))
            #expect(!terminal.showsCursor)
            #expect(!terminal.isColoured)
            #expect(hasColour || !terminal.wasColoured)
        }
        #expect(terminal.widest <= max(columns, 6))
        try terminal.write(view.finish())
        #expect(terminal.text == ["before", ""])
        #expect(terminal.showsCursor)
        #expect(view.finish().isEmpty)
    }

    /// A second with these figures.
    private static func window(_ start: Int, writes: Int, p99: UInt64) -> RunReport.Window {
        .init(
            start: Double(start), seconds: 1,
            reads: .init(answered: 15_103, p50: 420_000, p99: 1_200_000, maximum: 0),
            writes: .init(answered: writes, p50: 1_230_000, p99: p99, maximum: 0), failures: 0, inFlight: 0,
            serverMicroseconds: nil, serverBytes: nil)
    }

    private static var snapshot: LiveSnapshot {
        var snapshot = LiveSnapshot(elapsed: 12.3, planned: 30)
        let latencies: [UInt64] = [1_000_000, 1_000_000, 10_000_000, 100_000_000, 3_100_000]
        snapshot.windows = latencies.enumerated().map { window($0, writes: 5_012, p99: $1) }
        snapshot.checks = 120_345
        return snapshot
    }

    @Test("shows rates, latencies, checks, errors and the time that is left")
    func contents() throws {
        var snapshot = LiveViewTests.snapshot
        snapshot.errors = [
            .init(call: "a", code: "BUSY", count: 2, isExpected: false),
            .init(call: "b", code: "BUSY", count: 10, isExpected: false),
            .init(call: "b", code: "CORRUPT", count: 20, isExpected: false),
            .init(call: "b", code: "VERSION", count: 7, isExpected: true),
        ]
        snapshot.violations = 3
        snapshot.inFlight = 14
        snapshot.dropped = 1
        snapshot.faults = [
            .init(kind: "connection cut", count: 2, firstAt: 3), .init(kind: "server killed", count: 1, firstAt: 4),
        ]
        var view = LiveView(columns: 80, isTerminal: true, hasColour: false)
        var terminal = Terminal()
        try terminal.write(view.frame(snapshot))
        #expect(
            terminal.text == [
                "12 s    ━━━━━━━━━━━━━━━━━━━─────────────────────────────  18 s left",
                "writes  5,012/s     p50 1.23 ms   p99 3.10 ms   ▁▁▅█▃",
                "reads   15,103/s    p50 420 µs    p99 1.20 ms   ▁▁▁▁▁",
                "checks  120,345 made, 3 failed   in flight 14   late 0   dropped 1",
                "errors  CORRUPT 20, BUSY 12   expected 7",
                "faults  connection cut 2, server killed 1",
                "",
            ])
    }

    @Test("is a line per second if there is no terminal, with nothing but text")
    func lines() {
        var view = LiveView(columns: 80, isTerminal: false)
        var snapshot = LiveViewTests.snapshot
        var lines: [String] = []
        for tenth in 0..<30 {
            snapshot.elapsed = 12 + Double(tenth) / 10
            lines.append(view.frame(snapshot))
        }
        let told = lines.filter { !$0.isEmpty }
        #expect(
            told.first == "12 s  writes 5,012/s p99 3.10 ms  reads 15,103/s p99 1.20 ms  errors 0  checks 120,345\n")
        #expect((3...5).contains(told.count))
        #expect(view.finish().isEmpty)
    }

    @Test("is a line as often as requested", arguments: [(1.0, 60), (5.0, 12), (30.0, 2)])
    func interval(seconds: Double, count: Int) {
        var view = LiveView(columns: 80, isTerminal: false, interval: seconds)
        let lines = (0..<60).map { view.frame(LiveSnapshot(elapsed: Double($0) + 0.02)) }
        #expect(lines.count { !$0.isEmpty } == count)
    }

    @Test("is a line that names what went wrong")
    func wrong() {
        var view = LiveView(columns: 80, isTerminal: false)
        var snapshot = LiveViewTests.snapshot
        snapshot.windows[4].writes.answered = 0
        snapshot.errors = [.init(call: "a", code: "BUSY", count: 1_000, isExpected: false)]
        snapshot.violations = 2
        snapshot.unknown = 1
        snapshot.dropped = 5
        snapshot.faults = [.init(kind: "a\u{1b}", count: 2, firstAt: 3), .init(kind: "b", count: 1, firstAt: 3)]
        snapshot.phase = "waiting\u{1b}[2J"
        #expect(
            view.frame(snapshot)
                == "12.3 s  waiting\\u{1b}[2J  writes none  reads 15,103/s p99 1.20 ms  errors 1,000  checks 120,345  "
                + "violations 2  unknown 1  dropped 5  faults 3\n")
    }

    @Test("has a sparkline in which noise is not a peak, with a gap if nothing was answered")
    func sparkline() {
        #expect(Sparkline.text([]).isEmpty)
        #expect(Sparkline.text([nil, nil]) == "  ")
        #expect(Sparkline.text([100, 101, 105]) == "▁▁▁")
        #expect(Sparkline.text([1, 10, 100, nil, 1_000, 0]) == "▁▃▆ █▁")
    }
}
