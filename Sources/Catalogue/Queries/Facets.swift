internal import JSONText

/// How many of the matches have each cuisine, city and so on.
struct Facets {
    /// The most values of one facet: those that most matches have.
    static let maximumValues = 100
    /// With no more matches than this, each is looked at.
    private static let fewMatches = 30

    private var facets: [(name: String, values: [(value: String, count: Int)])]

    init(of matches: Bitmap, in index: SearchIndex) {
        let total = matches.count
        let listings = total <= Self.fewMatches ? matches.rows.map(index.source.listing) : nil
        facets = index.facets.map { name, words in
            var counts: [String: Int] = [:]
            if let listings {
                for listing in listings {
                    for value in Set(words.values(of: listing)) { counts[value, default: 0] += 1 }
                }
            } else if total == index.all.count {
                counts = words.rows.mapValues(\.count)
            } else {
                counts = words.rows.mapValues(matches.intersectionCount)
            }
            let values = counts.filter { $0.value > 0 }
                .sorted { $0.value != $1.value ? $0.value > $1.value : $0.key < $1.key }
            return (name, values.prefix(Self.maximumValues).map { ($0.key, $0.value) })
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        for facet in facets {
            writer.key(dynamic: facet.name)
            writer.beginArray()
            for (value, count) in facet.values {
                writer.beginObject()
                writer.field("value", value)
                writer.field("count", count)
                writer.endObject()
            }
            writer.endArray()
        }
        writer.endObject()
    }
}
