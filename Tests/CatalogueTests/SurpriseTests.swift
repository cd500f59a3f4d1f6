import Domain
import Testing

@testable import Catalogue

/// One of the matches, all equally likely.
@Suite struct SurpriseTests {
    /// The statistic, and a bound that a fair choice exceeds less than once in ten thousand times (Wilson, Hilferty).
    private static func chiSquare(_ counts: [Double], expected: [Double]) -> (statistic: Double, bound: Double) {
        let statistic = zip(counts, expected).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) / $1.1 }
        let freedom = Double(counts.count - 1)
        let part = 2 / (9 * freedom)
        let root = 1 - part + 3.719 * part.squareRoot()
        return (statistic, freedom * root * root * root)
    }

    @Test func `a few matches are all equally likely`() throws {
        let items = (0..<60).map { number in
            var item = MenuItem.named("Item \(number % 7)", id: "i\(number)", price: Int64(number))
            item.tags = number < 40 ? ["hot"] : []
            return item
        }
        let catalogue = Catalogue.with(items)
        var counts = [Double](repeating: 0, count: 40)
        for seed in 0..<2_000 {
            let id = try #require(try catalogue.surprise(["TAG", "hot", "SEED", "\(seed)"])?.item)
            counts[Int(id.rawValue.dropFirst())!] += 1
        }
        let (statistic, bound) = SurpriseTests.chiSquare(counts, expected: Array(repeating: 50, count: 40))
        #expect(statistic < bound)
    }

    @Test func `many matches are all equally likely`() throws {
        // A fifth of the items do not match, and are next to each other in the order by name.
        let catalogue = Catalogue()
        catalogue.load(
            (0..<2).map { outlet in
                .with(
                    id: Identifier("o\(outlet)")!,
                    (0..<2_750).map { number in
                        var item = MenuItem.named("Item \(1_000 + number)", id: "i\(number)")
                        item.tags = number < 2_200 ? ["hot"] : []
                        return item
                    })
            }, revision: 0)
        #expect(try catalogue.answer(["TAG", "hot", "LIMIT", "1"]).total == 4_400)
        var counts = [Double](repeating: 0, count: 44)
        for seed in 0..<2_200 {
            let id = try #require(try catalogue.surprise(["TAG", "hot", "SEED", "\(seed)"]))
            let number = Int(id.item!.rawValue.dropFirst())!
            #expect(number < 2_200)
            counts[number / 100 + (id.outlet == "o0" ? 0 : 22)] += 1
        }
        let (statistic, bound) = SurpriseTests.chiSquare(counts, expected: Array(repeating: 50, count: 44))
        #expect(statistic < bound)
    }

    @Test func `a seed repeats its choice, however the catalogue was built`() throws {
        var outlets = ChangingOutlets(seed: 7, changes: 0)
        let followed = outlets.loadedCatalogue()
        for _ in 0..<150 { outlets.change(followed) }
        let loaded = outlets.loadedCatalogue(revision: followed.revision)
        for seed in ["-9223372036854775808", "-1", "0", "1", "9223372036854775807"] + (2..<40).map({ "\($0)" }) {
            for filters in [[], ["TEXT", "r"], ["KIND", "dessert"], ["OPEN"]] {
                let words = filters + ["SEED", seed]
                let first = try followed.surprise(words)
                #expect(try followed.surprise(words) == first)
                #expect(try loaded.surprise(words) == first)
            }
        }
    }

    @Test func `without a seed the choice is random, and there is none without a match`() throws {
        let catalogue = Catalogue.with((0..<9).map { .named("Item", id: "i\($0)") })
        var seen: Set<ListingID> = []
        // One of the nine is missing after 400 draws once in 10^20 times.
        for _ in 0..<400 { seen.insert(try #require(try catalogue.surprise([]))) }
        #expect(seen.count == 9)
        #expect(try catalogue.surprise(["TAG", "hot"]) == nil)
        #expect(try catalogue.surprise(["TAG", "hot", "SEED", "1"]) == nil)
        #expect(try Catalogue.with([]).surprise([]) == nil)
    }
}
