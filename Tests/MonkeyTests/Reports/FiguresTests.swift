import SeededRandom
import Testing

@testable import Monkey

@Suite("Figures are written")
struct ReportsFiguresTests {
    @Test(
        "as durations in the unit that suits them",
        arguments: [
            (0, "0 ns"), (850, "850 ns"), (999.4, "999 ns"), (999.6, "1.00 µs"), (12_345, "12.3 µs"),
            (999_600, "1.00 ms"), (1_234_567, "1.23 ms"), (14_200_000, "14.2 ms"), (999_499_999, "999 ms"),
            (999_500_000, "1.00 s"), (12_340_000_000, "12.3 s"), (4_321_000_000_000, "4,321 s"), (.nan, "– ns"),
        ])
    func durations(nanoseconds: Double, text: String) {
        #expect(Figures.duration(nanoseconds) == text)
    }

    @Test("as durations that grow as they do", arguments: SeededGenerator.seeds)
    func growing(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let units: [Substring: Double] = ["ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9]
        for _ in 0..<500 {
            let exact = UInt64.random(in: 1...(UInt64.max >> UInt64(random.number(0..<64))), using: &random)
            let parts = Figures.duration(exact).split(separator: " ")
            try #require(parts.count == 2)
            let unit = try #require(units[parts[1]])
            let number = try #require(Double(String(parts[0].filter { $0 != "," })))
            let told = number * unit
            #expect(abs(told - Double(exact)) <= Double(exact) * 0.005_01, "\(exact) as \(parts)")
        }
    }

    @Test(
        "as counts with thousands separators",
        arguments: [
            (0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (-12_345, "−12,345"),
            (Int.min, "−9,223,372,036,854,775,808"),
        ])
    func counts(count: Int, text: String) {
        #expect(Figures.count(count) == text)
    }

    @Test(
        "as percentages, never nothing if there is something",
        arguments: [
            (0, "0 %"), (0.000_01, "< 0.01 %"), (0.001_2, "0.12 %"), (0.012_34, "1.23 %"), (0.123_4, "12.3 %"),
            (0.099_96, "10.0 %"), (1, "100 %"), (.nan, "– %"),
        ])
    func percents(part: Double, text: String) {
        #expect(Figures.percent(part) == text)
    }

    @Test(
        "as changes with a sign",
        arguments: [
            (0, "0.0"), (-0.000_4, "0.0"), (-0.031, "−3.1"), (0.5, "+50.0"), (1.5, "+150"), (-0.999_6, "−100"),
            (.infinity, "–"),
        ])
    func changes(change: Double, text: String) {
        #expect(Figures.change(change) == text)
    }

    @Test(
        "as times of a run",
        arguments: [
            (0, "0 s"), (12, "12 s"), (0.46, "0.5 s"), (59.4, "59.4 s"), (59.7, "1 min"), (90, "1 min 30 s"),
            (600, "10 min"),
            (7_500, "2 h 5 min"), (.infinity, "– s"),
        ])
    func times(seconds: Double, text: String) {
        #expect(Figures.time(seconds) == text)
    }

    @Test(
        "as rates, and for machines",
        arguments: [
            (Figures.rate(12_345.4), "12,345/s"), (Figures.rate(0.25), "0.250/s"), (Figures.rate(12.34), "12.3/s"),
            (Figures.plain(-1_234.567_8), "-1234.568"), (Figures.plain(.nan), "0"),
        ])
    func others(text: String, expected: String) {
        #expect(text == expected)
    }
}
