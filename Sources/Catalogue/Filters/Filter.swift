internal import Domain
internal import TextAnalysis

// The open registry of filters. A new kind is one entry in the list here: it is then indexed, accepted by every
// command that browses, combined with the others, kept up to date in saved queries, and documented.

/// A kind of filter: its name, its values, what it looks up, and how it narrows.
public struct Filter: Sendable {
    /// Its first word.
    public let name: String
    /// The names of its values, such as `min max`; `…` stands for more of the last. Empty for none.
    public let values: String
    /// Whether it may be given more than once.
    public let isRepeatable: Bool
    /// The counts that it has in `facets`, if any.
    let facet: Facet?
    let makeIndex: @Sendable (TextAnalyser) -> any FilterIndex
    let read: @Sendable (inout FilterWords, TextAnalyser) throws(CatalogueError) -> Narrowing
    /// Whether it knows items alone. Then an outlet satisfies it if one of its items does.
    var isOfItems = false

    /// Every kind of filter.
    public static let all: [Filter] = [
        text("TEXT"),
        anyOf("CUISINE", "cuisine", facet: Facet("cuisines"), .any { $0.cuisines }),
        anyOf("CITY", "city", facet: Facet("cities"), atMost: 1, .one { $0.city }),
        anyOf("AREA", "area", atMost: 1, .one { $0.area }),
        exactly("OUTLET", "outlet", .one { Text($0.id.outlet.rawValue) }),
        anyOf("KIND", "kind", facet: Facet("kinds"), atMost: 1, .any { $0.kinds }),
        everyOne("TAG", "tag", facet: Facet("tags"), .any { $0.tags }),
        range(
            "PRICE", facet: Facet("prices", .one { $0.price.map(PriceBand.name) }),
            leastKeys: { low, high in [.cheapest: low, .dearest: -high] }
        ) { $0.price },
        atLeast("RATING", "rating", digits: 2) { $0.rating },
        atMost("DELIVERY", "minutes") { $0.deliveryMinutes },
        available("OPEN"),
        attribute("ATTR"),
    ]

    static func named(_ name: String) -> Int? { all.firstIndex { Text($0.name) == Text(name) } }
}

/// What is counted among a filter's listings.
struct Facet: Sendable {
    let name: String
    /// What is counted, if it is not what the filter looks up.
    let words: ListedWords?

    init(_ name: String, _ words: ListedWords? = nil) {
        self.name = name
        self.words = words
    }
}

/// Prices that are counted together: 1–1.99…, 2–4.99…, 5–9.99… times a power of ten.
enum PriceBand {
    /// The lowest and the highest price of the band, as `PRICE` takes them, with a dash between.
    static func name(of price: Int64) -> Text {
        guard price > 0 else { return "0-0" }
        var power = 0
        var leading = price
        while leading >= 10 {
            leading /= 10
            power += 1
        }
        return names[3 * power + (leading == 1 ? 0 : leading < 5 ? 1 : 2)]
    }

    /// For every power of ten. Computed once: a name is needed for every item.
    private static let names: [Text] = (0...18).flatMap { power in
        let scale = (0..<power).reduce(Int64(1)) { scale, _ in scale * 10 }
        let bounds: [(first: Int64, last: Int64)] = [(1, 1), (2, 4), (5, 9)]
        return bounds.map { first, last in
            Text("\(first * scale)-\(last == 9 && power == 18 ? Int64.max : (last + 1) * scale - 1)")
        }
    }
}

// MARK: Ways to narrow

extension Filter {
    /// Listings that have every word of a text; the last word may be the beginning of one.
    static func text(_ name: String) -> Filter {
        Filter(
            name: name, values: "words …", isRepeatable: false, facet: nil,
            makeIndex: { TextIndex($0) },
            read: { words, analyser throws(CatalogueError) in
                let text = try words.some(atMost: FilterWords.maximumValues).map(\.string).joined(separator: " ")
                let terms: [String]
                do throws(TooManyTerms) {
                    terms = try analyser.queryTerms(of: text)
                } catch {
                    throw .invalid(name, "must have at most \(TextAnalyser.maximumQueryTerms) words")
                }
                guard !terms.isEmpty else { throw .invalid(name, "has no letter or digit") }
                return Narrowing(TextQuery(terms: terms.map { Text($0) }))
            })
    }

    /// Listings with any of several words, ignoring case and accents.
    static func anyOf(
        _ name: String, _ value: String, facet: Facet? = nil, atMost count: Int = FilterWords.maximumValues,
        _ words: ListedWords
    ) -> Filter {
        Filter(
            name: name, values: count == 1 ? value : "\(value) …", isRepeatable: false, facet: facet,
            makeIndex: { analyser in WordIndex(fold: analyser.fold, words) },
            read: { words, analyser throws(CatalogueError) in
                anyOf(Set(try words.some(atMost: count).map(analyser.fold)))
            })
    }

    /// Listings with one word, in exactly this spelling.
    static func exactly(
        _ name: String, _ value: String, _ words: ListedWords
    ) -> Filter {
        Filter(
            name: name, values: value, isRepeatable: false, facet: nil,
            makeIndex: { _ in WordIndex(fold: { $0 }, words) },
            read: { words, _ throws(CatalogueError) in anyOf([try words.next()]) })
    }

