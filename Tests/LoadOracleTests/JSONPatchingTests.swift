import SeededRandom
import Testing
import TextFormats

@testable import LoadOracle

@Suite("Patching documents according to RFC 6902")
struct JSONPatchingTests {
    private static func json(_ text: String) throws -> JSON { try #require(JSON(Array(text.utf8)), "\(text)") }

    private static func patched(_ document: String, _ operations: String) throws -> JSON {
        try json(document).patched(by: try #require(json("[\(operations)]").array))
    }

    @Test(
        "does what each operation asks for",
        arguments: [
            // Members and elements are added before what is there, or last.
            (#"{"rice":1}"#, #"{"op":"add","path":"/kottu","value":2}"#, #"{"kottu":2,"rice":1}"#),
            (#"{"a":["x","z"]}"#, #"{"op":"add","path":"/a/1","value":"y"}"#, #"{"a":["x","y","z"]}"#),
            (#"{"a":["x"]}"#, #"{"op":"add","path":"/a/1","value":"y"}"#, #"{"a":["x","y"]}"#),
            (#"{"a":["x"]}"#, #"{"op":"add","path":"/a/-","value":["y","z"]}"#, #"{"a":["x",["y","z"]]}"#),
            (#"{"a":1}"#, #"{"op":"add","path":"/a","value":2}"#, #"{"a":2}"#),
            (#"{"a":{"b":{}}}"#, #"{"op":"add","path":"/a/b/c","value":{"d":null}}"#, #"{"a":{"b":{"c":{"d":null}}}}"#),
            (#"{"a":1}"#, #"{"op":"add","path":"","value":[1]}"#, "[1]"),
            (
                #"{"a":1}"#, #"{"op":"add","path":"/b","value":2,"why":"unknown members are passed over"}"#,
                #"{"a":1,"b":2}"#
            ),
            // Removed.
            (#"{"a":1,"b":2}"#, #"{"op":"remove","path":"/b"}"#, #"{"a":1}"#),
            (#"{"a":["x","y","z"]}"#, #"{"op":"remove","path":"/a/1"}"#, #"{"a":["x","z"]}"#),
            // Replaced.
            (#"{"a":1,"b":2}"#, #"{"op":"replace","path":"/a","value":"one"}"#, #"{"a":"one","b":2}"#),
            (#"[1,2,3]"#, #"{"op":"replace","path":"/0","value":9}"#, "[9,2,3]"),
            (#"{"a":1}"#, #"{"op":"replace","path":"","value":null}"#, "null"),
            // Moved and copied.
            (
                #"{"a":{"x":1,"y":2},"b":{"z":3}}"#, #"{"op":"move","from":"/a/y","path":"/b/w"}"#,
                #"{"a":{"x":1},"b":{"z":3,"w":2}}"#
            ),
            (#"[1,2,3,4]"#, #"{"op":"move","from":"/1","path":"/3"}"#, "[1,3,4,2]"),
            (#"[1,2,3,4]"#, #"{"op":"move","from":"/3","path":"/0"}"#, "[4,1,2,3]"),
            (#"{"a":[1]}"#, #"{"op":"copy","from":"/a","path":"/b"}"#, #"{"a":[1],"b":[1]}"#),
            // Tested.
            (#"{"a":["x",2]}"#, #"{"op":"test","path":"/a/1","value":2.0}"#, #"{"a":["x",2]}"#),
            (#"{"a":{"b":1,"c":2}}"#, #"{"op":"test","path":"/a","value":{"c":2,"b":1}}"#, #"{"a":{"b":1,"c":2}}"#),
            // Names with the characters that pointers use.
            (#"{"/":1,"~1":2}"#, #"{"op":"test","path":"/~01","value":2}"#, #"{"/":1,"~1":2}"#),
            (#"{"/":1,"~":2}"#, #"{"op":"replace","path":"/~1","value":3}"#, #"{"/":3,"~":2}"#),
            (#"{"":{"":1}}"#, #"{"op":"replace","path":"//","value":2}"#, #"{"":{"":2}}"#),
            (#"{"0":1}"#, #"{"op":"replace","path":"/0","value":2}"#, #"{"0":2}"#),
            // One after the other.
            (
                #"{"a":[]}"#, #"{"op":"add","path":"/a/0","value":{}},{"op":"add","path":"/a/0/b","value":1}"#,
                #"{"a":[{"b":1}]}"#
            ),
            (#"{"a":1}"#, "", #"{"a":1}"#),
        ])
    func operations(document: String, operations: String, result: String) throws {
        #expect(try Self.patched(document, operations) == Self.json(result))
    }

    @Test(
        "refuses operations that cannot be done",
        arguments: [
            (#"{"a":1}"#, #"{"op":"add","path":"/b/c","value":1}"#),
            (#"{"a":1}"#, #"{"op":"add","path":"/a/c","value":1}"#),
            (#"{"a":[1]}"#, #"{"op":"add","path":"/a/2","value":1}"#),
            (#"{"a":[1]}"#, #"{"op":"add","path":"/a/x","value":1}"#),
            (#"{"a":[1]}"#, #"{"op":"add","path":"/a/01","value":1}"#),
            (#"{"a":[1]}"#, #"{"op":"add","path":"/a/-1","value":1}"#),
            (#"{"a":[1]}"#, #"{"op":"add","path":"/a/+0","value":1}"#),
            (#"{"a":1}"#, #"{"op":"add","path":"/b"}"#),
            (#"{"a":1}"#, #"{"op":"add","path":"b","value":1}"#),
            (#"{"a":1}"#, #"{"op":"remove","path":"/b"}"#),
            (#"[1]"#, #"{"op":"remove","path":"/1"}"#),
            (#"[1]"#, #"{"op":"remove","path":"/-"}"#),
            (#"{"a":1}"#, #"{"op":"replace","path":"/b","value":1}"#),
            (#"[1]"#, #"{"op":"replace","path":"/1","value":1}"#),
            (#"{"a":1}"#, #"{"op":"move","from":"/b","path":"/c"}"#),
            (#"{"a":{"b":1}}"#, #"{"op":"move","from":"/a","path":"/a/b"}"#),
            (#"{"a":1}"#, #"{"op":"move","path":"/c"}"#),
            (#"{"a":1}"#, #"{"op":"copy","from":"/b","path":"/c"}"#),
            (#"{"a":"x"}"#, #"{"op":"test","path":"/a","value":"y"}"#),
            (#"{"a":"10"}"#, #"{"op":"test","path":"/a","value":10}"#),
            (#"{"a":1}"#, #"{"op":"test","path":"/b","value":null}"#),
            (#"{"a":1}"#, #"{"op":"merge","path":"/a","value":1}"#),
            (#"{"a":1}"#, #"{"path":"/a","value":1}"#),
            (#"{"a":1}"#, #"{"op":"remove"}"#),
        ])
    func failures(document: String, operation: String) throws {
        #expect(throws: PatchFailure.self) { try Self.patched(document, operation) }
    }

    @Test("reads every document, and nothing else")
    func reading() throws {
        #expect(
            try Self.json(#" {"a":[1,-2.5,"é",true,null]} "#)["a"]
                == .array([.number(1), .number(-2.5), .string("é"), .bool(true), .null]))
        for text in ["", "{", "[1,]", #"{"a":1,"a":2}"#, "1 2", "nul", "'a'"] {
            #expect(JSON(Array(text.utf8)) == nil, "\(text)")
        }
    }

    @Test(
        "gives the first difference between documents",
        arguments: [
            (#"{"a":[1,{"b":2}]}"#, #"{"a":[1,{"b":3}]}"#, "/a/1/b: 2 and 3"),
            (#"{"a":1}"#, #"{"a":1,"b":"x"}"#, #"/b: absent and "x""#),
            (#"{"a":1,"b":null}"#, #"{"a":1}"#, "/b: null and absent"),
            (#"{"a":[1,2]}"#, #"{"a":[1]}"#, "/a: 2 and 1 elements"),
            (#"[{}]"#, "[[]]", "/0: an object of 0 and an array of 0"),
            ("1", "1.0", nil),
        ] as [(String, String, String?)])
    func difference(one: String, other: String, expected: String?) throws {
        #expect(try JSON.difference(Self.json(one), Self.json(other)) == expected)
    }

    // MARK: Compared with the server's patches

    @Test("gets the same result from the server's patch as the server", arguments: UInt64(0)..<16)
    func leads(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var document = JSONValue.document(&random)
        var operationCount = 0
        for _ in 0..<40 {
            let next = document.edited(&random)
            let patch = try #require(JSON(try JSONPatch.bytes(from: document.text, to: next.text))?.array)
            let (old, new) = (try #require(JSON(document.text)), try #require(JSON(next.text)))
            #expect(JSON.difference(try old.patched(by: patch), new) == nil)
            operationCount += patch.count
            document = next
        }
        #expect(operationCount > 20)
    }

    @Test("notices a missing operation, and one too many", arguments: UInt64(0)..<16)
    func mutations(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            let document = JSONValue.document(&random)
            let next = document.edited(&random)
            let patch = try #require(JSON(try JSONPatch.bytes(from: document.text, to: next.text))?.array)
            let (old, new) = (try #require(JSON(document.text)), try #require(JSON(next.text)))
            guard !patch.isEmpty else { continue }
            #expect((try? old.patched(by: patch.dropLast())) != new)
            let stray = JSON.object(["op": .string("add"), "path": .string("/stray"), "value": .null])
            #expect((try? old.patched(by: patch + [stray])) != new)
        }
    }
}
