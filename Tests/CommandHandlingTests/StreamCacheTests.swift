import Domain
import EventLog
import SeededRandom
import Testing

@testable import CommandHandling

@Suite struct StreamCacheTests {
    private func entry(_ number: Int, replies: Int) -> StreamEntry {
        let entry = StreamEntry(.cart(Identifier("c\(number)")!), isKnown: true)
        for reply in 0..<replies {
            entry.remember(EventMetadata(commandID: "id-\(reply)", fingerprint: "same"), .count(1), 1)
        }
        return entry
    }

    @Test func `An order takes the more memory, the more lines it has`() throws {
        func size(lines: Int) throws -> Int {
            let entry = StreamEntry(StreamName(.order, "o"), isKnown: true)
            let tea = (0..<lines).map {
                CartLine(id: "l\($0)", item: "tea", name: "Tea", quantity: 1, unitPrice: 100)
            }
            let placement = Order.Placement(
                cart: "c", outlet: "o", currency: Currency("INR")!, lines: tea,
                total: Amount(minorUnits: Int64(100 * lines)))
            try entry.committed.state.evolve(.order(.placed(placement)))
            return entry.size
        }
        #expect(try size(lines: 50) > size(lines: 1) + 49 * 100)
    }

    @Test(arguments: SeededGenerator.seeds.prefix(5))
    func `What is held stays below the bytes that it may take, except for what is in use`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limit = 1 << 20
        let cache = StreamCache(capacity: 1_000, menus: 1, bytes: limit)
        var busy: [StreamEntry] = []
        for number in 0..<2_000 {
            let entry = entry(number, replies: random.number(0..<100))
            if random.chance(1) {
                _ = entry.goAhead()
                busy.append(entry)
            }
            cache.insert(entry)
            #expect(cache[entry.name] === entry, "whoever asked for it needs it")
            if random.chance(10), let grown = cache.entries.randomElement(using: &random) {
                for reply in 0..<50 {
                    grown.remember(EventMetadata(commandID: "more-\(reply)", fingerprint: "same"), .count(1), 1)
                }
                cache.hasChanged(grown)
            }
            #expect(cache.entries.map(\.size).reduce(0, +) <= limit)
        }
        for entry in busy { #expect(cache[entry.name] === entry) }
        cache.empty()
        #expect(cache.entries.count == busy.count)
    }
}
