import Measurement
import SeededRandom
import Testing

@Suite("The histogram")
struct HistogramTests {
    /// Values distributed like latencies: over all magnitudes, many of them small.
    private static func values(_ random: inout SeededGenerator) -> [UInt64] {
        (0..<random.number(1..<2_000)).map { _ in
            UInt64.random(in: 0...(UInt64.max >> UInt64(random.number(0..<64))), using: &random)
        }
    }

    private static func histogram(of values: [UInt64]) -> Histogram {
        var histogram = Histogram()
        for value in values { histogram.record(value) }
        return histogram
    }

    @Test("gives quantiles that are right to three digits", arguments: SeededGenerator.seeds.prefix(10))
    func quantiles(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let values = HistogramTests.values(&random).sorted()
        let histogram = HistogramTests.histogram(of: values)
        for part in [0, 0.1, 0.5, 0.9, 0.99, 0.999, 1] {
            let rank = max(1, Int((part * Double(values.count)).rounded(.up)))
            let exact = values[rank - 1]
            let told = histogram.quantile(part)
            #expect(told >= exact)
            #expect(told - exact <= exact / 1_000, "\(part): \(told) for \(exact)")
        }
    }

    @Test("counts small values exactly", arguments: SeededGenerator.seeds.prefix(10))
    func smallValues(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let values = (0..<500).map { _ in UInt64(random.number(0..<2_048)) }.sorted()
        let histogram = HistogramTests.histogram(of: values)
        #expect(histogram.quantile(0.5) == values[249])
        #expect(histogram.steps.flatMap { Array(repeating: $0.value, count: Int($0.count)) } == values)
    }

    @Test("knows count, extremes and mean", arguments: SeededGenerator.seeds.prefix(10))
    func summary(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let values = (0..<random.number(1..<500)).map { _ in UInt64(random.number(0..<1_000_000_000)) }
        let histogram = HistogramTests.histogram(of: values)
        #expect(histogram.count == UInt64(values.count))
        #expect(histogram.minimum == values.min())
        #expect(histogram.maximum == values.max())
        #expect(histogram.mean == Double(values.reduce(0, +)) / Double(values.count))
    }

    @Test("is the same merged as recorded in one", arguments: SeededGenerator.seeds.prefix(10))
    func merging(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let (first, second) = (HistogramTests.values(&random), HistogramTests.values(&random))
        var merged = HistogramTests.histogram(of: first)
        merged.merge(HistogramTests.histogram(of: second))
        let together = HistogramTests.histogram(of: first + second)
        #expect(merged.steps.map(\.value) == together.steps.map(\.value))
        #expect(merged.steps.map(\.count) == together.steps.map(\.count))
        #expect(merged.count == together.count)
        #expect((merged.minimum, merged.maximum) == (together.minimum, together.maximum))
        #expect(merged.sum == together.sum)
    }

    @Test("takes the largest number there is, any number of times")
    func largest() {
        var histogram = Histogram()
        histogram.record(.max, times: 3)
        #expect(histogram.quantile(1) == .max)
        #expect(histogram.sum == .max)
        #expect(histogram.count == 3)
    }

    @Test("is all zeros without values, and again after they are removed")
    func empty() {
        var histogram = Histogram()
        #expect(histogram.quantile(0.5) == 0)
        #expect(histogram.mean == 0)
        histogram.record(7)
        histogram.removeAll()
        #expect(histogram.count == 0)
        #expect(histogram.quantile(1) == 0)
        #expect(histogram.steps.isEmpty)
        histogram.record(3)
        #expect((histogram.minimum, histogram.maximum) == (3, 3))
    }
}
