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
    private struct Term {
        var rows: Bitmap
        var prefixes: [UInt32]
    }

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
    private var terms: [Term?] = []
    private var freeTerms: [UInt32] = []
    /// The text of each term, and its shape, by themselves: all are looked at to find those near a word.
    private var texts: [Text] = []
    private var shapes: [WordShape] = []
    private var sorted = SortedChunks<UInt32>()
    private var prefixIDs: [Text: UInt32] = [:]
    private var prefixes: [Prefix?] = []
    private var freePrefixes: [UInt32] = []
    /// The rows of each text while many are inserted, because menus say the same thing often. Nil afterwards.
    private var loading: [Text: [UInt32]]? = [:]

    // MARK: Texts

    init(_ analyser: TextAnalyser) { self.analyser = analyser }

    /// The terms of texts.
    func terms(of texts: [Text]) -> Set<Text> {
        var terms: Set<Text> = []
        for text in texts { analyser.forEachTerm(of: text) { terms.insert($0) } }
        return terms
    }

    /// Adds a row to the terms of a text.
    func insert(_ text: Text, at row: UInt32) {
        if loading == nil { insert(ids(of: text), [row]) } else { loading![text, default: []].append(row) }
    }

    private func insert(_ ids: [UInt32], _ rows: [UInt32]) {
        var prefixes: [UInt32] = []
        for id in ids {
            guard let term = terms[Int(id)] else { preconditionFailure("a term without rows") }
            term.rows.insert(rows)
            for prefix in term.prefixes where !prefixes.contains(prefix) { prefixes.append(prefix) }
        }
        for prefix in prefixes { self.prefixes[Int(prefix)]?.rows.insert(rows) }
    }

    /// Moves a row from the terms of its old texts to those of the new.
    func update(from oldTexts: [Text], to newTexts: [Text], at row: UInt32) {
        guard oldTexts != newTexts else { return }
        let new = terms(of: newTexts)
        let gone = terms(of: oldTexts).subtracting(new).compactMap { termIDs[$0] }
        let ids = new.map(id)
        insert(ids, [row])
        let kept = Set(ids.flatMap { terms[Int($0)]?.prefixes ?? [] })
        for id in gone {
            guard let term = terms[Int(id)] else { continue }
            term.rows.remove(row)
            for prefix in term.prefixes where !kept.contains(prefix) { prefixes[Int(prefix)]?.rows.remove(row) }
            if term.rows.isEmpty { forget(id) }
        }
    }

    /// Many texts have been inserted.
    func finishLoading() {
        let texts = loading ?? [:]
        for (text, rows) in texts { insert(ids(of: text), rows) }
        loading = nil
        sorted = SortedChunks(sorted: terms.indices.filter { terms[$0] != nil }.map(UInt32.init).sorted(by: precedes))
        var crowded = prefixes.indices.map(UInt32.init)
        while !crowded.isEmpty { crowded = crowded.flatMap(growIfCrowded) }
        for term in terms { term?.rows.shrink() }
        for prefix in prefixes { prefix?.rows.shrink() }
    }

    // MARK: Terms

    /// The ids of a text's terms, each once; new terms get new ones.
    private func ids(of text: Text) -> [UInt32] {
        var ids: [UInt32] = []
        analyser.forEachTerm(of: text) { term in
            let id = id(of: term)
            if !ids.contains(id) { ids.append(id) }
        }
        return ids
    }

    private func id(of text: Text) -> UInt32 {
        if let id = termIDs[text] { return id }
        let id = Self.place(Term(rows: Bitmap(), prefixes: []), in: &terms, &freeTerms)
        termIDs[text] = id
        if Int(id) == texts.count {
            texts.append(text)
            shapes.append(WordShape(text))
        } else {
            (texts[Int(id)], shapes[Int(id)]) = (text, WordShape(text))
        }
        var length = 1
        while length <= Self.keptPrefix || isGrown(terms[Int(id)]?.prefixes.last), addPrefix(of: length, to: id) != nil
        {
            length += 1
        }
        if loading == nil {
            sorted.insert(id, by: precedes)
            for prefix in terms[Int(id)]?.prefixes ?? [] { _ = growIfCrowded(prefix) }
        }
        return id
    }

    private func isGrown(_ prefix: UInt32?) -> Bool { prefix.flatMap { prefixes[Int($0)]?.isGrown } ?? false }

    /// Indexes a term's prefix of `length` characters; nil if the term is shorter.
    private func addPrefix(of length: Int, to id: UInt32) -> UInt32? {
        let text = text(of: id).string
        guard let end = text.unicodeScalars.index(text.startIndex, offsetBy: length, limitedBy: text.endIndex)
        else { return nil }
        let beginning = Text(String(text[..<end]))
        let prefix: UInt32
        if let known = prefixIDs[beginning] {
            prefix = known
        } else {
            prefix = Self.place(Prefix(text: beginning, rows: Bitmap()), in: &prefixes, &freePrefixes)
            prefixIDs[beginning] = prefix
        }
        prefixes[Int(prefix)]?.terms += 1
        terms[Int(id)]?.prefixes.append(prefix)
        return prefix
    }

    /// If too many terms share this prefix, indexes those that are one character longer, and returns them.
    private func growIfCrowded(_ id: UInt32) -> [UInt32] {
        guard let prefix = prefixes[Int(id)], !prefix.isGrown, prefix.terms > Self.maximumGathered else { return [] }
        let length = prefix.text.string.unicodeScalars.count
        guard length >= Self.keptPrefix else { return [] }
        prefixes[Int(id)]?.isGrown = true
        var longer: Set<UInt32> = []
        forEachTerm(beginning: prefix.text) { term in
            guard let next = addPrefix(of: length + 1, to: term) else { return }
            if let rows = terms[Int(term)]?.rows { prefixes[Int(next)]?.rows.formUnion(rows) }
            longer.insert(next)
        }
        return Array(longer)
    }

    private func forEachTerm(beginning prefix: Text, _ body: (UInt32) -> Void) {
        var found: [UInt32] = []
        sorted.forEach(from: { text(of: $0) < prefix }) { id in
            guard text(of: id).utf8.starts(with: prefix.utf8) else { return false }
            found.append(id)
            return true
        }
        for id in found { body(id) }
    }

    private func forget(_ id: UInt32) {
        guard let term = terms[Int(id)] else { return }
        sorted.remove(id, by: precedes)
        termIDs[text(of: id)] = nil
        terms[Int(id)] = nil
        freeTerms.append(id)
        for prefix in term.prefixes {
            guard let known = prefixes[Int(prefix)] else { continue }
            if known.terms > 1 {
                prefixes[Int(prefix)]?.terms -= 1
            } else {
                prefixIDs[known.text] = nil
                prefixes[Int(prefix)] = nil
                freePrefixes.append(prefix)
            }
        }
    }

    private static func place<Element>(
        _ element: Element, in list: inout [Element?], _ free: inout [UInt32]
    ) -> UInt32 {
        if let id = free.popLast() {
            list[Int(id)] = element
            return id
        }
        list.append(element)
        return UInt32(list.count - 1)
    }

    private func precedes(_ a: UInt32, _ b: UInt32) -> Bool { text(of: a) < text(of: b) }

    private func text(of id: UInt32) -> Text { texts[Int(id)] }

    // MARK: Looking up

    /// The terms that so many edits lead to, but none, with how many do and how many rows have them.
    func forEachTerm(near word: Text, within edits: Int, _ body: (Text, _ edits: Int, _ rows: Int) -> Void) {
        guard let distance = EditDistance(from: word) else { return }
        let shape = WordShape(word)
        for id in shapes.indices where shape.mayBe(shapes[id], within: edits) {
            let found = distance.edits(to: texts[id])
            if (1...edits).contains(found), let rows = terms[id]?.rows { body(texts[id], found, rows.count) }
        }
    }

    /// The rows with the term.
    func rows(having term: Text) -> Bitmap? { termIDs[term].flatMap { terms[Int($0)]?.rows } }

    /// The rows with a term that begins with the prefix.
    func rows(beginning prefix: Text) -> Bitmap? {
        if let kept = prefixIDs[prefix] { return prefixes[Int(kept)]?.rows }
        guard prefix.string.unicodeScalars.count > Self.keptPrefix else { return nil }
        var found: [Bitmap] = []
        forEachTerm(beginning: prefix) { id in
            if let rows = terms[Int(id)]?.rows { found.append(rows) }
        }
        return found.isEmpty ? nil : Bitmap.union(found)
    }
}
