/// A chart as a part of a page: SVG shapes that stretch with the page, and around them texts that do not.
struct Chart {
    /// A point of a line; `y` is nil in a gap of the line.
    struct Point {
        var x: Double
        var y: Double?
    }

    /// A line, or an area down to another line.
    struct Series {
        /// The label at its end; nil for none.
        var label: String?
        /// How it looks: classes of the style sheet.
        var look: String
        var points: [Point]
        /// The lower edge of an area, with a point for each of `points`; nil for a line.
        var floor: [Point]?
    }

    /// Something that happened at a time: a line across the chart with a label above, or a short one at the bottom.
    struct Mark {
        var x: Double
        var label: String?
        var look: String
    }

    /// A part of the width, with the text that a reader sees when pointing at it.
    struct Slice {
        var from: Double
        var to: Double
        var text: String
    }

    /// The shapes' own units. Lines have the same thickness everywhere.
    private static let width = 2_000.0
    private static let height = 400.0
    /// The least distance between labels, as a part of the height and of the width.
    private static let labelHeight = 0.085
    private static let labelWidth = 0.05

    /// Unique among the charts of the page.
    var id: String
    var title: String
    /// What the values are: `log scale`, `a second`.
    var unit: String
    /// What the chart shows, for readers who cannot see it.
    var description: String
    var x: ChartAxis
    var y: ChartAxis
    var series: [Series]
    var marks: [Mark] = []
    var slices: [Slice] = []
    /// What each kind of line means; shown beside the title.
    var legend: [(look: String, text: String)] = []

    var markup: Markup {
        """
        <figure class="chart" role="group" aria-label="\(title)">
        <figcaption><b>\(title)</b> <span class="muted">\(unit)</span>\(legendMarkup)</figcaption>
        <div class="plot">
        <div class="marks" aria-hidden="true">\(markLabels)</div>
        <div class="y" aria-hidden="true">\(y.ticks.map(yLabel))</div>
        <svg viewBox="0 0 2000 400" preserveAspectRatio="none" role="img" aria-labelledby="\(id)-t \(id)-d">
        <title id="\(id)-t">\(title)</title><desc id="\(id)-d">\(description)</desc>
        <path class="grid" d="\(grid)"/>
        \(series.map(shape))
        \(marks.map(line))
        \(slices.map(slice))
        </svg>
        <div class="ends" aria-hidden="true">\(endLabels)</div>
        <div class="x" aria-hidden="true">\(x.ticks.map(xLabel))</div>
        </div>
        </figure>
        """
    }

    // MARK: Shapes

    private var grid: String {
        let rows = y.ticks.map { "M0 \(vertical($0.value))h2000" }
        let columns = x.ticks.map { "M\(horizontal($0.value)) 0v400" }
        return (rows + columns).joined()
    }

    private func shape(_ series: Series) -> Markup {
        guard let floor = series.floor else {
            let runs = series.points.split { $0.y == nil }
            return "<path class=\"\(series.look)\" d=\"\(runs.map { path(Array($0)) }.joined())\"/>"
        }
        // An area for every stretch in which both edges are known.
        let both = zip(series.points, floor).map { $0.y == nil || $1.y == nil ? nil : ($0, $1) }
        let areas = both.split { $0 == nil }.map { stretch in
            let edges = stretch.compactMap { $0 }
            return path(edges.map(\.0) + edges.map(\.1).reversed()) + "z"
        }
        return "<path class=\"\(series.look)\" d=\"\(areas.joined())\"/>"
    }

    /// A line from point to point. Each is written relative to the one before, which is short.
    private func path(_ points: [Point]) -> String {
        let places = points.map { (x: horizontal($0.x), y: vertical($0.y ?? 0)) }
        guard let first = places.first else { return "" }
        var result = "M\(first.x) \(first.y)"
        // A single point is a dot: a line without length, with round ends.
        if places.count == 1 { return result + "h0" }
        for (last, next) in zip(places, places.dropFirst()) {
            let (right, down) = (next.x - last.x, next.y - last.y)
            result += down == 0 ? "h\(right)" : "l\(right)\(down < 0 ? "" : " ")\(down)"
        }
        return result
    }

    private func line(_ mark: Mark) -> Markup {
        let top = mark.label == nil ? 365 : 0
        return "<path class=\"\(mark.look)\" d=\"M\(horizontal(mark.x)) \(top)V400\"/>"
    }

    private func slice(_ slice: Slice) -> Markup {
        let (from, to) = (horizontal(slice.from), horizontal(slice.to))
        return """
            <rect class="slice" x="\(from)" y="0" width="\(max(1, to - from))" height="400"><title>\(slice.text)</title></rect>
            """
    }

    private func horizontal(_ value: Double) -> Int { Int((x.position(value) * Chart.width).rounded()) }
    private func vertical(_ value: Double) -> Int { Int(((1 - y.position(value)) * Chart.height).rounded()) }

    // MARK: Texts

    private var legendMarkup: Markup {
        Markup(
            legend.map { entry in
                """
                <span class="key"><svg viewBox="0 0 24 8" width="24" height="8" aria-hidden="true">\
                <path class="\(entry.look)" d="M1 4H23"/></svg> \(entry.text)</span>
                """
            }, separator: "")
    }

    private func yLabel(_ tick: ChartAxis.Tick) -> Markup {
        "<span style=\"top:\(Chart.percent(1 - y.position(tick.value)))\">\(tick.label)</span>"
    }

    private func xLabel(_ tick: ChartAxis.Tick) -> Markup {
        "<span style=\"left:\(Chart.percent(x.position(tick.value)))\">\(tick.label)</span>"
    }

    /// The labels at the ends of the lines, moved apart if they would cover each other.
    private var endLabels: [Markup] {
        let ends = series.compactMap { series -> (label: String, look: String, top: Double)? in
            guard let label = series.label, let last = series.points.last(where: { $0.y != nil })?.y else { return nil }
            return (label, series.look, 1 - y.position(last))
        }.sorted { $0.top < $1.top }
        var tops = ends.map(\.top)
        for index in tops.indices.dropFirst() { tops[index] = max(tops[index], tops[index - 1] + Chart.labelHeight) }
        // Labels pushed out at the bottom move up again, and those above with them.
        if let last = tops.indices.last, tops[last] > 1 { tops[last] = 1 }
        for index in tops.indices.dropLast().reversed() {
            tops[index] = min(tops[index], tops[index + 1] - Chart.labelHeight)
        }
        return zip(ends, tops).map { end, top in
            "<span class=\"\(end.look)\" style=\"top:\(Chart.percent(top))\">\(end.label)</span>"
        }
    }

    /// The labels of the marks. Those that would cover each other are joined.
    private var markLabels: [Markup] {
        var groups: [(left: Double, texts: [String], look: String)] = []
        for mark in marks.sorted(by: { $0.x < $1.x }) {
            guard let label = mark.label else { continue }
            let left = x.position(mark.x)
            if let last = groups.indices.last, left - groups[last].left < Chart.labelWidth {
                if !groups[last].texts.contains(label) { groups[last].texts.append(label) }
            } else {
                groups.append((left, [label], mark.look))
            }
        }
        return groups.map { group in
            """
            <span class="\(group.look)" style="left:\(Chart.percent(group.left))">\(group.texts.joined(separator: " "))</span>
            """
        }
    }

    private static func percent(_ part: Double) -> String { Figures.plain(part * 100, places: 1) + "%" }
}
