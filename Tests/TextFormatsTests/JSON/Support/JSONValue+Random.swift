// How the tests of JSON are written: any value at all, from a seed, and its text.

import SeededRandom

@testable import TextFormats

extension JSONValue {
    /// Any value, nested to at most this depth.
    static func random(_ random: inout SeededGenerator, depth: Int = 6) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 5), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return .number("\(random.integer())")
        case 3: return .number(random.pick(["-0", "0.5", "1e5", "-12.75E-3", "4.40", "2E+2"]))
        case 4: return .string(random.text())
        case 5, 6:
            return .array((0..<Int.random(in: 0...4, using: &random)).map { _ in .random(&random, depth: depth - 1) })
        default:
            // Keys begin with their number, because Foundation treats equal ones in its own way.
            return .object(
                (0..<Int.random(in: 0...4, using: &random)).map { number in
                    Member(key: "\(number)\(random.text())", value: .random(&random, depth: depth - 1))
                })
        }
    }

    /// The value as text.
    var text: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }
}

extension SeededGenerator {
    /// A text of what strings are made of: letters, what must be escaped, every length of UTF-8, and marks that
    /// make one character with the letter before them.
    mutating func text() -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...12, using: &self) {
            let range = pick(
                [
                    0x00...0x1F, 0x20...0x7F, 0x22...0x22, 0x5C...0x5C, 0x80...0x7FF, 0x300...0x36F,
                    0x800...0xD7FF, 0xE000...0xFFFF, 0x1_0000...0x10_FFFF,
                ] as [ClosedRange<UInt32>])
            text.append(Unicode.Scalar(.random(in: range, using: &self))!)
        }
        return String(text)
    }

    /// A whole number, often one at a boundary.
    mutating func integer() -> Int64 {
        pick([.min, .min + 1, -10, -1, 0, 1, 9, 10, 99, 100, .max - 1, .max, .random(in: .min ... .max, using: &self)])
    }
}
