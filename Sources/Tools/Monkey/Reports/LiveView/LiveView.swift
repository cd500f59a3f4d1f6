internal import TextFormats

/// What is shown of a run while it goes on: on a terminal a few lines that are redrawn in place, elsewhere a line now
/// and then. It only returns text; the owner of the output writes it.
struct LiveView: Sendable {
    /// How many seconds of latencies are shown.
    static let secondsShown = 40

    /// Columns of the terminal; it may change from one frame to the next.
    var columns: Int
    private let isTerminal: Bool
    private let hasColour: Bool
    /// Seconds from one line to the next if the output is not a terminal.
    private let interval: Double
    /// How many lines are on the terminal.
    private var drawn = 0
    /// When the next line is due if the output is not a terminal.
    private var nextLine = 0.0

    /// - Parameters:
    ///   - columns: of the terminal; ignored without one.
    ///   - isTerminal: whether the output is one, on which the cursor can be moved.
    ///   - hasColour: whether to use colours; false if `NO_COLOR` is set.
    ///   - interval: seconds from one line to the next if the output is not a terminal.
    init(columns: Int, isTerminal: Bool, hasColour: Bool = true, interval: Double = 1) {
        self.columns = columns
        self.isTerminal = isTerminal
        self.hasColour = hasColour
        self.interval = interval
    }

    /// What to write now: the lines in place of those before, or the next line if it is due, or nothing.
    mutating func frame(_ snapshot: LiveSnapshot) -> String {
        guard isTerminal else { return line(snapshot) }
        let lines = lines(snapshot).map { $0.text(columns: columns, hasColour: hasColour) }
        // A line is cleared before it is written: at the last column, some terminals would clear its last character.
        let text = home + lines.map { "\u{1b}[2K" + $0 + "\r\n" }.joined() + "\u{1b}[J"
        drawn = lines.count
        return text
    }

    /// What to write when there is nothing more to show: removes the lines, and restores the cursor.
    mutating func finish() -> String {
        guard isTerminal, drawn > 0 else { return "" }
        let text = home + "\u{1b}[J\u{1b}[?25h"
        drawn = 0
        return text
    }

    /// Back to the first of the lines; hides the cursor if there are none yet.
    private var home: String { drawn == 0 ? "\u{1b}[?25l\r" : "\r\u{1b}[\(drawn)A" }

    // MARK: Without a terminal

    private mutating func line(_ snapshot: LiveSnapshot) -> String {
        guard snapshot.elapsed >= nextLine else { return "" }
        nextLine = max(nextLine + interval, snapshot.elapsed + interval / 2)
        var parts = [Figures.time(snapshot.elapsed)]
        if let phase = snapshot.phase { parts.append(TerminalText.line(phase)) }
        for (name, flow) in LiveView.flows {
            guard let window = snapshot.windows.last, window[keyPath: flow].answered > 0 else {
                parts.append(name + " none")
                continue
            }
            parts.append("\(name) \(LiveView.rate(window, flow)) p99 \(Figures.duration(window[keyPath: flow].p99))")
        }
        let unexpected = snapshot.errors.lazy.filter { !$0.isExpected }.reduce(0) { $0 + $1.count }
        parts += ["errors \(Figures.count(unexpected))", "checks \(Figures.count(snapshot.checks))"]
        let faults = snapshot.faults.reduce(0) { $0 + $1.count }
        let rest = [
            ("violations", snapshot.violations), ("unknown", snapshot.unknown), ("dropped", snapshot.dropped),
            ("faults", faults),
        ]
        parts += rest.filter { $0.1 > 0 }.map { "\($0) \(Figures.count($1))" }
        return parts.joined(separator: "  ") + "\n"
    }

    // MARK: On a terminal

    private func lines(_ snapshot: LiveSnapshot) -> [Line] {
        [progress(snapshot)] + LiveView.flows.map { flow(snapshot, $0.name, $0.flow) }
            + [checks(snapshot), errors(snapshot)] + faults(snapshot)
    }

    private func progress(_ snapshot: LiveSnapshot) -> Line {
        var line = Line()
        line.add(LiveView.padded(Figures.time(snapshot.elapsed.rounded(.down)), to: 8), .strong)
        guard let planned = snapshot.planned, planned > 0 else {
            line.add(snapshot.phase ?? "until stopped", .faint)
            return line
        }
        let left = max(0, planned - snapshot.elapsed)
        let phase = snapshot.phase ?? Figures.time(left.rounded(.up)) + " left"
        let width = min(48, columns - line.count - phase.count - 2)
        if width >= 4 {
            let done = Int((min(1, max(0, snapshot.elapsed / planned)) * Double(width)).rounded(.down))
            line.add(String(repeating: "━", count: done), .good)
            line.add(String(repeating: "─", count: width - done) + "  ", .faint)
        }
        line.add(phase, .plain)
        return line
    }

