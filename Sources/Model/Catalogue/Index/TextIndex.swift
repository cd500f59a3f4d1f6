internal import Domain

/// Rows by their text: by name, and by the other texts of a listing.
final class TextIndex: FilterIndex {
    private let names: TermIndex
    private let others: TermIndex

    init(_ analyser: TextAnalyser) {
        names = TermIndex(analyser)
        others = TermIndex(analyser)
    }

    func insert(_ listing: Listing, at row: UInt32) {
        names.update(from: [], to: [listing.name], at: row)
        others.update(from: [], to: listing.texts, at: row)
    }

    func remove(_ listing: Listing, at row: UInt32) {
        names.update(from: [listing.name], to: [], at: row)
        others.update(from: listing.texts, to: [], at: row)
    }

    func update(from old: Listing, to new: Listing, at row: UInt32) {
        names.update(from: [old.name], to: [new.name], at: row)
        others.update(from: old.texts, to: new.texts, at: row)
    }

    func load(_ listings: [Listing], from row: UInt32) {
        listings.forEach(from: row) { listing, row in
            names.load(listing.name, at: row)
            for text in listing.texts { others.load(text, at: row) }
        }
    }

    func finishLoading() {
        names.finishLoading()
        others.finishLoading()
    }

    // MARK: Looking up

    /// The rows that have every word, sorted into tiers by how many of the words are in the name.
    func tiers(_ query: TextQuery) -> TextTiers {
        var all: Bitmap?
        var inName: Bitmap?
        var someInName = Bitmap()
        for (number, term) in query.terms.enumerated() {
            let isPrefix = number == query.terms.count - 1
            let (names, either) = rows(having: term, isPrefix: isPrefix)
            all = all.map { $0.intersection(either) } ?? either
            inName = inName.map { $0.intersection(names) } ?? names
            someInName = number == 0 ? names : someInName.union(names)
        }
        let nothing = Bitmap()
        let matches = all ?? nothing
        let first = inName ?? nothing
        return TextTiers(
            all: matches,
            tiers: query.terms.count == 1
                ? [first, matches.subtracting(first)]
                : [first, matches.intersection(someInName).subtracting(first), matches.subtracting(someInName)])
    }

    /// The rows that have a term, or one that begins with it, in their name and anywhere.
    private func rows(having term: Text, isPrefix: Bool) -> (inName: Bitmap, anywhere: Bitmap) {
        let names = (isPrefix ? names.rows(beginning: term) : names.rows(having: term)) ?? Bitmap()
        let others = isPrefix ? others.rows(beginning: term) : others.rows(having: term)
        return (names, others.map(names.union) ?? names)
    }

    /// The tier of a listing, or nil if it does not match.
    func tier(of listing: Listing, _ query: TextQuery) -> Int? {
        let names = names.terms(of: [listing.name])
        let others = others.terms(of: listing.texts)
        var inName = 0
        for (number, term) in query.terms.enumerated() {
            let isPrefix = number == query.terms.count - 1
            func has(_ terms: Set<Text>) -> Bool {
                isPrefix ? terms.contains { $0.utf8.starts(with: term.utf8) } : terms.contains(term)
            }
            if has(names) {
                inName += 1
            } else if !has(others) {
                return nil
            }
        }
        if inName == query.terms.count { return 0 }
        return inName > 0 || query.terms.count == 1 ? 1 : 2
    }
}

extension TextIndex {
    // MARK: Correcting

    /// The most words that are corrected in a text.
    private static let maximumCorrected = 3
    /// The most words near a word that are looked at.
    private static let maximumNear = 32
    /// The most words that are tried in the place of one.
    private static let maximumChoices = 6
    /// The most beginnings of texts that are continued.
    private static let maximumBeginnings = 6

    /// The edits that a word may need to be what was meant.
    static func edits(for word: Text) -> Int {
        switch word.string.unicodeScalars.count {
        case ..<3: 0
        case 3...4: 1
        default: 2
        }
    }

    /// Words, with how many edits they are from what was typed.
    private struct Choice {
        var words: [Text]
        var edits: Int
        var rows: Bitmap
        var count: Int

        init(_ words: [Text], edits: Int, _ rows: Bitmap) {
            (self.words, self.edits, self.rows) = (words, edits, rows)
            count = rows.count
        }

        static func precedes(_ a: Choice, _ b: Choice) -> Bool {
            if a.edits != b.edits { return a.edits < b.edits }
            return a.count != b.count ? a.count > b.count : a.words.lexicographicallyPrecedes(b.words)
        }
    }

    /// Terms that may have been meant instead, and that some of the rows have: those with the fewest edits first, then
    /// those that most rows have.
    func corrections(of query: TextQuery, among rows: Bitmap, atMost limit: Int) -> [[Text]] {
        let own = query.terms.enumerated().map { self.rows(having: $1, isPrefix: $0 == query.terms.count - 1).anywhere }
        // Unknown words first: they have to be corrected.
        let corrected = (own.indices.filter { own[$0].isEmpty } + own.indices.filter { !own[$0].isEmpty })
            .prefix(Self.maximumCorrected)
        var beginnings = [Choice([], edits: 0, rows)]
        for (number, term) in query.terms.enumerated() {
            var choices = own[number].isEmpty ? [] : [Choice([term], edits: 0, own[number])]
            if corrected.contains(number) {
                choices += near(term, isPrefix: number == query.terms.count - 1, among: rows)
            }
            beginnings = beginnings.flatMap { beginning in
                choices.map { choice in
                    Choice(
                        beginning.words + choice.words, edits: beginning.edits + choice.edits,
                        beginning.rows.intersection(choice.rows))
                }
            }
            .filter { $0.count > 0 }.sorted(by: Choice.precedes)
            beginnings.removeLast(max(0, beginnings.count - max(Self.maximumBeginnings, limit)))
        }
        return beginnings.prefix(limit).map(\.words)
    }

    /// Words near another that some of the rows have.
    private func near(_ term: Text, isPrefix: Bool, among rows: Bitmap) -> [Choice] {
        let limit = Self.edits(for: term)
        guard limit > 0 else { return [] }
        var found: [Text: (edits: Int, rows: Int)] = [:]
        for index in [names, others] {
            index.forEachTerm(near: term, within: limit) { word, edits, rows in
                found[word] = (edits, (found[word]?.rows ?? 0) + rows)
            }
        }
        var choices: [Choice] = []
        let nearest = found.sorted { a, b in
            if a.value.edits != b.value.edits { return a.value.edits < b.value.edits }
            return a.value.rows != b.value.rows ? a.value.rows > b.value.rows : a.key < b.key
        }
        for (word, (edits, _)) in nearest where choices.count < Self.maximumNear {
            let matching = self.rows(having: word, isPrefix: isPrefix).anywhere.intersection(rows)
            if !matching.isEmpty { choices.append(Choice([word], edits: edits, matching)) }
        }
        return Array(choices.sorted(by: Choice.precedes).prefix(Self.maximumChoices))
    }
}

/// What a text is searched by: terms that a listing must all have; the last may be the beginning of one.
struct TextQuery: Equatable, Sendable {
    var terms: [Text]
    /// As it was typed.
    var typed: Text
}

/// Matches of a text, best first.
struct TextTiers {
    var all: Bitmap
    var tiers: [Bitmap]
}
