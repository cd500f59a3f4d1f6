internal import Domain

/// One filter with its values: which listings satisfy it.
struct Narrowing {
    /// The values as they are compared: the same filter with the same values asks the same.
    var values: [Text] = []
    /// The rows that do, of all.
    var rows: (any FilterIndex) -> Bitmap
    /// Those of some rows that do, where that may be found faster than those of all; else nil.
    var rowsAmong: ((any FilterIndex, Bitmap) -> Bitmap)?
    /// Whether one listing does.
    var accepts: (any FilterIndex, Listing) -> Bool
    /// The least key that its rows have in an order, where it bounds them: nothing before is looked at.
    var leastKeys: [ListingOrder: Int64] = [:]
    /// Which of its rows come first by relevance; nil for filters that do not rank.
    var tiers: ((any FilterIndex) -> TextTiers)?
    /// The tier of a listing that is accepted.
    var tier: ((any FilterIndex, Listing) -> Int)?

    /// A narrowing of rows of an index of that type, which the filter was registered with.
    init<Index: FilterIndex>(
        _: Index.Type = Index.self, rows: @escaping (Index) -> Bitmap,
        among: ((Index, Bitmap) -> Bitmap)? = nil, accepts: @escaping (Index, Listing) -> Bool
    ) {
        self.rows = { rows(Narrowing.cast($0)) }
        self.rowsAmong = among.map { among in { index, rows in among(Narrowing.cast(index), rows) } }
        self.accepts = { accepts(Narrowing.cast($0), $1) }
    }

    /// A narrowing by text, which ranks what it finds.
    init(_ query: TextQuery) {
        self.init(
            TextIndex.self, rows: { $0.tiers(query).all }, accepts: { $0.tier(of: $1, query) != nil })
        // Only the last term's place matters: of that a beginning is enough.
        values = query.terms.dropLast().sorted() + query.terms.suffix(1)
        tiers = { Narrowing.cast($0, to: TextIndex.self).tiers(query) }
        tier = { Narrowing.cast($0, to: TextIndex.self).tier(of: $1, query) ?? 0 }
    }

    private static func cast<Index: FilterIndex>(_ index: any FilterIndex, to: Index.Type = Index.self) -> Index {
        guard let index = index as? Index else { preconditionFailure("a filter was given another's index") }
        return index
    }
}
