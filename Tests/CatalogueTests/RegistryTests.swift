import Domain
import SeededRandom
import Testing

@testable import Catalogue

/// The registries of filters and sorts, and the words of a query.
@Suite struct RegistryTests {
    private func query(
        _ words: [String], _ options: Set<CatalogueQuery.Option> = [.sort, .limit, .after, .facets]
    ) throws -> CatalogueQuery {
        try Catalogue().query(words, of: .items, options: options)
    }

    @Test func `every filter, option, sort and facet has a name of its own`() {
        let names = Filter.all.map(\.name) + CatalogueQuery.Option.allCases.map(\.rawValue)
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0 == $0.uppercased() })
        #expect(Set(Sort.all.map(\.name)).count == Sort.all.count)
        #expect(Sort.all.allSatisfy { $0.name == $0.name.lowercased() })
        let facets = Filter.all.compactMap(\.facet?.name)
        #expect(Set(facets).count == facets.count)
        // Otherwise a filter after FACETS would be taken for a facet.
        #expect(names.allSatisfy { name in !facets.contains { $0.uppercased() == name } })
        #expect(Question.sorts == Sort.all.map(\.name))
    }

    @Test func `words follow their filter up to the next name, and are folded and sorted`() throws {
        let question = try query([
            "CUISINE", "thai", "Lao", "city", "Galle", "TAG", "a", "tag", "b", "TEXT", "x", "y", "open",
        ])
        #expect(question.values["CUISINE"] == ["lao", "thai"])
        #expect(question.values["CITY"] == ["galle"])
        #expect(question.values["TAG"] == ["a", "b"])
        #expect(question.values["TEXT"] == ["x", "y"])
        #expect(question.values["OPEN"] == [])
    }

    @Test(arguments: ["pr\u{131}ce", "\u{17F}ort", "\u{212A}IND"])
    func `a word with other letters than those of a name is none, even if its capitals are`(word: String) throws {
        #expect(throws: CatalogueError.self) { try query([word, "name"]) }
        #expect(try query(["CUISINE", "thai", word]).values["CUISINE"]?.count == 2)
    }

    @Test(arguments: ["NOT"] + Filter.all.map(\.name) + CatalogueQuery.Option.allCases.map(\.rawValue))
    func `the first value of a filter may be any name`(name: String) throws {
        for filter in ["TEXT", "CUISINE", "CITY", "AREA", "OUTLET", "KIND", "TAG"] {
            let value = Text(filter == "OUTLET" ? name : name.lowercased())
            #expect(try query([filter, name]).values[filter] == [value])
            #expect(try query([filter, "=" + name, "=" + name]).values[filter].map(Set.init) == [value])
        }
    }

    @Test(
        arguments: [
            ["COLOUR", "red"], [""], ["tea"], ["TEXT"], ["CUISINE"], ["CITY"], ["PRICE", "1"], ["PRICE"], ["RATING"],
            ["DELIVERY"], ["SORT"], ["LIMIT"], ["AFTER"], ["OPEN", "OPEN"], ["CITY", "a", "CITY", "b"],
            ["TEXT", "a", "TEXT", "b"], ["SORT", "name", "SORT", "name"], ["SEED", "1"], ["NOT"], ["NOT", "tea"],
            ["NOT", "SORT", "name"], ["NOT", "NOT", "OPEN"], ["CITY", "a", "NOT"], ["RATING", "1", "2", "3"],
            ["OPEN", "now"], ["FACETS", "FACETS"], (0..<51).flatMap { ["TAG", "t\($0)"] },
            ["ATTR"], ["ATTR", "size"], ["ATTR", "size", "1"], ["ATTR", "size", "ANY"],
            ["ATTR", "size", "1", "2", "3"],
        ])
    func `words that are not understood are a syntax error`(words: [String]) {
        let error = #expect(throws: CatalogueError.self) { try query(words) }
        guard case .syntax(let detail) = error else {
            Issue.record("\(words) was answered \(String(describing: error))")
            return
        }
        #expect(!detail.isEmpty)
    }

    @Test(
        arguments: [
            ["PRICE", "-1", "5"], ["PRICE", "a", "5"], ["PRICE", "5", "4"], ["PRICE", "1.5", "2"],
            ["PRICE", "0", "9223372036854775808"], ["RATING", "four"], ["RATING", "-1"], ["RATING", "-0.5"],
            ["RATING", "4.555"], ["RATING", "4."], ["RATING", ".5"], ["RATING", "1e3"], ["RATING", "4.+5"],
            ["RATING", "٤"],
            ["DELIVERY", "-1"], ["DELIVERY", "x"], ["SORT", "colour"], ["SORT", ""], ["LIMIT", "0"], ["LIMIT", "101"],
            ["LIMIT", "-1"], ["LIMIT", "ten"], ["LIMIT", "+5"], ["LIMIT", "05"], ["PRICE", "+1", "5"],
            ["PRICE", "1", "05"],
            ["RATING", "+4"], ["RATING", "04"], ["RATING", "00.5"], ["DELIVERY", "030"], ["DELIVERY", "-0"],
            ["FACETS", "colours"], ["FACETS", "cuisines", "cuisines"], ["FACETS", "attributes"],
            ["FACETS", "attributes."], ["FACETS", "attributes.shoe size"], ["FACETS", "=LIMIT"], ["FACETS", "Cities"],
            ["FACETS", "cities.a"], ["FACETS", ""], ["FACETS"] + (0..<21).map { "attributes.a\($0)" },
            ["FACETS"] + (0..<51).map { "attributes.a\($0)" }, ["FACETS", "attributes.a", "attributes.a"],
            ["RATING", "5", "4"], ["DELIVERY", "*", "x"], ["CITY", ""], ["KIND", "menuItem", ""], ["OUTLET", "="],
            ["ATTR", "size", "ANY", ""], ["ATTR", "shoe size", "1", "2"], ["ATTR", "size", "2", "1"],
            ["ATTR", "size", "+1", "2"],
            ["ATTR", "size", "1", "all"], ["ATTR", "size", "1.", "2"], ["ATTR", "size", "0.0000001", "2"],
        ])
    func `a value out of range is refused by name`(words: [String]) {
        let error = #expect(throws: CatalogueError.self) { try query(words) }
        guard case .invalid(words[0], _) = error else {
            Issue.record("\(words): \(String(describing: error))")
            return
        }
    }

    @Test(
        arguments: [
            ["PRICE", "0", "9223372036854775807"], ["PRICE", "0", "0"], ["RATING", "0"], ["RATING", "4.5"],
            ["RATING", "1000000"], ["DELIVERY", "0"], ["DELIVERY", "9223372036854775807"], ["LIMIT", "1"],
            ["LIMIT", "100"], ["SORT", "-Price"], ["CUISINE"] + (0..<50).map { "c\($0)" },
            (0..<50).flatMap { ["TAG", "t\($0)"] }, [], ["CITY", "a", "b"],
            ["NOT", "OPEN", "NOT", "CITY", "a", "NOT", "CITY", "b"],
            ["FACETS", "cuisines", "LIMIT", "5"], ["FACETS", "CITY", "a"], ["FACETS", "=cuisines"],
            ["FACETS"] + (0..<20).map { "attributes.a\($0)" }, ["FACETS", "attributes.LIMIT", "attributes.a.b:c"],
            ["PRICE", "*", "*"], ["RATING", "*", "4"], ["DELIVERY", "10", "*"], ["TEXT", ""],
            ["TEXT", " ", "", "OPEN"],
            ["ATTR", "size", "*", "*"], ["ATTR", "size", "-1e-6", "1.0"],
            ["ATTR", "ANY", "any", "any"], ["ATTR", "size", "ANY"] + (0..<50).map { "v\($0)" },
        ])
    func `a value just in range is accepted`(words: [String]) throws {
        _ = try query(words)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `any words are answered or refused`(seed: UInt64) {
        var outlets = ChangingOutlets(seed: seed)
        let catalogue = outlets.loadedCatalogue()
        let names = Filter.all.map(\.name) + CatalogueQuery.Option.allCases.map(\.rawValue)
        let values =
            Vocabulary.words + ["", "0", "5", "-1", "4.5", "o1", "menuItem", "hot", "price", "\u{0}", "e\u{301}"]
        for _ in 0..<100 {
            let words = (0..<outlets.generator.number(0..<6)).map { _ in
                outlets.generator.pick(outlets.generator.chance(50) ? names : values)
            }
            let kind = outlets.generator.chance(50) ? ListingKind.items : .outlets
            do throws(CatalogueError) {
                let query = try catalogue.query(words, of: kind, options: Set(CatalogueQuery.Option.allCases))
                _ = catalogue.page(query)
                _ = catalogue.surprise(query)
            } catch {
                if case .invalid(let name, _) = error { #expect(words.map { $0.uppercased() }.contains(name)) }
            }
        }
    }
}
