import Domain
import LineProtocol
import Testing

@testable import Server

/// The options of a call `X <options>` that knows `NOTE` and `UNTIL`.
@Suite struct CallOptionsTests {
    private static func read<Value>(_ words: [String], _ value: (CallOptions) throws -> Value) throws -> Value {
        try withCall(["X"] + words) { try value(CallOptions(ofWrite: $0, from: 1, "NOTE", "UNTIL")) }
    }

    private static func read<Value>(_ options: String, _ value: (CallOptions) throws -> Value) throws -> Value {
        try read(options.words, value)
    }

    @Test(arguments: [
        ("", [:]),
        ("NOTE a", ["NOTE": "a"]),
        ("note a", ["NOTE": "a"]),
        ("NOTE a ID b", ["NOTE": "a", "ID": "b"]),
        ("ID b NOTE a", ["NOTE": "a", "ID": "b"]),
        ("VERSION 3 UNTIL x Id b NOTE a", ["NOTE": "a", "ID": "b", "UNTIL": "x", "VERSION": "3"]),
        ("NOTE NOTE", ["NOTE": "NOTE"]),
        ("NOTE ID ID NOTE", ["NOTE": "ID", "ID": "NOTE"]),
    ])
    func `options come in any order and any case`(options: String, values: [String: String]) throws {
        let read = try Self.read(options) { options in
            ["NOTE", "UNTIL", "ID", "VERSION"].reduce(into: [:]) { $0[$1] = options[$1]?.string }
        }
        #expect(read == values)
    }

    @Test(arguments: [
        "NOTE", "ID", "NOTE a ID", "REASON a", "NOTES a", "a NOTE", "NOTE a NOTE b", "ID a id a", "NOTE a b",
    ])
    func `anything else is a syntax error`(options: String) throws {
        let failure = try failure { try Self.read(options) { _ in } }
        #expect(failure == "ERR syntax error")
    }

    @Test(arguments: ["ID a", "VERSION 1", "NOTE a ID b"])
    func `a read takes no option of writes`(options: String) throws {
        let failure = try failure {
            try withCall(["X"] + options.words) { _ = try CallOptions(ofRead: $0, from: 1, "NOTE") }
        }
        #expect(failure == "ERR syntax error")
    }

    // MARK: Values

    @Test(arguments: [("", nil), ("VERSION 0", 0), ("VERSION 7", 7), ("VERSION 9223372036854775807", Int64.max)])
    func `a version is a whole number from 0`(options: String, version: Int64?) throws {
        let read = try Self.read(options) { try $0.expectedVersion }
        #expect(read == version)
    }

    @Test(arguments: ["-1", "x", "1.0", "01", "+1", "9223372036854775808"])
    func `any other version is refused`(text: String) throws {
        let failure = try failure { _ = try Self.read("VERSION \(text)") { try $0.expectedVersion } }
        #expect(failure == "INVALID VERSION: must be a whole number from 0")
    }

    @Test(arguments: [
        ("2026-03-01T12:00:00Z", 1_772_366_400_000), ("2026-03-01T12:00:00.25Z", 1_772_366_400_250),
        ("2026-03-01T14:00:00+02:00", 1_772_366_400_000),
    ])
    func `a time may have an offset and a fraction`(text: String, milliseconds: Int64) throws {
        let read = try Self.read("UNTIL \(text)") { try $0.timestamp("UNTIL") }
        #expect(read == Timestamp(millisecondsSinceEpoch: milliseconds))
    }

    @Test(arguments: ["tomorrow", "2026-03-01", "12:00", "1772366400", "2026-13-01T12:00:00Z"])
    func `any other time is refused`(text: String) throws {
        let failure = try failure { _ = try Self.read("UNTIL \(text)") { try $0.timestamp("UNTIL") } }
        #expect(failure == "INVALID UNTIL: must be a time such as 2026-03-01T12:00:00Z")
    }

    @Test(arguments: [(0, false), (1, true), (64, true), (65, false)])
    func `an ID has up to 64 bytes`(length: Int, isTaken: Bool) throws {
        let call = ["X", "ID", String(repeating: "i", count: length)]
        let failure = try failure {
            _ = try withCall(call) { try CallOptions(ofWrite: $0, from: 1).metadata(of: $0) }
        }
        #expect(failure == (isTaken ? nil : "INVALID ID: must have 1–64 bytes of UTF-8"))
    }
}
