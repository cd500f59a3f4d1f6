import Domain
import EventLogContract
import SeededRandom
import Testing

@testable import EventLog

/// What a log's lines become, whatever they hold.
@Suite struct EventLinesTests {
    private static let time = Timestamp(millisecondsSinceEpoch: 1_700_000_000_000)

    private func read(_ lines: [UInt8], _ count: Int64, firstPosition: Int64 = 1) -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        lines.withUnsafeBytes { lines in
            EventLines.forEach(
                in: lines, count, partition: 3, firstPosition: firstPosition, recordedAt: Self.time
            ) { events.append($0.recorded) }
        }
        return events
    }

    private func batch(_ random: inout SeededGenerator) -> EventBatch {
        let events = (0..<Int.random(in: 1...20, using: &random)).map { number in
            NewEvent(
                stream: .cart("c\(number)"),
                version: Int64.random(in: 0...Int64.max >> Int64.random(in: 0...60, using: &random), using: &random),
                kind: EventKind(
                    name: random.pick(["cart.cleared", "cart.ü", ""]), schemaVersion: .random(in: 0...9, using: &random)
                ),
                payload: Array(random.pick(["{}", "", #"{"note":"no\nsugar"}"#, "🍱"]).utf8),
                metadata: Array(random.pick(["{}", "", "\r"]).utf8))
        }
        return EventBatch(partition: 3, events: events, groups: events.map { _ in 0 }, recordedAt: Self.time)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Every event comes back as it was written`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let batch = batch(&random)
        let events = read(batch.lines, Int64(batch.events.count), firstPosition: 41)
        #expect(events.map(\.position) == (0..<Int64(batch.events.count)).map { 41 + $0 })
        #expect(events.map(\.canonicalBytes) == batch.events.map { $0.canonicalBytes(recordedAt: Self.time) })
    }

    @Test(arguments: SeededGenerator.seeds)
    func `A byte that is changed, removed or added never leaves the digests of all events as they were`(_ seed: UInt64)
    {
        var random = SeededGenerator(seed: seed)
        let batch = batch(&random)
        let expected = batch.events.map { $0.canonicalBytes(recordedAt: Self.time) }
        for _ in 0..<200 {
            var lines = batch.lines
            let place = Int.random(in: 0..<lines.count, using: &random)
            let byte = random.pick(Array("\t\n0129-ac{} ".utf8))
            switch Int.random(in: 0..<3, using: &random) {
            case 0: lines[place] = byte
            case 1: lines.remove(at: place)
            default: lines.insert(byte, at: random.pick([place, lines.count]))
            }
            guard lines != batch.lines else { continue }
            let found = read(lines, Int64(batch.events.count)).map(\.canonicalBytes)
            #expect(found != expected, "\(String(decoding: lines, as: UTF8.self))")
        }
    }

    @Test(
        arguments: [
            "cart-c", "cart-c\t1\tk\t1\t{}", "cart-c\t1\tk\t1\t{}\t{}\t", "cart-c\t+1\tk\t1\t{}\t{}",
            "cart-c\t01\tk\t1\t{}\t{}", "cart-c\t-0\tk\t1\t{}\t{}", "cart-c\t\tk\t1\t{}\t{}",
            "cart-c\t9223372036854775808\tk\t1\t{}\t{}", "cart-c\t1\tk\t2147483648\t{}\t{}", "cart-c\t1 \tk\t1\t{}\t{}",
        ])
    func `A line that no batch can have is an event of its stream that cannot be decoded`(_ line: String) {
        let events = read(Array(line.utf8), 1)
        #expect(events.map(\.stream) == ["cart-c"])
        #expect(throws: CorruptEvent.self) { try events[0].decoded() }
    }

    @Test func `An empty line is a lost event, and what follows the last one spoils it`() {
        let line = "cart-c\t1\tcart.cleared\t1\t{}\t{}"
        #expect(read(Array("\n\n\(line)".utf8), 3).map(\.position) == [3])
        #expect(read(Array("\(line)\n\(line)".utf8), 3).map(\.position) == [1, 2])
        #expect(read(Array("\(line)\n\(line)".utf8), 1).map(\.kind.name) == [""])
        #expect(read([], 3).isEmpty)
        #expect(read(Array(line.utf8), 0).isEmpty)
        #expect(read(Array(line.utf8), .min).isEmpty)
        #expect(read(Array("\(line)\n\(line)".utf8), .max, firstPosition: .max).map(\.position) == [.max])
    }
}
