import Domain
import EventLog
import Testing
import TextFormats
import Users

@testable import Application

/// The parameters of a write `X <thing> NOTE … UNTIL … TOTAL …`, and of a read.
@Suite struct CallTests {
    private struct Keys {
        var thing: Parameter<Identifier>
        var extra: OptionalParameter<Int64>
        var note: OptionalParameter<Text>
        var until: OptionalParameter<Timestamp>
    }

    private static func declaration(_ effect: CommandDeclaration.Effect) -> (CommandDeclaration, Keys) {
        var parameters = ParameterList(for: "X")
        let thing = parameters.required("thing", .identifier)
        let extra = parameters.optional("extra", .integer)
        let note = parameters.option("NOTE", "text", .text)
        let until = parameters.option("UNTIL", "time", .time)
        let declaration = CommandDeclaration("X", .carts, role: .customer, effect: effect, "Tests.", parameters)
        return (declaration, Keys(thing: thing, extra: extra, note: note, until: until))
    }

    private static func call<Value>(
        _ words: [String], _ effect: CommandDeclaration.Effect = .write(.cart),
        _ value: (borrowing Call, Keys) throws -> Value
    ) throws -> Value {
        let (declaration, keys) = declaration(effect)
        return try withArguments(["X", "a", "7"] + words) { try value(try Call(declaration, $0), keys) }
    }

    private static func refusal(_ words: [String], _ effect: CommandDeclaration.Effect = .write(.cart)) throws
        -> String?
    {
        try failure { try call(words, effect) { _, _ in } }
    }

    @Test(
        arguments: [
            ("", nil, nil, nil), ("NOTE a", "a", nil, nil), ("note a", "a", nil, nil), ("NOTE a ID b", "a", "b", nil),
            ("ID b NOTE a", "a", "b", nil), ("VERSION 3 Id b NOTE a", "a", "b", 3), ("NOTE NOTE", "NOTE", nil, nil),
            ("NOTE ID ID NOTE", "ID", "NOTE", nil),
        ] as [(String, String?, String?, Int64?)])
    func `options come in any order and any letter case`(
        options: String, note: String?, id: String?, version: Int64?
    ) throws {
        try Self.call(options.words) { call, keys in
            let (foundNote, metadata, foundVersion) = (
                try call[keys.note], try call.metadata(), try call.expectedVersion
            )
            #expect(foundNote?.string == note)
            #expect(metadata.commandID.map { "\($0)" } == id)
            #expect(foundVersion == version)
            let (thing, extra) = (try call[keys.thing], try call[keys.extra])
            #expect(thing.rawValue == "a")
            #expect(extra == 7)
        }
    }

    @Test(arguments: [
        ("NOTE", "a value is missing after 'NOTE'"), ("id", "a value is missing after 'id'"),
        ("NOTE a ID", "a value is missing after 'ID'"), ("NOTE a NOTE b", "'NOTE' is given twice"),
        ("ID a id a", "'id' is given twice"),
    ])
    func `what an option stumbles over is said`(options: String, detail: String) throws {
        #expect(try Self.refusal(options.words) == "ERR syntax error: \(detail)")
    }

