public import Domain

/// What is searched.
public enum ListingKind: Sendable {
    case items, outlets
}

/// A parsed query to the catalogue.
public struct CatalogueQuery {
    /// What a command takes besides filters.
    public enum Option: String, CaseIterable, Sendable {
        case sort = "SORT"
        case limit = "LIMIT"
        case after = "AFTER"
        case facets = "FACETS"
        case seed = "SEED"
        case from = "FROM"
        case count = "COUNT"
        case since = "SINCE"

        /// The name of its value; empty for none.
        public var value: String {
            switch self {
            case .sort: "sort"
            case .limit, .seed, .from, .count: "n"
            case .since: "digest"
            case .after: "cursor"
            case .facets: "facet …"
            }
        }

        /// The values that it takes, for people.
        public var accepted: String {
            switch self {
            case .sort: "one of \(Sort.all.map(\.name).joined(separator: ", "))"
            case .limit: "from 1 to \(maximumLimit)"
            case .after: "the 'next' of an earlier answer"
            case .facets: "at most \(AskedFacet.maximumAsked) facets"
            case .seed: "a whole number"
            case .from: "from 0 to \(Int32.max)"
            case .count: "from 1 to \(maximumWindow)"
            case .since: "0, or a digest of 32 hexadecimal digits, in small letters"
            }
        }

        /// The value of a query that lacks it, if there is one.
        public var standard: String? {
            switch self {
            case .sort: Sort.all[0].name
            case .limit, .count: "\(defaultLimit)"
            case .from: "0"
            case .after, .facets, .seed, .since: nil
            }
        }
    }

    /// What makes a filter leave out the listings that satisfy it.
    public static let exclusion = "NOT"
    /// The number of listings on a page unless the query gives another.
    public static let defaultLimit = 20
    /// The most listings on a page.
    public static let maximumLimit = 100
    /// The most listings that a saved query shows.
    public static let maximumWindow = 1_000

    /// What is searched.
    public let kind: ListingKind
    /// The values of each filter that was given and excludes nothing, as they are compared, by the filter's name.
    public private(set) var values: [String: [Text]] = [:]

    var narrowings: [(filter: Int, narrowing: Narrowing)] = []
    private(set) var sort = Sort.all[0]
    private(set) var limit = CatalogueQuery.defaultLimit
    /// What is counted; nil if nothing is to be.
    private(set) var facets: [AskedFacet]?
    private(set) var seed: UInt64?
    private(set) var after: Cursor?
    /// Which of the matches a saved query shows, counted from 0.
    private(set) var window = 0..<CatalogueQuery.defaultLimit
    /// The digest of the answer that the client has.
    public private(set) var since: String?
    /// Tells queries apart, so that a cursor of one cannot be used for another.
    private(set) var fingerprint: UInt64 = 0
    /// The only currency that matches have prices in, where the query tells or needs it.
    private var currency: Currency?
    /// Whether matches may have prices in several currencies, so that those are not counted.
    private(set) var mixesPrices = false
    /// The filters with their values: the same for the same query, however it is written.
    private var filters: Set<[Text]> = []

    /// - Parameter currencies: those of the outlets that some filters keep.
    init(
        _ words: [Text], of kind: ListingKind, options: Set<Option>, analyser: TextAnalyser,
        currencies: ([(filter: Int, narrowing: Narrowing)]) -> [Currency]
    ) throws(CatalogueError) {
        self.kind = kind
        var reader = FilterWords(words) { word in
            let name = word.capitals
            return name == Self.exclusion || Filter.named(name) != nil || options.contains { $0.rawValue == name }
        }
        var given: Set<String> = []
        while !reader.isAtEnd {
            let isExclusion = reader.take(Self.exclusion)
            let word = isExclusion && reader.isAtEnd ? "" : try reader.next()
            let name = word.capitals
            reader.name = name
            guard !isExclusion || Filter.named(name) != nil else {
                throw .syntax("\(Self.exclusion) stands before a filter, not before '\(word.string.prefix(64))'")
            }
            if let filter = Filter.named(name) {
                guard isExclusion || given.insert(name).inserted || Filter.all[filter].isRepeatable else {
                    throw .syntax("\(name) is given twice")
                }
                guard var narrowing = try Filter.all[filter].read(&reader, analyser) else { continue }
                if isExclusion {
                    narrowing.exclude()
                } else {
                    values[name, default: []] += narrowing.values
                }
                narrowings.append((filter, narrowing))
                filters.insert((isExclusion ? [Text(Self.exclusion)] : []) + [Text(name)] + narrowing.values)
                guard narrowings.count <= FilterWords.maximumValues else {
                    throw .syntax("there are more than \(FilterWords.maximumValues) filters")
                }
            } else {
                guard let option = Option(rawValue: name), options.contains(option) else {
                    throw .syntax(
                        "'\(word.string.prefix(64))' is not a filter or option here; quote a value with spaces")
                }
                // Both say how many listings are shown.
                let meaning = option == .count ? Option.limit : option
                guard given.insert(meaning.rawValue).inserted else { throw .syntax("\(name) is given twice") }
                try read(option, &reader)
            }
        }
        try settleCurrency(analyser, currencies)
        fingerprint = fingerprintOfQuestion
        if let after, after.query != fingerprint {
            throw .invalid("AFTER", "is a cursor of another query")
        }
    }

