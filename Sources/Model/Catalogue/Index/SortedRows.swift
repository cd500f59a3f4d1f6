/// Rows sorted by their keys; equal keys keep the order of the rows. Rows without a key come last.
struct SortedRows {
    var rows: [UInt32]

    /// - Parameter rows: in ascending order.
    init(_ rows: [UInt32], by keys: NumberColumn) {
        // The order of these numbers is that of the keys.
        let keyed = rows.map { KeyedRow(key: UInt64(bitPattern: keys.key($0)) ^ 1 << 63, row: $0) }
        self.rows = keyed.radixSorted().map(\.row)
    }
}

struct KeyedRow {
    var key: UInt64
    var row: UInt32
}

extension [KeyedRow] {
    /// The bits of a key that rows are sorted by at once.
    private static var digitBits: Int { 11 }

    /// Sorted by the keys, the lowest digits first; equal keys keep their order.
    func radixSorted() -> [KeyedRow] {
        guard let first else { return [] }
        var sorted = self
        var other = sorted
        let varying = reduce(0) { $0 | ($1.key ^ first.key) }
        let mask = UInt64(1) << Self.digitBits - 1
        for shift in stride(from: 0, to: UInt64.bitWidth, by: Self.digitBits) where varying >> shift & mask != 0 {
            var starts = [Int](repeating: 0, count: 1 << Self.digitBits + 1)
            for element in sorted { starts[Int(element.key >> shift & mask) + 1] += 1 }
            for digit in starts.indices.dropFirst() { starts[digit] += starts[digit - 1] }
            for element in sorted {
                let digit = Int(element.key >> shift & mask)
                other[starts[digit]] = element
                starts[digit] += 1
            }
            swap(&sorted, &other)
        }
        return sorted
    }
}
