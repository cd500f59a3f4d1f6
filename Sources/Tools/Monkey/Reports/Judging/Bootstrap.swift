internal import Foundation
internal import SeededRandom

/// How far a relative change between two runs can be trusted: the interval in which it lies with 95 % confidence.
///
/// The samples are the seconds of both runs, each paired with the same second of the other. They are drawn again,
/// with replacement, 2,000 times. The interval leaves out the lowest and the highest of the changes found (the
/// percentile method): 2.5 % of them, or fewer, since a few samples vary less than what they are drawn from (the
/// expanded percentile interval of Hesterberg, "What Teachers Should Know about the Bootstrap", 2015). Seconds are
/// drawn in blocks of neighbours, because one second depends on the one before: a checkpoint lasts, a queue drains
/// slowly. Blocks may wrap around the end, so that every second is drawn equally often (Politis and Romano, "A
/// circular block-resampling procedure for stationary data", 1992).
struct Bootstrap {
    static let resamples = 2_000
    /// The same two runs give the same interval.
    private static let seed: UInt64 = 0x7469_6666_696E

    /// A second of both runs: a sum, and what it is divided by.
    struct Pair {
        var before: (sum: Double, weight: Double)
        var after: (sum: Double, weight: Double)
    }

    /// How a figure of a run is computed from its seconds.
    enum Figure {
        /// The sum of the sums divided by the sum of the weights, such as answers by seconds.
        case ratio
        /// The sums are logarithms: the geometric mean.
        case geometricMean
    }

    private let figure: Figure
    private let count: Int
    private let block: Int
    /// The sums of the first n pairs, going around twice, so that every block is the difference of two.
    private let prefixes: [Sums]

    /// `pairs` are in the order of time, and not empty.
    init(_ pairs: [Pair], figure: Figure) {
        precondition(!pairs.isEmpty, "there is nothing to draw from")
        self.figure = figure
        count = pairs.count
        block = Bootstrap.block(of: pairs.count)
        var prefixes = [Sums()]
        prefixes.reserveCapacity(2 * pairs.count + 1)
        for pair in pairs + pairs {
            prefixes.append(prefixes[prefixes.count - 1] + Sums(before: pair.before, after: pair.after))
        }
        self.prefixes = prefixes
    }

    /// The figure of the run before, and of the one after.
    var values: (before: Double, after: Double) { prefixes[count].values(figure) }

    /// The relative change from one to the other.
    var change: Double { prefixes[count].change(figure) }

    /// Where the change lies with 95 % confidence; nil if that cannot be computed, because nothing can be divided by
    /// nothing.
    func interval() -> RunReport.Comparison.Interval? {
        var random = SeededGenerator(seed: Bootstrap.seed)
        var changes: [Double] = []
        changes.reserveCapacity(Bootstrap.resamples)
        for _ in 0..<Bootstrap.resamples {
            var (sums, left) = (Sums(), count)
            while left > 0 {
                let length = min(block, left)
                let start = Int.random(in: 0..<count, using: &random)
                sums = sums + (prefixes[start + length] - prefixes[start])
                left -= length
            }
            changes.append(sums.change(figure))
        }
        guard changes.allSatisfy(\.isFinite) else { return nil }
        changes.sort()
        let cut = Int(Double(changes.count) * Bootstrap.tail(Double(count) / Double(block)))
        return .init(low: changes[cut], high: changes[changes.count - 1 - cut])
    }

    /// How many neighbours are drawn together: the more, the longer the run.
    static func block(of count: Int) -> Int { min(count, max(3, Int(Double(count).squareRoot().rounded()))) }

    /// The part of the changes that the interval leaves out at each end, for this many independent samples. It puts
    /// the end where Student's t would, computed from the samples' own variance.
    private static func tail(_ samples: Double) -> Double {
        let (z, freedom) = (1.959_963_984_540_054, max(1, samples - 1))
        // Student's t by the normal distribution (Abramowitz and Stegun, 26.7.5).
        let t =
            z + (pow(z, 3) + z) / (4 * freedom) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * pow(freedom, 2))
            + (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * pow(freedom, 3))
        return erfc(t * (samples / freedom).squareRoot() / 2.0.squareRoot()) / 2
    }

    /// What a figure of both runs is computed from.
    private struct Sums {
        var before = (sum: 0.0, weight: 0.0)
        var after = (sum: 0.0, weight: 0.0)

        static func + (left: Sums, right: Sums) -> Sums {
            Sums(
                before: (left.before.sum + right.before.sum, left.before.weight + right.before.weight),
                after: (left.after.sum + right.after.sum, left.after.weight + right.after.weight))
        }

        static func - (left: Sums, right: Sums) -> Sums {
            Sums(
                before: (left.before.sum - right.before.sum, left.before.weight - right.before.weight),
                after: (left.after.sum - right.after.sum, left.after.weight - right.after.weight))
        }

        func values(_ figure: Figure) -> (before: Double, after: Double) {
            let values = (before: before.sum / before.weight, after: after.sum / after.weight)
            switch figure {
            case .ratio: return values
            case .geometricMean: return (exp(values.before), exp(values.after))
            }
        }

        func change(_ figure: Figure) -> Double {
            let values = values(figure)
            return values.after / values.before - 1
        }
    }
}
