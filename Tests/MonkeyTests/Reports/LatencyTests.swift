import Measurement
import SeededRandom
import Testing

@testable import Monkey

@Suite("The summary of a histogram")
struct LatencyTests {
    @Test("has a curve that rises, from the least to the most", arguments: SeededGenerator.seeds.prefix(10))
    func curve(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var histogram = Histogram()
        for _ in 0..<random.number(1..<10_000) { histogram.record(UInt64(random.number(0..<100_000_000))) }
        let latency = RunReport.Latency(histogram)
        #expect(
            [latency.p50, latency.p90, latency.p99, latency.p999] == [0.5, 0.9, 0.99, 0.999].map(histogram.quantile))
        let curve = latency.curve
        for (point, next) in zip(curve, curve.dropFirst()) {
            #expect(point.part < next.part)
            #expect(point.value <= next.value)
            #expect(point.value == histogram.quantile(point.part))
        }
        #expect(curve.first?.part == 0)
        #expect(curve.last == .init(part: 1, value: histogram.maximum))
    }

    @Test("of nothing has no curve")
    func nothing() {
        let latency = RunReport.Latency(Histogram())
        #expect(latency == .init(mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, maximum: 0, curve: []))
    }
}
