internal import Measurement

extension RunReport.Latency {
    /// What a histogram of nanoseconds says.
    init(_ histogram: Histogram) {
        mean = histogram.mean
        p50 = histogram.quantile(0.5)
        p90 = histogram.quantile(0.9)
        p99 = histogram.quantile(0.99)
        p999 = histogram.quantile(0.999)
        maximum = histogram.maximum
        curve = RunReport.Latency.parts(of: histogram.count).map { Point(part: $0, value: histogram.quantile($0)) }
    }

    /// Where the curve is told: five points on the way to each further nine, as far as there are values for it.
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
