internal import Domain

/// Rows by the terms of a text.
///
/// Prefixes of terms have rows of their own, so that one typed letter is answered as fast as a word: every prefix of
/// one to three characters, and longer ones if too many terms share a shorter one, as in a burst trie. So no query
/// ever gathers more than ``maximumGathered`` terms.
final class TermIndex {
    /// Prefixes up to this many characters are always indexed.
    static let keptPrefix = 3
    /// If more terms share an indexed prefix, the prefixes that are one character longer are indexed too.
    static let maximumGathered = 256
    /// The most loaded texts whose terms are remembered: menus say the same thing often.
    private static let maximumKnown = 10_000

    private struct Prefix {
        var text: Text
        var rows: Bitmap
        /// How many terms begin with it.
        var terms = 0
        /// Whether all prefixes that are one character longer are indexed.
        var isGrown = false
    }

    private let analyser: TextAnalyser
    private var termIDs: [Text: UInt32] = [:]
    /// The rows, the text and the shape of each term, each by themselves: all texts are looked at to find those near a
    /// word.
    private var rows: [TermRows] = []
    private var texts: [Text] = []
    private var shapes: [WordShape] = []
    private var freeTerms: [UInt32] = []
    private var sorted = SortedChunks<UInt32>()
    private var prefixIDs: [Text: UInt32] = [:]
    private var prefixes: [Prefix?] = []
    private var freePrefixes: [UInt32] = []
    private var loaded = Loaded()

    /// Terms of texts that are to be inserted together, which is much faster.
    private struct Loaded {
        var terms: [UInt32] = []
        /// The row of each of the terms.
        var rows: [UInt32] = []
        /// The terms of the first texts.
        var known: [Text: [UInt32]] = [:]
    }

    // MARK: Texts

    init(_ analyser: TextAnalyser) { self.analyser = analyser }

    /// The terms of texts.
    func terms(of texts: [Text]) -> Set<Text> {
        var terms: Set<Text> = []
        for text in texts { analyser.forEachTerm(of: text) { terms.insert($0) } }
        return terms
    }

    /// Moves a row from the terms of its old texts to those of the new.
    func update(from oldTexts: [Text], to newTexts: [Text], at row: UInt32) {
        guard oldTexts != newTexts else { return }
        let new = terms(of: newTexts)
        let gone = terms(of: oldTexts).subtracting(new)
        var kept: Set<UInt32> = []
        for term in new {
            rows[Int(id(of: term))].insert(row)
            kept.formUnion(prefixes(of: term))
        }
        for prefix in kept { prefixes[Int(prefix)]?.rows.insert(row) }
        for term in gone {
            guard let id = termIDs[term] else { continue }
            rows[Int(id)].remove(row)
            for prefix in prefixes(of: term) where !kept.contains(prefix) { prefixes[Int(prefix)]?.rows.remove(row) }
            if rows[Int(id)].isEmpty { forget(id) }
        }
    }

    // MARK: Loading

    /// Adds a row to the terms of a text. Rows come in ascending order, and nothing else is added before
    /// ``finishLoading()``.
    func load(_ text: Text, at row: UInt32) {
        if let known = loaded.known[text] {
            for term in known { loaded.terms.append(term) }
        } else {
            let first = loaded.terms.count
            analyser.forEachTerm(of: text) { loaded.terms.append(loadedID(of: $0)) }
            if loaded.known.count < Self.maximumKnown { loaded.known[text] = Array(loaded.terms[first...]) }
        }
        while loaded.rows.count < loaded.terms.count { loaded.rows.append(row) }
    }

    private func loadedID(of term: Text) -> UInt32 {
        let next = UInt32(texts.count)
        let id = termIDs[term, default: next]
        if id == next {
            termIDs[term] = id
            texts.append(term)
        }
        return id
    }

