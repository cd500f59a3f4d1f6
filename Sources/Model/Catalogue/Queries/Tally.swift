/// Counts sets of rows among the matches of a query.
struct Tally {
    /// Up to this many rows, each listing is counted by itself.
    private static let fewRows = 30
    /// Where there are many sets to be counted, this many of them cost as much as a listing.
    private static let setsPerListing = 64

    /// The rows that are counted. Where outlets are counted by their items, the items of the matches.
    let rows: Bitmap
    private let isEverything: Bool
    private let source: any ListingSource
    /// The outlets of items, if outlets are counted by them.
    private let outlets: ((Bitmap) -> Bitmap)?

    /// Whether outlets are counted by their items, of which one outlet may have several in a set.
    var countsOutlets: Bool { outlets != nil }

    /// Counts matches of an index.
    init(_ matches: Bitmap, in index: SearchIndex) {
        rows = matches
        isEverything = matches.count == index.all.count
        source = index.source
        outlets = nil
    }

    /// Counts outlets by their items.
    init(_ matches: Bitmap, by items: SearchIndex.Items) {
        rows = items.ofOutlets(matches)
        isEverything = false
        source = items.index.source
        outlets = items.outlets
    }

    /// How many matches are in a set.
    func count(_ set: Bitmap) -> Int {
        if let outlets { return outlets(set.intersection(rows)).count }
        return isEverything ? set.count : set.intersectionCount(rows)
    }

    /// The rows as pages; nil for all rows of their index.
    var pages: [RowPage]? { isEverything ? nil : rows.pages }

    /// The listings, if looking at each is faster than counting so many sets.
    func listings(ratherThan sets: Int) -> [Listing]? {
        guard outlets == nil, rows.count <= max(Self.fewRows, sets / Self.setsPerListing) else { return nil }
        return rows.rows.map(source.listing)
    }
}
