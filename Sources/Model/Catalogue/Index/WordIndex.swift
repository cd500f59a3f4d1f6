internal import Domain

/// How to get a listing's words of one sort.
enum ListedWords: Sendable {
    /// One, or none.
    case one(@Sendable (Listing) -> Text?)
    /// Any number.
    case any(@Sendable (Listing) -> [Text])

    func forEach(of listing: Listing, _ body: (Text) -> Void) {
        switch self {
        case .one(let word): if let word = word(listing) { body(word) }
        case .any(let words): for word in words(listing) { body(word) }
        }
    }
}

/// Rows by the words that a listing has of one sort: its cuisines, its city.
final class WordIndex: FilterIndex {
    /// A word as some listings spell it.
    private final class Spelling {
        let text: Text
        /// The folded word: the same for every spelling.
        let folded: Text
        let rows = Bitmap()
        /// Rows that are to be added: together that is much faster.
        private var loaded: [UInt32] = []
        private static let loadedAtOnce = 1_024

        init(_ text: Text, folded: Text) {
            self.text = text
            self.folded = folded
        }

        func load(_ row: UInt32) {
            loaded.append(row)
            if loaded.count == Spelling.loadedAtOnce { takeLoaded() }
        }

        private func takeLoaded() {
            rows.insert(loaded)
            loaded.removeAll(keepingCapacity: true)
        }

        func finishLoading() {
            takeLoaded()
            loaded = []
            rows.shrink()
        }
    }

    private let words: ListedWords
    /// Normalises words for comparison.
    private let fold: (Text) -> Text
    private var spellings: [Text: Spelling] = [:]
    /// The spellings of each folded word. Nearly every word has one.
    private var spellingsByWord: [Text: [Spelling]] = [:]
    /// Rows of one outlet follow each other when many are inserted.
    private var last: Spelling?

    init(fold: @escaping (Text) -> Text, _ words: ListedWords) {
        self.fold = fold
        self.words = words
    }

    /// Whether there are no rows.
    var isEmpty: Bool { spellings.isEmpty }

    func load(_ listings: [Listing], from row: UInt32) {
        listings.forEach(from: row) { listing, row in words.forEach(of: listing) { load($0, at: row) } }
    }

    func load(_ word: Text, at row: UInt32) { spelling(of: word).load(row) }

    func finishLoading() {
        for spelling in spellings.values { spelling.finishLoading() }
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

    func insert(_ word: Text, at row: UInt32) { spelling(of: word).rows.insert(row) }

    private func spelling(of text: Text) -> Spelling {
        if let last, last.text == text { return last }
        let spelling: Spelling
        if let known = spellings[text] {
            spelling = known
        } else {
            spelling = Spelling(text, folded: fold(text))
            spellings[text] = spelling
            spellingsByWord[spelling.folded, default: []].append(spelling)
        }
        last = spelling
        return spelling
    }

    func remove(_ text: Text, at row: UInt32) {
        guard let spelling = spellings[text] else { return }
        spelling.rows.remove(row)
        guard spelling.rows.isEmpty else { return }
        last = nil
        spellings[text] = nil
        let others = spellingsByWord[spelling.folded]?.filter { $0 !== spelling } ?? []
        spellingsByWord[spelling.folded] = others.isEmpty ? nil : others
    }

    private func values(of listing: Listing) -> [Text] {
        var values: [Text] = []
        words.forEach(of: listing) { values.append($0) }
        return values
    }

    // MARK: Looking up

    /// The rows that have the word in any spelling; `word` is folded.
    func rows(having word: Text) -> Bitmap { Bitmap.union((spellingsByWord[word] ?? []).map(\.rows)) }

    /// The words of a listing, folded.
    func foldedValues(of listing: Listing) -> [Text] {
        values(of: listing).map { spellings[$0]?.folded ?? fold($0) }
    }

    /// The words that the rows have, each in every spelling.
    func words(of rows: Bitmap) -> [Text] { spellings.values.filter { $0.rows.intersects(rows) }.map(\.text) }

    // MARK: Counting

    /// How many of the rows have each word, under its most frequent spelling: the most frequent words first, at most
    /// ``Facets/maximumValues``.
    func counts(over tally: Tally) -> Facets.Words {
        var counts: [(spellings: [Spelling], count: Int)]
        if let listings = tally.listings(ratherThan: spellingsByWord.count) {
            var words: [Text: Int] = [:]
            for listing in listings {
                for word in Set(foldedValues(of: listing)) { words[word, default: 0] += 1 }
            }
            counts = words.compactMap { word, count in spellingsByWord[word].map { ($0, count) } }
        } else {
            counts = spellingsByWord.values.compactMap { spellings in
                // One row may have several spellings.
                let count = tally.count(spellings.count == 1 ? spellings[0].rows : Bitmap.union(spellings.map(\.rows)))
                return count > 0 ? (spellings, count) : nil
            }
        }
        if counts.count > Facets.maximumValues {
            // Most words are not looked at any closer.
            let least = counts.map(\.count).sorted(by: >)[Facets.maximumValues - 1]
            counts.removeAll { $0.count < least }
        }
        let words = counts.map { (value: WordIndex.shown($0.spellings), count: $0.count) }
        return Array(
            words.sorted { $0.count != $1.count ? $0.count > $1.count : $0.value < $1.value }
                .prefix(Facets.maximumValues))
    }

    /// The spelling that most rows have; of several, the first by its bytes.
    private static func shown(_ spellings: [Spelling]) -> Text {
        guard spellings.count > 1 else { return spellings[0].text }
        return spellings.reduce(spellings[0]) { best, next in
            let (most, count) = (best.rows.count, next.rows.count)
            return count > most || count == most && next.text < best.text ? next : best
        }.text
    }
}
