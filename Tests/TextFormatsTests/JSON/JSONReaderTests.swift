import Testing

@testable import TextFormats

@Suite struct `Reading JSON` {
    static func integer(_ text: String) throws(JSONReadingError) -> Int64 {
        try JSONReader.read(Array(text.utf8)) { reader throws(JSONReadingError) in try reader.integer() }
    }

    static func string(_ text: [UInt8]) throws(JSONReadingError) -> String {
        try JSONReader.read(text) { reader throws(JSONReadingError) in try reader.string() }
    }

    // MARK: Numbers

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("7", 7), (" \t\r\n42 \n", 42), ("-1", -1), ("9223372036854775807", .max),
            ("-9223372036854775808", .min),
        ] as [(String, Int64)])
    func `An integer is read to its last digit`(_ text: String, _ expected: Int64) throws {
        #expect(try Self.integer(text) == expected)
    }

    @Test(arguments: [
        "", "-", "+1", "00", "01", "-01", "1.0", "1.", ".5", "1e3", "1E3", "0x1", "1_000", "--1", "1 2", "NaN", "١",
        "Infinity", "9223372036854775808", "-9223372036854775809", "99999999999999999999999999", "\"1\"", "null",
    ])
    func `Other text is not an integer`(_ text: String) {
        #expect(throws: JSONReadingError.self) { try Self.integer(text) }
    }

    // MARK: Strings

    @Test(arguments: [
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        (#""\u0041\u00e9\u00E9\u0000""#, "Aéé\u{0}"),
        (#""\ud83c\udf71 \uD83C\uDF71""#, "\u{1F371} \u{1F371}"),
        (#""\ud800\udc00\udbff\udfff""#, "\u{10000}\u{10FFFF}"),
        (#""\ud7ff\ue000""#, "\u{D7FF}\u{E000}"),
        (#""e\u0301""#, "e\u{301}"),
        ("\"é\u{1F371}\u{7F}\"", "é\u{1F371}\u{7F}"),
    ])
    func `Strings are unescaped scalar by scalar`(_ text: String, _ expected: String) throws {
        #expect(try Self.string(Array(text.utf8)).utf8.elementsEqual(expected.utf8))
    }

    @Test(arguments: ["", "é", "\u{1F371}", "\u{80}"], [#"\""#, #"\n"#, "\u{1F}", "\u{7F}", ""])
    func `A string is read to its end, wherever that and what is special lie`(_ text: String, _ special: String) throws
    {
        for length in 0..<20 {
            for rest in 0..<20 {
                let (before, after) = (
                    String(repeating: "x", count: length) + text, String(repeating: "y", count: rest)
                )
                let read = Result { () throws(JSONReadingError) in
                    try Self.string(Array("\"\(before)\(special)\(after)\"  ".utf8))
                }
                let meaning = special == #"\""# ? "\"" : special == #"\n"# ? "\n" : special
                if special == "\u{1F}" {
                    let error = JSONReadingError(
                        expected: "no control character in a string", line: 1, column: before.unicodeScalars.count + 2)
                    #expect(read == .failure(error))
                } else {
                    #expect(try read.get() == before + meaning + after)
                }
            }
        }
    }

    @Test func `A key is the one that it is compared with, and no other, at every length`() throws {
        func isSame(_ key: String, _ text: StaticString) throws -> Bool? {
            try JSONReader.read(Array("{\"\(key)\":0}".utf8)) { reader throws(JSONReadingError) in
                try reader.beginObject()
                let same = try reader.nextKey().map { $0 == text }
                _ = try reader.integer()
                _ = try reader.nextKey()
                return same
            }
        }
        let texts: [StaticString] = [
            "", "a", "ab", "abc", "abcd", "abcde", "abcdefg", "abcdefgh", "abcdefghi", "abcdefghijklmnop",
            "abcdefghijklmnopqrstuvwxyz",
        ]
        for text in texts {
            let key = "\(text)"
            #expect(try isSame(key, text) == true)
            #expect(try isSame(key + "x", text) == false)
            for index in key.indices {
                var other = key
                other.replaceSubrange(index...index, with: "_")
                #expect(try isSame(other, text) == false)
            }
        }
    }

    @Test func `Every scalar survives its escape`() throws {
        for value in stride(from: UInt32(0), through: 0x10FFFF, by: 7) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let escapes = UTF16.encode(scalar)!.map { unit in
                #"\u"# + String(repeating: "0", count: 4 - String(unit, radix: 16).count) + String(unit, radix: 16)
            }
            let text = try Self.string(Array("\"\(escapes.joined())\"".utf8))
            #expect(Array(text.unicodeScalars) == [scalar])
        }
    }

    // MARK: Structure

    @Test func `Keys come in their order, and values that are not read are skipped`() throws {
        let text = Array(#" { "a" : [ 1 , { } ] , "b" : { "c" : null } , "d" : true } "#.utf8)
        let keys = try JSONReader.read(text) { reader throws(JSONReadingError) in
            var keys: [String] = []
            try reader.beginObject()
            while let key = try reader.nextKey() { keys.append("\(key)=\(Self.text(try reader.rawValue()))") }
            return keys
        }
        #expect(keys == ["a=[ 1 , { } ]", #"b={ "c" : null }"#, "d=true"])
    }

    @Test(arguments: [
        (#"{"line":1}"#, true), (#"{"l\u0069ne":1}"#, true), (#"{"\u006C\u0069\u006e\u0065":1}"#, true),
        (#"{"lines":1}"#, false), (#"{"lin":1}"#, false), (#"{"":1}"#, false), (#"{"lin\n":1}"#, false),
        (#"{"lin\\u0065":1}"#, false), (#"{"日本":1}"#, false),
    ])
    func `A key is what it means, however it is written`(_ text: String, _ isLine: Bool) throws {
        try JSONReader.read(Array(text.utf8)) { reader throws(JSONReadingError) in
            try reader.beginObject()
            while let key = try reader.nextKey() {
                #expect((key == "line") == isLine)
                #expect((key.description == "line") == isLine)
                _ = try reader.rawValue()
            }
        }
    }

    @Test(arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80]] as [[UInt8]])
    func `A key that is not UTF-8 is an error`(_ bytes: [UInt8]) {
        let text = Array(#"{"a"#.utf8) + bytes + Array(#"":1}"#.utf8)
        #expect(throws: JSONReadingError.self) { try JSONValue(text) }
    }

    @Test func `A null is read if there is one`() throws {
        let values = try JSONReader.read(Array("[null, 5,null]".utf8)) { reader throws(JSONReadingError) in
            var values: [Int64?] = []
            try reader.beginArray()
            while try reader.nextElement() { values.append(reader.takeNull() ? nil : try reader.integer()) }
            return values
        }
        #expect(values == [nil, 5, nil])
    }

    @Test(arguments: [
        (#"{"a":1,"b":?}"#, "a value at line 1, column 12"), ("", "a value at line 1, column 1"),
        ("{\r\n  \"日本\": 1\r\n", "',' at line 3, column 1"), ("[1,\n\n \"é\u{1F371}\" 2]", "',' at line 3, column 7"),
        ("{\"a\":1,\n \"b\":2, \"\\u0061\":3}", "no key that the object already has at line 2, column 9"),
    ])
    func `An error names the line and the column that are wrong`(_ text: String, _ expected: String) {
        let error = #expect(throws: JSONReadingError.self) { try JSONValue(Array(text.utf8)) }
        #expect(error?.description == "expected \(expected)")
    }

    @Test(arguments: [1, 2, 16, 17, 18, 200])
    func `A key that is there twice is refused where it stands, among few and many`(_ count: Int) throws {
        let members = (0..<count).map { "\"k\($0)\":0" }
        #expect(try JSONValue(Array("{\(members.joined(separator: ","))}".utf8)) != .null)
        for repeated in [0, count / 2, count - 1] {
            let error = #expect(throws: JSONReadingError.self) {
                let text = "[{\(members.joined(separator: ",\n")),\n\"k\(repeated)\":0}]"
                _ = try JSONValue(Array(text.utf8))
            }
            #expect(
                error
                    == JSONReadingError(expected: "no key that the object already has", line: count + 1, column: 1))
        }
    }

    @Test(arguments: [("[", "]"), (#"{"k":"#, "}"), (#"[{"k":"#, "}]")])
    func `Nesting is read to its bound and refused beyond it`(_ opening: String, _ closing: String) throws {
        let levels = JSONReader.maximumDepth / opening.filter { "[{".contains($0) }.count
        func text(_ levels: Int) -> [UInt8] {
            Array((String(repeating: opening, count: levels) + "[]" + String(repeating: closing, count: levels)).utf8)
        }
        #expect(try JSONValue(text(levels - 1)).text == text(levels - 1))
        #expect(throws: JSONReadingError.self) { try JSONValue(text(levels)) }
        #expect(throws: JSONReadingError.self) { try JSONValue(text(100_000)) }
        #expect(throws: JSONReadingError.self) {
            try JSONValue(Array(String(repeating: opening, count: 100_000).utf8))
        }
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }
}
