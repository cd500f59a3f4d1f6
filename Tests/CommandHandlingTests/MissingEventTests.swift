import CommandHandling
import Domain
import EventLog
import Projections
import SeededRandom
import Testing

@Suite("Missing events")
struct MissingEventTests {
    private let whole = InMemoryEventLog()

    /// Carts `c0` to `c5` with some events each, in any order.
    private func fill(_ random: inout SeededGenerator) async throws -> [RecordedEvent] {
        let writer = TestProcess(whole)
        for number in 0..<6 { writer.send(MissingEventTests.cart(number), .add(1)) }
        for _ in 0..<random.number(6..<40) {
            writer.send(MissingEventTests.cart(random.number(0..<6)), .add(1))
            if random.chance(30) { _ = await writer.settle() }
        }
        _ = await writer.settle()
        return try await whole.read(partition: 0, after: 0, limit: .max)
    }

    private static func cart(_ number: Int) -> Identifier { Identifier("c\(number)")! }

    private static func holes(_ removed: Set<Int64>) -> [ClosedRange<Int64>] {
        removed.sorted().reduce(into: []) { holes, position in
            if let last = holes.last, last.upperBound == position - 1 {
                holes[holes.count - 1] = last.lowerBound...position
            } else {
                holes.append(position...position)
            }
        }
    }

    /// When a server reads the log.
    enum Reading: CaseIterable {
        case toTheEnd, byLooking
    }

    @Test(arguments: SeededGenerator.seeds, Reading.allCases)
    func `only streams with a gap are corrupt, and holes are reported`(seed: UInt64, reading: Reading) async throws {
        var random = SeededGenerator(seed: seed)
        let events = try await fill(&random)
        let log = HoleyLog(whole)
        let removed = Set(events.map(\.position).filter { _ in random.chance(8) })
        await log.remove(removed)

        let process = TestProcess(log)
        switch reading {
        case .toTheEnd: try await process.readToEnd()
        case .byLooking: await process.catchUp()
        }
        #expect(process.missing == MissingEventTests.holes(removed))
        #expect(process.position == Int64(events.count))
        #expect(process.model.position == Int64(events.count))

        for number in 0..<6 {
            let stream = StreamName.cart(MissingEventTests.cart(number))
            let kept = events.filter { $0.stream == stream.description && !removed.contains($0.position) }
            let isWhole = kept.map(\.version) == Array(1...Int64(max(kept.count, 1))) || kept.isEmpty
            let corruption = process.model.cartCounts.quarantine[stream]
            #expect((corruption == nil) == isWhole)
            _ = process.read(stream)
            _ = await process.settle()
            switch process.read(stream) {
            case .success(let committed):
                #expect(isWhole)
                #expect(committed.version == Int64(kept.count))
                #expect(process.projectedCount(of: stream.id) == kept.count)
            case .failure(let failure):
                #expect(failure == corruption.map(ReadFailure.corrupt))
            case nil: Issue.record("no answer")
            }
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `events after a hole are read, written and answered`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let log = HoleyLog(whole)
        let process = TestProcess(log)
        process.send("mine", .add(1))
        _ = await process.settle()
        // Others write, and some or all of their events are removed before this server reads them.
        let events = try await fill(&random).dropFirst()
        let removed = Set(events.map(\.position).filter { _ in random.chance(50) })
        await log.remove(removed)
        process.send("mine", .add(1), id: "a")
        process.send("new", .add(1), id: "b")
        #expect(await process.settle().unordered == [CommandOutcome.count(2), .count(1)].unordered)
        #expect(process.missing == MissingEventTests.holes(removed))
        #expect(process.position == Int64(events.count) + 3)
        #expect(process.projectedCount(of: "mine") == 2)
        process.send("mine", .add(1), id: "a")
        process.send("mine", .add(1))
        #expect(await process.settle().unordered == [CommandOutcome.count(2), .count(3)].unordered)
    }

    @Test func `a hole is described in words`() {
        #expect(
            MissingEvents(partition: 0, positions: 812...812).description
                == "the log has no event at position 812 of partition 0")
        #expect(
            MissingEvents(partition: 3, positions: 812...815).description
                == "the log has no event at positions 812 to 815 of partition 3")
    }
}
