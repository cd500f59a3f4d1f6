/// Text in a form that a terminal shows and never obeys.
public enum TerminalText {
    /// How to write a character that must not reach a terminal.
    public enum Notation: Sendable {
        /// `\u{1b}`, for people.
        case braces
        /// `\u001b`, inside JSON, where it means the same character.
        case json
    }

    /// The text as one line. Control characters, line breaks, and characters that change the direction of text are
    /// replaced by their numbers. Applying it again changes nothing.
    public static func line(_ text: String, _ notation: Notation = .braces) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) {
                line.append(contentsOf: escape(scalar, notation).unicodeScalars)
            } else {
                line.append(scalar)
            }
        }
        return String(line)
    }

    /// Marks that join emoji or shape letters stay: many languages need them.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0: true  // Control characters: C0, DELETE and C1.
        case 0x2028, 0x2029: true  // Line and paragraph separators.
        case 0x61c, 0x200e, 0x200f, 0x202a...0x202e, 0x2066...0x2069: true  // Bidirectional controls.
        default: false
        }
    }

    private static func escape(_ scalar: Unicode.Scalar, _ notation: Notation) -> String {
        let digits = String(scalar.value, radix: 16)
        switch notation {
        case .braces: return "\\u{\(digits)}"
        case .json: return "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
        }
    }
}
