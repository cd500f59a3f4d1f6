import Domain
import EventLog
import SeededRandom
import Synchronization
import Testing

@Suite struct ReadAheadTests {
    /// A partition with events at these positions, which counts how often it is read.
    private final class Positions: Sendable {
        let all: [Int64]
        /// The most events of a page, whatever the limit of the call.
        let limit: Int
        let readCount = Atomic(0)

        init(_ all: [Int64], limit: Int = .max) {
            self.all = all
            self.limit = limit
        }

        func page(after position: Int64, _ limit: Int) -> EventPage {
            readCount.add(1, ordering: .relaxed)
            return EventPage(
                partition: 0,
                all.filter { $0 > position }.prefix(min(limit, self.limit)).map { position in
                    RecordedEvent(
                        partition: 0, position: position, stream: "", version: 1,
                        kind: EventKind(name: "", schemaVersion: 1), payload: [], metadata: [],
                        recordedAt: Timestamp(millisecondsSinceEpoch: 0))
                })
        }

        func readAhead(pageLength: Int) -> ReadAhead<[Int64], any Error> {
            ReadAhead(pageLength: pageLength) { position, limit in
                self.page(after: position, limit)
            } prepare: { page in
                var positions: [Int64] = []
                page.forEach { positions.append($0.position) }
                return positions
            }
        }
    }

    /// Positions that rise, mostly without gaps, some far away.
    private static func positions(_ random: inout SeededGenerator) -> [Int64] {
        var last: Int64 = 0
        var positions: [Int64] = []
        for _ in 0..<random.number(0..<200) {
            let step = random.chance(90) ? 1 : random.pick([2, 7, 100, 1 << 40, Int64.max / 8])
            guard step <= Int64.max - last else { break }
            last += step
            positions.append(last)
        }
        if random.chance(20), last < .max { positions.append(.max) }
        return positions
    }

    @Test(arguments: SeededGenerator.seeds)
    func `returns every event in the range once, in order, whatever the positions are`(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let log = Positions(Self.positions(&random), limit: random.pick([1, 3, .max]))
            let bounds = ([0, 1, 50, .max] + log.all.suffix(3)).shuffled(using: &random)
            let (start, end) = (min(bounds[0], bounds[1]), max(bounds[0], bounds[1]))
            var seen: [Int64] = []
            try await log.readAhead(pageLength: random.number(1...50)).forEachPage(after: start, upTo: end) { page in
                #expect(!page.isEmpty)
                seen += page
            }
            #expect(seen == log.all.filter { $0 > start && $0 <= end })
            #expect(log.readCount.load(ordering: .relaxed) <= 6 * (seen.count + 2))
        }
    }

    @Test func `fails if a page cannot be read, after the pages before it`() async {
        struct Failure: Error {}
        var last: Int64 = 0
        let pages = ReadAhead<EventPage, Failure>(pageLength: 10) { position, limit throws(Failure) in
            guard position < 50 else { throw Failure() }
            return Positions(Array(1...100)).page(after: position, limit)
        } prepare: {
            $0
        }
        await #expect(throws: Failure.self) {
            try await pages.forEachPage(after: 0, upTo: 100) { last = $0.lastPosition ?? last }
        }
        #expect(last == 40 || last == 50)
    }
}
