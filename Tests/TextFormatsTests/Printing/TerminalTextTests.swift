import Foundation
import SeededRandom
import Testing
import TextFormats

@Suite struct TerminalTextTests {
    /// What makes a terminal do something, or show something different from what is there.
    private static let unsafe: [Unicode.Scalar] =
        (0..<0x20).map { Unicode.Scalar($0 as UInt8) } + [
            "\u{7f}", "\u{80}", "\u{85}", "\u{9b}", "\u{9f}", "\u{61c}", "\u{200e}", "\u{200f}", "\u{2028}", "\u{2029}",
            "\u{202a}", "\u{202e}", "\u{2066}", "\u{2069}", "\u{ad}", "\u{200b}", "\u{2060}", "\u{feff}",
            "\u{3164}", "\u{fff9}", "\u{e0041}",
        ]
    private static let harmless = [
        "a", " ", "é", "e\u{301}", "தோசை", "🍱", "\u{a0}", "👩🏽\u{200d}🍳", "❤\u{fe0f}\u{200d}🔥", "ක්\u{200d}ෂ",
        "می\u{200c}خواهم", "\\u{1b}", "\"", "שלום",
    ]

    private static func text(_ random: inout SeededGenerator) -> String {
        (0..<random.below(12)).map { _ in
            random.chance(50) ? String(random.pick(unsafe)) : random.pick(harmless)
        }.joined()
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Nothing that a terminal obeys is left, and everything else is`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let text = Self.text(&random)
            for notation in [TerminalText.Notation.braces, .json] {
                let line = TerminalText.line(text, notation)
                #expect(!line.unicodeScalars.contains { Self.unsafe.contains($0) })
                #expect(TerminalText.line(line, notation) == line)
                #expect(TerminalText.line(line, .braces) == line)
            }
            // Inside JSON it means the same as before.
            let json = try JSONEncoder().encode(text.filter { !$0.unicodeScalars.contains { $0.value < 0x20 } })
            let line = TerminalText.line(String(decoding: json, as: UTF8.self), .json)
            let (told, meant) = try (
                JSONDecoder().decode(String.self, from: Data(line.utf8)), JSONDecoder().decode(String.self, from: json)
            )
            #expect(Array(told.utf8) == Array(meant.utf8))
        }
    }

    @Test func `A character that is left out is written as its number`() {
        #expect(TerminalText.line("a\r\u{1b}[2Kproven\u{202e}") == "a\\u{d}\\u{1b}[2Kproven\\u{202e}")
        #expect(TerminalText.line("\u{7f}\u{2028}", .json) == "\\u007f\\u2028")
        #expect(TerminalText.line("\u{e0041}", .json) == "\\udb40\\udc41")
        // Nothing is joined here: the two ids would look the same.
        #expect(TerminalText.line("grill\u{200d}e\u{301}\u{200c}") == "grill\\u{200d}e\u{301}\\u{200c}")
        #expect(TerminalText.lines("one\ntiffin: two\u{9b}", indent: "  ") == "one\n  tiffin: two\\u{9b}")
        #expect(Self.harmless.allSatisfy { TerminalText.line($0) == $0 })
    }
}
