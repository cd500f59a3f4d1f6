import Domain
import Projections
import SeededRandom
import Testing

@testable import Catalogue

/// A catalogue that keeps changing gives the same answers as one that looks at every listing.
@Suite struct OracleTests {
    @Test(arguments: SeededGenerator.seeds.prefix(20))
    func `every query is answered as if by looking at everything`(seed: UInt64) throws {
        var outlets = ChangingOutlets(seed: seed)
        let catalogue = outlets.loadedCatalogue()
        let plain = PlainCatalogue()
        for _ in 0..<12 {
            for _ in 0..<outlets.generator.number(0..<12) { outlets.change(catalogue) }
            plain.set(outlets.shown, now: outlets.now)
            for _ in 0..<6 {
                var question = Question.random(&outlets.generator)
                if outlets.generator.chance(20) { question.currencies = [] }
                let words = question.words(&outlets.generator)
                let names = outlets.generator.chance(40) ? [] : Question.randomFacets(&outlets.generator)
                guard let settled = plain.settled(question, counting: names) else {
                    let error = #expect(throws: CatalogueError.self) {
                        try catalogue.answer(words + ["FACETS"] + names, of: question.kind)
                    }
                    #expect(error == .needsCurrency(question.comparesPrices ? "PRICE" : "FACETS"), "\(words)")
                    continue
                }
                question = settled
                let expected = try plain.found(question)
                let first = try catalogue.answer(words + ["FACETS"] + names, of: question.kind)
                #expect(first.total == expected.count, "\(words)")
                #expect(first.state == (expected.isEmpty ? "empty" : "ready"))
                let facets = try plain.facets(
                    question, of: expected, names.isEmpty ? PlainCatalogue.standardFacets : names)
                #expect(first.facets == facets, "\(words)")
                let all = try pages(catalogue, question.kind, words, &outlets.generator)
                #expect(all.flatMap(\.ids) == expected.map(\.id), "\(words)")
                #expect(all.flatMap(\.names) == expected.map(\.name.string), "\(words)")
            }
        }
    }

    @Test(arguments: SeededGenerator.seeds.prefix(8))
    func `what is suggested matches, is near what was typed, and nothing nearer is left out`(seed: UInt64) throws {
        var outlets = ChangingOutlets(seed: seed)
        let catalogue = outlets.loadedCatalogue()
        let plain = PlainCatalogue()
        for _ in 0..<12 {
            for _ in 0..<outlets.generator.number(0..<12) { outlets.change(catalogue) }
            plain.set(outlets.shown, now: outlets.now)
            var question = Question.random(&outlets.generator)
            let typed = (0..<outlets.generator.pick([1, 1, 2, 3])).map { _ in
                outlets.generator.chance(80)
                    ? Question.misspelled(outlets.generator.pick(Vocabulary.words), &outlets.generator)
                    : outlets.generator.pick(Vocabulary.words)
            }
            question.text = typed.joined(separator: " ")
            guard let answer = try? catalogue.answer(question.words(&outlets.generator), of: question.kind) else {
                continue
            }
            #expect((answer.suggestions != nil) == (answer.total == 0))
            guard let suggestions = answer.suggestions else { continue }
            #expect(suggestions.count <= 3)
            #expect(Set(suggestions).count == suggestions.count)
            if let expected = try plain.suggestions(question) {
                // What stands around a word stays.
                let words = try suggestions.map { try TextAnalyser().queryTerms(of: $0).joined() }
                #expect(words == expected, "\(typed)")
            }
            for suggestion in suggestions {
                var corrected = question
                corrected.text = suggestion
                let words = corrected.words(&outlets.generator)
                #expect(try catalogue.answer(words, of: question.kind).total > 0, "\(typed): \(suggestion)")
            }
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a catalogue loaded at once equals one that followed every change`(seed: UInt64) throws {
        var outlets = ChangingOutlets(seed: seed, changes: 0)
        let catalogue = outlets.loadedCatalogue()
        for _ in 0..<3 {
            for _ in 0..<60 { outlets.change(catalogue) }
            let loaded = outlets.loadedCatalogue(revision: catalogue.revision)
            #expect(loaded.itemCount == catalogue.itemCount)
            #expect(loaded.outletCount == catalogue.outletCount)
            for _ in 0..<12 {
                let question = Question.random(&outlets.generator)
                let words =
                    question.words(&outlets.generator) + ["FACETS"] + Question.randomFacets(&outlets.generator)
                let answers = [catalogue, loaded].map { catalogue in
                    do throws(CatalogueError) {
                        let query = try catalogue.query(
                            words, of: question.kind, options: [.sort, .limit, .facets])
                        return String(decoding: catalogue.page(query).bytes, as: UTF8.self)
                    } catch {
                        return "\(error)"
                    }
                }
                #expect(answers[0] == answers[1])
            }
        }
    }

    /// Enough listings that queries take other paths: walking an order, and counting whole bitmaps.
    @Test func `queries to a large catalogue are answered as if by looking at everything`() throws {
        var generator = SeededGenerator(seed: 5)
        let records = (0..<2).map { outlet in
            OutletRecord.with(
                id: Identifier("o\(outlet)")!,
                (0..<3_000).map { number in
                    MenuItem(
                        id: Identifier("i\(number)")!, kind: "menuItem", name: Vocabulary.name(&generator),
                        price: Amount(minorUnits: Vocabulary.price(&generator)),
                        cuisine: generator.pick(Vocabulary.cuisines), tags: generator.chance(90) ? ["hot"] : ["new"])
                }
            ) { details in
                details.name = "Outlet \(outlet)"
                details.rating = Rating(hundredths: 400 + outlet)
            }
        }
        let catalogue = Catalogue()
        catalogue.load(records, revision: 0)
        let plain = PlainCatalogue()
        plain.set(records, now: 0)
        for sort in Question.sorts {
            for number in 0..<3 {
                var question = Question(sort: sort)
                if number > 0 { question.tags = [["hot"]] }
                if number > 1 { question.price = Question.Ends(low: 5, high: Int64(Int32.max)) }
                let expected = try plain.found(question)
                let words = question.words(&generator)
                let names = sort == "price" ? ["prices", "ratings"] : ["kinds"]
                var answer = try catalogue.answer(words + ["LIMIT", "50", "FACETS"] + names)
                #expect(answer.total == expected.count)
                #expect(try answer.facets == plain.facets(question, of: expected, names))
                var seen = answer.ids
                for _ in 0..<5 {
                    answer = try catalogue.answer(words + ["AFTER", try #require(answer.next)])
                    seen += answer.ids
                }
                #expect(seen == expected.prefix(150).map(\.id), "\(words)")
            }
        }
    }

    private func pages(
        _ catalogue: Catalogue, _ kind: ListingKind, _ words: [String], _ generator: inout SeededGenerator
    ) throws -> [Answer] {
        var answers: [Answer] = []
        repeat {
            let after = answers.last?.next.map { ["AFTER", $0] } ?? []
            let limit = generator.pick([3, 7, 20, 100])
            answers.append(try catalogue.answer(words + ["LIMIT", "\(limit)"] + after, of: kind))
            #expect(answers[answers.count - 1].ids.count <= limit)
        } while answers.last?.next != nil && answers.count < 1_000
        return answers
    }
}
