import SeededRandom
import Testing

@testable import TextFormats

/// Patches of windows on lists, as saved queries send them.
@Suite struct WindowPatchTests {
    @Test(arguments: SeededGenerator.seeds)
    func `a patch leads from a window to the next, whatever has changed`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var list = ChangingList(rows: random.number(0..<40), &random)
        var old = list.document
        for _ in 0..<40 {
            for _ in 0..<random.pick([1, 1, 1, 2, 5]) { list.change(&random) }
            list.revision += 1
            let new = list.document
            try check(from: old, to: new)
            old = new
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `from empty to full and back`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let full = ChangingList(rows: 60, &random)
        var empty = full
        empty.rows = []
        try check(from: empty.document, to: full.document)
        #expect(try check(from: full.document, to: empty.document).count < full.document.text.count)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `what one row does is one operation`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var list = ChangingList(rows: 200, &random)
        list.hasFacets = false
        let old = list.document
        let place = random.number(0..<200)
        var moved = list
        let row = moved.rows.remove(at: place)
        moved.rows.insert(row, at: (place + random.number(1..<200)) % 200)
        var edited = list
        edited.rows[place].price += 1
        list.rows.remove(at: place)

        let removal = try check(from: old, to: list.document)
        #expect(removal.count < 200)
        #expect(try items(removal) == ["remove /items/\(place)"])
        let move = try check(from: old, to: moved.document)
        #expect(move.count < 200)
        #expect(try items(move).map { $0.prefix(4) } == ["move"])
        let edit = try check(from: old, to: edited.document)
        #expect(edit.count < 200)
        #expect(try items(edit) == ["replace /items/\(place)/price"])
        // The row comes back.
        let insertion = try check(from: list.document, to: old)
        #expect(insertion.count < 200 + row.value.text.count)
        #expect(try items(insertion) == ["add /items/\(place)"])
    }

    @Test(arguments: SeededGenerator.seeds)
    func `of a window that moves only the rows at its ends come and go`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var list = ChangingList(rows: 100, &random)
        list.window = 20..<60
        let old = list.document
        let step = random.number(1..<20)
        list.window = 20 + step..<60 + step
        let operations = try items(try check(from: old, to: list.document))
        #expect(operations.count { $0.hasPrefix("remove ") } == step)
        #expect(operations.count { $0.hasPrefix("add ") } == step)
        #expect(operations.count == 2 * step)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `rows that are not where they should be break nothing`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var list = ChangingList(rows: 8, &random)
        let old = list.document
        for _ in 0..<50 {
            list.change(&random)
            var wrong = try ChangingList.items(of: old)
            let end = wrong.place.lowerBound + random.number(0..<1_000)
            wrong.place = wrong.place.lowerBound..<random.pick([end, wrong.place.upperBound])
            for index in wrong.commas.indices where random.chance(50) {
                wrong.commas[index] = random.pick([-1, 0, 1, 7, end, .max])
            }
            _ = try? JSONPatch.bytes(from: old.text, to: list.document.text, knowing: (wrong, nil))
        }
    }

    /// The patch, which has to lead to exactly the new document.
    @discardableResult
    private func check(from old: JSONValue, to new: JSONValue) throws -> [UInt8] {
        let patch = try JSONPatch.bytes(from: old.text, to: new.text)
        #expect(try applying(patch, to: old) == new, "\(String(decoding: patch, as: UTF8.self))")
        let known = try (old: ChangingList.items(of: old), new: ChangingList.items(of: new))
        #expect(try JSONPatch.bytes(from: old.text, to: new.text, knowing: known) == patch)
        return patch
    }

    /// What a patch does to the rows.
    private func items(_ patch: [UInt8]) throws -> [String] {
        guard case .array(let operations) = try JSONValue(patch) else { return [] }
        return operations.compactMap { operation in
            guard case .string(let name) = operation["op"], case .string(let path) = operation["path"],
                path.hasPrefix("/items/")
            else { return nil }
            return "\(name) \(path)"
        }
    }
}

/// A list, of which a document shows some rows, with counts beside them.
private struct ChangingList {
    struct Row {
        var id: Int
        var name: String
        var price: Int
        var tags: [String]

        var value: JSONValue {
            .object([
                JSONValue.Member(key: "outlet", value: .string("o\(id % 3)")),
                JSONValue.Member(key: "item", value: .string("i\(id / 3)")),
                JSONValue.Member(key: "name", value: .string(name)),
                JSONValue.Member(key: "price", value: .number("\(price)")),
                JSONValue.Member(key: "tags", value: .array(tags.map(JSONValue.string))),
                JSONValue.Member(key: "status", value: .object([JSONValue.Member(key: "open", value: .bool(true))])),
            ])
        }
    }

    var rows: [Row]
    var window = 0..<1_000
    var revision = 1
    var hasFacets = true
    private var nextID = 0

    init(rows count: Int, _ random: inout SeededGenerator) {
        rows = []
        for _ in 0..<count { insert(&random) }
    }

    var document: JSONValue {
        let shown = rows[window.clamped(to: rows.indices)]
        let prices = Dictionary(grouping: shown, by: \.price).sorted { $0.key < $1.key }
        return .object([
            JSONValue.Member(key: "browse", value: .string("all")),
            JSONValue.Member(key: "revision", value: .number("\(revision)")),
            JSONValue.Member(key: "total", value: .number("\(rows.count)")),
            JSONValue.Member(key: "from", value: .number("\(window.lowerBound)")),
            JSONValue.Member(key: "items", value: .array(shown.map(\.value))),
            JSONValue.Member(
                key: "facets",
                value: .array(
                    prices.prefix(hasFacets ? 4 : 0).map { price, rows in
                        .object([
                            JSONValue.Member(key: "value", value: .number("\(price)")),
                            JSONValue.Member(key: "count", value: .number("\(rows.count)")),
                        ])
                    })),
            JSONValue.Member(key: "state", value: .string(rows.isEmpty ? "empty" : "ready")),
        ])
    }

    /// Where a document has its rows.
    static func items(of document: JSONValue) throws -> KnownArray {
        guard case .array(let rows) = document["items"] else { throw UnappliedPatch(operation: document) }
        let start = try #require(document.text.firstRange(of: Array(#""items":["#.utf8))).upperBound - 1
        var commas: [Int] = []
        var end = start + 1
        for row in rows {
            if end > start + 1 {
                commas.append(end - start)
                end += 1
            }
            end += row.text.count
        }
        return KnownArray(place: start..<end + 1, commas: commas)
    }

    private mutating func insert(_ random: inout SeededGenerator) {
        let row = Row(
            id: nextID, name: "\(random.text()) \(nextID)", price: random.number(0..<1_000), tags: [random.text()])
        nextID += 1
        rows.insert(row, at: random.number(0...rows.count))
    }

    mutating func change(_ random: inout SeededGenerator) {
        guard !rows.isEmpty else { return insert(&random) }
        let place = random.number(0..<rows.count)
        switch random.number(0..<100) {
        case ..<25: insert(&random)
        case ..<45: rows.remove(at: place)
        case ..<60:
            let row = rows.remove(at: place)
            rows.insert(row, at: random.number(0...rows.count))
        case ..<70: rows[place].name = random.text()
        case ..<80: rows[place].price += 1
        case ..<85: for index in rows.indices { rows[index].tags.append("new") }
        case ..<97:
            let first = random.number(0..<rows.count + 3)
            window = first..<first + random.pick([0, 1, 5, 20, 1_000])
        case ..<98: rows.shuffle(using: &random)
        default: rows = []
        }
    }
}
