import Domain
import SeededRandom
import Testing
import TextFormats

@testable import Application

/// Whatever a client sends as a document, it is accepted or refused with `INVALID`, and the server keeps running.
@Suite struct DocumentInputProperties {
    /// The commands that take a document.
    private enum PutCommand: CaseIterable {
        case outlet, menu, section, item

        /// Reads the document and does what the command does with it, up to the events that it leads to.
        func run(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
            switch self {
            case .outlet:
                let details = try DocumentInput.decode(OutletInput.self, from: bytes).details
                try DocumentInputProperties.decide(Outlet.self, [.put(details), .put(details)])
            case .menu:
                let document = try DocumentInput.decode(MenuInput.self, from: bytes).document
                try DocumentInputProperties.decide(
                    Menu.self, [.put(document), .put(MenuDocument(sections: document.sections.reversed()))])
            case .section:
                let input = try DocumentInput.decode(SectionInput.self, from: bytes)
                guard let id = input.id else { return }
                try DocumentInputProperties.decide(Menu.self, [.putSection(input.header(id), before: nil)])
            case .item:
                let input = try DocumentInput.decode(ItemInput.self, from: bytes)
                guard let id = input.id else { return }
                let section = SectionHeader(id: id, title: "S", kind: "menuItems", layout: .list)
                try DocumentInputProperties.decide(
                    Menu.self, [.putSection(section, before: nil), .putItem(input.item(id), section: id, before: nil)])
            }
        }
    }

    private static func decide<Aggregate: Decider>(
        _ aggregate: Aggregate.Type, _ commands: [Aggregate.Command]
    ) throws(Failure) {
        var state = Aggregate.initial
        for command in commands {
            let events: [Aggregate.Event]
            do throws(Rejection) {
                events = try Aggregate.decide(command, in: state)
            } catch {
                throw Failure(error)
            }
            for event in events {
                do throws(ImpossibleEvent) {
                    try Aggregate.evolve(&state, event)
                } catch {
                    Issue.record("an event that was decided is impossible: \(error)")
                }
            }
        }
    }

