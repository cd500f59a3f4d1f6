internal import Domain
internal import TextFormats

/// What is counted of a filter's listings, under a name.
struct Facet: Sendable {
    enum Content {
        /// How many listings have each word.
        case words
        /// The least and the greatest number, and how many are in each band. Numbers are kept without a point, which
        /// stands before so many digits.
        case numbers(NumberBands.Rule, digits: Int)
        /// Both, for an attribute whose name follows that of the facet and a point.
        case attributes
    }

    let name: String
    let content: Content
    /// Whether it is counted if the query names none.
    let isStandard: Bool

    init(_ name: String, _ content: Content) { (self.name, self.content, isStandard) = (name, content, true) }

    /// A facet that is counted only if the query names it.
    init(onRequest name: String, _ content: Content) { (self.name, self.content, isStandard) = (name, content, false) }
}

/// A facet that a query asks for.
struct AskedFacet: Equatable {
    /// The most facets of one query.
    static let maximumAsked = 20

    let filter: Int
    /// The attribute, for a facet of one.
    var attribute: Identifier?

    /// The facet of a filter that has one.
    var facet: Facet {
        guard let facet = Filter.all[filter].facet else { preconditionFailure("a filter without a facet is counted") }
        return facet
    }

    var isOfPrices: Bool { Filter.all[filter].isOfPrices }

    /// What it is called in the answer.
    var name: String { attribute.map { "\(facet.name).\($0)" } ?? facet.name }

    /// Those that are counted if the query names none.
    static let standard = Filter.all.indices.filter { Filter.all[$0].facet?.isStandard ?? false }
        .map { AskedFacet(filter: $0) }

    /// Reads the names after `FACETS`, if there are any.
    static func read(_ words: inout FilterWords) throws(CatalogueError) -> [AskedFacet] {
        guard !words.isAtName else { return standard }
        var asked: [AskedFacet] = []
        for name in try words.texts() {
            guard let facet = AskedFacet(name.string) else {
                let names = Filter.all.compactMap(\.facet).map { $0.isOfAttributes ? "\($0.name).<name>" : $0.name }
                throw .invalid(
                    "FACETS", "has no '\(name.string.prefix(80))', but \(names.joined(separator: ", "))")
            }
            guard !asked.contains(facet) else { throw .invalid("FACETS", "names '\(name)' twice") }
            asked.append(facet)
        }
        guard asked.count <= maximumAsked else { throw .invalid("FACETS", "must name at most \(maximumAsked)") }
        return asked
    }

    private init(filter: Int) { self.filter = filter }

    private init?(_ name: String) {
        let parts = name.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let found = Filter.all.firstIndex { filter in
            guard let facet = filter.facet, facet.isOfAttributes == (parts.count == 2) else { return false }
            return facet.name.utf8.elementsEqual(parts[0])
        }
        guard let found else { return nil }
        filter = found
        if parts.count == 2 {
            guard let attribute = Identifier(String(Substring(parts[1]))) else { return nil }
            self.attribute = attribute
        }
    }
}

extension Facet {
    var isOfAttributes: Bool { if case .attributes = content { true } else { false } }
}

/// How many of the matches have each cuisine, city and so on.
///
/// What a query asks of a facet does not narrow its own counts, so that they say what else could be chosen.
struct Facets {
    /// The most values of one facet: those that most matches have.
    static let maximumValues = 100

    typealias Words = [(value: Text, count: Int)]

    private enum Counts {
        case words(Words)
        case numbers(NumberSpread?, digits: Int)
        case attribute(Words, NumberSpread?)
        /// Prices of several currencies.
        case nothing
    }

    private let facets: [(name: String, counts: Counts)]

    init(_ asked: [AskedFacet], of matches: Bitmap, _ query: CatalogueQuery, in index: SearchIndex) {
        facets = asked.map { asked in
            if asked.isOfPrices, query.mixesPrices { return (asked.name, .nothing) }
            let rows = query.without(asked).map { index.matches($0).all } ?? matches
            return (asked.name, Facets.counts(asked, of: rows, in: index))
        }
    }

    private static func counts(_ asked: AskedFacet, of matches: Bitmap, in index: SearchIndex) -> Counts {
        switch asked.facet.content {
        case .words:
            let words = index.index(of: asked.filter, as: WordIndex.self)
            return .words(words.counts(over: Tally(matches, in: index)))
        case .numbers(let rule, let digits):
            let numbers = index.index(of: asked.filter, as: NumberIndex.self)
            return .numbers(numbers.spread(over: Tally(matches, in: index), rule), digits: digits)
        case .attributes:
            guard let name = asked.attribute else { preconditionFailure("a facet of no attribute") }
            // An outlet has the attributes of its items.
            let tally = index.items.map { Tally(matches, by: $0) } ?? Tally(matches, in: index)
            let attributes = (index.items?.index ?? index).index(of: asked.filter, as: AttributeIndex.self)
            return .attribute(attributes.words(name, over: tally), attributes.spread(name, over: tally))
        }
    }

    // MARK: Writing

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        for (name, counts) in facets {
            writer.key(dynamic: name)
            switch counts {
            case .nothing: writer.null()
            case .words(let words): Facets.write(words, to: &writer)
            case .numbers(let spread, let digits):
                writer.beginObject()
                Facets.write(spread, to: &writer) { number, writer in
                    if digits == 0 { writer.integer(number) } else { writer.decimal(Int(number), digits: digits) }
                }
                writer.endObject()
            case .attribute(let words, let spread):
                writer.beginObject()
                Facets.write(spread, to: &writer) { number, writer in
                    writer.raw(AttributeNumber(greatestUpTo: number).description.utf8)
                }
                writer.key("values")
                Facets.write(words, to: &writer)
                writer.endObject()
            }
        }
        writer.endObject()
    }

    private static func write(_ words: Words, to writer: inout JSONWriter) {
        writer.beginArray()
        for (value, count) in words {
            writer.beginObject()
            writer.field("value", value.string)
            writer.field("count", count)
            writer.endObject()
        }
        writer.endArray()
    }

    private static func write(
        _ spread: NumberSpread?, to writer: inout JSONWriter, _ write: (Int64, inout JSONWriter) -> Void
    ) {
        writer.key("min")
        if let spread { write(spread.least, &writer) } else { writer.null() }
        writer.key("max")
        if let spread { write(spread.greatest, &writer) } else { writer.null() }
        writer.key("bands")
        writer.beginArray()
        for (band, count) in spread?.bands ?? [] {
            writer.beginObject()
            writer.key("from")
            write(band.lowerBound, &writer)
            writer.key("to")
            write(band.upperBound, &writer)
            writer.field("count", count)
            writer.endObject()
        }
        writer.endArray()
    }
}

extension Facets {
    private static let words = JSONSchema.list(
        of: .object([.member("value", .string), .member("count", .count)]).named("FacetValue"))

    private static let spread: [JSONSchema.Member] = [
        .member("min", .number.orNull), .member("max", .number.orNull),
        .member(
            "bands",
            .list(
                of: .object([.member("from", .number), .member("to", .number), .member("count", .count)])
                    .named("FacetBand"))),
    ]

    /// The schema of what is written: facets by their names. That of prices is null where they have several currencies.
    static let schema = JSONSchema.object(
        Filter.all.compactMap(\.facet).filter { !$0.isOfAttributes }.map { facet in
            switch facet.content {
            case .words: .optional(facet.name, words)
            case .numbers, .attributes: .optional(facet.name, JSONSchema.object(spread).named("NumberFacet").orNull)
            }
        }, others: .object(spread, [.member("values", words)]).named("AttributeFacet")
    ).named("Facets")
}
