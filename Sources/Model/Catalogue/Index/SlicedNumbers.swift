/// The numbers of some of the rows, in a bit-sliced index: numbers take few bits, and those in a range are found quickly,
/// whatever the range is.
///
/// Rows are in pages. Each page with a number has a slice for every binary digit, with a bit for each row, so a few
/// operations for each digit compare all numbers of a page at once (O'Neil and Quass, "Improved query performance with
/// variant indexes", 1997).
struct SlicedNumbers {
    /// The largest is tried first: whole numbers in millionths, tenths, hundredths, anything.
    private static let units: [Int64] = [1_000_000, 100_000, 10_000, 1]

    /// What numbers are multiples of.
    private var unit = Self.units[0]
    /// How many digits the multiples have in two's complement.
    private var width = 1
    /// Where the pages are that have a number.
    private var places: [UInt32: Int] = [:]
    /// By place: the page, the rows that have a number, and their digits, the lowest first. The last digit is the sign.
    /// Rows without a number have any digits.
    private var pages: [UInt32] = []
    private var present: [RowPage] = []
    private var slices: [RowPage] = []

    /// No numbers.
    init() {}

    /// The numbers of rows in ascending order.
    init(_ numbers: [(row: UInt32, number: Int64)]) {
        for unit in Self.units {
            self.unit = unit
            if numbers.allSatisfy({ $0.number.isMultiple(of: unit) }) { break }
        }
        width = numbers.reduce(1) { max($0, Self.width(of: $1.number / unit)) }
        for (row, number) in numbers {
            let page = row / RowPage.size
            if pages.last != page { add(page) }
            insert(number / unit, at: pages.count - 1, Int(row % RowPage.size))
        }
    }

    /// Whether no row has a number.
    var isEmpty: Bool { pages.isEmpty }

    // MARK: One number

    /// The number of a row; nil if it has none.
    subscript(row: UInt32) -> Int64? {
        get { places[row / RowPage.size].flatMap { number(at: $0, Int(row % RowPage.size)) } }
        set {
            if let newValue { set(newValue, at: row) } else { remove(row) }
        }
    }

    private func number(at place: Int, _ index: Int) -> Int64? {
        guard present[place].has(index) else { return nil }
        let digits = slices[place * width..<(place + 1) * width]
        var number: Int64 = digits.last?.has(index) == true ? -1 : 0
        for digit in digits.reversed() { number = number << 1 | (digit.has(index) ? 1 : 0) }
        return number * unit
    }

    private mutating func set(_ number: Int64, at row: UInt32) {
        if !number.isMultiple(of: unit) { reduceUnit(for: number) }
        let multiple = number / unit
        widen(to: Self.width(of: multiple))
        let page = row / RowPage.size
        let place = places[page] ?? add(page)
        insert(multiple, at: place, Int(row % RowPage.size))
    }

    /// How many digits a number has in two's complement.
    private static func width(of number: Int64) -> Int {
        Int64.bitWidth - (number < 0 ? ~number : number).leadingZeroBitCount + 1
    }

    /// Adds an empty page, and returns its place.
    @discardableResult
    private mutating func add(_ page: UInt32) -> Int {
        let place = pages.count
        places[page] = place
        pages.append(page)
        present.append(.empty)
        slices.append(contentsOf: repeatElement(.empty, count: width))
        return place
    }

    private mutating func insert(_ multiple: Int64, at place: Int, _ index: Int) {
        present[place].insert(index)
        for digit in 0..<width { slices[place * width + digit].set(index, multiple >> Int64(digit) & 1 == 1) }
    }

    private mutating func remove(_ row: UInt32) {
        guard let place = places[row / RowPage.size] else { return }
        present[place].remove(Int(row % RowPage.size))
        guard present[place].isEmpty else { return }
        // The last page takes its place.
        let last = pages.count - 1
        places[pages[last]] = place
        places[row / RowPage.size] = nil
        for digit in 0..<width { slices[place * width + digit] = slices[last * width + digit] }
        slices.removeLast(width)
        pages[place] = pages[last]
        present[place] = present[last]
        pages.removeLast()
        present.removeLast()
    }

    private mutating func widen(to digits: Int) {
        guard digits > width else { return }
        var wider: [RowPage] = []
        wider.reserveCapacity(pages.count * digits)
        for place in pages.indices {
            wider += slices[place * width..<(place + 1) * width]
            // The sign again.
            wider.append(contentsOf: repeatElement(slices[(place + 1) * width - 1], count: digits - width))
        }
        (slices, width) = (wider, digits)
    }

