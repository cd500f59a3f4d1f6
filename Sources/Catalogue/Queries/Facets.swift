internal import Domain
internal import JSONText

/// How many of the matches have each cuisine, city and so on.
struct Facets {
    /// The most values of one facet: those that most matches have.
    static let maximumValues = 100
    /// Up to this many matches, each listing is counted by itself.
    private static let fewMatches = 30

    private var facets: [(name: String, values: [(value: Text, count: Int)])]

    init(of matches: Bitmap, in index: SearchIndex) {
        let total = matches.count
        let listings = total <= Self.fewMatches ? matches.rows.map(index.source.listing) : nil
        facets = index.facets.map { name, words in
            let counts =
                if let listings {
                    words.counts(in: listings)
                } else if total == index.all.count {
                    words.counts { $0.count }
                } else {
                    words.counts(by: matches.intersectionCount)
                }
            let values = counts.sorted { $0.count != $1.count ? $0.count > $1.count : $0.value < $1.value }
            return (name, Array(values.prefix(Self.maximumValues)))
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
