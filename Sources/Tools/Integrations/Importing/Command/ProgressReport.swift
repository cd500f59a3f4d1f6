/// How far an import is, on standard error: a bar on a terminal, a line now and then elsewhere.
struct ProgressReport {
    private static let barWidth = 30
    /// Rows between two plain lines; a file with no more has none.
    private static let rowsPerLine = 1_000

    private let total: Int
    private let isTerminal: Bool
    private let write: (String) -> Void
    /// What is drawn: the percentage on a terminal, the lines written elsewhere.
    private var shown = -1

    init(total: Int, isTerminal: Bool, write: @escaping (String) -> Void) {
        self.total = total
        self.isTerminal = isTerminal
        self.write = write
        if !isTerminal { shown = 0 }
    }

    mutating func update(_ finished: Int) {
        let step = isTerminal ? finished * 100 / max(total, 1) : finished / ProgressReport.rowsPerLine
        guard step > shown else { return }
        shown = step
        if isTerminal {
            let filled = finished * ProgressReport.barWidth / max(total, 1)
            let bar = String(repeating: "#", count: filled)
            let rest = String(repeating: ".", count: ProgressReport.barWidth - filled)
            write("\r[\(bar)\(rest)] \(finished.grouped) of \(total.grouped)")
        } else {
            write("\(finished.grouped) of \(total.grouped)\n")
        }
    }

    /// Wipes the bar.
    func finish() {
        if isTerminal, shown >= 0 { write("\r\u{1B}[K") }
    }
}