    @Test(arguments: [("REASON a", "REASON"), ("NOTES a", "NOTES"), ("a NOTE", "a"), ("NOTE a b", "b")])
    func `a word that is no option is named, with the options that there are`(options: String, word: String) throws {
        #expect(
            try Self.refusal(options.words)
                == "ERR syntax error: '\(word)' is no option of X, which takes NOTE, UNTIL, ID, VERSION, FLOW, ACTOR, TRACE"
        )
    }

    @Test func `of a long word the beginning is repeated`() throws {
        let refusal = try #require(try Self.refusal([String(repeating: "x", count: 65)]))
        #expect(refusal.hasPrefix("ERR syntax error: '\(String(repeating: "x", count: 64))…' is no option"))
    }

    @Test(arguments: [("ID a", "ID"), ("VERSION 1", "VERSION"), ("NOTE a ID b", "ID")])
    func `a read takes no option of writes`(options: String, word: String) throws {
        #expect(
            try Self.refusal(options.words, .read)
                == "ERR syntax error: '\(word)' is no option of X, which takes NOTE, UNTIL")
    }

    @Test func `a required option may not be missing`() throws {
        var parameters = ParameterList(for: "X")
        let total = parameters.requiredOption("TOTAL", "minor", .amount)
        let declaration = CommandDeclaration("X", .carts, role: .customer, effect: .write(.cart), "Tests.", parameters)
        let read = { (words: [String]) throws -> Amount in
            try withArguments(["X"] + words) { try Call(declaration, $0)[total] }
        }
        #expect(try read(["TOTAL", "5"]) == Amount(minorUnits: 5))
        let usage =
            "usage: X TOTAL <minor> [ID <id>] [VERSION <version>] [FLOW <id>] [ACTOR <name>] [TRACE <traceparent>]"
        #expect(try failure { _ = try read(["ID", "a"]) } == "ERR syntax error: TOTAL is missing; \(usage)")
        #expect(try failure { _ = try read([]) } == "ERR wrong number of arguments for 'x' command; \(usage)")
    }

    // MARK: Values

    @Test(arguments: ["0", "7", "9223372036854775807"])
    func `a version is a whole number from 0`(text: String) throws {
        #expect(try Self.call(["VERSION", text]) { call, _ in try call.expectedVersion } == Int64(text))
    }

    @Test(arguments: ["-1", "x", "1.0", "01", "+1", "9223372036854775808"])
    func `other versions are refused`(text: String) throws {
        let failure = try failure { _ = try Self.call(["VERSION", text]) { call, _ in try call.expectedVersion } }
        #expect(failure == "INVALID VERSION: must be a whole number from 0")
    }

    @Test(arguments: [
        ("2026-03-01T12:00:00Z", 1_772_366_400_000), ("2026-03-01T12:00:00.25Z", 1_772_366_400_250),
        ("2026-03-01T14:00:00+02:00", 1_772_366_400_000),
    ])
    func `a time may have an offset and a fraction`(text: String, milliseconds: Int64) throws {
        let time = try Self.call(["UNTIL", text]) { call, keys in try call[keys.until] }
        #expect(time == Timestamp(millisecondsSinceEpoch: milliseconds))
    }

    @Test(arguments: ["tomorrow", "2026-03-01", "12:00", "1772366400", "2026-13-01T12:00:00Z"])
    func `other times are refused`(text: String) throws {
        let failure = try failure { _ = try Self.call(["UNTIL", text]) { call, keys in try call[keys.until] } }
        #expect(failure == "INVALID UNTIL: must be a time such as 2026-03-01T12:00:00Z")
    }

    @Test(arguments: [(0, false), (1, true), (64, true), (65, false)])
    func `an ID has up to 64 bytes`(length: Int, isTaken: Bool) throws {
        let words = ["ID", String(repeating: "i", count: length)]
        let failure = try failure { _ = try Self.call(words) { call, _ in try call.metadata() } }
        #expect(failure == (isTaken ? nil : "INVALID ID: must have 1–64 bytes of UTF-8"))
    }

    // MARK: Digests

    @Test(arguments: [
        ("c547b9878322fee2", nil),
        ("c547…", "the digest was cut short; give all of its 16 digits"),
        ("c547...", "the digest was cut short; give all of its 16 digits"),
        ("c547b9878322fee", "must be a digest of 16 hexadecimal digits, in small letters"),
        ("C547B9878322FEE2", "must be a digest of 16 hexadecimal digits, in small letters"),
        ("", "must be a digest of 16 hexadecimal digits, in small letters"),
    ])
    func `a digest is whole`(text: String, reason: String?) throws {
        let refusal = try withArguments(["X", text]) { arguments in
            try failure { _ = try ArgumentType<Text>.quoteDigest.read(arguments[1], "QUOTE") }
        }
        #expect(refusal == reason.map { "INVALID QUOTE: \($0)" })
    }
}