    /// All texts are loaded.
    func finishLoading() {
        let loaded = exchange(&loaded, with: Loaded())
        // The rows of each term, one term after the other.
        var starts = [Int](repeating: 0, count: texts.count + 1)
        for term in loaded.terms { starts[Int(term) + 1] += 1 }
        for term in texts.indices { starts[term + 1] += starts[term] }
        var rowsOfTerms = [UInt32](repeating: 0, count: loaded.rows.count)
        var next = starts
        for (term, row) in zip(loaded.terms, loaded.rows) {
            rowsOfTerms[next[Int(term)]] = row
            next[Int(term)] += 1
        }
        rows = texts.indices.map { TermRows(rowsOfTerms[starts[$0]..<starts[$0 + 1]]) }
        shapes = texts.map { WordShape($0) }
        let places = texts.sortedPlaces()
        sorted = SortedChunks(sorted: places)
        indexPrefixes(of: places[...], length: 1)
    }

    /// - Parameter terms: in the order of their texts; all have the same prefix that is one character shorter.
    private func indexPrefixes(of terms: ArraySlice<UInt32>, length: Int) {
        var rest = terms
        while let first = rest.first {
            guard let prefix = text(of: first).prefix(length) else {
                rest = rest.dropFirst()
                continue
            }
            let count = (0..<rest.count).partitionPoint {
                text(of: rest[rest.startIndex + $0]).utf8.starts(with: prefix.utf8)
            }
            let group = rest.prefix(count)
            rest = rest.dropFirst(count)
            let isCrowded = length >= Self.keptPrefix && count > Self.maximumGathered
            prefixIDs[prefix] = UInt32(prefixes.count)
            let union = TermRows.union(group.map { rows[Int($0)] })
            prefixes.append(Prefix(text: prefix, rows: union, terms: count, isGrown: isCrowded))
            if length < Self.keptPrefix || isCrowded { indexPrefixes(of: group, length: length + 1) }
        }
    }

    // MARK: Terms

    private func id(of text: Text) -> UInt32 {
        if let id = termIDs[text] { return id }
        let id = freeTerms.popLast() ?? UInt32(texts.count)
        if Int(id) == texts.count {
            texts.append(text)
            shapes.append(WordShape(text))
            rows.append(.none)
        } else {
            (texts[Int(id)], shapes[Int(id)]) = (text, WordShape(text))
        }
        termIDs[text] = id
        sorted.insert(id, by: precedes)
        var length = 1
        while let prefix = addPrefix(of: length, to: id), length < Self.keptPrefix || isGrown(prefix) { length += 1 }
        for prefix in prefixes(of: text) { _ = growIfCrowded(prefix) }
        return id
    }

    private func isGrown(_ prefix: UInt32) -> Bool { prefixes[Int(prefix)]?.isGrown ?? false }

    /// The indexed prefixes of a term, the shortest first.
    private func prefixes(of term: Text) -> [UInt32] {
        var found: [UInt32] = []
        while found.count < Self.keptPrefix || isGrown(found[found.count - 1]),
            let prefix = term.prefix(found.count + 1).flatMap({ prefixIDs[$0] })
        {
            found.append(prefix)
        }
        return found
    }

    /// Indexes a term's prefix of `length` characters; nil if the term is shorter.
    private func addPrefix(of length: Int, to id: UInt32) -> UInt32? {
        guard let beginning = text(of: id).prefix(length) else { return nil }
        let prefix: UInt32
        if let known = prefixIDs[beginning] {
            prefix = known
        } else {
            prefix = freePrefixes.popLast() ?? UInt32(prefixes.count)
            if Int(prefix) == prefixes.count { prefixes.append(nil) }
            prefixes[Int(prefix)] = Prefix(text: beginning, rows: Bitmap())
            prefixIDs[beginning] = prefix
        }
        prefixes[Int(prefix)]?.terms += 1
        return prefix
    }

    /// If too many terms share this prefix, indexes those that are one character longer, and returns them.
    private func growIfCrowded(_ id: UInt32) -> Set<UInt32> {
        guard let prefix = prefixes[Int(id)], !prefix.isGrown, prefix.terms > Self.maximumGathered else { return [] }
        let length = prefix.text.string.unicodeScalars.count
        guard length >= Self.keptPrefix else { return [] }
        prefixes[Int(id)]?.isGrown = true
        var longer: Set<UInt32> = []
        for term in terms(beginning: prefix.text) {
            guard let next = addPrefix(of: length + 1, to: term) else { continue }
            prefixes[Int(next)]?.rows.formUnion(rows[Int(term)].bitmap)
            longer.insert(next)
        }
        return longer
    }

