import LineClient
import LoadOracle
import SeededRandom
import Testing

@testable import Monkey

@Suite("The plan of an open load")
struct LoadPlanTests {
    private static func times(_ plan: LoadPlan) -> [Double] { (0..<plan.total).compactMap(plan.time) }

    @Test("is level if there is one stage")
    func level() {
        let plan = LoadPlan([.init(seconds: 2, rate: 5)])
        #expect(plan.total == 10 && plan.seconds == 2)
        for (number, time) in Self.times(plan).enumerated() { #expect(abs(time - Double(number) / 5) < 1e-12) }
        #expect(plan.time(of: 10) == nil)
    }

    @Test("rises from 0 to the first of several stages, and continues from there")
    func stages() throws {
        let plan = LoadPlan([.init(seconds: 10, rate: 100), .init(seconds: 5, rate: 100), .init(seconds: 10, rate: 0)])
        #expect(plan.total == 500 + 500 + 500 && plan.seconds == 25)
        let times = Self.times(plan)
        // A quarter of the rise is done after half of its time.
        #expect(abs(times[125] - 5) < 1e-9)
        #expect(abs(times[500] - 10) < 1e-9)
        #expect(abs(times[750] - 12.5) < 1e-9)
        // And three quarters of the fall.
        #expect(abs(times[1375] - 20) < 1e-9)
        #expect(try #require(times.last) < 25)
    }

    @Test(
        "of no time or no rate sends nothing",
        arguments: [[], [.init(seconds: 3, rate: 0)], [.init(seconds: 0, rate: 9)]] as [[RunReport.Stage]])
    func nothing(stages: [RunReport.Stage]) {
        let plan = LoadPlan(stages)
        #expect(plan.total == 0 && plan.time(of: 0) == nil)
    }

    @Test("pauses while the rate is 0")
    func rest() throws {
        let plan = LoadPlan([
            .init(seconds: 0, rate: 10), .init(seconds: 1, rate: 10), .init(seconds: 0, rate: 0),
            .init(seconds: 5, rate: 0), .init(seconds: 0, rate: 10), .init(seconds: 1, rate: 10),
        ])
        #expect(plan.seconds == 7)
        let times = Self.times(plan)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(times.count == plan.total)
    }

    @Test(
        "sends at times that rise, and as many until each moment as the rate comes to", arguments: SeededGenerator.seeds
    )
    func integral(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let stages = (0..<random.number(2..<6)).map { _ in
            RunReport.Stage(seconds: Double(random.number(1..<50)) / 10, rate: Double(random.number(0..<2_000)))
        }
        let plan = LoadPlan(stages)
        let times = Self.times(plan)
        #expect(times.count == plan.total)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(times.allSatisfy { $0 >= 0 && $0 <= plan.seconds + 1e-9 })
        // The sum of thin slices of the rate, which is independent of how the plan computes.
        let step = 0.001
        var (sum, time, sent) = (0.0, 0.0, 0)
        while time < plan.seconds {
            while sent < times.count, times[sent] <= time { sent += 1 }
            #expect(abs(sum - Double(sent)) <= 2.5, "\(sent) until \(time) s, and \(sum) were due")
            sum += Self.rate(stages, at: time + step / 2) * step
            time += step
        }
    }

    private static func rate(_ stages: [RunReport.Stage], at time: Double) -> Double {
        var (start, rate) = (0.0, 0.0)
        for stage in stages {
            if time < start + stage.seconds { return rate + (stage.rate - rate) * (time - start) / stage.seconds }
            start += stage.seconds
            rate = stage.rate
        }
        return rate
    }
}

@Suite("A ring")
struct RingTests {
    @Test("gives back what was put in, in order", arguments: SeededGenerator.seeds)
    func order(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var ring = Ring<Int>()
        var expected: [Int] = []
        for number in 0..<1_000 {
            if random.chance(random.chance(50) ? 70 : 40) {
                ring.append(number)
                expected.append(number)
            } else {
                #expect(ring.popFirst() == (expected.isEmpty ? nil : expected.removeFirst()))
            }
            #expect(ring.count == expected.count && ring.isEmpty == expected.isEmpty && ring.first == expected.first)
        }
    }
}
