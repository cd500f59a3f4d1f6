/// Counts of values, exact below 2,048 and to three significant digits above: the high dynamic range histogram that
/// Gil Tene described (hdrhistogram.org). Debian has no C library of it.
///
/// Values from 2^n to 2^(n+1) share 1,024 counters of equal width, so a value's counter is found with one count of
/// leading zeros, and is never wider than a thousandth of the value. Memory grows with the largest value: 8 KB for
/// each time it doubles.
public struct Histogram: Sendable, Equatable {
    private static let halfBits = 10
    private static let half = 1 << halfBits

    private var counts: [UInt64] = []
    /// How many values were recorded.
    public private(set) var count: UInt64 = 0
    /// The sum of the values as they were recorded; it saturates.
    public private(set) var sum: UInt64 = 0
    /// The largest value as it was recorded; 0 if there is none.
    public private(set) var maximum: UInt64 = 0
    /// The smallest value as it was recorded; 0 if there is none.
    public private(set) var minimum: UInt64 = 0

    /// Counts nothing yet, and needs no memory.
    public init() {}

    /// The mean of the values; 0 if there is none.
    public var mean: Double { count == 0 ? 0 : Double(sum) / Double(count) }

    /// Counts a value, `times` times.
    public mutating func record(_ value: UInt64, times: UInt64 = 1) {
        guard times > 0 else { return }
        let index = Histogram.index(of: value)
        if index >= counts.count { counts += [UInt64](repeating: 0, count: index + 1 - counts.count) }
        counts[index] += times
        minimum = count == 0 ? value : min(minimum, value)
        maximum = max(maximum, value)
        count += times
        let (product, overflows) = value.multipliedReportingOverflow(by: times)
        sum = overflows ? .max : sum.addingSaturating(product)
    }

    /// The value that the given part of all values, 0…1, does not exceed, to three significant digits and never more
    /// than the maximum; 0 if there is none.
    public func quantile(_ part: Double) -> UInt64 {
        precondition((0...1).contains(part), "a quantile is of a part from 0 to 1")
        guard count > 0 else { return 0 }
        let rank = min(count, max(1, UInt64((part * Double(count)).rounded(.up))))
        // Below the smallest value there is nothing to add up.
        var index = Histogram.index(of: minimum)
        var seen = counts[index]
        while seen < rank {
            index += 1
            seen += counts[index]
        }
        return min(Histogram.highest(at: index), maximum)
    }

    /// Every counter that is not zero, in order: the highest value that it counts, and how many there were.
    public var steps: [(value: UInt64, count: UInt64)] {
        var steps: [(value: UInt64, count: UInt64)] = []
        for index in used where counts[index] > 0 {
            steps.append((min(Histogram.highest(at: index), maximum), counts[index]))
        }
        return steps
    }

    /// The counters from that of the smallest value to that of the largest: few of all, where values are alike.
    private var used: Range<Int> {
        count == 0 ? 0..<0 : Histogram.index(of: minimum)..<Histogram.index(of: maximum) + 1
    }

    /// Adds the counts of another histogram.
    public mutating func merge(_ other: Histogram) {
        guard other.count > 0 else { return }
        if other.counts.count > counts.count {
            counts += [UInt64](repeating: 0, count: other.counts.count - counts.count)
        }
        for index in other.used { counts[index] += other.counts[index] }
        minimum = count == 0 ? other.minimum : min(minimum, other.minimum)
        maximum = max(maximum, other.maximum)
        count += other.count
        sum = sum.addingSaturating(other.sum)
    }

    /// Forgets every value, but keeps the memory.
    public mutating func removeAll() {
        for index in counts.indices { counts[index] = 0 }
        (count, sum, minimum, maximum) = (0, 0, 0, 0)
    }

    /// The counter of a value. The first 2,048 count one value each; from there on 1,024 share what lies between
    /// two powers of two.
    private static func index(of value: UInt64) -> Int {
        let shift = max(0, UInt64.bitWidth - value.leadingZeroBitCount - halfBits - 1)
        return shift << halfBits + Int(truncatingIfNeeded: value >> UInt64(shift))
    }

    /// The highest value of a counter.
    private static func highest(at index: Int) -> UInt64 {
        guard index >= 2 * half else { return UInt64(index) }
        let shift = index >> halfBits - 1
        let lowest = UInt64(index - shift << halfBits) << UInt64(shift)
        return lowest + ((1 << UInt64(shift)) - 1)
    }
}

extension UInt64 {
    fileprivate func addingSaturating(_ other: UInt64) -> UInt64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
