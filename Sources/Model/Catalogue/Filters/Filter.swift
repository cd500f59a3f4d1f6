internal import Domain

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
    /// The values that it takes, for people; empty for none.
    public let accepted: String
    /// What is counted of its listings in `facets`, if anything.
    let facet: Facet?
    let makeIndex: @Sendable (TextAnalyser) -> any FilterIndex
    /// Reads the values; nil if they ask for nothing.
    let read: @Sendable (inout FilterWords, TextAnalyser) throws(CatalogueError) -> Narrowing?
    /// Whether it knows items alone. Then an outlet satisfies it if one of its items does.
    var isOfItems = false
    /// Whether it compares prices, which must be in one currency.
    var isOfPrices = false
    /// Whether it is a range that one number alone can stand for.
    public var takesOneNumber = false

    /// Every kind of filter.
    public static let all: [Filter] = [
        text("TEXT"),
        anyOf("CUISINE", "cuisine", facet: Facet("cuisines", .words), .any { $0.cuisines }),
        anyOf("CITY", "city", facet: Facet("cities", .words), .one { $0.city }),
        anyOf("AREA", "area", facet: Facet(onRequest: "areas", .words), .one { $0.area }),
        anyOf("OUTLET", "outlet", exact: true, .one { Text($0.id.outlet.rawValue) }),
        anyOf("CURRENCY", "code", facet: Facet(onRequest: "currencies", .words), .one { Text($0.currency.code) }),
        anyOf("KIND", "kind", facet: Facet("kinds", .words), .any { $0.kinds }),
        anyOf("TAG", "tag", facet: Facet("tags", .words), isRepeatable: true, .any { $0.tags }),
        prices("PRICE", facet: Facet("prices", .numbers(.progression, digits: 0))) { $0.price },
        range(
            "RATING", digits: 2, alone: .least, facet: Facet(onRequest: "ratings", .numbers(.fitting, digits: 2))
        ) { $0.rating },
        range(
            "DELIVERY", alone: .most, facet: Facet(onRequest: "deliveryMinutes", .numbers(.fitting, digits: 0))
        ) { $0.deliveryMinutes },
        available("OPEN"),
        attribute("ATTR"),
    ]

    /// The filter by text.
    static let text = required("TEXT")
    /// The filter by currency.
    static let currency = required("CURRENCY")
    /// The filter by outlet.
    static let outlet = required("OUTLET")

    private static func required(_ name: String) -> Int {
        guard let filter = named(name) else { preconditionFailure("no filter \(name)") }
        return filter
    }

    static func named(_ name: String) -> Int? { all.firstIndex { Text($0.name) == Text(name) } }
}

// MARK: Ways to narrow

extension Filter {
    /// Listings that have every word of a text; the last word may be the beginning of one.
    static func text(_ name: String) -> Filter {
        Filter(
            name: name, values: "words …", isRepeatable: false,
            accepted: "at most \(TextAnalyser.maximumQueryTerms) words", facet: nil,
            makeIndex: { TextIndex($0) },
            read: { words, analyser throws(CatalogueError) in
                let text = try words.texts().map(\.string).joined(separator: " ")
                // Nothing has been typed yet.
                guard text.utf8.contains(where: { $0 != 0x20 }) else { return nil }
                let terms: [String]
                do throws(TooManyTerms) {
                    terms = try analyser.queryTerms(of: text)
                } catch {
                    throw .invalid(name, "must have at most \(TextAnalyser.maximumQueryTerms) words")
                }
                guard !terms.isEmpty else { throw .invalid(name, "has no letter or digit") }
                return Narrowing(TextQuery(terms: terms.map { Text($0) }, typed: Text(text)))
            })
    }

    /// Listings with any of several words, ignoring case and accents unless they are `exact`.
    static func anyOf(
        _ name: String, _ value: String, facet: Facet? = nil, isRepeatable: Bool = false, exact: Bool = false,
        _ words: ListedWords
    ) -> Filter {
        Filter(
            name: name, values: "\(value) …", isRepeatable: isRepeatable,
            accepted: "at most \(FilterWords.maximumValues) values", facet: facet,
            makeIndex: { analyser in WordIndex(fold: folding(analyser, exact), words) },
            read: { words, analyser throws(CatalogueError) in
                anyOf(Set(try words.some(name).map(folding(analyser, exact))))
            })
    }

    /// Listings whose prices are in a currency.
    static func having(_ currency: Currency, _ analyser: TextAnalyser) -> Narrowing {
        anyOf([analyser.fold(Text(currency.code))])
    }

    private static func folding(_ analyser: TextAnalyser, _ exact: Bool) -> (Text) -> Text {
        exact ? { $0 } : analyser.fold
    }

