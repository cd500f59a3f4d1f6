internal import Domain
internal import TextFormats

/// The words of a call after the name of a filter, taken one by one.
struct FilterWords {
    /// The most values of one filter.
    static let maximumValues = 50
    /// What a value may begin with, and loses: nothing that follows it is a name.
    private static let quote = UInt8(ascii: "=")

    private let words: [Text]
    private(set) var index = 0
    /// The filter or option whose values are read.
    var name = ""
    /// Whether a word begins another filter or option. The first value of a filter is never taken for one.
    private let isName: (Text) -> Bool

    init(_ words: [Text], isName: @escaping (Text) -> Bool) {
        self.words = words
        self.isName = isName
    }

    var isAtEnd: Bool { index == words.count }

    /// The next word.
    mutating func next() throws(CatalogueError) -> Text {
        guard index < words.count else { throw .syntax("a value of \(name) is missing") }
        defer { index += 1 }
        return words[index]
    }

    /// Passes over the next word if it is this one, in any case.
    mutating func take(_ keyword: String) -> Bool {
        guard index < words.count, words[index].capitals == keyword else { return false }
        index += 1
        return true
    }

    /// Whether a name stands next, or nothing.
    var isAtName: Bool { isAtEnd || isName(words[index]) }

    /// The next word, and those after it up to the next name, all without the quote.
    mutating func texts() throws(CatalogueError) -> [Text] {
        var values: [Text] = []
        repeat {
            let word = try next()
            // By bytes: an accent may follow.
            values.append(word.utf8.first == Self.quote ? Text(String(Substring(word.utf8.dropFirst()))) : word)
        } while values.count < Self.maximumValues && !isAtName
        return values
    }

    /// The same for a filter whose values cannot be empty.
    mutating func some(_ name: String) throws(CatalogueError) -> [Text] {
        let values = try texts()
        guard !values.contains(where: \.isEmpty) else { throw .invalid(name, "must not be empty") }
        return values
    }

    /// The next word as a whole number from 0.
    mutating func number(_ name: String) throws(CatalogueError) -> Int64 {
        guard let number = FilterWords.number(try next().string), number >= 0 else {
            throw .invalid(name, "must be a whole number from 0")
        }
        return number
    }

    /// The number, if the text is its canonical spelling: `7`, not `+7` or `07`.
    static func number(_ text: String) -> Int64? {
        var text = text
        return text.withUTF8 { Int64(canonicalDecimal: UnsafeRawBufferPointer($0)) }
    }

    /// The next word as a number of an attribute, in millionths; nil for `*`.
    mutating func bound(ofAttribute name: String) throws(CatalogueError) -> Int64? {
        if take("*") { return nil }
        let word = try next()
        guard let number = FilterWords.attributeNumber(word) else { throw .invalid(name, AttributeNumber.rule) }
        return number
    }

    /// The number in millionths, if the text is one as JSON writes it.
    static func attributeNumber(_ text: Text) -> Int64? {
        // Nothing else is parsed: other values may be large.
        guard let first = text.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first),
            let value = try? JSONValue(Array(text.utf8)), case .number(let json) = value
        else { return nil }
        return AttributeNumber(json)?.millionths
    }

    /// The next word as a number from 0, times ten to the power of `digits`; nil for `*`.
    mutating func bound(_ name: String, digits: Int) throws(CatalogueError) -> Int64? {
        if take("*") { return nil }
        return try digits == 0 ? number(name) : decimal(name, digits: digits)
    }

    private mutating func decimal(_ name: String, digits: Int) throws(CatalogueError) -> Int64 {
        let word = try next().string
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
        guard !word.hasPrefix("-"), (1...2).contains(parts.count), let whole = FilterWords.number(String(parts[0])),
            (0...1_000_000).contains(whole),
            parts.count == 1 || (1...digits).contains(parts[1].utf8.count),
            parts.count == 1 || parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { throw .invalid(name, "must be a number from 0 with at most \(digits) decimals") }
        var fraction = parts.count == 2 ? String(parts[1]) : ""
        while fraction.utf8.count < digits { fraction += "0" }
        let scale = (0..<digits).reduce(Int64(1)) { scale, _ in scale * 10 }
        return whole * scale + (Int64(fraction) ?? 0)
    }
}

extension Text {
    /// The text with its letters as capitals, to be compared with names. A text with other letters than those of ASCII
    /// is no name: it stays as it is, as there are letters, such as the dotless i, whose capitals are ASCII.
    var capitals: String { utf8.allSatisfy { $0 < 0x80 } ? string.uppercased() : string }
}
