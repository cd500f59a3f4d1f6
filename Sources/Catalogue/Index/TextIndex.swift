internal import Domain
internal import TextAnalysis

/// Rows by their text: by name, and by the other texts of a listing.
final class TextIndex: FilterIndex {
    private let names: TermIndex
    private let others: TermIndex

    init(_ analyser: TextAnalyser) {
        names = TermIndex(analyser)
        others = TermIndex(analyser)
    }

    func insert(_ listing: Listing, at row: UInt32) {
        names.insert(listing.name, at: row)
        for text in listing.texts { others.insert(text, at: row) }
    }

    func remove(_ listing: Listing, at row: UInt32) {
        names.update(from: [listing.name], to: [], at: row)
        others.update(from: listing.texts, to: [], at: row)
    }

    func update(from old: Listing, to new: Listing, at row: UInt32) {
        names.update(from: [old.name], to: [new.name], at: row)
        others.update(from: old.texts, to: new.texts, at: row)
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
            let names = (isPrefix ? names.rows(beginning: term) : names.rows(having: term)) ?? Bitmap()
            let others = isPrefix ? others.rows(beginning: term) : others.rows(having: term)
            let either = others.map(names.union) ?? names
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

/// What a text is searched by: terms that a listing must all have; the last may be the beginning of one.
struct TextQuery: Equatable, Sendable {
    var terms: [Text]
}

/// Matches of a text, best first.
struct TextTiers {
    var all: Bitmap
    var tiers: [Bitmap]
}
