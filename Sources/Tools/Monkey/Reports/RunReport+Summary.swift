extension RunReport {
    /// The most kinds of errors that a summary lists.
    private static let maximumErrors = 8

    /// What is printed when the run is over, a string for each line. The first two lines are the figures worth
    /// quoting, the third says whether every check held; what follows is only what a reader should know.
    var summary: [String] {
        let remarkable = remarkableLines
        return quotableLines + [checks.line] + (remarkable.isEmpty ? [] : [""] + remarkable) + checks.violationLines
            + (outcome == .held ? [] : ["", RunReport.line("repeat", command)])
    }

    private var quotableLines: [String] {
        let flows = [("writes", writes), ("reads", reads)]
        let table = RunReport.aligned(
            flows.map { _, call in
                guard let call else { return [] }
                let latency = call.responseTime
                return [
                    Figures.rate(rate(of: call)) + " accepted", "p50 " + Figures.duration(latency.p50),
                    "p99 " + Figures.duration(latency.p99), "p99.9 " + Figures.duration(latency.p999),
                ]
            }, gap: 3)
        return zip(flows, table).map { RunReport.line($0.0, $0.1 == nil ? "none sent" : $1) }
    }

    private var remarkableLines: [String] {
        var lines: [String] = []
        let unexpected = unexpectedErrors
        if !unexpected.isEmpty {
            var parts = unexpected.prefix(RunReport.maximumErrors).map {
                "\($0.call) \($0.code) \(Figures.count($0.count))"
            }
            if unexpected.count > parts.count { parts.append("and \(unexpected.count - parts.count) more kinds") }
            lines.append(RunReport.line("errors", "unexpected: " + parts.joined(separator: ", ")))
        }
        if unknownOutcomes > 0 {
            let parts = commands.filter { $0.unknown > 0 }.map { "\($0.name) \(Figures.count($0.unknown))" }
            lines.append(RunReport.line("unknown", "outcome not known: " + parts.joined(separator: ", ")))
        }
        if sending.isRemarkable {
            let part = Figures.percent(Double(sending.late) / Double(max(1, sending.sent)))
            lines.append(
                RunReport.line(
                    "sends",
                    "\(Figures.count(sending.late)) late (\(part)), \(Figures.count(sending.dropped)) dropped of "
                        + "\(Figures.count(sending.planned)) planned"))
        }
        if let limit = sending.limit { lines.append(RunReport.line("limit", limit)) }
        if !faults.isEmpty {
            let parts = faults.map { "\($0.kind) \(Figures.count($0.count))" }
            lines.append(RunReport.line("faults", parts.joined(separator: ", ")))
        }
        lines += remarks.map { RunReport.line("note", $0) }
        return lines + judgementLines
    }

    private var judgementLines: [String] {
        let table = RunReport.aligned(
            judgements.map { judgement in
                let remark = judgement.remark.map { ": " + $0 } ?? ""
                return [judgement.name, judgement.found, judgement.verdict + remark]
            }, gap: 2)
        return table.enumerated().map { RunReport.line($0.offset == 0 ? "judged" : "", $0.element) }
    }

    /// A line that begins with a word in a column of its own.
    fileprivate static func line(_ word: String, _ text: String) -> String {
        word.padded(to: 8) + text
    }

    /// Rows of cells as lines, with the cells of each column aligned.
    private static func aligned(_ rows: [[String]], gap: Int) -> [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.lazy.filter { column < $0.count }.map { $0[column].count }.max() ?? 0
        }
        return rows.map { row in
            row.enumerated().map { column, cell in
                column == row.count - 1 ? cell : cell.padded(to: widths[column] + gap)
            }.joined()
        }
    }
}

extension RunReport.Checks {
    /// Violations that a summary shows with their history.
    private static let violationsShown = 5

    /// How many failed.
    private var failed: Int { violations.count + furtherViolations }

    /// What is printed of the checks alone, a string for each line.
    var summary: [String] { [line] + violationLines }

    fileprivate var line: String {
        let made = Figures.count(count) + " made, "
        if count == 0, failed == 0 { return RunReport.line("checks", "none made") }
        return RunReport.line("checks", made + (failed == 0 ? "all held" : "\(Figures.count(failed)) failed"))
    }

    fileprivate var violationLines: [String] {
        let shown = violations.prefix(RunReport.Checks.violationsShown)
        var lines = shown.flatMap { violation in
            let message = violation.message.split(whereSeparator: \.isNewline)
            return ["", "failed  \(violation.check), \(Figures.time(violation.at)) into the load"]
                + message.map { "  " + $0 }
                + violation.history.map { "    " + $0 }
        }
        let rest = failed - shown.count
        if rest > 0 { lines += ["", "and \(Figures.count(rest)) more"] }
        return lines
    }
}

extension String {
    /// The text, padded with spaces to that many characters.
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
