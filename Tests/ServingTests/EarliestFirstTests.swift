import Domain
import EventLog
import SeededRandom
import Testing

@testable import Application
@testable import Serving

@Suite struct EarliestFirstTests {
    @Test(arguments: SeededGenerator.seeds)
    func `orders leave by their time, whatever comes in between`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var entries = EarliestFirst()
        var waiting: [StreamName: Int64] = [:]
        for number in 0..<500 {
            if random.chance(60) {
                let order = StreamName(.order, try #require(Identifier("order-\(number)")))
                let time = random.pick([.min, .max, Int64(random.number(0..<50)), -1])
                entries.insert(order, at: time)
                waiting[order] = time
            } else if let first = entries.first {
                #expect(first == waiting.values.min())
                #expect(waiting.removeValue(forKey: entries.removeFirst()) == first)
            }
            #expect(entries.count == waiting.count)
        }
        while let first = entries.first {
            #expect(waiting.values.min() == first)
            #expect(waiting.removeValue(forKey: entries.removeFirst()) == first)
        }
        #expect(waiting.isEmpty)
    }
}
