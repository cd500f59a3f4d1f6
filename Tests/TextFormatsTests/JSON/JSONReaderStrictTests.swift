import Testing
import TextFormats

@Suite struct `Reading JSON strictly` {
    private static func members(_ text: String) throws(JSONReadingError) -> [String: Int64] {
        try JSONReader.read(Array(text.utf8)) { reader throws(JSONReadingError) in
            var values: [String: Int64] = [:]
            try reader.members(["a", "é"]) { (reader, key) throws(JSONReadingError) in
                values[key] = try reader.integer(in: -2...7)
            }
            return values
        }
    }

    @Test(arguments: [#"{"a":1,"é":7}"#, #" { "\u00e9" : 7 , "a" : 1 } "#])
    func `An object is read that has every member once, in any order`(_ text: String) throws {
        #expect(try Self.members(text) == ["a": 1, "é": 7])
    }

    @Test(arguments: [
        "{}", #"{"a":1}"#, #"{"é":1}"#, #"{"a":1,"é":1,"a":1}"#, #"{"a":1,"é":1,"b":1}"#, #"{"a":1,"e\#u{301}":1}"#,
        #"{"A":1,"é":1}"#, #"{"a":8,"é":1}"#, #"{"a":-3,"é":1}"#, #"{"a":1,"é":null}"#, "[]", "null", "",
    ])
    func `Any other is not`(_ text: String) {
        #expect(throws: JSONReadingError.self) { try Self.members(text) }
    }

    @Test func `The member that is there twice, or unknown, is told by its place`() {
        for key in ["a", "b"] {
            let error = #expect(throws: JSONReadingError.self) { try Self.members("{\"a\":1,\n \"\(key)\":1}") }
            #expect(error?.description == "expected only a, é, each once at line 2, column 2")
        }
    }
}