    /// Whether some command accepted the document. The others must refuse it with `INVALID` or `LIMIT`.
    private func isTaken(_ document: [UInt8], seed: UInt64) -> Bool {
        PutCommand.allCases.reduce(false) { isTaken, command in
            do throws(Failure) {
                try document.withUnsafeBufferPointer { bytes throws(Failure) in
                    try command.run(UnsafeRawBufferPointer(bytes))
                }
                return true
            } catch {
                #expect([.invalid, .limit].contains(error.code), "seed \(seed): \(error)")
                return isTaken
            }
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a damaged document is accepted or refused, and never traps`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var taken = 0
        for _ in 0..<60 {
            var document = random.document()
            if isTaken(document, seed: seed) { taken += 1 }
            for _ in 0..<3 {
                random.damage(&document)
                _ = isTaken(document, seed: seed)
            }
        }
        #expect(taken > 0, "nothing is tested if every document is refused at once")
    }

    @Test(arguments: ["[", #"{"a":"#, #"[{"sections":"#, #"{"name":["#, " ["])
    func `nesting of any depth is refused`(opening: String) {
        for depth in [64, 65, 512, 513, 10_000, 100_000] {
            let document = Array(String(repeating: opening, count: depth).utf8)
            #expect(!isTaken(document, seed: 0))
        }
    }

    @Test func `a number with very many digits is read or refused`() {
        for number in ["", "-", "0.", "1e", "1e-"].map({ $0 + String(repeating: "7", count: 1 << 15) }) {
            for field in ["rating", "priceForTwo", "ratingCount"] {
                let document = #"{"name":"A","currency":"INR","timeZone":"UTC","\#(field)":\#(number)}"#
                _ = isTaken(Array(document.utf8), seed: 0)
            }
        }
    }
}

extension SeededGenerator {
    private static let names = [
        "sections", "id", "title", "kind", "layout", "sticky", "items", "style", "width", "height", "name",
        "description", "price", "cuisine", "tags", "imageSmall", "imageLarge", "maxQuantity", "options", "city",
        "currency", "timeZone", "cuisines", "priceForTwo", "rating", "ratingCount", "deliveryMinutes", "minimumOrder",
        "hours", "day", "opens", "closes", "attributes", "images", "links", "url", "alt", "rel", "minimumWidth",
    ]
    private static let numbers = [
        "0", "-0", "1", "4.5", "99", "1e3", "1E-400", "1e999999", "-1e999999", "9223372036854775807",
        "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "9999999999999999999",
        "9007199254740993.0", "0.1e1", "1000000000000.0", "123456789012345678901234567890",
    ]
    private static let texts = [
        "A", "", "INR", "UTC", "Asia/Kolkata", "../etc", "monday", "09:00", "25:30", "menuItem", "menuItems", "list",
        "horizontalCard", "café", "cafe\u{301}", "\u{0}", "\u{212A}", "\u{1F468}\u{200D}\u{1F373}", "\\ud800",
        "\\udc00\\ud800",
        "\\u0000", "\\ud83c\\udf55",
    ]

    /// Mostly a document of one of the commands, with some of its values replaced.
    fileprivate mutating func document() -> [UInt8] {
        let text =
            switch number(0..<5) {
            case 0: outlet()
            case 1: menu()
            case 2: section(items: false)
            case 3: item()
            default: value(depth: 5)
            }
        return Array(text.utf8)
    }

    private mutating func sometimes(_ valid: String) -> String { chance(3) ? value(depth: 2) : valid }

    private mutating func object(_ fields: [(String, String)]) -> String {
        var fields = fields.shuffled(using: &self).map { (key: chance(1) ? pick(Self.names) : $0.0, value: $0.1) }
        if chance(3), let field = fields.randomElement(using: &self) { fields.append(field) }
        return "{\(fields.map { "\"\($0.key)\":\(sometimes($0.value))" }.joined(separator: ","))}"
    }

    private mutating func array(_ element: (inout SeededGenerator) -> String) -> String {
        "[\((0..<number(0..<4)).map { _ in element(&self) }.joined(separator: ","))]"
    }

    private mutating func id() -> String { "\"\(pick(["a", "b", "c", "d", "e", "f", "g", "h"]))\(number(0..<100))\"" }

    private mutating func outlet() -> String {
        let hours = array { $0.object([("day", #""friday""#), ("opens", #""09:00""#), ("closes", #""25:30""#)]) }
        return object([
            ("name", #""Café""#), ("currency", #""INR""#), ("timeZone", #""UTC""#), ("city", "null"),
            ("cuisines", array { $0.string() }), ("priceForTwo", pick(Self.numbers)), ("rating", "4.5"),
            ("hours", hours),
        ])
    }

    private mutating func menu() -> String { object([("sections", array { $0.section(items: true) })]) }

    private mutating func section(items: Bool) -> String {
        let layout = object([("style", #""horizontalCard""#), ("width", "150"), ("height", pick(Self.numbers))])
        return object([
            ("id", id()), ("title", #""S""#), ("kind", #""menuItems""#), ("sticky", "true"), ("layout", layout),
            ("items", items ? array { $0.item() } : "null"),
        ])
    }

    private mutating func item() -> String {
        object([
            ("id", id()), ("kind", #""menuItem""#), ("name", string()), ("price", pick(["1", "1.0", "100"])),
            ("maxQuantity", "7"), ("tags", array { $0.string() }),
            ("images", array { $0.object([("url", $0.pick([#""/a""#, #""A""#])), ("alt", $0.string())]) }),
            ("links", array { $0.object([("rel", $0.id()), ("url", #""https://a""#), ("title", $0.string())]) }),
            (
                "attributes",
                object([("size", pick(Self.numbers)), ("blood", string()), ("nuts", array { $0.string() })])
            ),
        ])
    }

    private mutating func string() -> String { "\"\(pick(Self.texts))\"" }

    private mutating func value(depth: Int) -> String {
        switch number(0..<(depth > 0 ? 7 : 4)) {
        case 0: pick(["null", "true", "false"])
        case 1, 2: pick(Self.numbers)
        case 3: string()
        case 4, 5: array { $0.value(depth: depth - 1) }
        default: object([(pick(Self.names), value(depth: depth - 1)), (pick(Self.names), value(depth: depth - 1))])
        }
    }

    /// Changes some bytes, so that the document is usually malformed.
    fileprivate mutating func damage(_ document: inout [UInt8]) {
        let place = number(0..<document.count + 1)
        switch number(0..<6) {
        case 0: document.removeLast(document.count - place)
        case 1: document.insert(contentsOf: pick([[0x80], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xFF], [0]]), at: place)
        case 2: document.insert(contentsOf: Array(repeating: UInt8(ascii: "["), count: number(1..<2_000)), at: place)
        case 3: document.insert(contentsOf: Array(pick(Self.numbers).utf8), at: place)
        case 4: document.insert(contentsOf: document[..<place], at: place)
        default:
            guard place < document.count else { return }
            document[place] ^= UInt8(1) << UInt8(number(0..<8))
        }
    }
}
