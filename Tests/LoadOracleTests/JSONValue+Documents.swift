import SeededRandom

@testable import TextFormats

/// Documents like the server's: members, and arrays of objects with an id.
extension JSONValue {
    static func document(_ random: inout SeededGenerator) -> JSONValue {
        .object([
            Member(key: "revision", value: .number("0")), Member(key: "title", value: .text(&random)),
            Member(key: "a/b~c", value: .array((0..<random.number(0..<5)).map { .number("\($0)") })),
            Member(
                key: "sections",
                value: .array(
                    (0..<random.number(1..<4)).map { section in
                        .object([
                            Member(key: "id", value: .string("s\(section)")),
                            Member(
                                key: "items",
                                value: .array((0..<random.number(0..<6)).map { .item($0, &random) })),
                        ])
                    })),
        ])
    }

    private static func item(_ number: Int, _ random: inout SeededGenerator) -> JSONValue {
        .object([
            Member(key: "id", value: .string("i\(number)")), Member(key: "name", value: .text(&random)),
            Member(key: "price", value: .number("\(random.number(100..<4_000))")),
            Member(key: "note", value: random.chance(50) ? .null : .text(&random)),
        ])
    }

    private static func text(_ random: inout SeededGenerator) -> JSONValue {
        .string((0..<random.number(1..<30)).map { _ in random.pick(["a", "é", "\"", "\\", " ", "話", "\n"]) }.joined())
    }

    /// The document with a change in it; its `revision` is the next one.
    func edited(_ random: inout SeededGenerator) -> JSONValue {
        var document = self
        if case .number(let text) = document["revision"] { document["revision"] = .number("\((Int(text) ?? 0) + 1)") }
        for _ in 0..<random.number(0..<4) {
            switch random.number(0..<5) {
            case 0: document["title"] = .text(&random)
            case 1: document["a/b~c"] = .array((0..<random.number(0..<5)).map { .number("\($0 * 7 % 5)") })
            default:
                guard case .array(var sections)? = document["sections"], !sections.isEmpty else { continue }
                let index = random.number(0..<sections.count)
                guard case .array(var items)? = sections[index]["items"] else { continue }
                switch random.number(0..<4) {
                case 0: items.shuffle(using: &random)
                case 1: if !items.isEmpty { items.remove(at: random.number(0..<items.count)) }
                case 2: items.insert(.item(100 + random.number(0..<1_000_000), &random), at: 0)
                default:
                    if !items.isEmpty {
                        items[random.number(0..<items.count)]["price"] = .number("\(random.number(100..<4_000))")
                    }
                }
                sections[index]["items"] = .array(items)
                document["sections"] = .array(sections)
            }
        }
        return document
    }

    var text: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }
}
