import Domain
import SeededRandom
import Testing
import TextFormats

@testable import Catalogue

/// Saved queries follow every change, and answer as if they were asked again.
@Suite struct SavedQueryTests {
    private struct Saved {
        var question: Question
        var window: Range<Int>
        var revision: Int64 = 0
        var bytes: [UInt8] = []
    }

    @Test(arguments: SeededGenerator.seeds.prefix(20))
    func `every window on every query follows what changes`(seed: UInt64) throws {
        var outlets = ChangingOutlets(seed: seed)
        let catalogue = outlets.loadedCatalogue()
        let plain = PlainCatalogue()
        var saved: [SavedName: Saved] = [:]
        for number in 0..<10 {
            let question = Question.random(&outlets.generator)
            let window = Self.window(&outlets.generator)
            let words =
                question.words(&outlets.generator) + ["FROM", "\(window.lowerBound)", "COUNT", "\(window.count)"]
            let query = try catalogue.query(words, of: question.kind, options: [.sort, .from, .count])
            let name = SavedName(Identifier("q\(number)")!, of: 1)
            #expect(catalogue.save(query, as: name, for: 1))
            saved[name] = Saved(question: question, window: window)
        }
        for _ in 0..<60 {
            if outlets.generator.chance(80) { outlets.change(catalogue) } else { outlets.letTimePass(catalogue) }
            if outlets.generator.chance(30),
                let name = saved.keys.sorted(by: { $0.name < $1.name }).randomElement(using: &outlets.generator)
            {
                let window = Self.window(&outlets.generator)
                saved[name]!.window = window
                #expect(catalogue.move(name, to: window))
            }
            let touched = catalogue.takeTouched()
            plain.set(outlets.shown, now: outlets.now)
            for (name, before) in saved {
                let now = try #require(catalogue.answer(toSaved: name))
                let words = before.question.words(&outlets.generator)
                let expected = try plain.found(before.question)
                let answer = try Answer(now.bytes)
                #expect(answer.total == expected.count, "\(words)")
                #expect(
                    answer.ids == expected.dropFirst(before.window.lowerBound).prefix(before.window.count).map(\.id))
                #expect(answer.state == (expected.isEmpty ? "empty" : "ready"))
                let isSame = now.bytes == before.bytes
                #expect((now.revision == before.revision) == isSame, "a revision tells documents apart")
                #expect(isSame || touched.contains(name), "\(name.name) has changed, and nobody was told: \(words)")
                if outlets.generator.chance(20) {
                    let anew = try catalogue.answeredAnew(before.question, before.window, words)
                    #expect(now.saysTheSame(as: anew), "rows that were kept are not what they would be now")
                }
                (saved[name]!.revision, saved[name]!.bytes) = (now.revision, now.bytes)
            }
        }
    }

    /// What is shown follows from the rows that are kept, so every kind of change has to be among these.
    @Test func `a row says what its listing says now, whatever has changed`() throws {
        let catalogue = Catalogue()
        var item = MenuItem.named("Tea", id: "tea")
        catalogue.load([.with([item, .named("Pie", id: "pie")])], revision: 0)
        let name = SavedName("all", of: 1)
        #expect(catalogue.save(try catalogue.query([], of: .items, options: []), as: name, for: 1))
        func text() throws -> String {
            String(decoding: try #require(catalogue.answer(toSaved: name)).bytes, as: UTF8.self)
        }
        #expect(try text().contains(#""imageSmall":null"#))
        // Nothing that is searched or sorted by.
        item.imageSmall = "https://example.com/tea.png"
        catalogue.revision = 1
        catalogue.update("o", to: .with([item, .named("Pie", id: "pie")]), items: ["tea"])
        #expect(try text().contains("https://example.com/tea.png"))
        // The outlet stands in every row.
        catalogue.revision = 2
        catalogue.update("o", to: .with([item, .named("Pie", id: "pie")]) { $0.name = "Elsewhere" }, items: [])
        #expect(try text().ranges(of: #""outletName":"Elsewhere""#).count == 2)
    }

    @Test func `a row is written once, and again when its listing has changed`() throws {
        let catalogue = Catalogue.with((0..<50).map { .named("Dish", id: "dish-\($0)") })
        let index = catalogue.index(of: .items)
        let query = try catalogue.query(["SORT", "name"], of: .items, options: [.sort])
        let saved = SavedQuery(SavedName("dishes", of: 1), query, owner: 1, revision: 0)
        /// The listings whose rows are written for an answer.
        func written() -> [ListingID] {
            var written: [ListingID] = []
            _ = saved.answer(in: index, revision: 0) { id, writer in
                written.append(id)
                writer.string("\(id)")
            }
            return written
        }
        let shown = written()
        #expect(shown.count == 20)
        #expect(written() == [])
        let listing = try #require(index.all.rows.map(index.source.listing(at:)).first { $0.id == shown[7] })
        #expect(saved.follow(from: listing, to: listing, in: index))
        #expect(written() == [listing.id])
        // The first leaves, and another comes in at the end.
        let first = try #require(index.all.rows.map(index.source.listing(at:)).first { $0.id == shown[0] })
        #expect(saved.follow(from: first, to: nil, in: index))
        #expect(written().count == 1)
        saved.move(to: 5..<25)
        #expect(written().count == 5)
    }

    private static func window(_ generator: inout SeededGenerator) -> Range<Int> {
        let from = generator.pick([0, 0, 2, 5, 12, 30, 400])
        return from..<from + generator.pick([1, 2, 4, 10, 1_000])
    }

    /// Enough listings that windows are found by sorting and by walking an order.
    @Test(arguments: ["name", "price", "-price", "relevance"])
    func `a window far down a long list shows what is there`(sort: String) throws {
        var generator = SeededGenerator(seed: 3)
        let catalogue = Catalogue.with(
            (0..<4_900).map { number in
                MenuItem(
                    id: Identifier("i\(number)")!, kind: "menuItem", name: Text("Dish \(generator.below(900))"),
                    price: Amount(minorUnits: Int64(generator.below(3_000))),
                    tags: number % 100 == 0 ? ["few"] : ["many"])
            })
        for filter in [[], ["TAG", "many"], ["TAG", "few"], ["TEXT", "dish 7"]] {
            let query = try catalogue.query(filter + ["SORT", sort], of: .items, options: [.sort])
            let index = catalogue.index(of: .items)
            let matches = index.matches(query)
            let all = index.rows(of: matches, query.sort.order, at: 0..<matches.all.count)
            #expect(all.count == matches.all.count)
            let walked = index.rows(
                of: matches, query.sort.order, after: nil, limit: matches.all.count, without: [:])
            #expect(all == walked)
            for ranks in [0..<5, 30..<50, 990..<1_010, 2_500..<2_600, 4_890..<4_910, 7_000..<7_001] {
                let part = ranks.clamped(to: 0..<all.count)
                #expect(index.rows(of: matches, query.sort.order, at: ranks) == Array(all[part]), "\(filter) \(ranks)")
            }
        }
    }

    @Test func `an outlet that is found by its items is found again when its pause ends`() throws {
        let catalogue = Catalogue()
        var tea = MenuItem.named("Tea", id: "tea")
        tea.attributes = ItemAttributes([.init("spice", .number(7))])
        catalogue.load([.with([tea], pausedUntil: 500)], revision: 0)
        let query = try catalogue.query(["ATTR", "spice", "5", "*", "OPEN"], of: .outlets, options: [])
        let name = SavedName("spicy", of: 1)
        #expect(catalogue.save(query, as: name, for: 1))
        catalogue.advance(to: 100)
        #expect(try Answer(#require(catalogue.answer(toSaved: name)).bytes).total == 0)
        _ = catalogue.takeTouched()
        catalogue.advance(to: 501)
        #expect(catalogue.takeTouched() == [name])
        #expect(try Answer(#require(catalogue.answer(toSaved: name)).bytes).total == 1)
    }

    @Test func `a question has one name for everybody who asks the same, and no client can give it`() throws {
        let catalogue = Catalogue.with(items: ["tea": "Tea", "pie": "Pie"])
        func name(_ words: [String], of kind: ListingKind = .items, for owner: Int = 1) throws -> SavedName? {
            catalogue.follow(try catalogue.query(words, of: kind, options: [.sort, .limit]), for: owner)
        }
        let first = try #require(try name(["TEXT", "tea", "KIND", "dish", "LIMIT", "5"]))
        #expect(try name(["LIMIT", "5", "KIND", "dish", "TEXT", "TEA", "SORT", "relevance"], for: 2) == first)
        let others = [
            try name(["TEXT", "tea", "KIND", "dish", "LIMIT", "6"]), try name(["TEXT", "tea", "LIMIT", "5"]),
            try name(["TEXT", "tea", "KIND", "dish", "LIMIT", "5", "SORT", "name"]),
            try name(["TEXT", "tea", "KIND", "dish", "LIMIT", "5"], of: .outlets),
        ]
        #expect(Set(others + [first]).count == 5)
        #expect(catalogue.savedCount == 5)
        for client in Int64(1)...3 {
            #expect(catalogue.answer(toSaved: SavedName(first.name, of: client)) == nil)
            catalogue.dropAll(of: client)
        }
        #expect(catalogue.answer(toSaved: first) != nil)
        #expect(catalogue.drop(first))
        #expect(try name(["TEXT", "tea", "KIND", "dish", "LIMIT", "5"]) != first)
        for limit in 10..<55 { #expect(try name(["LIMIT", "\(limit)"]) != nil) }
        #expect(try name(["LIMIT", "60"]) == nil)
        #expect(try name(["LIMIT", "54"]) != nil, "what somebody follows, others can follow, too")
        #expect(try name(["LIMIT", "60"], for: 2) != nil)
    }

    @Test func `a name of a connection is its own, and a shared one is everybody's`() throws {
        let catalogue = Catalogue.with(items: ["tea": "Tea"])
        func name(_ text: String, _ client: Int64) -> SavedName { SavedName(Identifier(text)!, of: client) }
        let query = try catalogue.query([], of: .items, options: [])
        #expect(catalogue.save(query, as: name("mine", 1), for: 7))
        #expect(catalogue.save(query, as: name("shared:ours", 1), for: 7))
        #expect(catalogue.answer(toSaved: name("mine", 2)) == nil)
        #expect(catalogue.answer(toSaved: name("shared:ours", 2)) != nil)
        catalogue.dropAll(of: 1)
        #expect(catalogue.answer(toSaved: name("mine", 1)) == nil)
        #expect(catalogue.savedCount == 1)
        #expect(catalogue.drop(name("shared:ours", 3)))
    }
}

extension Catalogue {
    /// The answer to the same query, saved anew.
    fileprivate func answeredAnew(_ question: Question, _ window: Range<Int>, _ words: [String]) throws -> SavedAnswer {
        let words = words + ["FROM", "\(window.lowerBound)", "COUNT", "\(window.count)"]
        let name = SavedName("anew", of: 2)
        #expect(save(try query(words, of: question.kind, options: [.sort, .from, .count]), as: name, for: 2))
        defer { _ = drop(name) }
        return try #require(answer(toSaved: name))
    }
}
