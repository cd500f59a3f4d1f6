/// Rows sorted by their keys; equal keys keep the order of the rows.
struct SortedRows {
    /// Keys in a range no wider than this are sorted by counting instead of comparing.
    private static let countedRange: UInt64 = 1 << 22

    var rows: [UInt32]

    /// - Parameter rows: in ascending order.
    init(_ rows: [UInt32], by keys: NumberColumn) {
        let known = rows.lazy.map { keys.key($0) }.filter { $0 != .max }
        guard let least = known.min(), let greatest = known.max() else {
            self.rows = rows
            return
        }
        let range = UInt64(bitPattern: greatest &- least)
        guard range <= Self.countedRange else {
            self.rows = rows.map { (keys.key($0), $0) }.sorted { $0 < $1 }.map(\.1)
            return
        }
        // Rows without a key come after all that have one.
        func slot(_ row: UInt32) -> Int { keys.key(row) == .max ? Int(range) + 1 : Int(keys.key(row) - least) }
        var starts = [Int](repeating: 0, count: Int(range) + 3)
        for row in rows { starts[slot(row) + 1] += 1 }
        for index in starts.indices.dropFirst() { starts[index] += starts[index - 1] }
        self.rows = [UInt32](unsafeUninitializedCapacity: rows.count) { buffer, initialized in
            for row in rows {
                let slot = slot(row)
                buffer[starts[slot]] = row
                starts[slot] += 1
            }
            initialized = rows.count
        }
    }
}
