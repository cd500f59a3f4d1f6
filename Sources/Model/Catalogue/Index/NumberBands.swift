/// A division of all numbers into bands that begin at round ones.
enum NumberBands {
    /// 0, 1–1.99…, 2–4.99…, 5–9.99… times every power of ten. Below zero it is the same, mirrored.
    case progression
    /// Bands that are equally wide, of which one begins at 0.
    case steps(Int64)

    /// How bands are chosen.
    enum Rule {
        /// They are the same whatever the numbers are.
        case progression
        /// They suit the numbers: equally wide ones, unless a progression divides the numbers better.
        case fitting
    }

    /// The most bands that are equally wide.
    static let maximumSteps = 12
    /// The most bands of a progression that takes the place of equally wide ones.
    static let maximumBands = 30

    /// Equally wide bands from one number to another: the narrowest that are 1, 2 or 5 times a power of ten wide and at
    /// most ``maximumSteps``.
    static func steps(from least: Int64, to greatest: Int64) -> NumberBands {
        var step = max(Self.precision(of: least), Self.precision(of: greatest))
        var factors = [2, 5, 10]
        let unit = step
        var scale = unit
        func fits(_ step: Int64) -> Bool {
            let (bands, overflow) = floor(greatest, step).subtractingReportingOverflow(floor(least, step))
            return !overflow && bands < maximumSteps
        }
        while !fits(step) {
            step = scale * Int64(factors.removeFirst())
            if factors.isEmpty {
                scale = step
                factors = [2, 5, 10]
            }
        }
        return .steps(step)
    }

    /// The unit of a number's second digit.
    private static func precision(of number: Int64) -> Int64 {
        var (leading, unit) = (number < 0 ? ~number : number, Int64(1))
        while leading >= 100 {
            leading /= 10
            unit *= 10
        }
        return unit
    }

    private static func floor(_ number: Int64, _ step: Int64) -> Int64 {
        number < 0 ? ~(~number / step) : number / step
    }

    /// A band, and how many are in it.
    typealias Counted = (band: ClosedRange<Int64>, count: Int)

    /// Whether bands divide the same numbers better than others: the fullest of them has less.
    static func areBetter(_ bands: [Counted], than others: [Counted]) -> Bool {
        bands.count <= maximumBands && (bands.map(\.count).max() ?? 0) < (others.map(\.count).max() ?? 0)
    }

    /// Those that have to do with the numbers of a range.
    func list(within range: ClosedRange<Int64>) -> [ClosedRange<Int64>] {
        var list = [band(of: range.lowerBound)]
        while let last = list.last, last.upperBound < range.upperBound { list.append(band(of: last.upperBound + 1)) }
        return list
    }

    /// The band that a number is in.
    func band(of number: Int64) -> ClosedRange<Int64> {
        if number < 0 {
            let mirrored = band(of: ~number)
            return ~mirrored.upperBound...(~mirrored.lowerBound)
        }
        switch self {
        case .steps(let step):
            let first = number - number % step
            return Self.band(from: first, width: step)
        case .progression:
            guard number > 0 else { return 0...0 }
            var (leading, scale) = (number, Int64(1))
            while leading >= 10 {
                leading /= 10
                scale *= 10
            }
            switch leading {
            case 1: return Self.band(from: scale, width: scale)
            case 2..<5: return Self.band(from: 2 * scale, width: 3 * scale)
            default: return Self.band(from: 5 * scale, width: scale * 5)
            }
        }
    }

    private static func band(from first: Int64, width: Int64) -> ClosedRange<Int64> {
        let (last, overflow) = first.addingReportingOverflow(width - 1)
        return first...(overflow ? .max : last)
    }
}
