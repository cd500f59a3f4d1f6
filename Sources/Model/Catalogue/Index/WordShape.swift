internal import Domain

/// What tells most words apart that are far from each other: the letters that a word has, and how many.
struct WordShape {
    /// The length is in the highest bits. Each letter has one of the others, and may share it.
    private static let letterBits: UInt32 = 56
    private static let letters: UInt64 = 1 << 56 - 1

    private let bits: UInt64

    init(_ word: Text) {
        var (bits, length) = (UInt64(0), UInt64(0))
        for letter in word.string.unicodeScalars {
            bits |= 1 << UInt64(letter.value % Self.letterBits)
            length += 1
        }
        self.bits = bits | min(length, 0xFF) << UInt64(Self.letterBits)
    }

    private var length: Int { Int(bits >> UInt64(Self.letterBits)) }

    /// False if the two words are certainly farther from each other than so many edits.
    @inline(__always)
    func mayBe(_ other: WordShape, within edits: Int) -> Bool {
        // No edit brings more than one letter, or takes more than one away.
        var (more, less) = (bits & ~other.bits & Self.letters, other.bits & ~bits & Self.letters)
        for _ in 0..<edits {
            // Without its lowest letter.
            more &= more &- 1
            less &= less &- 1
        }
        return more | less == 0 && abs(length - other.length) <= edits
    }
}

/// Counts the edits that lead from one word to others: a letter more, less, or another one, or two neighbours swapped.
/// No letter is edited twice.
///
/// Hyyrö's bit-parallel algorithm: each bit is a letter of the word, and stands for a row of the table of distances.
struct EditDistance {
    /// The most letters of a word.
    static let maximumLetters = 64

    private let count: Int
    /// Where each letter is in the word.
    private var places = [UInt64](repeating: 0, count: 128)
    private var placesBeyondASCII: [UInt32: UInt64] = [:]

    /// Nil if the word is empty or too long.
    init?(from word: Text) {
        count = word.string.unicodeScalars.count
        guard (1...Self.maximumLetters).contains(count) else { return nil }
        for (place, letter) in word.string.unicodeScalars.enumerated() {
            if letter.isASCII {
                places[Int(letter.value)] |= 1 << UInt64(place)
            } else {
                placesBeyondASCII[letter.value, default: 0] |= 1 << UInt64(place)
            }
        }
    }

    /// The edits that lead to another word.
    func edits(to other: Text) -> Int {
        let last: UInt64 = 1 << UInt64(count - 1)
        // Where the distance rises and falls down a column, and where it is that of the diagonal.
        var (rises, falls, diagonal, before) = (~UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        var edits = count
        for letter in other.string.unicodeScalars {
            let same = letter.isASCII ? places[Int(letter.value)] : placesBeyondASCII[letter.value] ?? 0
            let swapped = (~diagonal & same) << 1 & before
            diagonal = ((same & rises) &+ rises) ^ rises | same | falls | swapped
            var right = falls | ~(diagonal | rises)
            var left = diagonal & rises
            if right & last != 0 { edits += 1 }
            if left & last != 0 { edits -= 1 }
            right = right << 1 | 1
            left <<= 1
            rises = left | ~(diagonal | right)
            falls = right & diagonal
            before = same
        }
        return edits
    }
}
