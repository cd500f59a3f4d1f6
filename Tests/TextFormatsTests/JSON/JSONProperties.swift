import Foundation
import SeededRandom
import Testing

@testable import TextFormats

@Suite struct JSONProperties {
    // MARK: By itself

    @Test(arguments: SeededGenerator.seeds)
    func `What was written reads back, to the byte`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let value = JSONValue.random(&random)
            let read = try JSONValue(value.text)
            #expect(read == value)
            // Texts that only look the same are equal to Swift, but do not have the same bytes.
            #expect(read.text == value.text)
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `White space between tokens changes nothing`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let value = JSONValue.random(&random)
        #expect(try JSONValue(random.spaced(value)) == value)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `What is wrong is found by its line and column`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let before = random.spaced(.array([.random(&random)])).dropLast() + Array(",".utf8)
            let lines = String(decoding: before, as: UTF8.self).unicodeScalars.split(
                separator: "\n", omittingEmptySubsequences: false)
            let expected = JSONReadingError(expected: "a value", line: lines.count, column: lines.last!.count + 1)
            #expect(throws: expected) { try JSONValue(before + Array("?]".utf8)) }
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `A member can be replaced, removed and added, and the others stay`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let members = (0..<5).map { JSONValue.Member(key: "k\($0)", value: .random(&random)) }
        let object = JSONValue.object(members)
        let key = "k\(Int.random(in: 0..<5, using: &random))"
        var changed = object
        changed[key] = .number("1")
        #expect(
            changed == .object(members.map { $0.key == key ? JSONValue.Member(key: key, value: .number("1")) : $0 }))
        changed[key] = nil
        #expect(changed == .object(members.filter { $0.key != key }))
        changed[key] = .null
        #expect(changed == .object(members.filter { $0.key != key } + [JSONValue.Member(key: key, value: .null)]))
    }

    // MARK: Compared with Foundation

    @Test(arguments: SeededGenerator.seeds)
    func `Foundation reads what is written here`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let value = JSONValue.random(&random)
            let read = try JSONSerialization.jsonObject(with: Data(value.text), options: .fragmentsAllowed)
            #expect(value.isSame(as: read), "\(String(decoding: value.text, as: UTF8.self))")
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `What Foundation writes is read here`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let object = JSONValue.random(&random).foundationObject
            let text = try JSONSerialization.data(withJSONObject: object, options: .fragmentsAllowed)
            #expect(try JSONValue(Array(text)).isSame(as: object), "\(String(decoding: text, as: UTF8.self))")
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Damaged text never traps, and is read only if Foundation reads the same`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            var text = JSONValue.random(&random).text
            for _ in 0..<Int.random(in: 1...3, using: &random) where !text.isEmpty { random.damage(&text) }
            guard let value = try? JSONValue(text) else { continue }
            #expect(try JSONValue(value.text) == value)
            guard !value.isBeyondFoundation else { continue }
            let read = try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
            #expect(value.isSame(as: read), "\(String(decoding: text, as: UTF8.self))")
        }
    }
}

extension SeededGenerator {
    /// A value's text with white space between some of its tokens.
    fileprivate mutating func spaced(_ value: JSONValue) -> [UInt8] {
        var spaced: [UInt8] = []
        var inString = false
        var escaped = false
        for byte in value.text {
            let isToken = !inString && "{}[]:,\"".utf8.contains(byte)
            if isToken { spaced.append(contentsOf: pick(["", " ", "\t\n", "\r\n  "]).utf8) }
            spaced.append(byte)
            if byte == UInt8(ascii: "\""), !escaped { inString.toggle() }
            escaped = byte == UInt8(ascii: "\\") && !escaped
        }
        return spaced
    }

    /// Changes, removes, duplicates or moves some bytes.
    fileprivate mutating func damage(_ text: inout [UInt8]) {
        let index = Int.random(in: text.indices, using: &self)
        switch Int.random(in: 0..<5, using: &self) {
        case 0: text[index] = UInt8.random(in: 0...255, using: &self)
        case 1: text[index] = pick(Array("{}[]:,\"\\u0019-+.eEtfn d8".utf8))
        case 2: text.remove(at: index)
        case 3: text.insert(text[index], at: index)
        default: text.swapAt(index, Int.random(in: text.indices, using: &self))
        }
    }
}

extension JSONValue {
    /// Whether Foundation's value is this one.
    fileprivate func isSame(as other: Any) -> Bool {
        switch self {
        case .null: other is NSNull
        case .bool(let value): (other as? NSNumber)?.boolValue == value
        case .number(let text):
            switch (Int64(text), Double(text), other as? NSNumber) {
            case (let value?, _, let other?): other.int64Value == value
            // Foundation rounds a number of many digits in its own way.
            case (nil, let value?, let other?): abs(other.doubleValue - value) <= abs(value) * 0x1p-50
            default: false
            }
        case .string(let text): (other as? String)?.utf8.elementsEqual(text.utf8) ?? false
        case .array(let elements):
            (other as? [Any])?.elementsEqual(elements) { $1.isSame(as: $0) } ?? false
        case .object(let members):
            (other as? [String: Any]).map { other in
                other.count == members.count
                    && members.allSatisfy { member in other[member.key].map(member.value.isSame) ?? false }
            } ?? false
        }
    }

    /// The value in Foundation's types.
    fileprivate var foundationObject: Any {
        switch self {
        case .null: NSNull()
        case .bool(let value): value
        case .number(let text): Int64(text).map { $0 as Any } ?? Double(text)! as Any
        case .string(let text): text
        case .array(let elements): elements.map(\.foundationObject)
        case .object(let members):
            Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.value.foundationObject) })
        }
    }

    /// Whether it is JSON that Foundation does not accept: numbers that no double holds, and keys that only
    /// look the same.
    fileprivate var isBeyondFoundation: Bool {
        switch self {
        case .null, .bool, .string: false
        case .number(let text): Int64(text) == nil && !(Double(text)?.isNormal ?? false)
        case .array(let elements): elements.contains(where: \.isBeyondFoundation)
        case .object(let members):
            Set(members.map(\.key)).count < members.count || members.contains(where: \.value.isBeyondFoundation)
        }
    }
}
