internal import Domain
internal import EventLog
import SeededRandom
internal import Testing

extension Clause {
    static let times =
        SeededGenerator.seeds.prefix(5).map { seed in
            Clause("Up to a time, every event recorded by then is included (seed \(seed))") { log in
                var random = SeededGenerator(seed: seed)
                var writer = LogWriter(log)
                var milliseconds = 0
                for _ in 0..<Int.random(in: 1...40, using: &random) {
                    milliseconds += Int.random(in: 0...2, using: &random)
                    try await append(Int.random(in: 1...4, using: &random), recordedAt: milliseconds, by: &writer)
                }
                let events = try await log.read(partition: 0, after: 0, limit: .max)
                for time in times(around: events) {
                    let position = try await log.lastPosition(of: 0, recordedBy: time)
                    #expect(position == Int64(events.count { $0.recordedAt <= time }))
                }
            }
        } + [
            Clause("If clocks disagree, a time still has one end, which stays when the log grows") { log in
                var random = SeededGenerator(seed: 7)
                var writer = LogWriter(log)
                for _ in 0..<60 {
                    try await append(1, recordedAt: Int.random(in: 0...30, using: &random), by: &writer)
                }
                let events = try await log.read(partition: 0, after: 0, limit: .max)
                var ends: [Timestamp: Int64] = [:]
                for time in times(around: events) {
                    let position = Int(try await log.lastPosition(of: 0, recordedBy: time))
                    #expect(position == 0 || events[position - 1].recordedAt <= time)
                    #expect(position == events.count || events[position].recordedAt > time)
                    ends[time] = Int64(position)
                }
                for later in 0..<100 {
                    try await append(1, recordedAt: 40 + later, by: &writer)
                }
                for (time, end) in ends where time.millisecondsSinceEpoch <= LogWriter.epoch + 39 {
                    #expect(try await log.lastPosition(of: 0, recordedBy: time) == end)
                }
            },

            Clause("An empty partition has no position at any time", partitions: 2) { log in
                var writer = LogWriter(log, partition: 1)
                try await append(3, recordedAt: 5, by: &writer)
                let late = Timestamp(millisecondsSinceEpoch: LogWriter.epoch + 5)
                #expect(try await log.lastPosition(of: 0, recordedBy: late) == 0)
                #expect(try await log.lastPosition(of: 1, recordedBy: late) == 3)
            },
        ]

    private static func append(
        _ count: Int, recordedAt milliseconds: Int, by writer: inout LogWriter
    ) async throws {
        _ = try await writer.append([Array(repeating: .cart("c"), count: count)], marks: [milliseconds])
        try await writer.catchUp()
    }

    /// Every time of an event, and the milliseconds before and after it.
    private static func times(around events: [RecordedEvent]) -> Set<Timestamp> {
        Set(
            events.flatMap { event in
                (-1...1).map { Timestamp(millisecondsSinceEpoch: event.recordedAt.millisecondsSinceEpoch + $0) }
            })
    }
}
