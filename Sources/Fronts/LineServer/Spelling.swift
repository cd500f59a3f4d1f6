/// Finds the word that a mistyped one most likely stands for.
enum Spelling {
    /// The most bytes of a word that is compared with others.
    static let longest = 32
    /// The most edits between the two: a letter more, less or another one, or two neighbours swapped.
    private static let mostEdits = 2

    /// The candidate with the fewest edits from any of the words, the first of equals; nil where all are too far.
    static func nearest(to words: [[UInt8]], among candidates: [[UInt8]]) -> String? {
        var best: (edits: Int, candidate: [UInt8])?
        for word in words where word.count <= longest {
            // Half of a short word would be another one.
            let most = min(mostEdits, word.count / 3)
            for candidate in candidates {
                let limit = min(most, (best?.edits ?? .max) - 1)
                guard limit >= 0 else { break }
                if let edits = edits(from: word, to: candidate, atMost: limit) { best = (edits, candidate) }
            }
        }
        return best.map { String(decoding: $0.candidate, as: UTF8.self) }
    }

    /// How many edits lead from one word to the other; nil for more than `limit`. Only what lies within the limit of
    /// the diagonal is worked out.
    static func edits(from a: [UInt8], to b: [UInt8], atMost limit: Int) -> Int? {
        guard abs(a.count - b.count) <= limit else { return nil }
        let far = limit + 1
        var before: [Int] = []
        var above = (0...b.count).map { min($0, far) }
        for i in a.indices {
            var row = [Int](repeating: far, count: b.count + 1)
            row[0] = min(i + 1, far)
            for j in max(0, i - limit)..<max(max(0, i - limit), min(b.count, i + limit + 1)) {
                var edits = min(above[j] + (a[i] == b[j] ? 0 : 1), above[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { edits = min(edits, before[j - 1] + 1) }
                row[j + 1] = min(edits, far)
            }
            (before, above) = (above, row)
        }
        return above[b.count] <= limit ? above[b.count] : nil
    }
}
