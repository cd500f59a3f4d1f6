import Domain
import Projections
import SeededRandom
import Testing

@testable import Catalogue

/// Text, time and prices, on catalogues that are small enough to be understood.
@Suite struct SearchTests {
    private static func found(_ catalogue: Catalogue, _ words: String...) throws -> [String] {
        try catalogue.answer(words).ids.compactMap(\.item?.rawValue)
    }

    @Test(
        arguments: [
            ("කොත්තු රොටි", "කොත්තු"), ("කොත්තු රොටි", "කොත්"), ("මස් කරි", "කරි"), ("மசால தோசை", "தோசை"),
            ("மசால தோசை", "மசா"), ("हिन्दी थाली", "थाली"), ("हिन्दी थाली", "हिन्"), ("宫保鸡丁", "鸡"), ("宫保鸡丁", "宫保"),
            ("宫保鸡丁", "鸡丁"), ("Jalapeño Popper", "JALAPENO"), ("Crème Brûlée", "creme bru"), ("Domino's", "dominos"),
            ("Domino's", "domino"), ("ﾊﾟﾝ", "パン"), ("SMØRREBRØD", "smorre"), ("Phở bò", "pho bo"), ("ข้าวผัด", "ผัด"),
        ])
    func `names in any script are found, and by a beginning`(name: Text, text: String) throws {
        let catalogue = Catalogue.with(items: ["a": name, "b": "Something else"])
        #expect(try SearchTests.found(catalogue, "TEXT", text) == ["a"])
        // Also when the item came by an event.
        let followed = Catalogue.with(items: [:])
        followed.update("o", to: .with([.named(name, id: "a"), .named("Something else", id: "b")]), items: nil)
        #expect(try SearchTests.found(followed, "TEXT", text) == ["a"])
    }

    @Test func `matches in the name come before matches in the description`() throws {
        var described = MenuItem.named("Soup", id: "a")
        described.description = "With rice and curry"
        var half = MenuItem.named("Curry", id: "b")
        half.description = "Served with rice"
        let catalogue = Catalogue.with([described, half, .named("Rice and curry", id: "c"), .named("Cake", id: "d")])
        #expect(try SearchTests.found(catalogue, "TEXT", "rice") == ["c", "a", "b"])
        #expect(try SearchTests.found(catalogue, "TEXT", "rice", "cur") == ["c", "b", "a"])
        #expect(try SearchTests.found(catalogue, "TEXT", "rice", "SORT", "name") == ["b", "c", "a"])
    }

    @Test(
        arguments: [
            (["chiken"], ["chicken"]), (["CHIKCEN", "cury"], ["chicken curry"]),
            (["curry", "chikn"], ["curry chicken"]),
            // Nobody has both.
            (["lima", "curry"], ["lime curry"]),
            // Short words have fewer slips.
            (["rcie"], ["rice"]), (["xe"], []), (["rixe"], ["rice"]), (["xixe"], []), (["sxixe"], ["spice"]),
            (["jalapenno popper"], ["jalapeno popper"]), (["dominoz's"], ["dominos", "domino"]),
            (["Chiken-Cury"], ["chicken-curry"]),
            // What is there, but not together with the other filters, was not misspelled.
            (["rice", "KIND", "promo"], []), (["rixe", "KIND", "promo"], []), (["rixe", "NOT", "TEXT", "rice"], []),
            (["宫保鸡丁 poper"], ["宫保鸡丁 popper"]), (["чикен"], ["чикин"]),
        ])
    func `where nothing matches, corrections are suggested`(words: [String], expected: [String]) throws {
        let catalogue = Catalogue.with(
            items: [
                "a": "Chicken Curry", "b": "Rice", "c": "Chicken in spice", "d": "Jalapeño Popper", "e": "Domino's",
                "f": "宫保鸡丁 popper", "g": "Чикин", "h": "Lime curry", "i": "Lima",
            ])
        #expect(try catalogue.answer(["TEXT"] + words).suggestions == expected)
        #expect(try catalogue.answer(["TEXT", "rice"]).suggestions == nil)
        #expect(try catalogue.answer(["KIND", "promo"]).suggestions == nil)
    }

