import SeededRandom
import Testing

@testable import TextFormats

@Suite struct JSONPatchTests {
    private static func patch(_ old: String, _ new: String) throws -> String {
        String(decoding: try JSONPatch.bytes(from: Array(old.utf8), to: Array(new.utf8)), as: UTF8.self)
    }

    /// A long member, which makes a patch shorter than the document.
    private static let rest = #""rest":"\#(String(repeating: "x", count: 400))""#

    @Test(arguments: [
        (#""a":1"#, #""a":1"#, ""),
        (#""a":1"#, #""a":2"#, #"{"op":"replace","path":"/a","value":2}"#),
        (#""a":1"#, #""a":1.0"#, #"{"op":"replace","path":"/a","value":1.0}"#),
        (#""a":1"#, #""b":1"#, #"{"op":"remove","path":"/a"},{"op":"add","path":"/b","value":1}"#),
        (#""a":{"b":[1,2]}"#, #""a":{"b":[1]}"#, #"{"op":"remove","path":"/a/b/1"}"#),
        (#""a":1,"b":2"#, #""b":2,"a":1"#, ""),
        (
            #""a/b~c":1,"":0"#, #""a/b~c":2,"":1"#,
            #"{"op":"replace","path":"/a~1b~0c","value":2},{"op":"replace","path":"/","value":1}"#
        ),
        // Looks the same, but is not.
        (#""a":"\u00e9""#, #""a":"e\u0301""#, #"{"op":"replace","path":"/a","value":"e\u0301"}"#),
        // Without identity: what both ends have in common stays.
        (
            #""a":[1,2,3,4]"#, #""a":[1,9,4]"#,
            #"{"op":"replace","path":"/a/1","value":9},{"op":"remove","path":"/a/2"}"#
        ),
        (
            #""a":[1,4]"#, #""a":[1,2,3,4]"#,
            #"{"op":"add","path":"/a/1","value":2},{"op":"add","path":"/a/2","value":3}"#
        ),
        // With one: moves, and changes at the element's new place.
        (
            #""a":[{"id":"x","n":1},{"id":"y"},{"id":"z"}]"#, #""a":[{"id":"y"},{"id":"z"},{"id":"x","n":2}]"#,
            #"{"op":"move","path":"/a/2","from":"/a/0"},{"op":"replace","path":"/a/2/n","value":2}"#
        ),
        (
            #""a":[{"line":"x"},{"line":"y"}]"#, #""a":[{"line":"w"},{"line":"y"}]"#,
            #"{"op":"remove","path":"/a/0"},{"op":"add","path":"/a/0","value":{"line":"w"}}"#
        ),
        (
            #""a":[{"outlet":"o","item":"x"},{"outlet":"o","item":"y"}]"#, #""a":[{"outlet":"o","item":"y"}]"#,
            #"{"op":"remove","path":"/a/0"}"#
        ),
    ])
    func `a patch contains the differences, and no more`(old: String, new: String, operations: String) throws {
        let patch = try Self.patch("{\(old),\(Self.rest)}", "{\(new),\(Self.rest)}")
        #expect(patch == "[\(operations)]")
    }

    @Test(arguments: [("null", #"{"a":1}"#), (#"{"a":1}"#, "null"), (#"{"a":1,"b":2}"#, #"{"c":3}"#), ("1", "2")])
    func `a patch that would not be shorter replaces the document`(old: String, new: String) throws {
        #expect(try Self.patch(old, new) == #"[{"op":"replace","path":"","value":\#(new)}]"#)
    }

    @Test func `text that is not JSON is refused`() {
        #expect(throws: JSONReadingError.self) { try Self.patch("{}", "{") }
        #expect(throws: JSONReadingError.self) { try Self.patch("", "{}") }
    }

    // MARK: Properties

    @Test(arguments: SeededGenerator.seeds)
    func `a patch leads from any value to any other`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<10 { try check(from: .random(&random), to: .random(&random)) }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a patch leads from a document to its later version`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var document = JSONValue.randomDocument(&random, depth: 3)
        for _ in 0..<10 {
            var next = document
            for _ in 0..<random.number(1..<4) { next.edit(&random) }
            try check(from: document, to: next)
            try check(from: next, to: document)
            document = next
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `elements with an identity are added, removed and moved, each once`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let names = (0..<random.number(0..<20)).map { "e\($0)" }
            let old = names.filter { _ in random.chance(70) }.shuffled(using: &random)
            let new = names.filter { _ in random.chance(70) }.shuffled(using: &random)
            let kept = old.filter(Set(new).contains)
            let patch = try check(from: .elements(old), to: .elements(new))
            guard case .array(let operations) = try JSONValue(patch), operations.first?["path"] != .string("") else {
                continue
            }
            func count(_ name: String) -> Int { operations.count { $0["op"] == .string(name) } }
            #expect(count("remove") == old.count - kept.count)
            #expect(count("add") == new.count - kept.count)
            #expect(count("move") <= kept.count - longestCommon(kept, new.filter(Set(old).contains)))
            #expect(count("replace") == 0)
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `one element that moves is one move`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let old = (0..<12).map { "e\($0)" }
        let from = random.number(0..<12)
        let to = (from + random.number(1..<12)) % 12
        var new = old
        new.insert(new.remove(at: from), at: to)
        let patch = try check(from: .elements(old), to: .elements(new))
        guard case .array(let operations) = try JSONValue(patch) else { return }
        #expect(operations.count == 1)
        #expect(operations.first?["op"] == .string("move"))
    }

    /// The patch, which must be correct and not longer than replacing everything.
    @discardableResult
    private func check(from old: JSONValue, to new: JSONValue) throws -> [UInt8] {
        let patch = try JSONPatch.bytes(from: old.text, to: new.text)
        let result = try applying(patch, to: old)
        #expect(
            result.sorted.text == new.sorted.text,
            "\(String(decoding: patch, as: UTF8.self)) on \(String(decoding: old.text, as: UTF8.self))")
        #expect(patch.count <= max(new.text.count, JSONPatch.replacement(with: new.text).count))
        if old.sorted.text == new.sorted.text { #expect(patch == Array("[]".utf8)) }
        return patch
    }
}

/// The length of the longest sequence that two arrangements of the same elements have in common.
private func longestCommon(_ a: [String], _ b: [String]) -> Int {
    var row = Array(repeating: 0, count: b.count + 1)
    for element in a {
        var diagonal = 0
        for index in b.indices {
            let above = row[index + 1]
            row[index + 1] = element == b[index] ? diagonal + 1 : max(above, row[index])
            diagonal = above
        }
    }
    return row.last ?? 0
}

extension JSONValue {
    /// An array of elements that are long enough for operations to be worthwhile.
    fileprivate static func elements(_ names: [String]) -> JSONValue {
        .array(
            names.map { name in
                .object([
                    Member(key: "id", value: .string(name)),
                    Member(key: "text", value: .string(String(repeating: name, count: 60))),
                ])
            })
    }

    /// A document like ours: objects, and arrays of elements with and without an identity.
    fileprivate static func randomDocument(_ random: inout SeededGenerator, depth: Int) -> JSONValue {
        guard depth > 0 else { return .string(random.text() + String(repeating: "-", count: random.number(0..<40))) }
        switch random.number(0..<4) {
        case 0: return .random(&random, depth: 2)
        case 1:
            return .array(
                (0..<random.number(0..<5)).map { _ in .randomDocument(&random, depth: depth - 1) })
        case 2:
            let members = random.pick(ElementIdentity.members)
            return .array(
                (0..<random.number(0..<6)).map { number in
                    .object(
                        members.map { Member(key: "\($0)", value: .string("\(number)")) }
                            + [Member(key: "a/b", value: .randomDocument(&random, depth: depth - 1))])
                })
        default:
            return .object(
                (0..<random.number(1..<5)).map { number in
                    Member(key: "\(number)~", value: .randomDocument(&random, depth: depth - 1))
                })
        }
    }

    /// Changes something, somewhere.
    fileprivate mutating func edit(_ random: inout SeededGenerator) {
        switch self {
        case .object(var members) where !members.isEmpty:
            let index = random.number(0..<members.count)
            switch random.number(0..<8) {
            case 0: members.remove(at: index)
            case 1: members.append(Member(key: "new \(random.next())", value: .random(&random, depth: 1)))
            case 2: members.shuffle(using: &random)
            default: members[index].value.edit(&random)
            }
            self = .object(members)
        case .array(var elements) where !elements.isEmpty:
            let index = random.number(0..<elements.count)
            switch random.number(0..<8) {
            case 0: elements.remove(at: index)
            case 1: elements.insert(.randomDocument(&random, depth: 1), at: index)
            case 2:
                let element = elements.remove(at: index)
                elements.insert(element, at: random.number(0..<elements.count + 1))
            case 3: elements.shuffle(using: &random)
            case 4: elements.append(elements[index])
            default: elements[index].edit(&random)
            }
            self = .array(elements)
        default: self = .random(&random, depth: 2)
        }
    }
}
