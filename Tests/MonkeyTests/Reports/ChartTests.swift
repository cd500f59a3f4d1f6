import Foundation
import SeededRandom
import Testing

@testable import Monkey

@Suite("The axes of a chart")
struct ReportsChartAxisTests {
    /// What every axis promises: few labels, in order, at the places of their values.
    private static func check(_ axis: ChartAxis, from least: Double, to most: Double, seed: UInt64) {
        let places = axis.ticks.map { axis.position($0.value) }
        #expect((2...13).contains(places.count), "\(axis.ticks) for \(least) to \(most)")
        #expect(places == places.sorted() && Set(places).count == places.count)
        #expect(Set(axis.ticks.map(\.label)).count == axis.ticks.count, "\(axis.ticks.map(\.label))")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let values = [
                Double.random(in: least...most, using: &random), Double.random(in: least...most, using: &random),
            ]
            .sorted()
            #expect(axis.position(values[0]) <= axis.position(values[1]))
        }
        #expect((0...0.35).contains(axis.position(least)) && (0.45...1).contains(axis.position(most)))
        #expect(axis.position(.nan) == 0)
    }

    @Test("of numbers begins with nothing and ends with a round one", arguments: SeededGenerator.seeds)
    func linear(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let most = Double(random.number(1..<1_000)) * pow(10, Double(random.number(-1..<9)))
        let axis = ChartAxis.linear(upTo: most) { Figures.plain($0) }
        ReportsChartAxisTests.check(axis, from: 0, to: most, seed: seed)
        #expect(axis.position(0) == 0)
        #expect(axis.position(most) > 0.7)
        #expect(axis.ticks.count <= 6)
    }

    @Test("of durations spans them, whatever their range", arguments: SeededGenerator.seeds)
    func logarithmic(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let least = Double(random.number(1..<1_000)) * pow(10, Double(random.number(0..<6)))
        let most = least * pow(10, Double(random.number(0..<600)) / 100)
        let axis = ChartAxis.logarithmic(from: least, to: most) { Figures.duration($0) }
        #expect((2...9).contains(axis.ticks.count), "\(axis.ticks)")
        #expect(axis.position(least) < 0.6)
        #expect(axis.position(most) > 0.3 && axis.position(most) <= 1)
        let middle = (least * most).squareRoot()
        let distance = axis.position(middle) - axis.position(least)
        #expect(abs(distance - (axis.position(most) - axis.position(middle))) < 1e-9)
    }

    @Test("of time has a few round times", arguments: [0.3, 1, 2.2, 12, 30.2, 60.1, 90, 600, 3_601, 86_400])
    func time(seconds: Double) {
        let axis = ChartAxis.time(seconds)
        ReportsChartAxisTests.check(axis, from: 0, to: seconds, seed: 1)
        #expect(axis.ticks.count <= 8)
    }

    @Test(
        "writes times according to the length of the run",
        arguments: [
            (5.0, 30.0, "5 s"), (65, 600, "1:05"), (65, 7_200, "0:01:05"), (3_725, 7_200, "1:02:05"),
            (.nan, 600, "– s"),
        ])
    func clock(seconds: Double, length: Double, text: String) {
        #expect(ChartAxis.clock(seconds, in: length) == text)
    }

    @Test("of parts has the same distance from each nine to the next")
    func nines() {
        let axis = ChartAxis.nines(upTo: 0.999_99)
        #expect(axis.ticks.map(\.label) == ["50 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %"])
        for (part, place) in [(0, 0), (0.9, 0.2), (0.99, 0.4), (0.999, 0.6), (0.999_99, 1), (1, 1)] {
            #expect(abs(axis.position(part) - place) < 1e-6)
        }
    }
}

@Suite("The charts of a run")
struct ReportsChartTests {
    private static func charts(_ report: RunReport) -> [Chart] {
        report.latencyCharts + [report.throughputChart, report.percentileChart, report.failuresChart].compactMap { $0 }
            + report.costCharts
    }

