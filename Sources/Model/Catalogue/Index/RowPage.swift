/// Some of the rows of a page: a bit for each.
struct RowPage: Equatable {
    /// How many rows a page has.
    static let size: UInt32 = 256
    static let empty = RowPage(words: .zero)
    private static let wordBits = 64

    private(set) var words: SIMD4<UInt64>

    /// - Parameter words: 64 rows each, beginning at the lowest bit of the first.
    init(words: SIMD4<UInt64>) { self.words = words }

    var isEmpty: Bool { words == .zero }

    var count: Int { words.indices.reduce(0) { $0 + words[$1].nonzeroBitCount } }

    // MARK: Places, from 0

    func has(_ place: Int) -> Bool { words[place / Self.wordBits] >> UInt64(place % Self.wordBits) & 1 == 1 }

    mutating func insert(_ place: Int) { words[place / Self.wordBits] |= 1 << UInt64(place % Self.wordBits) }

    mutating func remove(_ place: Int) { words[place / Self.wordBits] &= ~(1 << UInt64(place % Self.wordBits)) }

    mutating func set(_ place: Int, _ isIn: Bool) { if isIn { insert(place) } else { remove(place) } }

    var first: Int? {
        words.indices.first { words[$0] != 0 }.map { $0 * Self.wordBits + words[$0].trailingZeroBitCount }
    }

    /// In ascending order.
    var places: some Sequence<Int> {
        sequence(state: (word: 0, rest: words[0])) { [words] state in
            while state.rest == 0 {
                guard state.word < words.scalarCount - 1 else { return Int?.none }
                state.word += 1
                state.rest = words[state.word]
            }
            defer { state.rest &= state.rest - 1 }
            return state.word * Self.wordBits + state.rest.trailingZeroBitCount
        }
    }

    // MARK: Sets

    var inverted: RowPage { RowPage(words: ~words) }

    func intersection(_ other: RowPage) -> RowPage { RowPage(words: words & other.words) }

    func subtracting(_ other: RowPage) -> RowPage { RowPage(words: words & ~other.words) }

    mutating func formIntersection(_ other: RowPage) { words &= other.words }

    mutating func formUnion(_ other: RowPage) { words |= other.words }

    mutating func subtract(_ other: RowPage) { words &= ~other.words }
}
