internal import Domain

extension SearchIndex {
    /// The most texts that are suggested.
    static let maximumSuggestions = 3

    /// Texts that match together with the other filters, for a query whose text is likely to be a slip: no listing has
    /// it, whatever the other filters say. Nil if the query has no text.
    func suggestions(_ query: CatalogueQuery) -> [String]? {
        guard let text = query.text else { return nil }
        let index = index(of: Filter.text, as: TextIndex.self)
        guard index.tiers(text).all.isEmpty else { return [] }
        let rows = matches(query.withoutText).all
        return index.corrections(of: text, among: rows, atMost: Self.maximumSuggestions)
            .map { written(text, with: $0).string }
    }

    /// The text with these terms in the place of its own.
    private func written(_ text: TextQuery, with terms: [Text]) -> Text {
        var folded = analyser.fold(text.typed.string)
        for (old, new) in zip(text.terms, terms) where old != new {
            guard let place = folded.firstRange(of: old.string) else { break }
            folded.replaceSubrange(place, with: new.string)
        }
        // A term need not stand in the text as it is, and may stand in another one.
        let isWritten = (try? analyser.queryTerms(of: folded))?.elementsEqual(terms.map(\.string)) ?? false
        return isWritten ? Text(folded) : Text(terms.map(\.string).joined(separator: " "))
    }
}
