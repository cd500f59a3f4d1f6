internal import Domain

/// One filter with its values: which listings satisfy it.
struct Narrowing {
    /// The values as they are compared: two filters with the same name and values ask the same.
    var values: [Text] = []
    /// The attribute that it asks about, if it is about one.
    var attribute: Identifier?
    /// Whether it keeps the rows that do not satisfy it instead.
    private(set) var isExclusion = false
    /// All rows that satisfy it.
    var rows: (any FilterIndex) -> Bitmap
    /// Those of some rows that satisfy it, if they can be found faster than all; else nil.
    var rowsAmong: ((any FilterIndex, Bitmap) -> Bitmap)?
    /// Whether one listing satisfies it.
    var accepts: (any FilterIndex, Listing) -> Bool
    /// The numbers that it keeps, if it is a range of those of a filter.
    var range: ClosedRange<Int64>?
    /// What it searches by, if it is a text.
    private(set) var text: TextQuery?
    /// Which of its rows come first by relevance; nil for filters that do not rank.
    var tiers: ((any FilterIndex) -> TextTiers)?
    /// The tier of an accepted listing.
    var tier: ((any FilterIndex, Listing) -> Int)?

    /// A filter of rows of an index of that type, which the filter was registered with.
    init<Index: FilterIndex>(
        _: Index.Type = Index.self, rows: @escaping (Index) -> Bitmap,
        among: ((Index, Bitmap) -> Bitmap)? = nil, accepts: @escaping (Index, Listing) -> Bool
    ) {
        self.rows = { rows(Narrowing.cast($0)) }
        self.rowsAmong = among.map { among in { index, rows in among(Narrowing.cast(index), rows) } }
        self.accepts = { accepts(Narrowing.cast($0), $1) }
    }

    /// A filter by text, which ranks its matches.
    init(_ query: TextQuery) {
        self.init(
            TextIndex.self, rows: { $0.tiers(query).all }, accepts: { $0.tier(of: $1, query) != nil })
        text = query
        // Only the last term's place matters: the beginning of a word is enough for it.
        values = query.terms.dropLast().sorted() + query.terms.suffix(1)
        tiers = { Narrowing.cast($0, to: TextIndex.self).tiers(query) }
        tier = { Narrowing.cast($0, to: TextIndex.self).tier(of: $1, query) ?? 0 }
    }

    /// Keeps what it would leave out, in no order.
    mutating func exclude() {
        isExclusion = true
        (range, text, tiers, tier) = (nil, nil, nil, nil)
    }

    private static func cast<Index: FilterIndex>(_ index: any FilterIndex, to: Index.Type = Index.self) -> Index {
        guard let index = index as? Index else { preconditionFailure("a filter was given another's index") }
        return index
    }
}
