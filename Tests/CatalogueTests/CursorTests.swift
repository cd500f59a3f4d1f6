import Domain
import Foundation
import Projections
import SeededRandom
import Testing

@testable import Catalogue

/// Turning pages while the catalogue changes.
@Suite struct CursorTests {
    @Test(arguments: SeededGenerator.seeds.prefix(8), Question.sorts)
    func `no listing comes twice, and none is missed that matched throughout`(seed: UInt64, sort: String) throws {
        var outlets = ChangingOutlets(seed: seed, outlets: 4, changes: 40)
        let catalogue = outlets.loadedCatalogue()
        let plain = PlainCatalogue()
        for _ in 0..<40 { outlets.change(catalogue) }
        var question = Question.random(&outlets.generator)
        question.sort = sort
        let words = question.words(&outlets.generator)
        let changes = outlets.generator.pick([1, 4, 12])

        plain.set(outlets.shown, now: outlets.now)
        var throughout = Set(try plain.found(question).map(\.id))
        var seen: [ListingID] = []
        var next: String?
        repeat {
            let limit = outlets.generator.number(1..<12)
            let page = try catalogue.answer(
                words + ["LIMIT", "\(limit)"] + (next.map { ["AFTER", $0] } ?? []), of: question.kind)
            #expect(Set(page.ids).isSubset(of: try plain.found(question).map(\.id)))
            seen += page.ids
            next = page.next
            for _ in 0..<(next == nil ? 0 : changes) {
                outlets.change(catalogue)
                plain.set(outlets.shown, now: outlets.now)
                throughout.formIntersection(try plain.found(question).map(\.id))
            }
        } while next != nil && seen.count < 2_000
        #expect(next == nil)
        #expect(Set(seen).count == seen.count, "\(words)")
        #expect(throughout.isSubset(of: seen), "\(words)")
    }

    /// Items that always match, with names, prices and ratings that keep changing.
    @Test(arguments: SeededGenerator.seeds.prefix(4), Question.sorts)
    func `every listing comes once, wherever it moves`(seed: UInt64, sort: String) throws {
        var generator = SeededGenerator(seed: seed)
        func outlet(_ number: Int) -> OutletRecord {
            let items = (0..<15).map { item in
                var item = MenuItem.named(
                    generator.pick(["Rice", "Rice and curry", "Tea", "Curry", "Curries and rice"]), id: "i\(item)",
                    price: Int64(generator.number(0..<6)))
                item.description = "Rice, curry"
                return item
            }
            return .with(id: Identifier("o\(number)")!, items) { details in
                details.name = generator.pick(["Rice", "Rice and curry", "Tea"])
                details.cuisines = ["Curry", "Rice"]
                details.rating = generator.maybe { Rating(hundredths: 100 * $0.number(0..<5))! }
                details.deliveryMinutes = generator.maybe { $0.number(0..<5) }
                details.priceForTwo = generator.maybe { Amount(minorUnits: Int64($0.number(0..<5))) }
            }
        }
        for kind in [ListingKind.items, .outlets] {
            let catalogue = Catalogue()
            catalogue.load((0..<12).map(outlet), revision: 0)
            let words = ["TEXT", "rice cur", "SORT", sort, "LIMIT", kind == .items ? "30" : "3"]
            var answer = try catalogue.answer(words, of: kind)
            var seen = answer.ids
            while let next = answer.next {
                for _ in 0..<2 {
                    let number = generator.number(0..<12)
                    catalogue.revision += 1
                    catalogue.update(Identifier("o\(number)")!, to: outlet(number), items: nil)
                }
                answer = try catalogue.answer(words + ["AFTER", next], of: kind)
                seen += answer.ids
            }
            #expect(seen.count == (kind == .items ? 180 : 12))
            #expect(Set(seen).count == seen.count)
        }
    }

    @Test func `more moves than are remembered do no harm`() throws {
        let items = (0..<10).map { MenuItem.named("Item", id: "i\($0)", price: Int64($0)) }
        let repriced = (0..<10).map { MenuItem.named("Item", id: "i\($0)", price: Int64(100 - $0)) }
        let records = [OutletRecord.with(items), .with(repriced)]
        let catalogue = Catalogue.with(items)
        let words = ["SORT", "price", "LIMIT", "3"]
        var answer = try catalogue.answer(words)
        var seen = answer.ids.count
        for number in 1...(MoveLog.maximumMoves / 10 + 1) {
            catalogue.revision += 1
            catalogue.update("o", to: records[number % 2], items: nil)
        }
        while let next = answer.next {
            answer = try catalogue.answer(words + ["AFTER", next])
            seen += answer.ids.count
        }
        #expect((3...20).contains(seen))
    }

