internal import Measurement

extension RunReport.Latency {
    /// What a histogram of nanoseconds says.
    init(_ histogram: Histogram) {
        let named = [0.5, 0.9, 0.99, 0.999]
        let parts = RunReport.Latency.parts(of: histogram.count)
        let values = RunReport.Latency.quantiles(named + parts, of: histogram)
        mean = histogram.mean
        (p50, p90, p99, p999) = (values[0], values[1], values[2], values[3])
        maximum = histogram.maximum
        curve = zip(parts, values.dropFirst(named.count)).map { Point(part: $0, value: $1) }
    }

    /// What `Histogram.quantile` says of each part, found in one walk over the counters: there are many, and the load
    /// waits meanwhile.
    private static func quantiles(_ parts: [Double], of histogram: Histogram) -> [UInt64] {
        var values = [UInt64](repeating: 0, count: parts.count)
        guard histogram.count > 0 else { return values }
        let ranks = parts.map { min(histogram.count, max(1, UInt64(($0 * Double(histogram.count)).rounded(.up)))) }
        var open = parts.indices.sorted { ranks[$0] < ranks[$1] }[...]
        var seen: UInt64 = 0
        for step in histogram.steps {
            seen += step.count
            while let index = open.first, ranks[index] <= seen {
                values[index] = step.value
                open.removeFirst()
            }
        }
        return values
    }

    /// The points of the curve: five on the way to each further nine, as far as there are values.
    private static func parts(of count: UInt64) -> [Double] {
        guard count > 0 else { return [] }
        var parts = [0.0, 0.25, 0.5]
        var rest = 0.5
        while rest > 1 / Double(count), parts.count < 60 {
            rest /= 1.584_893_192_461_113_4
            parts.append(1 - rest)
        }
        return parts + [1]
    }
}
