import SeededRandom
import Testing

@testable import Domain

@Suite struct MenuEntriesTests {
    static func entry(_ id: Identifier, price: Int64, _ attributes: ItemAttributes = .init()) -> MenuState.Entry {
        MenuState.Entry(
            item: MenuItem(
                id: id, kind: "dish", name: "dish", price: Amount(minorUnits: price), attributes: attributes),
            section: "all")
    }

    /// One attribute, whose name few other items have.
    private static func attributes(_ random: inout SeededGenerator) -> ItemAttributes {
        let names = (0..<100).map { Identifier("attribute-\($0)")! }
        return ItemAttributes([.init(random.pick(names), .boolean(true))])
    }

    @Test(arguments: SeededGenerator.seeds)
    func `items are found by their ids, however they come and go`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // In the order of the ids, as imports have them, and in any order.
        let ids = try (0..<300).map { try #require(Identifier("dish-\(1_000 + $0)")) }
        let arriving = random.chance(50) ? ids : ids.shuffled(using: &random)
        var entries = MenuState.Entries()
        var plain: [Identifier: MenuState.Entry] = [:]
        for step in 0..<1_200 {
            let id = step < arriving.count ? arriving[step] : random.pick(ids)
            // At the end more leave than come.
            let leaves = random.chance(step < arriving.count ? 5 : step < 800 ? 40 : 80)
            let entry = leaves ? nil : Self.entry(id, price: Int64(random.number(1..<500)), Self.attributes(&random))
            entries[id] = entry
            plain[id] = entry
            guard step % 100 == 99 else { continue }
            #expect(entries.count == plain.count)
            #expect(entries.bytes == plain.values.reduce(0) { $0 + $1.bytes })
            #expect(entries.values.map(\.id) == plain.keys.sorted())
            let names = plain.values.flatMap { $0.item.attributes.list.map(\.name) }
            let next = MenuItem.sample("next").with(\.attributes, Self.attributes(&random))
            #expect(
                entries.attributeNames(replacing: nil, with: next)
                    == Set(names + next.attributes.list.map(\.name)).count)
            for id in ids { #expect(entries[id] == plain[id]) }
            var again = MenuState.Entries()
            for id in plain.keys { again[id] = plain[id] }
            #expect(again == entries)
            guard let other = plain.keys.min() else { continue }
            again[other] = Self.entry(other, price: 1_000)
            #expect(again != entries)
        }
    }
}
