/// Turns text into the terms it is found by, in any script.
///
/// Texts and queries go the same way, so that what was typed finds what was stored:
///
/// 1. The text is **folded**: case, accents, width and compatibility forms are ignored. `SMØRREBRØD` is
///    `smorrebrod`, `ﾊﾟﾝ` is `パン`. Signs that are letters' business stay: Indic and Thai vowels, the voice marks of
///    kana.
/// 2. It is split at everything that is not a letter or digit, or a mark on one: `well-done` has two words, and so has
///    `3.5`.
/// 3. An **apostrophe** between two letters or digits vanishes, and what it joins is a word: `Domino's` asks for
///    `dominos`. A text is also found by each of the parts, so `Domino's` by `domino` too, and `l'été` by `lete`, `l`
///    and `ete`.
/// 4. **Scripts without spaces** (Han, kana, Thai, Lao, Khmer, Burmese and their like) are indexed by single characters
///    and overlapping pairs, and asked for by pairs; only a character that stands alone is asked for by itself. So
///    `宫保`, `鸡丁` and `鸡` find `宫保鸡丁`. No dictionary takes part: it breaks a part of a name, or one half typed, in
///    other places than the whole. A character is a code point here.
/// 5. A term longer than ``maximumTermLength`` is cut.
///
/// Hence what this is for: the terms of a query that is a word of a text, or several, are terms of the text; and those
/// of the beginning of a word are too, if the last is taken as a prefix.
///
/// An analyser is for one user at a time. It keeps the memory it worked in, which is bounded by ``maximumTextLength``.
public final class TextAnalyser {
    /// The most bytes of a text that are analysed; the rest is ignored.
    public static let maximumTextLength = 65_536
    /// The most bytes of a term.
    public static let maximumTermLength = 64
    /// The most terms of a query.
    public static let maximumQueryTerms = 32

    /// Many users need none, as all their texts are ASCII.
    private lazy var folding = Folding()
    /// ASCII needs no ICU: here for tests to show that it makes no difference.
    private let foldsASCIIItself: Bool
    private var bytes: [UInt8] = []

    /// An analyser. Traps where ICU lacks its data.
    public convenience init() {
        self.init(foldsASCIIItself: true)
    }

    init(foldsASCIIItself: Bool) {
        self.foldsASCIIItself = foldsASCIIItself
    }

    /// The text as it is compared and sorted: two texts that differ in case, accents, width or compatibility forms only
    /// are folded to the same. A folded text is folded to itself, if it is not longer than ``maximumTextLength``.
    public func fold(_ text: String) -> String {
        withFolded(text) { String(decoding: $0, as: UTF8.self) }
    }

    /// Calls `body` with every term that the text is to be found by, in the order of the text. A term may come more
    /// than once; none is empty.
    public func forEachTerm(of text: String, _ body: (String) -> Void) {
        withFolded(text) { TermSplitter(folded: $0, purpose: .index).forEachTerm(body) }
    }

    /// The terms that a text must have, all of them, to be found by the query. The last stands for every term that
    /// begins with it, as its word may not be typed to the end. Empty if the query has no word.
    ///
    /// Throws where there are more than ``maximumQueryTerms``.
    public func queryTerms(of text: String) throws(TooManyTerms) -> [String] {
        var terms: [String] = []
        withFolded(text) { folded in
            TermSplitter(folded: folded, purpose: .query).forEachTerm { term in
                if terms.count <= TextAnalyser.maximumQueryTerms { terms.append(term) }
            }
        }
        guard terms.count <= TextAnalyser.maximumQueryTerms else { throw TooManyTerms() }
        return terms
    }

    private func withFolded<Result>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        // Taken out while it is read, as `body` may use this analyser again.
        var bytes = exchange(&self.bytes, with: [])
        defer { self.bytes = bytes }
        var text = text
        let count = text.withUTF8 { text in
            let text = text.prefixOfCharacters(atMost: TextAnalyser.maximumTextLength)
            if foldsASCIIItself, TextAnalyser.lowercaseASCII(text, into: &bytes) { return text.count }
            return folding.fold(text, into: &bytes)
        }
        return bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0.prefix(count))) }
    }

    /// False if the text is not all ASCII.
    private static func lowercaseASCII(_ text: UnsafeBufferPointer<UInt8>, into bytes: inout [UInt8]) -> Bool {
        if bytes.count < text.count { bytes = [UInt8](repeating: 0, count: max(256, text.count)) }
        return bytes.withUnsafeMutableBufferPointer { bytes in
            var all: UInt8 = 0
            for index in 0..<text.count {
                let byte = text[index]
                all |= byte
                bytes[index] = byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
            }
            return all < 0x80
        }
    }
}