    @Test func `a long name is found again`() throws {
        // The longest names there are, folded: one character becomes four words.
        for letter in ["\"", "\u{FDFA}", "㌖", "字"] {
            let name = Text(String(repeating: letter, count: 200 / letter.utf8.count))
            let catalogue = Catalogue.with(items: ["a": name, "b": name, "c": name])
            let first = try catalogue.answer(["SORT", "name", "LIMIT", "1"])
            let second = try catalogue.answer(["SORT", "name", "LIMIT", "1", "AFTER", try #require(first.next)])
            #expect(second.ids.map(\.item?.rawValue) == ["b"])
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a cursor can be used with the same filters in any order and case`(seed: UInt64) throws {
        var outlets = ChangingOutlets(seed: seed)
        let catalogue = outlets.loadedCatalogue()
        for _ in 0..<20 {
            let question = Question.random(&outlets.generator)
            let words = question.words(&outlets.generator)
            guard let next = try catalogue.answer(words + ["LIMIT", "1"], of: question.kind).next else { continue }
            let others = question.words(&outlets.generator)
            let page = try catalogue.answer(others + ["AFTER", next], of: question.kind)
            #expect(page.ids == (try catalogue.answer(words + ["AFTER", next], of: question.kind).ids))
        }
    }

    @Test func `a cursor can be used with the same filters in another spelling`() throws {
        let items = (0..<3).map { number in
            var item = MenuItem.named("Item", id: "i\(number)")
            item.tags = ["hot"]
            item.cuisine = number == 1 ? "Thai" : "Cafe\u{301}"
            return item
        }
        let catalogue = Catalogue.with(items)
        let next = try #require(try catalogue.answer(["TAG", "hot", "CUISINE", "Thai", "CAFÉ", "LIMIT", "1"]).next)
        for same in [
            ["cuisine", "cafe", "thai", "tag", "HOT"], ["TAG", "hot", "TAG", "Hot", "CUISINE", "Thai", "thai", "Café"],
        ] {
            #expect(try catalogue.answer(same + ["AFTER", next]).ids.map(\.item) == ["i1", "i2"])
        }
    }

    @Test func `a cursor of another query is refused`() throws {
        let catalogue = Catalogue.with((0..<10).map { .named("Item", id: "i\($0)") })
        let next = try #require(try catalogue.answer(["LIMIT", "1"]).next)
        for words in [["SORT", "price"], ["OPEN"], ["TEXT", "rice"], ["CITY", "a"]] {
            #expect(throws: CatalogueError.invalid("AFTER", "is a cursor of another query")) {
                try catalogue.answer(words + ["AFTER", next])
            }
        }
        #expect(throws: CatalogueError.invalid("AFTER", "is a cursor of another query")) {
            try catalogue.answer(["AFTER", next], of: .outlets)
        }
        // The size of a page, and the counts, are not part of the query.
        #expect(try catalogue.answer(["LIMIT", "9", "FACETS", "AFTER", next, "SORT", "relevance"]).ids.count == 9)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a damaged cursor is refused or answered`(seed: UInt64) throws {
        var outlets = ChangingOutlets(seed: seed)
        let catalogue = outlets.loadedCatalogue(revision: 5)
        for sort in Question.sorts {
            let words = ["SORT", sort, "LIMIT", "2"] + (sort == "relevance" ? ["TEXT", "r"] : [])
            guard let cursor = try catalogue.answer(words).next else { continue }
            let json = try #require(CursorTests.decoded(cursor))
            for _ in 0..<20 {
                let damaged =
                    outlets.generator.chance(50)
                    ? CursorTests.damaged(cursor, &outlets.generator)
                    : CursorTests.encoded(CursorTests.damaged(json, &outlets.generator))
                do throws(CatalogueError) {
                    let query = try catalogue.query(
                        words + ["AFTER", damaged], of: .items, options: [.sort, .limit, .after])
                    _ = catalogue.page(query)
                } catch {
                    guard case .invalid("AFTER", _) = error else {
                        Issue.record("\(error)")
                        return
                    }
                }
            }
        }
    }

    @Test func `extreme cursors are answered`() throws {
        let catalogue = ChangingOutlets(seed: 4).loadedCatalogue(revision: 5)
        for sort in Question.sorts {
            let words = ["SORT", sort, "LIMIT", "2", "TEXT", "r"]
            let cursor = try #require(try catalogue.answer(words).next)
            let parts = try #require(CursorTests.decoded(cursor)).split(separator: ",")
            for revision in [Int64.min, -1, 0, 5, .max] {
                for tier in [Int64.min, -1, 0, 1, 2, 3, .max] {
                    for number in [Int64.min, 0, .max] {
                        let json = "\(parts[0]),\(revision),\(tier),\(number),\"\",\"o0\",\"i0\"]"
                        _ = try catalogue.answer(words + ["AFTER", CursorTests.encoded(json)])
                    }
                }
            }
        }
    }

    @Test(arguments: ["", "x", "W10.", "-_-_", "bnVsbA..", "😀", String(repeating: "A", count: 5_000), "[]", "AFTER"])
    func `a text that is not a cursor is refused`(text: String) {
        #expect(throws: CatalogueError.invalid("AFTER", "must be the 'next' of an earlier answer")) {
            try Catalogue().query(["AFTER", text], of: .items, options: [.after])
        }
    }

    // MARK: Damage

    private static func decoded(_ cursor: String) -> String? {
        let base64 = String(cursor.map { ["-": "+", "_": "/", ".": "="][$0] ?? $0 })
        return Data(base64Encoded: base64).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func encoded(_ json: String) -> String {
        String(Data(json.utf8).base64EncodedString().map { ["+": "-", "/": "_", "=": "."][$0] ?? $0 })
    }

    private static func damaged(_ text: String, _ generator: inout SeededGenerator) -> String {
        var characters = Array(text)
        for _ in 0..<generator.number(1..<4) {
            guard !characters.isEmpty else { break }
            let index = generator.number(0..<characters.count)
            switch generator.number(0..<3) {
            case 0: characters.remove(at: index)
            case 1: characters.insert(generator.pick(Array("a9,-\"[]{\\é")), at: index)
            default: characters[index] = generator.pick(Array("a9,-\"[]{\\0"))
            }
        }
        return String(characters)
    }
}
