/// Rows by a number, such as a price. It is exact, and uses buckets whose width grows with the number: those of one
/// bucket have as many digits, and the first two of them in common.
final class NumberIndex<Numbers: RowNumbers>: FilterIndex {
    /// How many recently requested ranges are kept up to date: people ask for the same ones.
    private static var keptRanges: Int { 16 }
    /// Up to this many rows are checked one by one rather than gathering a range.
    private static var fewRows: Int { 5_000 }
    private let value: (Listing) -> Int64?
    private var numbers = Numbers()
    private var buckets: [Int: Bitmap] = [:]
    private var last: (bucket: Int, rows: Bitmap)?
    /// The rows in each band of a progression, from when they are first counted: there are far more buckets.
    private var progression: [ClosedRange<Int64>: Bitmap]?
    /// In the order of use, the latest last.
    private var kept: [(range: ClosedRange<Int64>, rows: Bitmap)] = []

    init(_ value: @escaping (Listing) -> Int64?) { self.value = value }

    /// Whether there are no rows.
    var isEmpty: Bool { buckets.isEmpty }

    func insert(_ listing: Listing, at row: UInt32) { insert(value(listing), at: row) }

    func remove(_ listing: Listing, at row: UInt32) { remove(at: row) }

    func update(from old: Listing, to new: Listing, at row: UInt32) {
        let number = value(new)
        guard number != value(old) else { return }
        remove(at: row)
        insert(number, at: row)
    }

    private func insert(_ number: Int64?, at row: UInt32) {
        numbers[row] = number
        guard let number else { return }
        for (range, rows) in kept where range.contains(number) { rows.insert(row) }
        if progression != nil {
            let band = NumberBands.progression.band(of: number)
            let rows = progression?[band] ?? Bitmap()
            progression?[band] = rows
            rows.insert(row)
        }
        let bucket = NumberBucket.of(number)
        if let last, last.bucket == bucket { return last.rows.insert(row) }
        let rows = buckets[bucket] ?? Bitmap()
        buckets[bucket] = rows
        last = (bucket, rows)
        rows.insert(row)
    }

    private func remove(at row: UInt32) {
        guard let number = numbers[row] else { return }
        numbers[row] = nil
        for (range, rows) in kept where range.contains(number) { rows.remove(row) }
        progression?[NumberBands.progression.band(of: number)]?.remove(row)
        let bucket = NumberBucket.of(number)
        buckets[bucket]?.remove(row)
        if buckets[bucket]?.isEmpty == true {
            buckets[bucket] = nil
            last = nil
        }
    }

    /// The rows whose number lies in the range.
    func rows(in range: ClosedRange<Int64>) -> Bitmap {
        if let rows = keptRows(in: range) { return rows }
        let rows = gather(range)
        kept.append((range, rows))
        if kept.count > Self.keptRanges { kept.removeFirst() }
        return rows
    }

    private func keptRows(in range: ClosedRange<Int64>) -> Bitmap? {
        guard let index = kept.lastIndex(where: { $0.range == range }) else { return nil }
        let found = kept.remove(at: index)
        kept.append(found)
        return found.rows
    }

    private func gather(_ range: ClosedRange<Int64>) -> Bitmap {
        let first = NumberBucket.of(range.lowerBound)
        let last = NumberBucket.of(range.upperBound)
        var whole: [Bitmap] = []
        var boundary: [UInt32] = []
        for (bucket, rows) in buckets where (first...last).contains(bucket) {
            if bucket > first, bucket < last {
                whole.append(rows)
            } else {
                boundary += rows.rows.filter { numbers[$0].map(range.contains) ?? false }
            }
        }
        return Bitmap.union(whole + [Bitmap(boundary)])
    }

    /// Those of the given rows whose number lies in the range. Few rows are checked one by one.
    func rows(in range: ClosedRange<Int64>, among rows: Bitmap) -> Bitmap {
        if let kept = keptRows(in: range) { return kept.intersection(rows) }
        if rows.count > Self.fewRows { return self.rows(in: range).intersection(rows) }
        return Bitmap(rows.rows.filter { numbers[$0].map(range.contains) ?? false })
    }

    func value(of listing: Listing) -> Int64? { value(listing) }

    // MARK: Counting

    /// The least and the greatest number of some rows, and how many are in each band; nil if none has a number.
    func spread(over tally: Tally, _ rule: NumberBands.Rule) -> NumberSpread? {
        if !tally.countsOutlets, tally.rows.count <= Self.fewRows {
            return NumberSpread(numbers(among: tally.rows).map { ($0, 1) }, rule)
        }
        let order = buckets.keys.sorted()
        func first(of buckets: some Sequence<Int>) -> Bitmap? {
            buckets.lazy.compactMap { self.buckets[$0] }.first { $0.intersects(tally.rows) }
        }
        guard let least = first(of: order).flatMap({ numbers(among: $0.intersection(tally.rows)).min() }),
            let greatest = first(of: order.reversed()).flatMap({ numbers(among: $0.intersection(tally.rows)).max() })
        else { return nil }
        return NumberSpread(least: least, greatest: greatest, rule) { bands in
            sets(in: bands).map { (band: $0, count: tally.count($1)) }.filter { $0.count > 0 }
                .sorted { $0.band.lowerBound < $1.band.lowerBound }
        }
    }

    /// The rows in each band, as sets that have none in common.
    private func sets(in bands: NumberBands) -> [ClosedRange<Int64>: [Bitmap]] {
        guard case .progression = bands else { return bucketsByBand(bands) }
        let kept =
            progression
            ?? bucketsByBand(bands).mapValues { buckets in
                // Never one of the buckets itself, which has other rows later.
                buckets.reduce(into: Bitmap()) { $0.formUnion($1) }
            }
        progression = kept
        return kept.mapValues { [$0] }
    }

    /// A bucket lies in one band.
    private func bucketsByBand(_ bands: NumberBands) -> [ClosedRange<Int64>: [Bitmap]] {
        Dictionary(grouping: buckets) { bands.band(of: NumberBucket.number(in: $0.key)) }.mapValues { $0.map(\.value) }
    }

    private func numbers(among rows: Bitmap) -> [Int64] { rows.rows.compactMap { numbers[$0] } }
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

    /// Numbers in any order, with how many there are of each; nil for none.
    init?(_ numbers: [(number: Int64, count: Int)], _ rule: NumberBands.Rule) {
        let all = numbers.lazy.map(\.number)
        guard let least = all.min(), let greatest = all.max() else { return nil }
        self.init(least: least, greatest: greatest, rule) { $0.counts(of: numbers) }
    }
}
