extension RunReport {
    /// The most points of a line over time. In a longer run each stands for several seconds.
    private static let mostPoints = 600
    /// The most parts of a chart that show their figures when pointed at.
    private static let mostSlices = 120
    /// The most marks for one kind of fault, and for violations.
    private static let mostMarks = 100

    /// Latency of writes and of reads over time, on one scale.
    var latencyCharts: [Chart] {
        let flows = [("writes", "Writes", \Window.writes), ("reads", "Reads", \Window.reads)]
        let shown = flows.filter { flow in windows.contains { $0[keyPath: flow.2].answered > 0 } }
        let values = shown.flatMap { flow in
            windows.lazy.map { $0[keyPath: flow.2] }.filter { $0.answered > 0 }.flatMap { [$0.p50, $0.maximum] }
        }
        guard let least = values.min(), let most = values.max() else { return [] }
        let scale = ChartAxis.logarithmic(from: Double(least), to: Double(most), label: RunReport.durationLabel)
        return shown.map { id, title, flow in latencyChart(id, "Latency of \(title.lowercased())", flow, scale) }
    }

    private func latencyChart(
        _ look: String, _ title: String, _ flow: KeyPath<Window, Flow>, _ scale: ChartAxis
    ) -> Chart {
        let windows = merged(atMost: RunReport.mostPoints)
        func points(_ value: KeyPath<Flow, UInt64>) -> [Chart.Point] {
            windows.map { window in
                let flow = window[keyPath: flow]
                return Chart.Point(x: window.middle, y: flow.answered > 0 ? Double(flow[keyPath: value]) : nil)
            }
        }
        let (p50, p99, maximum) = (points(\.p50), points(\.p99), points(\.maximum))
        let slices = slices { window in
            let flow = window[keyPath: flow]
            guard flow.answered > 0 else { return "none answered" }
            return "p50 \(Figures.duration(flow.p50)), p99 \(Figures.duration(flow.p99)), "
                + "max \(Figures.duration(flow.maximum))"
        }
        let longest = maximum.max { ($0.y ?? 0) < ($1.y ?? 0) }
        return Chart(
            id: "latency-\(look)", title: title, unit: "response time, log scale\(resolution)",
            description: "Median \(RunReport.range(p50, Figures.duration)), 99th percentile "
                + "\(RunReport.range(p99, Figures.duration)), longest \(Figures.duration(longest?.y ?? 0)) at "
                + "\(clock(longest?.x ?? 0)).\(marksDescription)",
            x: timeAxis, y: scale,
            series: [
                .init(look: "\(look) band", points: p99, floor: p50),
                .init(label: "max", look: "\(look) thin", points: maximum),
                .init(label: "p99", look: "\(look) line", points: p99),
                .init(label: "p50", look: "\(look) bold", points: p50),
            ], marks: marks, slices: slices)
    }

    /// Answers a second over time.
    var throughputChart: Chart? {
        let windows = merged(atMost: RunReport.mostPoints)
        let flows = [("writes", \Window.writes), ("reads", \Window.reads)].filter { flow in
            windows.contains { $0[keyPath: flow.1].answered > 0 }
        }
        guard !flows.isEmpty else { return nil }
        let series = flows.map { name, flow in
            Chart.Series(
                label: name, look: "\(name) bold",
                points: windows.map { Chart.Point(x: $0.middle, y: $0.rate(flow)) })
        }
        let most = series.flatMap(\.points).compactMap(\.y).max() ?? 0
        return Chart(
            id: "throughput", title: "Throughput", unit: "answers per second\(resolution)",
            description: series.map { "\($0.label ?? "") \(RunReport.range($0.points, Figures.rate))" }
                .joined(separator: ", ") + "." + marksDescription,
            x: timeAxis, y: .linear(upTo: most, label: Figures.round), series: series, marks: marks,
            slices: slices { window in
                flows.map { "\($0.0) \(Figures.rate(window.rate($0.1)))" }.joined(separator: ", ")
            })
    }