    private static func anyOf(_ words: Set<Text>) -> Narrowing {
        var narrowing = Narrowing(
            WordIndex.self,
            rows: { index in Bitmap.union(words.map(index.rows(having:))) },
            accepts: { index, listing in !words.isDisjoint(with: index.foldedValues(of: listing)) })
        narrowing.values = words.sorted()
        return narrowing
    }

    /// What a range means that gives one number alone.
    enum Alone: Sendable {
        case least, most
    }

    /// Listings with a number in a range that includes both ends, each of which can be open.
    static func range(
        _ name: String, digits: Int = 0, alone: Alone? = nil, facet: Facet? = nil,
        _ value: @escaping @Sendable (Listing) -> Int64?
    ) -> Filter {
        Filter(
            name: name, values: "min max", isRepeatable: false,
            accepted: "two numbers, * for an open end" + (alone.map { ", or the \($0) alone" } ?? ""), facet: facet,
            makeIndex: { _ in NumberIndex(value) },
            read: { words, _ throws(CatalogueError) in
                var low = try words.bound(name, digits: digits)
                var high: Int64?
                if alone == nil || !words.isAtName {
                    high = try words.bound(name, digits: digits)
                } else if alone == .most {
                    (low, high) = (nil, low)
                }
                let (least, most) = (low ?? .min, high ?? .max)
                guard least <= most else { throw .invalid(name, "the smallest comes first") }
                return within(least...most)
            }, takesOneNumber: alone != nil)
    }

    private static func within(_ range: ClosedRange<Int64>) -> Narrowing {
        var narrowing = Narrowing(
            NumberIndex.self, rows: { $0.rows(in: range) }, among: { $0.rows(in: range, among: $1) },
            accepts: { index, listing in index.value(of: listing).map(range.contains) ?? false })
        narrowing.range = range
        narrowing.values = ["\(range.lowerBound)", "\(range.upperBound)"]
        return narrowing
    }

    /// Listings with a price in a range, of one currency.
    static func prices(
        _ name: String, alone: Alone? = nil, facet: Facet? = nil,
        _ price: @escaping @Sendable (Listing) -> Int64?
    ) -> Filter {
        var filter = range(name, alone: alone, facet: facet, price)
        filter.isOfPrices = true
        return filter
    }

    /// Items with an attribute: a number of a range, or any of several values.
    static func attribute(_ name: String) -> Filter {
        Filter(
            name: name, values: "name value …", isRepeatable: true,
            accepted: "a name, and two numbers, * for an open end, or ANY and at most \(FilterWords.maximumValues) "
                + "values",
            facet: Facet(onRequest: "attributes", .attributes),
            makeIndex: { analyser in AttributeIndex(fold: analyser.fold) },
            read: { words, analyser throws(CatalogueError) in
                guard let attribute = Identifier(try words.next().string) else {
                    throw .invalid(name, "a name must have 1–64 bytes of \(Identifier.characters)")
                }
                if words.take("ANY") {
                    return anyOf(try words.some(name), of: attribute, analyser)
                }
                let low = try words.bound(ofAttribute: name) ?? .min
                let high = try words.bound(ofAttribute: name) ?? .max
                guard low <= high else { throw .invalid(name, "the smallest comes first") }
                return within(low...high, of: attribute)
            }, isOfItems: true)
    }

    private static func within(_ range: ClosedRange<Int64>, of attribute: Identifier) -> Narrowing {
        var narrowing = Narrowing(
            AttributeIndex.self, rows: { $0.rows(attribute, in: range) },
            among: { $0.rows(attribute, in: range, among: $1) },
            accepts: { _, listing in listing.attributes[attribute]?.number.map(range.contains) ?? false })
        narrowing.attribute = attribute
        narrowing.values = [Text(attribute.rawValue), "\(range.lowerBound)", "\(range.upperBound)"]
        return narrowing
    }

    private static func anyOf(_ values: [Text], of attribute: Identifier, _ analyser: TextAnalyser) -> Narrowing {
        let choice = AttributeChoice(
            words: Set(values.map(analyser.fold)), numbers: Set(values.compactMap(FilterWords.attributeNumber)))
        var narrowing = Narrowing(
            AttributeIndex.self, rows: { $0.rows(attribute, having: choice) },
            accepts: { index, listing in index.has(listing, attribute, choice) })
        narrowing.attribute = attribute
        narrowing.values = [Text(attribute.rawValue), "ANY"] + choice.words.sorted()
        return narrowing
    }

    /// Listings that can be ordered now.
    static func available(_ name: String) -> Filter {
        Filter(
            name: name, values: "", isRepeatable: false, accepted: "", facet: nil,
            makeIndex: { _ in AvailabilityIndex() },
            read: { _, _ throws(CatalogueError) in
                Narrowing(
                    AvailabilityIndex.self, rows: { $0.available },
                    accepts: { index, listing in listing.availability.holds(at: index.now) })
            })
    }
}
