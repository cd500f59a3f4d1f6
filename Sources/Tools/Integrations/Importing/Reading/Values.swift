internal import Domain

// How the texts of a file become values. A reason continues a sentence that begins with the field's name.

extension String {
    /// The text without blanks around it, and with one blank for every line end or tab inside: names and
    /// addresses are one line, and tabs come from whatever the text was copied out of.
    var onOneLine: String {
        split { $0.isNewline || $0 == "\t" }.map { $0.trimmingBlanks }.joined(separator: " ").trimmingBlanks
    }
}

extension StringProtocol {
    var trimmingBlanks: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }),
            let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}

extension Int64 {
    /// The decimal number `text` times ten to the power of `digits`, exactly: `"4.4"` with two digits is 440.
    init(decimal text: String, digits: Int) throws(Malformed) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = parts.count == 2 ? parts[1] : "0"
        guard !parts[0].isEmpty, !fraction.isEmpty,
            (parts[0] + fraction).utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { throw Malformed("'\(text.shortened)' is not a number") }
        var significant = fraction
        while significant.last == "0" { significant.removeLast() }
        guard significant.count <= digits else {
            throw Malformed(
                digits == 0
                    ? "'\(text.shortened)' has decimals"
                    : "'\(text.shortened)' has more than \(digits) decimals")
        }
        let zeros = String(repeating: "0", count: digits - significant.count)
        guard let value = Int64(parts[0] + significant + zeros) else {
            throw Malformed("'\(text.shortened)' is too large")
        }
        self = value
    }

    /// The number with a comma between thousands: `8,680`.
    var grouped: String {
        var rest = String(magnitude)[...]
        var groups: [Substring] = []
        while !rest.isEmpty {
            groups.insert(rest.suffix(3), at: 0)
            rest = rest.dropLast(3)
        }
        return (self < 0 ? "-" : "") + groups.joined(separator: ",")
    }
}

extension Int {
    /// The number with a comma between thousands: `8,680`.
    var grouped: String { Int64(self).grouped }

    /// The number and what it counts: `1 row`, `8,680 rows`.
    func counted(_ noun: String, plural: String? = nil) -> String {
        "\(grouped) \(self == 1 ? noun : plural ?? noun + "s")"
    }
}

extension String {
    private static let shownLength = 40

    /// The start of the text, for messages that quote it.
    var shortened: String {
        count <= String.shownLength ? self : prefix(String.shownLength) + "…"
    }

    /// Whether the text can be an id.
    var isIdentifier: Bool { Identifier(self) != nil }
}