    /// The longest that each part of the commands took.
    var percentileChart: Chart? {
        let flows = [("writes", writes), ("reads", reads)].compactMap { name, call in call.map { (name, $0) } }
        let curves = flows.flatMap { [$0.1.responseTime.curve, $0.1.serviceTime.curve] }.filter { !$0.isEmpty }
        let values = curves.flatMap { $0.map { Double($0.value) } }
        guard let least = values.min(), let most = values.max() else { return nil }
        let series = flows.flatMap { name, call in
            [
                Chart.Series(
                    look: "\(name) dashed", points: RunReport.curve(call.serviceTime)),
                Chart.Series(label: name, look: "\(name) bold", points: RunReport.curve(call.responseTime)),
            ]
        }
        return Chart(
            id: "percentiles", title: "Percentiles", unit: "log scales",
            description: flows.map { name, call in
                let latency = call.responseTime
                return "Half of the \(name) took at most \(Figures.duration(latency.p50)), 99 % at most "
                    + "\(Figures.duration(latency.p99)), 99.9 % at most \(Figures.duration(latency.p999)), the longest "
                    + "\(Figures.duration(latency.maximum))."
            }.joined(separator: " "),
            x: .nines(upTo: series.flatMap(\.points).map(\.x).max() ?? 0),
            y: .logarithmic(from: least, to: most, label: RunReport.durationLabel),
            series: series,
            legend: [("neutral bold", "response time"), ("neutral dashed", "service time")])
    }

    /// Unexpected errors over time; nil if there were none.
    var failuresChart: Chart? {
        let windows = merged(atMost: RunReport.mostPoints)
        let points = windows.map { Chart.Point(x: $0.middle, y: Double($0.failures) / max($0.seconds, 1e-3)) }
        let most = points.compactMap(\.y).max() ?? 0
        guard most > 0 else { return nil }
        return Chart(
            id: "failures", title: "Unexpected errors", unit: "per second\(resolution)",
            description: "Errors per second \(RunReport.range(points, Figures.rate)).\(marksDescription)",
            x: timeAxis, y: .linear(upTo: most, label: Figures.round),
            series: [
                .init(look: "bad band", points: points, floor: points.map { .init(x: $0.x, y: 0) }),
                .init(look: "bad line", points: points),
            ], marks: marks)
    }

    /// What the run cost the server over time, and how many commands were in flight.
    var costCharts: [Chart] {
        let windows = merged(atMost: RunReport.mostPoints)
        let processor = windows.map { window in
            Chart.Point(
                x: window.middle,
                y: window.serverMicroseconds.map { Double($0) / 1e6 / max(window.seconds, 1e-3) })
        }
        let memory = windows.map { Chart.Point(x: $0.start + $0.seconds, y: $0.serverBytes.map(Double.init)) }
        let inFlight = windows.map { Chart.Point(x: $0.start + $0.seconds, y: Double($0.inFlight)) }
        func whole(_ part: Double) -> String { Figures.fixed(part * 100, places: 0) + " %" }
        return [
            costChart("processor", "Server CPU", "of one processor", processor, whole),
            costChart("memory", "Server memory", "resident", memory, RunReport.bytesLabel),
            costChart("flight", "In flight", "commands not answered yet", inFlight, Figures.round),
        ].compactMap { $0 }
    }

    private func costChart(
        _ id: String, _ title: String, _ unit: String, _ points: [Chart.Point], _ label: (Double) -> String
    ) -> Chart? {
        guard let most = points.compactMap(\.y).max() else { return nil }
        return Chart(
            id: id, title: title, unit: unit + resolution,
            description: "\(title) \(RunReport.range(points, label)).\(marksDescription)", x: timeAxis,
            y: .linear(upTo: most, label: label),
            series: [
                .init(
                    look: "neutral band", points: points, floor: points.map { .init(x: $0.x, y: $0.y == nil ? nil : 0) }
                ),
                .init(look: "neutral line", points: points),
            ], marks: marks)
    }

    // MARK: Time

    private var end: Double { max(windows.last.map { $0.start + $0.seconds } ?? 0, seconds.isFinite ? seconds : 0) }
    var timeAxis: ChartAxis { .time(end) }

    /// A time as the axes of this report write it.
    func clock(_ seconds: Double) -> String { ChartAxis.clock(seconds, in: end) }

    /// Faults by their numbers in the table of faults, and violations. A kind that goes on all the time has no marks:
    /// the table shows when it was.
    private var marks: [Chart.Mark] {
        let faults = faults.enumerated().filter { $0.element.isMarked }.flatMap { index, fault in
            [Chart.Mark(x: fault.firstAt, label: String(index + 1), look: "fault")]
                + fault.times.prefix(RunReport.mostMarks).filter { $0 != fault.firstAt }.map {
                    Chart.Mark(x: $0, label: nil, look: "fault")
                }
        }
        let violations = checks.violations.prefix(RunReport.mostMarks).enumerated().map { index, violation in
            Chart.Mark(x: violation.at, label: index == 0 ? "✗" : nil, look: "violation")
        }
        return faults + violations
    }