    /// Takes a unit that a number is a multiple of. There are few, so this is done hardly ever.
    private mutating func reduceUnit(for number: Int64) {
        var reduced = SlicedNumbers()
        reduced.unit = Self.units.first { $0 < unit && number.isMultiple(of: $0) } ?? 1
        for (place, page) in pages.enumerated() {
            for index in present[place].places {
                if let known = self.number(at: place, index) {
                    reduced.set(known, at: page * RowPage.size + UInt32(index))
                }
            }
        }
        self = reduced
    }

    // MARK: All numbers

    /// The rows with a number in the range.
    func rows(in range: ClosedRange<Int64>) -> Bitmap {
        var found = [RowPage](repeating: .empty, count: pages.max().map { Int($0) + 1 } ?? 0)
        let (first, end) = (bound(range.lowerBound), range.upperBound == .max ? nil : bound(range.upperBound + 1))
        for (place, page) in pages.enumerated() {
            let before = end.map { less(than: $0, at: place) } ?? present[place]
            found[Int(page)] = before.subtracting(less(than: first, at: place))
        }
        return Bitmap(found)
    }

    /// How many rows have a number in each of some ranges, of which each begins where the one before it ends.
    ///
    /// - Parameter rows: the pages of the rows that are counted; nil for all.
    func counts(in ranges: [ClosedRange<Int64>], of rows: [RowPage]?) -> [Int] {
        var counts = [Int](repeating: 0, count: ranges.count)
        let ends = ranges.map { $0.upperBound == .max ? nil : bound($0.upperBound + 1) }
        guard let first = ranges.first.map({ bound($0.lowerBound) }) else { return [] }
        forEachPlace(of: rows) { place, rows in
            var before = rows.intersection(less(than: first, at: place)).count
            for (index, end) in ends.enumerated() {
                let count = (end.map { rows.intersection(less(than: $0, at: place)) } ?? rows).count
                counts[index] += count - before
                before = count
            }
        }
        return counts
    }

    /// The least and the greatest number; nil if there is none.
    ///
    /// - Parameter rows: the pages of the rows that are looked at; nil for all.
    func bounds(of rows: [RowPage]?) -> ClosedRange<Int64>? {
        var bounds: ClosedRange<Int64>?
        forEachPlace(of: rows) { place, rows in
            var (least, greatest) = (rows, rows)
            for digit in (0..<width).reversed() {
                let ones = ones(digit, at: place)
                if !least.subtracting(ones).isEmpty { least.subtract(ones) }
                if !greatest.intersection(ones).isEmpty { greatest.formIntersection(ones) }
            }
            guard let first = least.first.flatMap({ number(at: place, $0) }),
                let last = greatest.first.flatMap({ number(at: place, $0) })
            else { return }
            bounds = bounds.map { min($0.lowerBound, first)...max($0.upperBound, last) } ?? first...last
        }
        return bounds
    }

    /// The places that have some of the rows, with those that have a number.
    private func forEachPlace(of rows: [RowPage]?, _ body: (Int, RowPage) -> Void) {
        for (place, page) in pages.enumerated() {
            guard let rows else {
                body(place, present[place])
                continue
            }
            guard Int(page) < rows.count else { continue }
            let counted = rows[Int(page)].intersection(present[place])
            if !counted.isEmpty { body(place, counted) }
        }
    }

    // MARK: Comparing

    /// A number that others are compared with.
    private enum Bound {
        case belowAll, aboveAll
        /// The digits of a multiple.
        case digits(Int64)
    }

    /// The bound that the same numbers are less than.
    private func bound(_ number: Int64) -> Bound {
        let multiple = number > 0 ? (number - 1) / unit + 1 : number / unit
        let greatest = Int64.max >> Int64(Int64.bitWidth - width)
        return multiple <= ~greatest ? .belowAll : multiple > greatest ? .aboveAll : .digits(multiple)
    }

    /// The rows whose number is less.
    private func less(than bound: Bound, at place: Int) -> RowPage {
        switch bound {
        case .belowAll: return .empty
        case .aboveAll: return present[place]
        case .digits(let digits):
            var (less, same) = (RowPage.empty, present[place])
            for digit in (0..<width).reversed() {
                let ones = ones(digit, at: place)
                // The sign counts the other way round.
                if (digits >> Int64(digit) & 1 == 1) != (digit == width - 1) {
                    less.formUnion(same.subtracting(ones))
                    same.formIntersection(ones)
                } else {
                    same.subtract(ones)
                }
            }
            return less
        }
    }

    /// The rows with a digit that makes their number greater than the others.
    private func ones(_ digit: Int, at place: Int) -> RowPage {
        let slice = slices[place * width + digit]
        return digit == width - 1 ? slice.inverted : slice
    }
}
