extension RunReport {
    /// The most rows of a table.
    private static let mostRows = 60

    private static let held: Markup = "<span class=\"good\"><span aria-hidden=\"true\">✓</span> held</span>"
    private static func failed(_ text: String) -> Markup {
        "<span class=\"bad\"><span aria-hidden=\"true\">✗</span> \(text)</span>"
    }

    /// A table that scrolls by itself if it is wider than the page.
    ///
    /// - Parameter isPacked: whether the last column takes what the others do not need.
    private static func table(_ name: String, isPacked: Bool = true, head: Markup, rows: [Markup]) -> Markup {
        let more: Markup =
            rows.count > mostRows ? "<p class=\"muted\">and \(Figures.count(rows.count - mostRows)) more</p>" : ""
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="\(name)">
            <table\(isPacked ? " class=\"packed\"" as Markup : "")>
            <thead>\(head)</thead>
            <tbody>
            \(Array(rows.prefix(mostRows)))
            </tbody>
            </table>
            </div>\(more)
            """
    }

    private static func section(_ title: String, _ contents: Markup...) -> Markup {
        "<section>\n<h2>\(title)</h2>\n\(contents)\n</section>"
    }

    private static func numbers(_ texts: [String]) -> Markup {
        Markup(texts.map { text -> Markup in "<td class=\"n\">\(text)</td>" }, separator: "")
    }

    /// The cell that names what the row is about. The name stays on one line unless it is very long.
    private static func head(_ name: String, isCode: Bool = false) -> Markup {
        let look: Markup = name.count > 32 ? " class=\"long\"" : ""
        return "<th scope=\"row\"\(look)>\(isCode ? "<code>\(name)</code>" as Markup : Markup(escaping: name))</th>"
    }

    // MARK: Judgements

    private func verdict(_ judgement: Judgement) -> Markup {
        if !judgement.held { return RunReport.failed("failed") }
        if judgement.comparison?.isDecided == false { return "<span class=\"warn\">? cannot tell</span>" }
        return RunReport.held
    }

    var thresholdSection: Markup? {
        let thresholds = judgements.filter { $0.comparison == nil }
        guard !thresholds.isEmpty else { return nil }
        let rows = thresholds.map { judgement -> Markup in
            """
            <tr>\(RunReport.head(judgement.name, isCode: true))<td class="n">\(judgement.found)</td>\
            <td>\(verdict(judgement))</td><td class="muted">\(judgement.remark ?? "")</td></tr>
            """
        }
        return RunReport.section(
            "Thresholds",
            RunReport.table(
                "Thresholds",
                head: """
                    <tr><th scope="col">asked</th><th scope="col" class="n">found</th><th scope="col">result</th>\
                    <th scope="col"></th></tr>
                    """, rows: rows))
    }

    var comparisonSection: Markup? {
        let compared = judgements.compactMap { judgement in judgement.comparison.map { (judgement, $0) } }
        guard !compared.isEmpty else { return nil }
        // One scale for all, as wide as the farthest end of an interval.
        let ends = compared.flatMap { [$1.interval?.low ?? $1.change, $1.interval?.high ?? $1.change, $1.allowed] }
        let reach = min(2, max(0.02, ends.filter(\.isFinite).map(abs).max() ?? 0)) * 1.1
        let rows = compared.map { judgement, comparison -> Markup in
            """
            <tr>\(RunReport.head(judgement.name))\
            \(RunReport.numbers([comparison.formatted(comparison.before), comparison.formatted(comparison.after)]))\
            <td class="n">\(judgement.found)</td><td>\(comparison.drawing(reach: reach))</td>\
            <td>\(verdict(judgement))</td></tr>
            """
        }
        return RunReport.section(
            "Compared with the baseline",
            RunReport.table(
                "Compared with the baseline",
                head: """
                    <tr><th scope="col">figure</th><th scope="col" class="n">before</th><th scope="col" class="n">now</th>\
                    <th scope="col" class="n">change (95 % interval)</th><th scope="col" class="c">better ← → worse</th>\
                    <th scope="col">result</th></tr>
                    """, rows: rows),
            """
            <p class="muted">A figure fails if its whole interval is beyond the dashed line, which is the allowed change. \
            If the interval is on both sides of the line, this run cannot tell; a longer one can. Latencies are those \
            of a typical second, so they differ from those of the whole run.</p>
            """)
    }

    // MARK: Commands

    var callSection: Markup? {
        let rows = ([writes, reads].compactMap { $0 } + commands).map { call -> Markup in
            let (response, service) = (call.responseTime, call.serviceTime)
            let counts = [call.accepted, call.refused, call.unknown].map(Figures.count)
            let times = [
                response.p50, response.p99, response.p999, response.maximum, service.p50, service.p99, service.p999,
            ]
            let isSum = call.name == "reads" || call.name == "writes"
            return """
                <tr\(isSum ? " class=\"sum\"" as Markup : "")>\(RunReport.head(call.name))\
                \(RunReport.numbers([Figures.rate(rate(of: call))] + counts))\
                \(RunReport.numbers(times.map { Figures.duration($0) }))</tr>
                """
        }
        guard !rows.isEmpty else { return nil }
        return RunReport.section(
            "Commands",
            RunReport.table(
                "Commands", isPacked: false,
                head: """
                    <tr><th scope="col" rowspan="2">command</th><th scope="colgroup" colspan="4">answers</th>\
                    <th scope="colgroup" colspan="4">response time</th><th scope="colgroup" colspan="3">service time</th></tr>
                    <tr>\
                    \(RunReport.heads(["accepted/s", "accepted", "refused", "unknown"]))\
                    \(RunReport.heads(["p50", "p99", "p99.9", "max"]))\
                    \(RunReport.heads(["p50", "p99", "p99.9"]))\
                    </tr>
                    """, rows: rows),
            """
            <p class="muted">Response time is counted from when a command was to be sent, service time from when it was. \
            Where they differ, commands waited before they were sent.</p>
            """)
    }

    private static func heads(_ names: [String]) -> Markup {
        Markup(names.map { name -> Markup in "<th scope=\"col\" class=\"n\">\(name)</th>" }, separator: "")
    }

    // MARK: Errors, faults, checks

    var errorSection: Markup? {
        let sorted = errors.filter { $0.count > 0 }.sorted {
            ($0.isExpected ? 1 : 0, $1.count, $0.code, $0.call) < ($1.isExpected ? 1 : 0, $0.count, $1.code, $1.call)
        }
        guard !sorted.isEmpty else { return nil }
        let rows = sorted.map { error -> Markup in
            let part = call(error.call).map { Figures.percent(Double(error.count) / Double($0.sent)) } ?? "–"
            return """
                <tr>\(RunReport.head(error.code, isCode: true))\(RunReport.head(error.call))\
                \(RunReport.numbers([Figures.count(error.count), part]))\
                <td>\(error.isExpected ? "expected" : RunReport.failed("unexpected"))</td></tr>
                """
        }
        return RunReport.section(
            "Errors",
            RunReport.table(
                "Errors",
                head: """
                    <tr><th scope="col">code</th><th scope="col">command</th><th scope="col" class="n">count</th>\
                    <th scope="col" class="n">of its command</th><th scope="col"></th></tr>
                    """, rows: rows))
    }

    var faultSection: Markup? {
        guard !faults.isEmpty else { return nil }
        let rows = faults.enumerated().map { index, fault -> Markup in
            """
            <tr><td class="n">\(fault.isMarked ? "\(index + 1)" : "–")</td>\(RunReport.head(fault.kind))\
            \(RunReport.numbers([Figures.count(fault.count), clock(fault.firstAt)]))\
            <td>\(faultStrip(fault))</td></tr>
            """
        }
        return RunReport.section(
            "Faults made on purpose",
            RunReport.table(
                "Faults",
                head: """
                    <tr><th scope="col" class="n">mark</th><th scope="col">fault</th><th scope="col" class="n">times</th>\
                    <th scope="col" class="n">first at</th><th scope="col" class="c">over the run</th></tr>
                    """, rows: rows))
    }

    /// When a fault was made, as ticks on the length of the run.
    private func faultStrip(_ fault: Fault) -> Markup {
        let times = fault.times.isEmpty ? [fault.firstAt] : fault.times
        let ticks = times.map { "M\(Int((timeAxis.position($0) * 1_000).rounded())) 2V14" }.joined()
        return """
            <svg class="strip" viewBox="0 0 1000 16" preserveAspectRatio="none" aria-hidden="true">\
            <path class="grid" d="M0 8H1000"/><path class="neutral line" d="\(ticks)"/></svg>
            """
    }

    var checkSection: Markup? {
        let results = checkResults
        guard !results.isEmpty else { return nil }
        let rows = results.map { result -> Markup in
            let count = result.violations.count
            let found: Markup =
                count > 0
                ? RunReport.failed("\(Figures.count(count)) failed")
                : result.made > 0 ? RunReport.held : "<span class=\"muted\">none made</span>"
            return """
                <tr>\(RunReport.head(result.name))<td class="n">\(Figures.count(result.made))</td>\
                <td>\(found)</td></tr>
                """
        }
        return RunReport.section(
            "Checks",
            RunReport.table(
                "Checks",
                head: """
                    <tr><th scope="col">check</th><th scope="col" class="n">made</th><th scope="col">result</th></tr>
                    """, rows: rows))
    }

    // MARK: Facts

    private static func facts(_ facts: [Fact]) -> Markup {
        let entries = facts.map { fact -> Markup in "<div><dt>\(fact.name)</dt><dd>\(fact.value)</dd></div>" }
        return "<dl class=\"facts\">\(entries)</dl>"
    }

    var costSection: Markup? {
        let delay = sending.ownDelay
        let sent = Double(max(1, sending.sent))
        var monkey: [Fact] = [
            .init(name: "planned", value: Figures.count(sending.planned)),
            .init(name: "sent", value: Figures.count(sending.sent)),
            .init(
                name: "late by more than 1 ms",
                value: "\(Figures.count(sending.late)) (\(Figures.percent(Double(sending.late) / sent)))"),
            .init(name: "dropped", value: Figures.count(sending.dropped)),
            .init(name: "busy", value: Figures.percent(sending.busy)),
        ]
        if delay.maximum > 0 {
            let times = [("p50", delay.p50), ("p99", delay.p99), ("max", delay.maximum)]
                .map { "\($0) \(Figures.duration($1))" }.joined(separator: ", ")
            monkey.append(.init(name: "its own delay", value: times))
        }
        let monkeySection = RunReport.section("The monkey itself", RunReport.facts(monkey))
        guard let server else { return monkeySection }
        let answers = [writes, reads].compactMap { $0 }.reduce(0) { $0 + $1.accepted + $1.refused }
        var costs: [Fact] = [
            .init(name: "CPU time", value: Figures.duration(Double(server.microseconds) * 1_000)),
            .init(
                name: "CPU per command",
                value: answers > 0 ? Figures.duration(Double(server.microseconds) * 1_000 / Double(answers)) : "–"),
            .init(name: "peak memory", value: Figures.bytes(Double(server.peakBytes))),
            .init(name: "events", value: Figures.count(server.events)),
            .init(name: "batches", value: Figures.count(server.batches)),
        ]
        if server.batches > 0 {
            costs.append(
                .init(name: "events a batch", value: Figures.digits(Double(server.events) / Double(server.batches))))
        }
        if server.commitMicroseconds > 0 {
            costs.append(.init(name: "a commit", value: Figures.duration(Double(server.commitMicroseconds) * 1_000)))
        }
        return Markup([RunReport.section("The server", RunReport.facts(costs)), monkeySection])
    }

    var factSection: Markup? {
        let sum = load.scenarios.reduce(0) { $0 + $1.weight }
        let mix = load.scenarios.map { "\($0.scenario) \(Figures.percent(sum > 0 ? $0.weight / sum : 0))" }
        var asked: [Fact] = [
            .init(name: "scenarios", value: mix.joined(separator: ", ")), .init(name: "seed", value: String(load.seed)),
            .init(name: "connections", value: Figures.count(load.connections)),
            .init(name: "length", value: Figures.time(load.seconds)),
        ]
        if load.isClosed {
            asked.append(.init(name: "load", value: "closed, \(load.pipeline) in flight on each connection"))
        } else {
            let plan = load.stages.map { "\(Figures.rate($0.rate)) at the end of \(Figures.time($0.seconds))" }
            asked.append(.init(name: "load", value: "open: " + plan.joined(separator: ", then ")))
        }
        asked.append(.init(name: "faults", value: load.isChaotic ? "made on purpose" : "none made"))
        return Markup([
            RunReport.section("What was asked", RunReport.facts(asked)),
            RunReport.section("Where it ran", RunReport.facts(environment)),
            RunReport.section(
                "Again", "<pre tabindex=\"0\" aria-label=\"Command\"><code>\(command)</code></pre>"),
        ])
    }
}

extension RunReport.Comparison {
    /// A value in its unit.
    func formatted(_ value: Double) -> String {
        switch unit {
        case .rate: Figures.rate(value)
        case .nanoseconds: Figures.duration(value)
        case .bytes: Figures.bytes(value)
        }
    }

    /// The change and its interval on a line from `reach` better to `reach` worse. What was allowed is dashed.
    fileprivate func drawing(reach: Double) -> Markup {
        let sign = isBetterHigher ? -1.0 : 1.0
        func x(_ change: Double) -> Int {
            guard change.isFinite else { return 100 }
            return 100 + Int((min(1, max(-1, change * sign / reach)) * 96).rounded())
        }
        let (low, high) = (interval?.low ?? change, interval?.high ?? change)
        let look = isWorse ? "bad" : isDecided ? "neutral" : "warn"
        let text = "Change \(Figures.change(change)) %, \(Figures.change(allowed)) % for the worse allowed"
        return """
            <svg class="interval" viewBox="0 0 200 16" width="200" height="16" role="img" aria-label="\(text)">\
            <path class="grid" d="M100 0V16"/><path class="limit" d="M\(100 + Int((allowed / reach * 96).rounded())) 0V16"/>\
            <path class="\(look) bold" d="M\(x(low)) 8H\(x(high))"/><path class="\(look) dot" d="M\(x(change)) 8h0"/></svg>
            """
    }
}
