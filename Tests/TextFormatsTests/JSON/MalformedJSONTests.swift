import SeededRandom
import Testing

@testable import TextFormats

@Suite struct `Malformed JSON` {
    @Test(arguments: [
        // Nothing, too much, the wrong thing.
        "", " ", "\u{FEFF}1", "1 1", "[] []", "{}x", "nul", "nulll", "True", "tru", "falsey", "undefined", "'a'", "a",
        "/* */1", "1//", "\u{B}1", "\u{A0}1",
        // Numbers.
        "NaN", "Infinity", "-Infinity", "-", "+1", "01", "-01", "00", "1.", ".5", "-.5", "1e", "1e+", "1.e1", "1.5.5",
        "0x10", "1_0", "1,0", "-a", "- 1",
        // Strings.
        "\"", "\"a", "\"a\\\"", #""\"#, #""\x41""#, #""\a""#, #""\u""#, #""\u12""#, #""\u123g""#, #""\u 123""#,
        #""\u+123""#, #""\U0041""#, "\"a\nb\"", "\"\t\"", "\"\u{0}\"", "\"\u{1F}\"", "\"\\n\u{1}\"",
        // Surrogates on their own.
        #""\ud800""#, #""\udc00""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\u0041""#, #""\ud800\ud800""#,
        #""\udc00\ud800""#, #""\udc00\udc00""#, #""\ud800\u""#, #""\ud800\"#,
        // Arrays.
        "[", "]", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1 2]", "[1,,2]", "[1}", "[1:2]", "[\"a\":1]",
        // Objects.
        "{", "}", "{1:2}", "{a:1}", #"{"a""#, #"{"a":"#, #"{"a":1"#, #"{"a":1,"#, #"{"a":1,}"#, #"{,"a":1}"#, "{,}",
        #"{"a" 1}"#, #"{"a":,}"#, #"{"a":1 "b":2}"#, #"{"a":1,,"b":2}"#, #"{"a":1]"#, #"{"a"::1}"#, #"{"a"}"#,
        #"{"a":1;"b":2}"#, #"{null:1}"#,
    ])
    func `Malformed text is refused`(_ text: String) {
        #expect(throws: JSONReadingError.self) { try JSONValue(Array(text.utf8)) }
    }

    @Test(
        "Bytes that are not UTF-8 are refused, in values and keys, with and without an escape",
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE2, 0x82],
            [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x8D],
            [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        ] as [[UInt8]])
    func invalidUTF8(_ bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        for escape in ["", #"\n"#] {
            let string = [quote] + escape.utf8 + bytes + [quote]
            #expect(throws: JSONReadingError.self) { try JSONValue(string) }
            #expect(throws: JSONReadingError.self) { try JSONValue(Array("{".utf8) + string + Array(":1}".utf8)) }
        }
        #expect(throws: JSONReadingError.self) { try JSONValue(bytes) }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Text cut short is refused`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let text = JSONValue.array([.random(&random)]).text
        for length in text.indices {
            #expect(throws: JSONReadingError.self) { try JSONValue(Array(text[..<length])) }
        }
    }
}