    private var marksDescription: String {
        (!faults.contains(where: \.isMarked) ? "" : " Faults are marked by their number.")
            + (checks.violations.isEmpty ? "" : " Violations are marked.")
    }

    /// Says so if a point stands for more than a second.
    private var resolution: String {
        let step = (windows.count + RunReport.mostPoints - 1) / RunReport.mostPoints
        return step > 1 ? ", \(step) s a point" : ""
    }

    private func slices(_ text: (Window) -> String) -> [Chart.Slice] {
        merged(atMost: RunReport.mostSlices).map { window in
            let end = window.start + window.seconds
            return Chart.Slice(
                from: window.start, to: end, text: "\(clock(window.start)) – \(clock(end)): \(text(window))")
        }
    }

    /// The windows, with neighbours merged until there are no more than that. The medians are averaged by the number
    /// of answers; the other percentiles are those of the worst window.
    private func merged(atMost count: Int) -> [Window] {
        let step = max(1, (windows.count + count - 1) / count)
        guard step > 1 else { return windows }
        return stride(from: 0, to: windows.count, by: step).map { start in
            let group = windows[start..<min(start + step, windows.count)]
            return group.dropFirst().reduce(into: group[start]) { $0.add($1) }
        }
    }

    // MARK: Values

    /// The curve as points of a chart. The last point has no part after it, and is put where the next would be.
    private static func curve(_ latency: Latency) -> [Chart.Point] {
        let rare = latency.curve.last { $0.part < 1 }?.part ?? 0
        return latency.curve.map { Chart.Point(x: $0.part < 1 ? $0.part : 1 - (1 - rare) / 1.6, y: Double($0.value)) }
    }

    /// From the smallest to the largest: `1.2 ms to 3.4 ms`.
    private static func range(_ points: [Chart.Point], _ format: (Double) -> String) -> String {
        let values = points.compactMap(\.y)
        guard let least = values.min(), let most = values.max() else { return "unknown" }
        return least == most ? format(least) : "\(format(least)) to \(format(most))"
    }

    /// Round durations without trailing zeros: `5 ms`.
    private static func durationLabel(_ nanoseconds: Double) -> String { Figures.short(Figures.duration(nanoseconds)) }
    private static func bytesLabel(_ bytes: Double) -> String { Figures.short(Figures.bytes(bytes)) }
}

extension RunReport.Window {
    fileprivate var middle: Double { start + seconds / 2 }

    fileprivate func rate(_ flow: KeyPath<Self, RunReport.Flow>) -> Double {
        seconds > 0 ? Double(self[keyPath: flow].answered) / seconds : 0
    }

    fileprivate mutating func add(_ next: Self) {
        seconds = next.start + next.seconds - start
        reads.add(next.reads)
        writes.add(next.writes)
        failures += next.failures
        inFlight = max(inFlight, next.inFlight)
        serverMicroseconds = serverMicroseconds.flatMap { sum in next.serverMicroseconds.map { sum + $0 } }
        serverBytes = [serverBytes, next.serverBytes].compactMap { $0 }.max()
    }
}

extension RunReport.Flow {
    fileprivate mutating func add(_ next: Self) {
        let sum = answered + next.answered
        if sum > 0 {
            p50 = UInt64((Double(p50) * Double(answered) + Double(next.p50) * Double(next.answered)) / Double(sum))
        }
        answered = sum
        p99 = max(p99, next.p99)
        maximum = max(maximum, next.maximum)
    }
}

extension Figures {
    /// A round number of an axis, without trailing zeros.
    fileprivate static func round(_ value: Double) -> String { short(digits(value)) }

    /// `text` without the zeros at the end of its number: `5.00 ms` as `5 ms`.
    fileprivate static func short(_ text: String) -> String {
        let number = text.prefix { $0 != " " }
        guard number.contains(".") else { return text }
        var kept = number
        while kept.last == "0" { kept.removeLast() }
        if kept.last == "." { kept.removeLast() }
        return String(kept + text.dropFirst(number.count))
    }
}

extension RunReport.Fault {
    /// More marks of one kind would hide the curves.
    private static let mostMarked = 20

    /// Whether the charts mark it.
    var isMarked: Bool { count <= RunReport.Fault.mostMarked }
}
