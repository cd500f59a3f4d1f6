/// Splits folded text into terms, as ``TextAnalyser`` says.
///
/// Where a text is split depends on the characters around the place alone. So a word gives the same terms by itself as
/// within a text.
struct TermSplitter {
    enum Purpose {
        case index
        case query
    }

    /// Well-formed UTF-8.
    let folded: UnsafeBufferPointer<UInt8>
    let purpose: Purpose

    func forEachTerm(_ body: (String) -> Void) {
        var position = 0
        while position < folded.count {
            let (kind, next) = character(at: position)
            switch kind {
            case .letter: position = word(from: position, body)
            case .unspacedLetter: position = run(from: position, body)
            case .mark, .apostrophe, .separator: position = next
            }
        }
    }

    /// Takes a word and its parts between apostrophes; returns where it ends.
    private func word(from start: Int, _ body: (String) -> Void) -> Int {
        var partStart = start
        var joined: [UInt8] = []
        var position = start
        scan: while position < folded.count {
            let (kind, next) = character(at: position)
            switch kind {
            case .letter, .mark: position = next
            case .apostrophe where joins(next):
                takePart(partStart..<position, to: &joined, body)
                partStart = next
                position = next
            case .apostrophe, .unspacedLetter, .separator: break scan
            }
        }
        if partStart == start {
            body(term(start..<position))
        } else {
            takePart(partStart..<position, to: &joined, body)
            joined.withUnsafeBufferPointer { body(TermSplitter.term($0)) }
        }
        return position
    }

    private func takePart(_ part: Range<Int>, to joined: inout [UInt8], _ body: (String) -> Void) {
        if purpose == .index { body(term(part)) }
        joined.append(contentsOf: folded[part])
    }

    /// Whether an apostrophe joins what is before it to what begins at `position`: a letter, and one that does not
    /// melt into the letter before it when the apostrophe is gone.
    private func joins(_ position: Int) -> Bool {
        guard position < folded.count else { return false }
        if folded[position] < 0x80 { return CharacterClass(ascii: folded[position]) == .letter }
        let (scalar, _) = scalar(at: position)
        return CharacterClass(scalar) == .letter && Folding.keepsApart(scalar)
    }

    /// Takes a run of letters without spaces; returns where it ends.
    private func run(from start: Int, _ body: (String) -> Void) -> Int {
        var previous: Int?
        var position = start
        while position < folded.count {
            let (kind, next) = character(at: position)
            guard kind == .unspacedLetter || kind == .mark else { break }
            if let previous { body(term(previous..<next)) }
            // A query never asks for a mark alone, as no word begins with one.
            if purpose == .index, kind == .unspacedLetter { body(term(position..<next)) }
            previous = position
            position = next
        }
        if purpose == .query, previous == start { body(term(start..<position)) }
        return position
    }

    private func term(_ range: Range<Int>) -> String {
        TermSplitter.term(UnsafeBufferPointer(rebasing: folded[range]))
    }

    private static func term(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(decoding: bytes.prefixOfCharacters(atMost: TextAnalyser.maximumTermLength), as: UTF8.self)
    }

    /// The class of the character there, and where the next one begins.
    private func character(at position: Int) -> (CharacterClass, next: Int) {
        let byte = folded[position]
        if byte < 0x80 { return (CharacterClass(ascii: byte), position + 1) }
        let (scalar, next) = scalar(at: position)
        return (CharacterClass(scalar), next)
    }

    /// The character there, which is not ASCII, and where the next one begins.
    private func scalar(at position: Int) -> (Unicode.Scalar, next: Int) {
        let first = UInt32(folded[position])
        let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        var value = first & (0x7F >> UInt32(length))
        for index in position + 1..<position + length { value = value << 6 | UInt32(folded[index]) & 0x3F }
        guard let scalar = Unicode.Scalar(value) else { preconditionFailure("folded text is not UTF-8") }
        return (scalar, position + length)
    }
}
