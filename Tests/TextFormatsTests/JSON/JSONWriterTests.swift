import Testing

@testable import TextFormats

@Suite struct `Writing JSON` {
    static func text(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("", #""""#),
        ("plain / text", #""plain / text""#),
        (#"say "hi" \ bye"#, #""say \"hi\" \\ bye""#),
        ("\n\r\t", #""\n\r\t""#),
        ("\u{0}\u{8}\u{C}\u{1F}\u{7F}", "\"\\u0000\\u0008\\u000c\\u001f\u{7F}\""),
        ("é तं \u{1F371}\u{2028}", "\"é तं \u{1F371}\u{2028}\""),
    ])
    func `Strings escape what RFC 8259 demands and nothing else`(_ value: String, _ expected: String) {
        #expect(Self.text { $0.string(value) }.utf8.elementsEqual(expected.utf8))
        #expect(Self.text { $0.key(dynamic: value) }.utf8.elementsEqual((expected + ":").utf8))
    }

    @Test(arguments: [.min, .min + 1, -1_000, -10, -9, -1, 0, 1, 9, 10, 11, 99, 100, 101, .max - 1, .max] as [Int64])
    func `Integers are written as Swift writes them`(_ value: Int64) {
        #expect(Self.text { $0.integer(value) } == "\(value)")
    }

    @Test(arguments: [
        (0, 1, "0"), (0, 2, "0"), (5, 1, "0.5"), (5, 2, "0.05"), (50, 2, "0.5"), (440, 2, "4.4"), (445, 2, "4.45"),
        (400, 2, "4"), (405, 2, "4.05"), (999, 3, "0.999"), (1_000, 3, "1"), (1_234_567, 3, "1234.567"),
        (100_000_001, 8, "1.00000001"), (.max, 1, "922337203685477580.7"), (.max, 18, "9.223372036854775807"),
    ])
    func `A decimal has no superfluous digit`(_ value: Int, _ digits: Int, _ expected: String) {
        #expect(Self.text { $0.decimal(value, digits: digits) } == expected)
    }

    @Test func `Commas come between members and elements, and nowhere else`() {
        let text = Self.text { writer in
            writer.beginObject()
            writer.field("none", nil as Int?)
            writer.field("texts", ["a", "b"])
            writer.key("nested")
            writer.beginArray()
            writer.beginObject()
            writer.endObject()
            writer.beginArray()
            writer.endArray()
            writer.null()
            writer.bool(true)
            writer.raw("1e3".utf8)
            writer.endArray()
            writer.key(dynamic: "k")
            writer.decimal(150, digits: 2)
            writer.field("flag", false)
            writer.field("text", nil as String?)
            writer.endObject()
        }
        #expect(
            text
                == #"{"none":null,"texts":["a","b"],"nested":[{},[],null,true,1e3],"k":1.5,"flag":false,"text":null}"#)
    }

    @Test func `A writer that was cleared starts again`() {
        var writer = JSONWriter(reservingCapacity: 8)
        writer.integer(1)
        writer.removeAll()
        writer.integer(2)
        #expect(writer.bytes == Array("2".utf8))
    }
}
