internal import Domain

extension [Text] {
    /// The places of the texts, in the order of the texts.
    func sortedPlaces() -> [Int] {
        // Most comparisons end with the first bytes, which need not be looked up then.
        var places = enumerated().map { (beginning: $1.beginning, place: $0) }
        places.sort { a, b in
            a.beginning != b.beginning ? a.beginning < b.beginning : self[a.place] < self[b.place]
        }
        return places.map(\.place)
    }
}

extension Text {
    /// The first eight bytes as a number that compares as they do.
    fileprivate var beginning: UInt64 {
        var number: UInt64 = 0
        for (index, byte) in utf8.prefix(8).enumerated() { number |= UInt64(byte) << UInt64(56 - 8 * index) }
        return number
    }
}