    /// Listings with a word; if repeated, with all of them.
    static func everyOne(
        _ name: String, _ value: String, facet: Facet? = nil, _ words: ListedWords
    ) -> Filter {
        Filter(
            name: name, values: value, isRepeatable: true, facet: facet,
            makeIndex: { analyser in WordIndex(fold: analyser.fold, words) },
            read: { words, analyser throws(CatalogueError) in anyOf([analyser.fold(try words.next())]) })
    }

    private static func anyOf(_ words: Set<Text>) -> Narrowing {
        var narrowing = Narrowing(
            WordIndex.self,
            rows: { index in Bitmap.union(words.map(index.rows(having:))) },
            accepts: { index, listing in !words.isDisjoint(with: index.foldedValues(of: listing)) })
        narrowing.values = words.sorted()
        return narrowing
    }

    /// Listings with a number in a range that includes both ends.
    static func range(
        _ name: String, facet: Facet? = nil,
        leastKeys: @escaping @Sendable (Int64, Int64) -> [ListingOrder: Int64] = { _, _ in [:] },
        _ value: @escaping @Sendable (Listing) -> Int64?
    ) -> Filter {
        Filter(
            name: name, values: "min max", isRepeatable: false, facet: facet,
            makeIndex: { _ in NumberIndex<NumberColumn>(value) },
            read: { words, _ throws(CatalogueError) in
                let low = try words.number(name)
                let high = try words.number(name)
                guard low <= high else { throw .invalid(name, "the smallest comes first") }
                var narrowing = within(low...high)
                narrowing.leastKeys = leastKeys(low, high)
                return narrowing
            })
    }

    /// Listings with a decimal number that is not smaller.
    static func atLeast(
        _ name: String, _ argument: String, digits: Int, _ value: @escaping @Sendable (Listing) -> Int64?
    ) -> Filter {
        Filter(
            name: name, values: argument, isRepeatable: false, facet: nil,
            makeIndex: { _ in NumberIndex<NumberColumn>(value) },
            read: { words, _ throws(CatalogueError) in
                within(try words.decimal(name, digits: digits)...Int64.max)
            })
    }

    /// Listings with a number that is not larger.
    static func atMost(
        _ name: String, _ argument: String, _ value: @escaping @Sendable (Listing) -> Int64?
    ) -> Filter {
        Filter(
            name: name, values: argument, isRepeatable: false, facet: nil,
            makeIndex: { _ in NumberIndex<NumberColumn>(value) },
            read: { words, _ throws(CatalogueError) in within(0...(try words.number(name))) })
    }

    private static func within(_ range: ClosedRange<Int64>) -> Narrowing {
        var narrowing = Narrowing(
            NumberIndex<NumberColumn>.self, rows: { $0.rows(in: range) }, among: { $0.rows(in: range, among: $1) },
            accepts: { index, listing in index.value(of: listing).map(range.contains) ?? false })
        narrowing.values = ["\(range.lowerBound)", "\(range.upperBound)"]
        return narrowing
    }

    /// Items with an attribute: a number of a range, or any of several values.
    static func attribute(_ name: String) -> Filter {
        Filter(
            name: name, values: "name value …", isRepeatable: true, facet: nil,
            makeIndex: { analyser in AttributeIndex(fold: analyser.fold) },
            read: { words, analyser throws(CatalogueError) in
                guard let attribute = Identifier(try words.next().string) else {
                    throw .invalid(name, "a name must have 1–64 bytes of A–Z a–z 0–9 . _ : -")
                }
                if words.take("ANY") {
                    return anyOf(try words.some(atMost: FilterWords.maximumValues), of: attribute, analyser)
                }
                let low = try words.bound(name) ?? .min
                let high = try words.bound(name) ?? .max
                guard low <= high else { throw .invalid(name, "the smallest comes first") }
                return within(low...high, of: attribute)
            }, isOfItems: true)
    }

    private static func within(_ range: ClosedRange<Int64>, of attribute: Identifier) -> Narrowing {
        var narrowing = Narrowing(
            AttributeIndex.self, rows: { $0.rows(attribute, in: range) },
            among: { $0.rows(attribute, in: range, among: $1) },
            accepts: { _, listing in listing.attributes[attribute]?.number.map(range.contains) ?? false })
        narrowing.values = [Text(attribute.rawValue), "\(range.lowerBound)", "\(range.upperBound)"]
        return narrowing
    }

    private static func anyOf(_ values: [Text], of attribute: Identifier, _ analyser: TextAnalyser) -> Narrowing {
        let choice = AttributeChoice(
            words: Set(values.map(analyser.fold)), numbers: Set(values.compactMap(FilterWords.attributeNumber)))
        var narrowing = Narrowing(
            AttributeIndex.self, rows: { $0.rows(attribute, having: choice) },
            accepts: { index, listing in index.has(listing, attribute, choice) })
        narrowing.values = [Text(attribute.rawValue), "ANY"] + choice.words.sorted()
        return narrowing
    }

    /// Listings that can be ordered now.
    static func available(_ name: String) -> Filter {
        Filter(
            name: name, values: "", isRepeatable: false, facet: nil,
            makeIndex: { _ in AvailabilityIndex() },
            read: { _, _ throws(CatalogueError) in
                Narrowing(
                    AvailabilityIndex.self, rows: { $0.available },
                    accepts: { index, listing in listing.availability.holds(at: index.now) })
            })
    }
}
