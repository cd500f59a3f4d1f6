internal import TextAnalysis

/// Where a listing's words of one sort are.
enum ListedWords: Sendable {
    /// One, or none.
    case one(@Sendable (Listing) -> String?)
    /// Any number.
    case any(@Sendable (Listing) -> [String])

    func forEach(of listing: Listing, _ body: (String) -> Void) {
        switch self {
        case .one(let word): if let word = word(listing) { body(word) }
        case .any(let words): for word in words(listing) { body(word) }
        }
    }
}

/// Rows by the words that a listing has of one sort: its cuisines, its city.
final class WordIndex: FilterIndex {
    private let words: ListedWords
    /// Turns what was asked for, and what is there, into what is compared.
    private let fold: (String) -> String
    /// By the word as it is spelt.
    private(set) var rows: [String: Bitmap] = [:]
    /// The spellings of a folded word.
    private var spellings: [String: Set<String>] = [:]
    /// Rows of one outlet follow each other when many are inserted.
    private var last: (word: String, rows: Bitmap)?

    init(fold: @escaping (String) -> String, _ words: ListedWords) {
        self.fold = fold
        self.words = words
    }

    func insert(_ listing: Listing, at row: UInt32) {
        words.forEach(of: listing) { insert($0, at: row) }
    }

    func remove(_ listing: Listing, at row: UInt32) {
        words.forEach(of: listing) { remove($0, at: row) }
    }

    func update(from old: Listing, to new: Listing, at row: UInt32) {
        let before = values(of: old)
        let after = values(of: new)
        guard before != after else { return }
        for word in before where !after.contains(word) { remove(word, at: row) }
        for word in after where !before.contains(word) { insert(word, at: row) }
    }

    private func insert(_ word: String, at row: UInt32) {
        if let last, last.word == word { return last.rows.insert(row) }
        let rows: Bitmap
        if let known = self.rows[word] {
            rows = known
        } else {
            rows = Bitmap()
            self.rows[word] = rows
            spellings[fold(word), default: []].insert(word)
        }
        rows.insert(row)
        last = (word, rows)
    }

    private func remove(_ word: String, at row: UInt32) {
        guard let rows = rows[word] else { return }
        rows.remove(row)
        guard rows.isEmpty else { return }
        last = nil
        self.rows[word] = nil
        let folded = fold(word)
        spellings[folded]?.remove(word)
        if spellings[folded]?.isEmpty == true { spellings[folded] = nil }
    }

    /// The rows that have the word, however it is spelt; `word` is folded.
    func rows(having word: String) -> Bitmap {
        Bitmap.union((spellings[word] ?? []).compactMap { rows[$0] })
    }

    /// The words of a listing, folded.
    func foldedValues(of listing: Listing) -> [String] { values(of: listing).map(fold) }

    /// The words of a listing, as they are spelt.
    func values(of listing: Listing) -> [String] {
        var values: [String] = []
        words.forEach(of: listing) { values.append($0) }
        return values
    }
}