    private func terms(beginning prefix: Text) -> [UInt32] {
        var found: [UInt32] = []
        sorted.forEach(from: { text(of: $0) < prefix }) { id in
            guard text(of: id).utf8.starts(with: prefix.utf8) else { return false }
            found.append(id)
            return true
        }
        return found
    }

    private func forget(_ id: UInt32) {
        let text = text(of: id)
        for prefix in prefixes(of: text) {
            guard let known = prefixes[Int(prefix)] else { continue }
            if known.terms > 1 {
                prefixes[Int(prefix)]?.terms -= 1
            } else {
                prefixIDs[known.text] = nil
                prefixes[Int(prefix)] = nil
                freePrefixes.append(prefix)
            }
        }
        sorted.remove(id, by: precedes)
        termIDs[text] = nil
        rows[Int(id)] = .none
        freeTerms.append(id)
    }

    private func precedes(_ a: UInt32, _ b: UInt32) -> Bool { text(of: a) < text(of: b) }

    private func text(of id: UInt32) -> Text { texts[Int(id)] }

    // MARK: Looking up

    /// The terms that so many edits lead to, but none, with how many do and how many rows have them.
    func forEachTerm(near word: Text, within edits: Int, _ body: (Text, _ edits: Int, _ rows: Int) -> Void) {
        guard let distance = EditDistance(from: word) else { return }
        let shape = WordShape(word)
        for id in shapes.indices where shape.mayBe(shapes[id], within: edits) && !rows[id].isEmpty {
            let found = distance.edits(to: texts[id])
            if (1...edits).contains(found) { body(texts[id], found, rows[id].count) }
        }
    }

    /// The rows with the term.
    func rows(having term: Text) -> Bitmap? { termIDs[term].map { rows[Int($0)].bitmap } }

    /// The rows with a term that begins with the prefix.
    func rows(beginning prefix: Text) -> Bitmap? {
        if let kept = prefixIDs[prefix] { return prefixes[Int(kept)]?.rows }
        guard prefix.string.unicodeScalars.count > Self.keptPrefix else { return nil }
        let found = terms(beginning: prefix)
        return found.isEmpty ? nil : TermRows.union(found.map { rows[Int($0)] })
    }
}

extension Text {
    /// The first characters; nil if there are fewer.
    fileprivate func prefix(_ length: Int) -> Text? {
        let characters = string.unicodeScalars
        return characters.index(characters.startIndex, offsetBy: length, limitedBy: characters.endIndex)
            .map { Text(String(characters[..<$0])) }
    }
}

/// The rows of a term. Most terms of a large catalogue have one row, for which a bitmap takes far too much memory.
private enum TermRows {
    case none
    case one(UInt32)
    case many(Bitmap)

    /// Rows in ascending order, some of them perhaps several times.
    init(_ rows: ArraySlice<UInt32>) {
        if let first = rows.first, first == rows.last {
            self = .one(first)
        } else if rows.isEmpty {
            self = .none
        } else {
            let bitmap = Bitmap(rows)
            bitmap.shrink()
            self = .many(bitmap)
        }
    }

    var isEmpty: Bool { count == 0 }

    var count: Int {
        switch self {
        case .none: 0
        case .one: 1
        case .many(let rows): rows.count
        }
    }

    /// Not to be changed.
    var bitmap: Bitmap {
        switch self {
        case .none: Bitmap()
        case .one(let row): Bitmap([row])
        case .many(let rows): rows
        }
    }

    mutating func insert(_ row: UInt32) {
        switch self {
        case .none: self = .one(row)
        case .one(row): break
        case .one(let other): self = .many(Bitmap([other, row]))
        case .many(let rows): rows.insert(row)
        }
    }

    mutating func remove(_ row: UInt32) {
        switch self {
        case .one(row): self = .none
        case .none, .one: break
        case .many(let rows): rows.remove(row)
        }
    }

    /// The rows of all of them, in a bitmap of its own.
    static func union(_ terms: [TermRows]) -> Bitmap {
        var (single, many): ([UInt32], [Bitmap]) = ([], [])
        for term in terms {
            switch term {
            case .none: break
            case .one(let row): single.append(row)
            case .many(let rows): many.append(rows)
            }
        }
        let union = Bitmap(single)
        union.formUnion(Bitmap.union(many))
        union.shrink()
        return union
    }
}
