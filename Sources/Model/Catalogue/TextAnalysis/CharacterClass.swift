internal import ICUBridge

/// What a character of folded text is to the splitting into terms.
enum CharacterClass {
    /// A letter or digit of a script that is written with spaces.
    case letter
    /// A letter of a script that is written without spaces.
    case unspacedLetter
    /// A mark on the letter before it.
    case mark
    case apostrophe
    /// Everything else.
    case separator

    /// The class of an ASCII character, without asking ICU.
    init(ascii byte: UInt8) {
        // Folded text has no capitals, but this may be asked about any character.
        if (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 {
            self = .letter
        } else {
            self = byte == UInt8(ascii: "'") ? .apostrophe : .separator
        }
    }

    /// The class of a character, as ICU knows it.
    init(_ character: Unicode.Scalar) {
        switch character {
        // Typewriter and typographic ones, and the two that are letters to Unicode: the Ukrainian and the Hawaiian.
        case "'", "\u{2018}", "\u{2019}", "\u{02BB}", "\u{02BC}": self = .apostrophe
        default:
            let code = Int32(bitPattern: character.value)
            if icu_bridge_is_letter_or_number(code) {
                self = CharacterClass.isUnspaced(code) ? .unspacedLetter : .letter
            } else {
                self = icu_bridge_is_mark(code) ? .mark : .separator
            }
        }
    }

    private static func isUnspaced(_ code: Int32) -> Bool {
        icu_bridge_needs_dictionary(code) || icu_bridge_is_used_in_han(code) || icu_bridge_is_used_in_kana(code)
    }
}
