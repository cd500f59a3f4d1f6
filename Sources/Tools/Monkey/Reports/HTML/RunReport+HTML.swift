extension RunReport {
    /// The run as one self-contained page: no script, font or picture from elsewhere. It is valid XML, too, so that a
    /// parser can check it.
    package var html: String {
        let document: Markup = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8"/>
            <meta name="viewport" content="width=device-width, initial-scale=1"/>
            <meta name="color-scheme" content="light dark"/>
            <title>\(headline) – tiffin-monkey</title>
            <style>\(RunReport.style)</style>
            </head>
            <body>
            <main>
            \(sections)
            </main>
            </body>
            </html>

            """
        return document.text
    }

    /// What went wrong comes before what was measured.
    private var sections: [Markup] {
        [
            header, noteList, violationSection, comparisonSection, thresholdSection, chartSection, callSection,
            errorSection, faultSection, checkSection, costSection, factSection,
        ].compactMap { $0 }
    }

    /// How the run ended, in a few words.
    private var headline: String {
        func several(_ count: Int, _ one: String, _ many: String) -> String {
            count == 1 ? one : Figures.count(count) + many
        }
        switch outcome {
        case .held: return checks.count == 0 ? "Held" : "Every check held"
        case .checkFailed: return several(violationCount, "A check failed", " checks failed")
        case .couldNotRun: return "The load could not be run"
        case .unknown:
            return "The outcome of " + several(unknownOutcomes, "a command", " commands") + " is unknown"
        case .thresholdFailed:
            let failed = judgements.filter { !$0.held }
            let thresholds = failed.count { $0.comparison == nil }
            if thresholds == 0 {
                return several(failed.count, "A figure is worse than before", " figures are worse than before")
            }
            return several(thresholds, "A threshold was not held", " thresholds were not held")
        }
    }

    private var header: Markup {
        let checked =
            checks.count == 0
            ? "No check was made."
            : "\(Figures.count(checks.count)) checks of \(checks.made.count) kinds"
                + (violationCount == 0 ? ", all held." : ", \(Figures.count(violationCount)) failed.")
        return """
            <header>
            <p class="muted">tiffin-monkey · \(startedAt) · \(Figures.time(seconds))</p>
            <h1 class="\(outcome == .held ? "good" : "bad")"><span aria-hidden="true">\(outcome == .held ? "✓" : "✗")</span> \
            \(headline)</h1>
            <p>\(checked)</p>
            <p class="muted">\(loadInWords)</p>
            </header>
            <div class="quotes">
            \(quote("Writes", "writes", writes))
            \(quote("Reads", "reads", reads))
            </div>
            """
    }

    private func quote(_ title: String, _ look: String, _ call: CallReport?) -> Markup {
        guard let call else {
            return "<section class=\"quote \(look)\"><h2>\(title)</h2><p class=\"muted\">none sent</p></section>"
        }
        let latency = call.responseTime
        let figures = [("p50", latency.p50), ("p99", latency.p99), ("p99.9", latency.p999)].map {
            name, value -> Markup in
            "<div><dt>\(name)</dt><dd>\(Figures.duration(value))</dd></div>"
        }
        return """
            <section class="quote \(look)">
            <h2>\(title)</h2>
            <p class="rate">\(Figures.rate(rate(of: call))) <span class="muted">accepted</span></p>
            <dl>\(figures)</dl>
            </section>
            """
    }

    /// What the run was asked to do, as a sentence.
    private var loadInWords: String {
        let scenarios = load.scenarios.map(\.scenario)
        let mix = scenarios.isEmpty ? "" : " of " + scenarios.joined(separator: ", ")
        let connections = "\(Figures.count(load.connections)) connection\(load.connections == 1 ? "" : "s")"
        let highest = load.stages.map(\.rate).max() ?? 0
        let plan =
            load.isClosed
            ? "each with \(load.pipeline) in flight, as fast as the answers came"
            : "planned at \(load.stages.count > 1 ? "up to " : "")\(Figures.rate(highest))"
        let faults = load.isChaotic ? ", with faults made on purpose" : ""
        return "\(load.isClosed ? "Closed" : "Open") load\(mix) on \(connections), \(plan)\(faults)."
    }

    private var noteList: Markup? {
        let notes =
            [sending.limit].compactMap { $0.map { "The monkey was the limit, not the server: \($0)." } } + remarks
        guard !notes.isEmpty else { return nil }
        return "<div class=\"notes\" role=\"note\">\(notes.map { note -> Markup in "<p>\(note)</p>" })</div>"
    }

    private var violationSection: Markup? {
        guard violationCount > 0 else { return nil }
        let shown = checks.violations.map { violation -> Markup in
            let history = violation.history.joined(separator: "\n")
            let steps: Markup =
                history.isEmpty ? "" : "<pre tabindex=\"0\" aria-label=\"History\"><code>\(history)</code></pre>"
            return """
                <article class="violation">
                <h3>\(violation.check) <span class="muted">\(clock(violation.at)) into the load</span></h3>
                <p>\(violation.message)</p>
                \(steps)
                </article>
                """
        }
        // The first ones are enough; the rest can be unfolded.
        let (first, rest) = (Array(shown.prefix(3)), Array(shown.dropFirst(3)))
        let more: Markup =
            rest.isEmpty
            ? "" : "<details><summary>\(Figures.count(rest.count)) more</summary>\(rest)</details>"
        let uncounted: Markup =
            checks.furtherViolations == 0
            ? "" : "<p class=\"muted\">\(Figures.count(checks.furtherViolations)) more were only counted.</p>"
        return """
            <section>
            <h2>What failed</h2>
            \(first)
            \(more)\(uncounted)
            </section>
            """
    }

    /// What the lines across the charts are.
    private var marksInWords: Markup {
        let kinds =
            (!faults.contains(where: \.isMarked)
                ? [] : ["dotted lines are faults, by their number in the table of faults"])
            + (checks.violations.isEmpty ? [] : ["solid ones with a cross are failed checks"])
        return kinds.isEmpty ? "" : "<p class=\"muted\">Across the charts, \(kinds.joined(separator: "; ")).</p>"
    }

    private var chartSection: Markup? {
        let latencies = latencyCharts
        let others = [throughputChart, percentileChart].compactMap { $0 }
        let costs = [failuresChart].compactMap { $0 } + costCharts
        guard !latencies.isEmpty || !others.isEmpty else { return nil }
        func grid(_ charts: [Chart], _ look: String) -> Markup {
            charts.isEmpty ? "" : "<div class=\"charts \(look)\">\(charts.map(\.markup))</div>"
        }
        return """
            <section>
            <h2>What was measured</h2>
            \(marksInWords)
            \(grid(latencies, "two"))
            \(grid(others, "two"))
            \(grid(costs, costs.count == 3 ? "low three" : "low two"))
            </section>
            """
    }
}
