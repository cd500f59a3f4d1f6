// What is printed: text that cannot deceive its reader, and lines that the program does not wait for.

/// Text in a form that a terminal shows and never obeys.
public enum TerminalText {
    /// How to write a character that must not reach a terminal.
    public enum Notation: Sendable {
        /// `\u{1b}`, for people.
        case braces
        /// `\u001b`, inside JSON, where it means the same character.
        case json
    }

    /// The text as one line. Control characters, line breaks, characters that change the direction of text, and those
    /// that cannot be seen are replaced by their numbers. Applying it again changes nothing.
    public static func line(_ text: String, _ notation: Notation = .braces) -> String {
        if text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return text }
        var line = String.UnicodeScalarView()
        var before = Kind.plain
        for scalar in text.unicodeScalars {
            let kind = Kind(scalar)
            switch (kind, before) {
            case (.selector, .base), (.joiner, .base), (.joiner, .selector), (.base, _), (.plain, _):
                line.append(scalar)
                before = kind
            case (.mark, _): line.append(scalar)
            case (.unsafe, _), (.selector, _), (.joiner, _):
                line.append(contentsOf: escape(scalar, notation).unicodeScalars)
                before = .plain
            }
        }
        return String(line)
    }

    /// The text, which may have several lines. In a message, those after the first are indented, so that none looks like
    /// another message.
    public static func lines(_ text: String, indent: String = "") -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line(String($0)) }
            .joined(separator: "\n\(indent)")
    }

    private enum Kind {
        /// Obeyed by terminals, or invisible.
        case unsafe
        /// Invisible, and needed to write a language or an emoji: harmless once behind what it joins.
        case joiner
        /// Invisible, and harmless once behind the picture that it varies.
        case selector
        /// A letter of a script that may need joiners, or a picture.
        case base
        /// What belongs to the character before it.
        case mark
        case plain

        init(_ scalar: Unicode.Scalar) {
            switch scalar.value {
            case 0..<0x20, 0x7f..<0xa0: self = .unsafe  // Control characters: C0, DELETE and C1.
            case 0x20..<0x7f: self = .plain
            case 0x2028, 0x2029, 0xfff9...0xfffb, 0xfffe, 0xffff: self = .unsafe  // Separators, and what is no text.
            case 0x200c, 0x200d: self = .joiner
            case 0xfe00...0xfe0f: self = .selector
            default:
                let properties = scalar.properties
                // With bidirectional controls.
                guard !properties.isDefaultIgnorableCodePoint else {
                    self = .unsafe
                    return
                }
                switch properties.generalCategory {
                case .otherLetter, .otherSymbol, .modifierSymbol: self = .base
                case .nonspacingMark, .spacingMark: self = .mark
                default: self = .plain
                }
            }
        }
    }

    private static func escape(_ scalar: Unicode.Scalar, _ notation: Notation) -> String {
        switch notation {
        case .braces: "\\u{\(String(scalar.value, radix: 16))}"
        case .json:
            scalar.utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
            }.joined()
        }
    }
}
