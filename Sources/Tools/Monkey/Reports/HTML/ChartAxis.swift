internal import Foundation

/// Where values lie along a side of a chart, and which of them have labels.
struct ChartAxis: Sendable {
    /// A value that has a label.
    struct Tick: Sendable, Equatable {
        var value: Double
        var label: String
    }

    private enum Scale: Sendable {
        case linear
        case logarithmic
        /// The way to 90 % is as long as from there to 99 %, so that rare values can be seen, too.
        case nines
    }

    private let scale: Scale
    private let low: Double
    private let high: Double
    let ticks: [Tick]

    /// Where a value lies, from 0 at the beginning to 1 at the end. A value outside lies at the nearer end.
    func position(_ value: Double) -> Double {
        let (value, low, high) = (transformed(value), transformed(low), transformed(high))
        guard value.isFinite, high > low else { return 0 }
        return min(1, max(0, (value - low) / (high - low)))
    }

    private func transformed(_ value: Double) -> Double {
        switch scale {
        case .linear: value
        case .logarithmic: log10(max(value, 1e-9))
        case .nines: -log10(max(1 - value, 1e-15))
        }
    }

    /// From nothing to at least `most`, with labels at about four round numbers.
    static func linear(upTo most: Double, label: (Double) -> String) -> ChartAxis {
        let most = most.isFinite && most > 0 ? most : 1
        let magnitude = pow(10, floor(log10(most / 4)))
        let step = [1, 2, 2.5, 5, 10].map { $0 * magnitude }.first { $0 * 5 >= most } ?? most
        let count = Int((most / step).rounded(.up))
        let ticks = (0...count).map { Tick(value: Double($0) * step, label: label(Double($0) * step)) }
        return ChartAxis(scale: .linear, low: 0, high: Double(count) * step, ticks: ticks)
    }

    /// Around all values from `least` to `most`; equal steps for each factor of ten.
    static func logarithmic(from least: Double, to most: Double, label: (Double) -> String) -> ChartAxis {
        let least = max(1, min(least, most))
        let most = max(most, least)
        let mantissas: [Double] =
            switch log10(most / least) {
            case ..<2: [1, 2, 5]
            case ..<3.5: [1, 3]
            default: [1]
            }
        let exponents = Int(floor(log10(least))) - 1...Int(floor(log10(most))) + 1
        let values = exponents.flatMap { exponent in mantissas.map { $0 * pow(10, Double(exponent)) } }
        // A value at a tick may be off by a hair.
        let low = values.last { $0 <= least * 1.000_1 } ?? least
        let high = values.first { $0 >= most * 0.999_9 && $0 > low } ?? most
        return ChartAxis(
            scale: .logarithmic, low: low, high: high,
            ticks: values.filter { (low...high).contains($0) }.map { Tick(value: $0, label: label($0)) })
    }

    /// Seconds, from 0 to the end of a run.
    static func time(_ seconds: Double) -> ChartAxis {
        let seconds = seconds.isFinite && seconds > 0 ? seconds : 1
        let steps: [Double] = [
            0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200,
        ]
        let step = steps.first { seconds / $0 <= 6 } ?? seconds / 5
        let ticks = stride(from: 0, through: seconds * 1.000_1, by: step).map {
            Tick(value: $0, label: clock($0, in: seconds))
        }
        return ChartAxis(scale: .linear, low: 0, high: seconds, ticks: ticks)
    }

    /// A time of a run of that length: `12 s`, `1:30`, `1:05:00`.
    static func clock(_ seconds: Double, in length: Double) -> String {
        guard length > 60, seconds.isFinite, seconds < 1e9 else { return Figures.time(seconds) }
        let whole = Int(seconds.rounded())
        func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
        guard length > 3_600 else { return "\(whole / 60):\(two(whole % 60))" }
        return "\(whole / 3_600):\(two(whole / 60 % 60)):\(two(whole % 60))"
    }

    /// Parts of the whole, from 0 to `most`, which is less than 1.
    static func nines(upTo most: Double) -> ChartAxis {
        let known: [(Double, String)] = [
            (0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %"), (0.999_9, "99.99 %"),
            (0.999_99, "99.999 %"), (0.999_999, "99.9999 %"),
        ]
        return ChartAxis(
            scale: .nines, low: 0, high: max(0.9, most),
            ticks: known.filter { $0.0 <= max(0.9, most) }.map { Tick(value: $0.0, label: $0.1) })
    }
}