    @Test func `a text of too many words, or of signs alone, is refused`() {
        let catalogue = Catalogue.with([])
        for text in ["!!!", "😀", "' '"] {
            #expect(throws: CatalogueError.invalid("TEXT", "has no letter or digit")) {
                try catalogue.answer(["TEXT", text])
            }
        }
        #expect(throws: CatalogueError.invalid("TEXT", "must have at most 32 words")) {
            try catalogue.answer(["TEXT", (0..<33).map { "w\($0)" }.joined(separator: " ")])
        }
    }

    @Test func `an item sold out until a moment comes back at that moment`() throws {
        let catalogue = Catalogue.with([.named("Tea", id: "a")]) { $0.city = "Galle" }
        catalogue.advance(to: 10)
        #expect(try SearchTests.found(catalogue, "OPEN") == ["a"])
        let record = Suspended.record(until: 20)
        catalogue.update("o", to: record, items: ["a"])
        #expect(try SearchTests.found(catalogue, "OPEN").isEmpty)
        catalogue.advance(to: 19)
        #expect(try SearchTests.found(catalogue, "OPEN").isEmpty)
        catalogue.advance(to: 20)
        #expect(try SearchTests.found(catalogue, "OPEN") == ["a"])
        // A clock that is set back removes nothing.
        catalogue.advance(to: 5)
        #expect(try SearchTests.found(catalogue, "OPEN") == ["a"])
        catalogue.update("o", to: Suspended.record(until: nil), items: ["a"])
        catalogue.advance(to: 1_000_000)
        #expect(try SearchTests.found(catalogue, "OPEN").isEmpty)
    }

    @Test func `prices of several currencies are never compared`() throws {
        func outlet(_ id: Identifier, _ currency: String, _ prices: Int64...) -> OutletRecord {
            .with(id: id, prices.map { .named("Tea", id: "\(id)-\($0)", price: $0) }) {
                $0.currency = Currency(currency)!
                $0.priceForTwo = Amount(minorUnits: prices[0])
            }
        }
        let catalogue = Catalogue()
        let query = ["PRICE", "100", "500"]
        // Where there is nothing yet, nothing says which currency is meant.
        #expect(try catalogue.query(query, of: .items, options: []).lacksCurrency)
        catalogue.load([outlet("l", "LKR", 500, 90)], revision: 0)
        // The only currency there is, also for when there are others: the query is the same as one that names it.
        let implied = try catalogue.query(query, of: .items, options: [])
        #expect(!implied.lacksCurrency)
        #expect(implied.asksTheSame(as: try catalogue.query(query + ["CURRENCY", "lkr"], of: .items, options: [])))
        #expect(try SearchTests.found(catalogue, "PRICE", "100", "500") == ["l-500"])
        catalogue.update("g", to: outlet("g", "GBP", 300, 40), items: nil)
        #expect(try Answer(catalogue.page(implied).bytes).ids.map(\.outlet) == ["l"])
        for refused in [query, ["NOT"] + query, query + ["CURRENCY", "GBP", "LKR"], query + ["OUTLET", "g", "l"]] {
            for kind in [ListingKind.items, .outlets] {
                #expect(throws: CatalogueError.needsCurrency("PRICE")) { try catalogue.answer(refused, of: kind) }
            }
        }
        #expect(throws: CatalogueError.needsCurrency("FACETS")) { try catalogue.answer(["FACETS", "prices"]) }
        let prices = try #require(try catalogue.answer(["FACETS"]).facets?["prices"])
        #expect(prices == nil)
        for settled in [
            ["CURRENCY", "GBP"], ["OUTLET", "g"], ["CURRENCY", "GBP", "LKR", "OUTLET", "g"], ["NOT", "OUTLET", "l"],
            ["NOT", "CURRENCY", "lkr"], ["CURRENCY", "GBP", "OUTLET", "g", "l"],
        ] {
            #expect(try catalogue.answer(query + settled).ids.map(\.item) == ["g-300"])
            #expect(try catalogue.answer(settled + ["FACETS"]).facets?["prices"]??.max == 300)
        }
        // What costs the same in another currency is no choice, but its items are.
        let currencies = try catalogue.answer(query + ["CURRENCY", "GBP", "FACETS", "currencies"]).facets?["currencies"]
        #expect(currencies??.values?.map(\.value) == ["GBP", "LKR"])
        #expect(try SearchTests.found(catalogue, "SORT", "price") == ["g-40", "g-300", "l-90", "l-500"])
        #expect(try SearchTests.found(catalogue, "SORT", "-price") == ["g-300", "g-40", "l-500", "l-90"])
    }

    @Test func `prices are exact at every boundary of a bucket`() throws {
        // A bucket begins where one of the first two digits changes.
        var numbers: Set<Int64> = [0, 1_000_000_000_000]
        var unit: Int64 = 1
        while unit <= 100_000_000_000 {
            for digits: Int64 in [1, 9, 10, 11, 47, 99, 100] {
                numbers.formUnion([digits * unit - 1, digits * unit, digits * unit + 1])
            }
            unit *= 10
        }
        let known = numbers.filter { (0...1_000_000_000_000).contains($0) }.sorted()
        let items = known.map { MenuItem.named("Item", id: "p\($0)", price: $0) }
        let catalogue = Catalogue.with(items)
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<150 {
            let ends = [generator.pick(known), generator.pick(known)].sorted()
            let expected = known.count { (ends[0]...ends[1]).contains($0) }
            let query = try catalogue.query(
                ["PRICE", "\(ends[0])", "\(ends[1])", "LIMIT", "1"], of: .items, options: [.limit])
            #expect(try Answer(catalogue.page(query).bytes).total == expected)
        }
    }
}

private enum Suspended {
    static func record(until: Timestamp?) -> OutletRecord {
        .with([.named("Tea", id: "a")], events: [.itemSuspended("a", until: until)]) { $0.city = "Galle" }
    }
}
