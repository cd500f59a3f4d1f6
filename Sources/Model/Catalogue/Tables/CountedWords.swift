internal import Domain

/// A sorted list of words with their counts. Every outlet has one, and it is short.
struct CountedWords {
    private(set) var words: [Text] = []
    private var counts: [Int32] = []

    /// Changes a word's count.
    mutating func count(_ word: Text, _ change: Int) {
        let place = words.indices.partitionPoint { words[$0] < word }
        if place == words.count || words[place] != word {
            words.insert(word, at: place)
            counts.insert(0, at: place)
        }
        counts[place] += Int32(change)
        precondition(counts[place] >= 0, "a word was removed that was not there")
        if counts[place] == 0 {
            words.remove(at: place)
            counts.remove(at: place)
        }
    }
}