    /// The points that a path goes through.
    private static func places(_ path: String) throws -> [(x: Int, y: Int)] {
        var (places, x, y): ([(Int, Int)], Int, Int) = ([], 0, 0)
        for match in path.matches(of: #/([MlhzvVH])(-?\d+)?(?: ?(-?\d+))?/#) {
            let (command, first, second) = (match.1, match.2.flatMap { Int($0) }, match.3.flatMap { Int($0) })
            switch command {
            case "M": (x, y) = (try #require(first), try #require(second))
            case "l": (x, y) = (x + (try #require(first)), y + (try #require(second)))
            case "h": x += try #require(first)
            case "v": y += try #require(first)
            case "V": y = try #require(first)
            default: break
            }
            places.append((x, y))
        }
        return places
    }

    @Test("stay within their frame, go forward in time, and describe what they show", arguments: SeededGenerator.seeds)
    func frames(seed: UInt64) throws {
        let report = SampleRun.any(seed).report()
        let charts = ReportsChartTests.charts(report)
        #expect(Set(charts.map(\.id)).count == charts.count)
        for chart in charts {
            let figure = try XMLTree.parse(chart.markup.text)
            let svg = try #require(figure.all("svg").first { $0.attributes["aria-labelledby"] != nil })
            #expect(svg.attributes["aria-labelledby"] == "\(chart.id)-t \(chart.id)-d")
            #expect(svg.all("title").contains { $0.attributes["id"] == "\(chart.id)-t" && $0.text == chart.title })
            #expect(svg.all("desc").contains { $0.attributes["id"] == "\(chart.id)-d" && !$0.text.isEmpty })
            for path in svg.all("path") {
                let places = try ReportsChartTests.places(path.attributes["d"] ?? "")
                for place in places { #expect((0...2_000).contains(place.x) && (0...400).contains(place.y)) }
                if path.attributes["class"]?.hasSuffix("bold") == true {
                    #expect(places.map(\.x) == places.map(\.x).sorted())
                }
            }
        }
    }

    @Test("have a point for each second, at the place of its value", arguments: SeededGenerator.seeds.prefix(10))
    func points(seed: UInt64) throws {
        let report = SampleRun(seed: seed, seconds: 45).report()
        let chart = try #require(report.latencyCharts.first)
        let p99 = try #require(chart.series.first { $0.label == "p99" })
        #expect(p99.points.map(\.y) == report.windows.map { Double($0.writes.p99) })
        #expect(p99.points.map(\.x) == report.windows.map { $0.start + 0.5 })
        #expect(chart.description.contains(Figures.duration(report.windows.map(\.writes.maximum).max() ?? 0)))
    }

    @Test("of a long run keep the worst of the seconds that share a point")
    func longRun() throws {
        let report = SampleRun(seed: 2, seconds: 3_600).report()
        for chart in ReportsChartTests.charts(report) {
            #expect(chart.series.allSatisfy { $0.points.count <= 600 } as Bool)
            #expect(chart.slices.count <= 120)
            if chart.id != "percentiles" { #expect(chart.unit.hasSuffix("6 s a point")) }
        }
        let longest = report.windows.map { Double($0.reads.maximum) }.max()
        let shown = report.latencyCharts[1].series.first { $0.label == "max" }?.points.compactMap(\.y).max()
        #expect(shown == longest)
        let rates = try #require(report.throughputChart?.series.first { $0.label == "reads" }).points.compactMap(\.y)
        let answered = report.windows.reduce(0) { $0 + $1.reads.answered }
        #expect(abs(rates.reduce(0, +) * 6 - Double(answered)) < 1)
    }

    @Test("have a gap if nothing was answered, and a dot for a single second")
    func gaps() throws {
        var report = SampleRun(seed: 2, seconds: 5).report()
        for second in [1, 3] { report.windows[second].writes.answered = 0 }
        let figure = try XMLTree.parse(#require(report.latencyCharts.first).markup.text)
        let line = try #require(figure.all("path").first { $0.attributes["class"] == "writes bold" })
        let path = try #require(line.attributes["d"])
        #expect(path.split(separator: "M").count == 3)
        #expect(path.split(separator: "M").allSatisfy { $0.hasSuffix("h0") } as Bool)
    }

    @Test("mark faults by their number, and violations")
    func marks() throws {
        var report = SampleRun(seed: 2, seconds: 100).report()
        report.faults = [
            .init(kind: "a", count: 1, firstAt: 10), .init(kind: "b", count: 2, firstAt: 50, times: [50, 60]),
            .init(kind: "c", count: 2, firstAt: 51, times: []),
        ]
        report.checks.violations = [.init(check: "a", message: "b", history: [], at: 90)]
        let chart = try #require(report.throughputChart)
        #expect(chart.marks.map(\.label) == ["1", "2", nil, "3", "✗"])
        let figure = try XMLTree.parse(chart.markup.text)
        let labels = try #require(figure.all("div").first { $0.attributes["class"] == "marks" }).children
        #expect(labels.map(\.text) == ["1", "2 3", "✗"])
        let left = Figures.plain(10 / 100.2 * 100, places: 1)
        #expect(labels.first?.attributes["style"] == "left:\(left)%")
    }

    @Test("have labels at the ends of their lines that do not cover each other", arguments: SeededGenerator.seeds)
    func endLabels(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let axis = ChartAxis.linear(upTo: 1) { Figures.digits($0) }
        let values = (0..<4).map { _ in Double(random.number(0..<6)) / 5 }
        let chart = Chart(
            id: "x", title: "", unit: "", description: "", x: axis, y: axis,
            series: values.map { .init(label: "\($0)", look: "", points: [.init(x: 1, y: $0)]) })
        let figure = try XMLTree.parse(chart.markup.text)
        let ends = try #require(figure.all("div").first { $0.attributes["class"] == "ends" }).children
        let tops = try ends.map { end in
            let style = try #require(end.attributes["style"])
            return try #require(Double(style.dropFirst("top:".count).dropLast()))
        }
        #expect(tops.count == 4)
        for (top, next) in zip(tops, tops.dropFirst()) { #expect(next - top > 8.3) }
        #expect((tops.last ?? 0) <= 100.1)
        #expect(ends.map(\.text) == values.sorted(by: >).map { "\($0)" })
    }
}
