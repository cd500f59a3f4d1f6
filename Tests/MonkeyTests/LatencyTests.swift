import Measurement
import SeededTesting
import Testing

@testable import Monkey

@Suite("The summary of a histogram")
struct LatencyTests {
    @Test("has a curve that rises, from the least to the most", arguments: SeededGenerator.seeds)
    func curve(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var histogram = Histogram()
        for _ in 0..<random.number(1..<10_000) { histogram.record(UInt64(random.number(0..<100_000_000))) }
        let curve = RunReport.Latency(histogram).curve
        for (point, next) in zip(curve, curve.dropFirst()) {
            #expect(point.part < next.part)
            #expect(point.value <= next.value)
        }
        #expect(curve.first?.part == 0)
        #expect(curve.last == .init(part: 1, value: histogram.maximum))
    }
}