    private mutating func read(_ option: Option, _ reader: inout FilterWords) throws(CatalogueError) {
        switch option {
        case .sort:
            let name = Text(try reader.next().string.lowercased())
            guard let sort = Sort.named(name) else {
                throw .invalid("SORT", "must be one of \(Sort.all.map(\.name).joined(separator: ", "))")
            }
            self.sort = sort
        case .limit:
            let limit = try reader.number("LIMIT")
            guard (1...Int64(Self.maximumLimit)).contains(limit) else {
                throw .invalid("LIMIT", "must be from 1 to \(Self.maximumLimit)")
            }
            self.limit = Int(limit)
            window = window.lowerBound..<window.lowerBound + Int(limit)
        case .after:
            guard let cursor = Cursor(try reader.next().string) else {
                throw .invalid("AFTER", "must be the 'next' of an earlier answer")
            }
            after = cursor
        case .facets: facets = try AskedFacet.read(&reader)
        case .seed:
            guard let seed = FilterWords.number(try reader.next().string) else {
                throw .invalid("SEED", "must be a whole number")
            }
            self.seed = UInt64(bitPattern: seed)
        case .from:
            let from = try Self.place(try reader.number("FROM"))
            window = from..<from + window.count
        case .count:
            let count = try Self.windowLength(try reader.number("COUNT"))
            window = window.lowerBound..<window.lowerBound + count
        case .since: since = try reader.next().string
        }
    }

    /// Which of the matches a window shows.
    ///
    /// - Throws: where it begins beyond what there can be, shows nothing, or shows too much.
    public static func window(from: Int64, count: Int64) throws(CatalogueError) -> Range<Int> {
        let from = try place(from)
        return from..<from + (try windowLength(count))
    }

    private static func place(_ from: Int64) throws(CatalogueError) -> Int {
        guard let place = Int32(exactly: from), place >= 0 else {
            throw .invalid("FROM", "must be from 0 to \(Int32.max)")
        }
        return Int(place)
    }

    private static func windowLength(_ count: Int64) throws(CatalogueError) -> Int {
        guard (1...Int64(maximumWindow)).contains(count) else {
            throw .invalid("COUNT", "must be from 1 to \(maximumWindow)")
        }
        return Int(count)
    }

    // MARK: Money

    /// Whether it compares prices, and nothing says yet in which currency: there are no outlets.
    public var lacksCurrency: Bool { currency == nil && pricesFilter != nil }

    /// The name of a filter that compares prices, if there is one.
    private var pricesFilter: String? {
        narrowings.lazy.map { Filter.all[$0.filter] }.first { $0.isOfPrices }?.name
    }

    /// Finds the one currency that prices are compared in.
    private mutating func settleCurrency(
        _ analyser: TextAnalyser, _ currencies: ([(filter: Int, narrowing: Narrowing)]) -> [Currency]
    ) throws(CatalogueError) {
        if let named = values[Filter.all[Filter.currency].name], named.count == 1 {
            currency = Currency(named[0].string.uppercased())
            return
        }
        let filter = pricesFilter
        guard filter != nil || facets?.contains(where: \.isOfPrices) ?? false else { return }
        let known = currencies(narrowings.filter { [Filter.currency, Filter.outlet].contains($0.filter) })
        if known.count > 1 {
            if let filter { throw .needsCurrency(filter) }
            guard facets == AskedFacet.standard else { throw .needsCurrency("FACETS") }
            mixesPrices = true
        } else if let only = known.first, filter != nil {
            // Also for when there are others.
            let narrowing = Filter.having(only, analyser)
            currency = only
            narrowings.append((Filter.currency, narrowing))
            filters.insert([Text(Filter.all[Filter.currency].name)] + narrowing.values)
        }
    }

    /// No match has a smaller key in the requested order.
    var leastKey: Int64 {
        guard let currency else { return .min }
        let ranges = narrowings.filter { Filter.all[$0.filter].isOfPrices }.compactMap(\.narrowing.range)
        return (ranges + [0...Int64.max]).map { sort.order.leastKey($0, currency) }.max() ?? .min
    }

    /// Whether the two have the same matches in the same order.
    func asksTheSame(as other: CatalogueQuery) -> Bool {
        kind == other.kind && filters == other.filters && sort.name == other.sort.name
    }

    /// A hash of the kind, the filters in a fixed order and the sort.
    private var fingerprintOfQuestion: UInt64 {
        var hash = StableHash()
        let filters = filters.sorted { $0.lexicographicallyPrecedes($1) }
        for part in [[kind == .items ? "items" : "outlets"]] + filters + [[Text(sort.name)]] {
            hash.add(Int64(part.count))
            for word in part { hash.add(word) }
        }
        return hash.value
    }

    /// The text that matches must have; nil if there is none.
    var text: TextQuery? { narrowings.lazy.compactMap(\.narrowing.text).first }

    /// The same query without its text.
    var withoutText: CatalogueQuery {
        var others = self
        others.narrowings.removeAll { $0.narrowing.text != nil }
        return others
    }

    /// The same query without what it asks of a facet; nil if it asks nothing of it.
    func without(_ facet: AskedFacet) -> CatalogueQuery? {
        var others = self
        others.narrowings.removeAll { other in
            if other.filter == facet.filter { return other.narrowing.attribute == facet.attribute }
            // A price says nothing in another currency.
            return facet.filter == Filter.currency && Filter.all[other.filter].isOfPrices
        }
        return others.narrowings.count < narrowings.count ? others : nil
    }
}
