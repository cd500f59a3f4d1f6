/// Rows by a number, such as a price.
final class NumberIndex: FilterIndex {
    /// Up to this many rows are looked at one by one.
    private static let fewRows = 1_000
    private let value: (Listing) -> Int64?
    private var numbers = SlicedNumbers()
    /// What is to be added: together that is much faster.
    private var loaded: [(row: UInt32, number: Int64)] = []

    init(_ value: @escaping (Listing) -> Int64?) { self.value = value }

    /// Whether there are no rows.
    var isEmpty: Bool { numbers.isEmpty }

    func load(_ listings: [Listing], from row: UInt32) {
        listings.forEach(from: row) { listing, row in
            if let number = value(listing) { load(number, at: row) }
        }
    }

    func load(_ number: Int64, at row: UInt32) { loaded.append((row, number)) }

    func finishLoading() {
        numbers = SlicedNumbers(loaded)
        loaded = []
    }

    func insert(_ listing: Listing, at row: UInt32) { set(value(listing), at: row) }

    func remove(_ listing: Listing, at row: UInt32) { set(nil, at: row) }

    func set(_ number: Int64?, at row: UInt32) { numbers[row] = number }

    func update(from old: Listing, to new: Listing, at row: UInt32) {
        let number = value(new)
        if number != value(old) { numbers[row] = number }
    }

    /// The rows whose number lies in the range.
    func rows(in range: ClosedRange<Int64>) -> Bitmap { numbers.rows(in: range) }

    /// Those of the given rows whose number lies in the range.
    func rows(in range: ClosedRange<Int64>, among rows: Bitmap) -> Bitmap {
        if rows.count > Self.fewRows { return numbers.rows(in: range).intersection(rows) }
        return Bitmap(rows.rows.filter { numbers[$0].map(range.contains) ?? false })
    }

    func value(of listing: Listing) -> Int64? { value(listing) }

    /// The least and the greatest number of some rows, and how many are in each band; nil if none has a number.
    func spread(over tally: Tally, _ rule: NumberBands.Rule) -> NumberSpread? {
        let pages = tally.pages
        guard let bounds = numbers.bounds(of: pages) else { return nil }
        return NumberSpread(least: bounds.lowerBound, greatest: bounds.upperBound, rule) { bands in
            let list = bands.list(within: bounds)
            let counts =
                tally.countsOutlets
                ? list.map { tally.count(numbers.rows(in: $0)) } : numbers.counts(in: list, of: pages)
            return zip(list, counts).map { (band: $0, count: $1) }.filter { $0.count > 0 }
        }
    }
}

/// How the numbers of some listings are spread.
struct NumberSpread {
    var least: Int64
    var greatest: Int64
    /// In the order of the numbers, those with a count.
    var bands: [NumberBands.Counted]

    /// - Parameter count: how many are in each band of a division.
    init(least: Int64, greatest: Int64, _ rule: NumberBands.Rule, _ count: (NumberBands) -> [NumberBands.Counted]) {
        (self.least, self.greatest, bands) = (least, greatest, count(.progression))
        guard rule == .fitting else { return }
        let steps = count(.steps(from: least, to: greatest))
        if !NumberBands.areBetter(bands, than: steps) { bands = steps }
    }
}
