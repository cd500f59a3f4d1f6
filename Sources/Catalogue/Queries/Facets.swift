internal import Domain
internal import JSONText

/// How many of the matches have each cuisine, city and so on.
///
/// What a query asks of a facet does not narrow its own counts, so that they say what else could be chosen.
struct Facets {
    /// The most values of one facet: those that most matches have.
    static let maximumValues = 100
    /// Up to this many matches, each listing is counted by itself.
    private static let fewMatches = 30

    private var facets: [(name: String, values: [(value: Text, count: Int)])]

    init(of matches: Bitmap, _ query: CatalogueQuery, in index: SearchIndex) {
        let counter = Counter(of: matches, in: index)
        facets = index.facets.map { name, filter, words in
            let others = query.without(filter)
            let counts =
                if let others {
                    Counter(of: index.matches(others).all, in: index).counts(of: words)
                } else {
                    counter.counts(of: words)
                }
            let values = counts.sorted { $0.count != $1.count ? $0.count > $1.count : $0.value < $1.value }
            return (name, Array(values.prefix(Self.maximumValues)))
        }
    }

    /// Counts words among some listings, in the way that is fastest for as many.
    private struct Counter {
        let matches: Bitmap
        let isEverything: Bool
        /// Nil where they are too many.
        let listings: [Listing]?

        init(of matches: Bitmap, in index: SearchIndex) {
            let total = matches.count
            self.matches = matches
            isEverything = total == index.all.count
            listings = total <= Facets.fewMatches ? matches.rows.map(index.source.listing) : nil
        }

        func counts(of words: WordIndex) -> [(value: Text, count: Int)] {
            if let listings { return words.counts(in: listings) }
            return isEverything ? words.counts { $0.count } : words.counts(by: matches.intersectionCount)
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        for facet in facets {
            writer.key(dynamic: facet.name)
            writer.beginArray()
            for (value, count) in facet.values {
                writer.beginObject()
                writer.field("value", value.string)
                writer.field("count", count)
                writer.endObject()
            }
            writer.endArray()
        }
        writer.endObject()
    }
}
