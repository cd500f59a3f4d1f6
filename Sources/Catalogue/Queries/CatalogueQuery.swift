internal import Domain
internal import TextAnalysis

/// What is looked through.
public enum ListingKind: Sendable {
    case items, outlets
}

/// A question to the catalogue, understood.
public struct CatalogueQuery {
    /// What a command takes beside filters.
    public enum Option: String, CaseIterable, Sendable {
        case sort = "SORT"
        case limit = "LIMIT"
        case after = "AFTER"
        case facets = "FACETS"
        case seed = "SEED"

        /// The name of what follows; empty for nothing.
        public var value: String {
            switch self {
            case .sort: "sort"
            case .limit, .seed: "n"
            case .after: "cursor"
            case .facets: ""
            }
        }
    }

    /// The listings on a page where nothing else is asked for.
    public static let defaultLimit = 20
    /// The most listings on a page.
    public static let maximumLimit = 100

    /// What is looked through.
    public let kind: ListingKind
    /// The words of each filter that was given, by its name.
    public private(set) var values: [String: [String]] = [:]

    var narrowings: [(filter: Int, narrowing: Narrowing)] = []
    private(set) var sort = Sort.all[0]
    private(set) var limit = CatalogueQuery.defaultLimit
    private(set) var wantsFacets = false
    private(set) var seed: UInt64?
    private(set) var after: Cursor?
    /// Tells questions apart that a cursor must not be carried between.
    private(set) var fingerprint: UInt64 = 0xCBF2_9CE4_8422_2325

    init(
        _ words: [String], of kind: ListingKind, options: Set<Option>, analyser: TextAnalyser
    ) throws(CatalogueError) {
        self.kind = kind
        fingerprint(kind == .items ? "items" : "outlets")
        var reader = FilterWords(words) { word in
            let name = word.uppercased()
            return Filter.named(name) != nil || options.contains { $0.rawValue == name }
        }
        var given: Set<String> = []
        while !reader.isAtEnd {
            let word = try reader.next()
            let name = word.uppercased()
            if let filter = Filter.named(name) {
                guard given.insert(name).inserted || Filter.all[filter].isRepeatable else {
                    throw .syntax("\(name) is given twice")
                }
                let start = reader.index
                narrowings.append((filter, try Filter.all[filter].read(&reader, analyser)))
                values[name, default: []] += words[start..<reader.index]
                for word in [name] + words[start..<reader.index] { fingerprint(word) }
                guard narrowings.count <= FilterWords.maximumValues else {
                    throw .syntax("there are more than \(FilterWords.maximumValues) filters")
                }
            } else {
                guard let option = Option(rawValue: name), options.contains(option) else {
                    throw .syntax("'\(word.prefix(64))' is no filter or option here; a value with blanks is quoted")
                }
                guard given.insert(name).inserted else { throw .syntax("\(name) is given twice") }
                try read(option, &reader)
            }
        }
        fingerprint(sort.name)
        if let after, after.query != fingerprint {
            throw .invalid("AFTER", "is a cursor of another question")
        }
    }

    private mutating func read(_ option: Option, _ reader: inout FilterWords) throws(CatalogueError) {
        switch option {
        case .sort:
            let name = try reader.next().lowercased()
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
        case .after:
            guard let cursor = Cursor(try reader.next()) else {
                throw .invalid("AFTER", "must be the 'next' of an earlier answer")
            }
            after = cursor
        case .facets: wantsFacets = true
        case .seed:
            guard let seed = Int64(try reader.next()) else { throw .invalid("SEED", "must be a whole number") }
            self.seed = UInt64(bitPattern: seed)
        }
    }

    /// Whether the answers are the same.
    func asksTheSame(as other: CatalogueQuery) -> Bool {
        kind == other.kind && values == other.values && sort.name == other.sort.name && limit == other.limit
    }

    /// FNV-1a: no defence against anybody, as a cursor is no secret.
    private mutating func fingerprint(_ word: String) {
        for byte in word.utf8 { fingerprint = (fingerprint ^ UInt64(byte)) &* 0x100_0000_01B3 }
        fingerprint = (fingerprint ^ 0xFF) &* 0x100_0000_01B3
    }
}
