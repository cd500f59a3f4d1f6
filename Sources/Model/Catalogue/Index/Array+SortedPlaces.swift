internal import Domain

extension [Text] {
    /// The places of the texts, in the order of the texts.
    func sortedPlaces() -> [UInt32] {
        // By the first bytes first, for which no text is looked up.
        var places = enumerated().map { KeyedRow(key: $1.beginning, row: UInt32($0)) }.radixSorted()
        var start = 0
        while start < places.count {
            let end = places[start...].firstIndex { $0.key != places[start].key } ?? places.count
            if end - start > 1 { places[start..<end].sort { self[Int($0.row)] < self[Int($1.row)] } }
            start = end
        }
        return places.map(\.row)
    }
}

extension Text {
    /// The first eight bytes as a number that compares as they do.
    fileprivate var beginning: UInt64 {
        utf8.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } << UInt64(8 * Swift.max(0, 8 - utf8.count))
    }
}
