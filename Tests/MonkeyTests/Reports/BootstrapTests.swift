import Foundation
import SeededRandom
import Testing

@testable import Monkey

@Suite("The interval of a change")
struct JudgingBootstrapTests {
    /// Seconds of two runs, whose figure is `before` in one and `after` in the other, apart from noise, of which each
    /// second keeps a part.
    private static func pairs(
        _ random: inout SeededGenerator, count: Int, memory: Double, before: Double = 100, after: Double = 100
    ) -> [Bootstrap.Pair] {
        var deviations = (random.gaussian(), random.gaussian())
        let fresh = (1 - memory * memory).squareRoot()
        return (0..<count).map { _ in
            deviations.0 = deviations.0 * memory + random.gaussian() * fresh
            deviations.1 = deviations.1 * memory + random.gaussian() * fresh
            return .init(before: (before * (1 + deviations.0 / 10), 1), after: (after * (1 + deviations.1 / 10), 1))
        }
    }

    /// It has to be there 95 times in 100; if one second resembles the next as much as here, it is a little less
    /// often.
    @Test(
        "has the true change in it about 95 times in 100",
        arguments: [(10, 0.0), (30, 0.0), (120, 0.7)])
    func coverage(count: Int, memory: Double) throws {
        var random = SeededGenerator(seed: UInt64(count))
        var (misses, above) = (0, 0)
        let runs = 200
        for _ in 0..<runs {
            let pairs = JudgingBootstrapTests.pairs(&random, count: count, memory: memory, after: 110)
            let interval = try #require(Bootstrap(pairs, figure: .ratio).interval())
            if !(interval.low...interval.high).contains(0.1) { misses += 1 }
            if interval.low > 0.1 { above += 1 }
        }
        #expect(Double(misses) / Double(runs) < 0.12)
        #expect(Double(above) / Double(runs) < 0.06)
    }

    /// An interval twice as wide as the normal distribution gives is useless.
    @Test("is not wider than it has to be", arguments: SeededGenerator.seeds)
    func width(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let pairs = JudgingBootstrapTests.pairs(&random, count: 400, memory: 0)
        let interval = try #require(Bootstrap(pairs, figure: .ratio).interval())
        let normal = 2 * 1.96 * 0.1 * (2.0 / 400).squareRoot()
        #expect((normal / 2...normal * 2).contains(interval.high - interval.low))
    }

    @Test("contains the change of its samples, and is the same each time", arguments: SeededGenerator.seeds)
    func estimate(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let count = random.number(3..<100)
        var pairs = JudgingBootstrapTests.pairs(&random, count: count, memory: 0.3, before: 7, after: 21)
        let ratio = Bootstrap(pairs, figure: .ratio)
        let sums = pairs.reduce(into: (0.0, 0.0)) { $0 = ($0.0 + $1.before.sum, $0.1 + $1.after.sum) }
        #expect(abs(ratio.change - (sums.1 / sums.0 - 1)) < 1e-9)
        let interval = try #require(ratio.interval())
        #expect(interval.low <= ratio.change && ratio.change <= interval.high)
        #expect(Bootstrap(pairs, figure: .ratio).interval() == interval)

        for index in pairs.indices {
            pairs[index].before.sum = log(pairs[index].before.sum)
            pairs[index].after.sum = log(pairs[index].after.sum)
        }
        let mean = Bootstrap(pairs, figure: .geometricMean)
        #expect(abs(mean.values.before - 7) < 2 && abs(mean.values.after - 21) < 6)
    }

    @Test("does not exist if there is nothing to divide by")
    func nothing() {
        let pairs = [Bootstrap.Pair](repeating: .init(before: (0, 1), after: (1, 1)), count: 20)
        #expect(Bootstrap(pairs, figure: .ratio).interval() == nil)
    }
}
