import Catalogue

extension TextAnalyser {
    /// The terms that the text is indexed under.
    func terms(of text: String) -> [String] {
        var terms: [String] = []
        forEachTerm(of: text) { terms.append($0) }
        return terms
    }

    /// Whether an index would find the text.
    func finds(_ text: String, _ query: String) throws(TooManyTerms) -> Bool {
        let terms = terms(of: text)
        let wanted = try queryTerms(of: query)
        guard let last = wanted.last else { return false }
        return wanted.dropLast().allSatisfy(terms.contains) && terms.contains { $0.utf8.starts(with: last.utf8) }
    }
}