    private func flow(_ snapshot: LiveSnapshot, _ name: String, _ flow: KeyPath<RunReport.Window, RunReport.Flow>)
        -> Line
    {
        var line = Line()
        line.add(LiveView.padded(name, to: 8), .faint)
        guard let window = snapshot.windows.last, window[keyPath: flow].answered > 0 else {
            line.add(snapshot.windows.isEmpty ? "–" : "none answered in the last second", .faint)
            return line
        }
        line.add(LiveView.padded(LiveView.rate(window, flow), to: 12), .strong)
        let last = window[keyPath: flow]
        if columns >= 50 {
            line.add("p50 ", .faint)
            line.add(LiveView.padded(Figures.duration(last.p50), to: 10), .plain)
        }
        line.add("p99 ", .faint)
        line.add(LiveView.padded(Figures.duration(last.p99), to: 10), .plain)
        let shown = snapshot.windows.suffix(max(0, min(LiveView.secondsShown, columns - line.count)))
        line.add(Sparkline.text(shown.map { $0[keyPath: flow].answered > 0 ? $0[keyPath: flow].p99 : nil }), .good)
        return line
    }

    private func checks(_ snapshot: LiveSnapshot) -> Line {
        var line = Line()
        line.add(LiveView.padded("checks", to: 8), .faint)
        line.add(Figures.count(snapshot.checks) + " made, ", .plain)
        if snapshot.violations == 0 {
            line.add("all held", .plain)
        } else {
            line.add(Figures.count(snapshot.violations) + " failed", .bad)
        }
        line.add("   in flight ", .faint)
        line.add(Figures.count(snapshot.inFlight), .plain)
        for (name, count) in [("late", snapshot.late), ("dropped", snapshot.dropped), ("unknown", snapshot.unknown)] {
            guard count > 0 || name != "unknown" else { continue }
            line.add("   \(name) ", .faint)
            line.add(Figures.count(count), count > 0 && name != "late" ? .warning : .plain)
        }
        return line
    }

    private func errors(_ snapshot: LiveSnapshot) -> Line {
        var line = Line()
        line.add(LiveView.padded("errors", to: 8), .faint)
        let codes = Dictionary(
            snapshot.errors.lazy.filter { !$0.isExpected && $0.count > 0 }.map { ($0.code, $0.count) },
            uniquingKeysWith: +
        ).sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let expected = snapshot.errors.lazy.filter(\.isExpected).reduce(0) { $0 + $1.count }
        if codes.isEmpty { line.add("no unexpected ones", .plain) }
        for (index, code) in codes.enumerated() {
            line.add((index == 0 ? "" : ", ") + "\(code.key) \(Figures.count(code.value))", .warning)
        }
        if expected > 0 { line.add("   expected \(Figures.count(expected))", .faint) }
        return line
    }

    private func faults(_ snapshot: LiveSnapshot) -> [Line] {
        guard !snapshot.faults.isEmpty else { return [] }
        var line = Line()
        line.add(LiveView.padded("faults", to: 8), .faint)
        line.add(snapshot.faults.map { "\($0.kind) \(Figures.count($0.count))" }.joined(separator: ", "), .plain)
        return [line]
    }

    private static var flows: [(name: String, flow: KeyPath<RunReport.Window, RunReport.Flow>)] {
        [("writes", \.writes), ("reads", \.reads)]
    }

    private static func rate(_ window: RunReport.Window, _ flow: KeyPath<RunReport.Window, RunReport.Flow>) -> String {
        Figures.rate(window.seconds > 0 ? Double(window[keyPath: flow].answered) / window.seconds : 0)
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// A line of a terminal, in pieces of one look each.
    private struct Line {
        enum Look: String {
            case plain = ""
            case strong = "1"
            case faint = "2"
            case good = "36"
            case warning = "33"
            case bad = "1;31"
        }

        private var pieces: [(text: String, look: Look)] = []
        /// Columns that it takes.
        private(set) var count = 0

        /// Replaces every character that is not one column wide on every terminal.
        mutating func add(_ text: String, _ look: Look) {
            let text = String(
                text.unicodeScalars.map { scalar in
                    switch scalar.value {
                    case 0x20...0x7E, 0xB5, 0x2013, 0x2212, 0x2500...0x259F: Character(scalar)
                    default: "?"
                    }
                })
            pieces.append((text, look))
            count += text.count
        }

        /// The line, cut at the width of the terminal.
        func text(columns: Int, hasColour: Bool) -> String {
            var (left, result) = (max(0, columns), "")
            for (text, look) in pieces {
                let shown = text.prefix(left)
                left -= shown.count
                let isColoured = hasColour && look != .plain && !shown.isEmpty
                result += isColoured ? "\u{1b}[\(look.rawValue)m\(shown)\u{1b}[0m" : String(shown)
            }
            return result
        }
    }
}
