import SeededRandom
import Testing

@testable import Catalogue

@Suite struct FoldingTests {
    @Test(arguments: [
        ("", ""), ("Jalapeño", "jalapeno"), ("jalapen\u{303}o", "jalapeno"), ("Crème Brûlée", "creme brulee"),
        ("SMØRREBRØD", "smorrebrod"), ("Łódź", "lodz"), ("Æbleskiver", "aebleskiver"), ("Straße", "strasse"),
        ("STRAẞE", "strasse"), ("İstanbul", "istanbul"), ("ılık", "ilik"), ("Bánh mì ĐẶC", "banh mi dac"),
        ("ＡＢＣ　１２３", "abc 123"), ("ﬁsh", "fish"), ("ɢʀɪʟʟ", "grill"), ("þorramatur", "thorramatur"),
        ("Μουσακάς", "μουσακασ"), ("ΜΟΥΣΑΚΑΣ", "μουσακασ"), ("Ёжик", "ежик"), ("كَبَاب", "كباب"),
        ("می\u{200C}خواهم", "میخواهم"), ("ශ්\u{200D}රී", "ශ්රී"), ("කොත්තු", "කොත්තු"), ("தோசை", "தோசை"),
        ("पनीर टिक्का", "पनीर टिक्का"), ("ผัดไทย", "ผัดไทย"), ("ﾊﾞﾅﾅ", "バナナ"), ("が", "が"), ("か\u{3099}", "が"),
        ("김치", "김치"), ("\u{1100}\u{1175}\u{11B7}", "김"), ("宫保鸡丁", "宫保鸡丁"), ("1️⃣", "1"),
        ("\0 \u{10FFFF}", "\0 \u{10FFFF}"),
    ])
    func `case, accents, width and compatibility forms are ignored`(_ text: String, _ folded: String) {
        #expect(TextAnalyser().fold(text).unicodeScalars.elementsEqual(folded.unicodeScalars))
    }

    @Test func `folding a folded character changes nothing`() {
        let analyser = TextAnalyser()
        for first in stride(from: UInt32(0), to: 0x110000, by: 64) {
            var text = String.UnicodeScalarView()
            for scalar in (first..<first + 64).compactMap(Unicode.Scalar.init) {
                text.append(contentsOf: [" ", scalar])
            }
            let folded = analyser.fold(String(text))
            #expect(analyser.fold(folded).utf8.elementsEqual(folded.utf8), "\(String(first, radix: 16))")
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `folding a folded text changes nothing`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let analyser = TextAnalyser()
        for _ in 0..<200 {
            let folded = analyser.fold(RandomText.ofAnything(&random))
            #expect(analyser.fold(folded).utf8.elementsEqual(folded.utf8), "\(folded.unicodeScalars.map(\.value))")
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `texts that differ in case are folded to the same`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let analyser = TextAnalyser()
        for _ in 0..<50 {
            let text = RandomText.ofNames(&random)
            #expect(analyser.fold(text.uppercased()) == analyser.fold(text))
            #expect(analyser.fold(text.lowercased()) == analyser.fold(text))
        }
    }

    @Test func `ASCII is classed as ICU classes it`() {
        for byte in UInt8(0)..<0x80 {
            #expect(CharacterClass(ascii: byte) == CharacterClass(Unicode.Scalar(byte)), "\(byte)")
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `ASCII is treated as ICU treats it`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let direct = TextAnalyser()
        let throughICU = TextAnalyser(foldsASCIIItself: false)
        for _ in 0..<100 {
            let text = RandomText.ofASCII(&random)
            #expect(direct.fold(text) == throughICU.fold(text))
            #expect(direct.terms(of: text) == throughICU.terms(of: text))
            let terms = Result { () throws(TooManyTerms) in try direct.queryTerms(of: text) }
            #expect(terms == Result { () throws(TooManyTerms) in try throughICU.queryTerms(of: text) })
        }
    }

    @Test func `only the beginning of a text beyond the bound counts`() {
        let analyser = TextAnalyser()
        let limit = TextAnalyser.maximumTextLength
        #expect(analyser.fold(String(repeating: "A", count: limit + 5)) == String(repeating: "a", count: limit))
        // Three bytes each: the last one within the bound is incomplete.
        #expect(analyser.fold(String(repeating: "鸡", count: limit)) == String(repeating: "鸡", count: limit / 3))
        // The character with the longest compatibility form.
        #expect(!analyser.fold(String(repeating: "\u{FDFA}", count: limit)).isEmpty)
    }
}
