internal import EventLog
import SeededRandom
internal import Testing

extension Clause {
    static let concurrency = [
        Clause("Concurrent writers lose nothing and duplicate nothing") { log in
            let writerCount = 4
            let roundCount = 12
            let groupCount = 3
            let commits = try await withThrowingTaskGroup(of: [Placed].self) { tasks in
                for writer in 0..<writerCount {
                    tasks.addTask {
                        var commits: [Placed] = []
                        for round in 0..<roundCount {
                            let marks = (0..<groupCount).map { (writer * roundCount + round) * groupCount + $0 }
                            commits += try await write(marks, to: log, seed: UInt64(writer * 100 + round))
                        }
                        return commits
                    }
                }
                return try await tasks.reduce(into: []) { $0 += $1 }
            }

            let events = try await log.read(partition: 0, after: 0, limit: .max)
            #expect(events.map(\.position) == Array(1...Int64(events.count)))
            let marks = events.map { String(decoding: $0.payload, as: UTF8.self) }
            let expected = (0..<writerCount * roundCount * groupCount).map { #"{"count":\#($0)}"# }
            #expect(marks.sorted() == expected.sorted())
            for (_, own) in Dictionary(grouping: events, by: \.stream) {
                #expect(own.map(\.version) == Array(1...Int64(own.count)))
            }

            var digest = Digest.zero
            for commit in commits.sorted(by: { $0.first < $1.first }) {
                digest = referenceChain(digest, Array(events[(commit.first - 1)..<(commit.first - 1 + commit.count)]))
            }
            #expect(try await log.heads() == [LogHead(partition: 0, position: Int64(events.count), digest: digest)])
        }
    ]

    /// Where a batch was appended, and how many of its events.
    struct Placed {
        var first: Int
        var count: Int
    }

    /// Appends an event with each of the marks to one of a few streams that others write to as well, and retries
    /// those that conflict. One of the writers makes progress at each turn, so this ends.
    static func write(
        _ marks: [Int], among streams: [StreamName] = ["a", "b", "c", "d", "e"].map { .cart($0) }, to log: any EventLog,
        seed: UInt64
    ) async throws -> [Placed] {
        var random = SeededGenerator(seed: seed)
        var writer = LogWriter(log)
        var commits: [Placed] = []
        var pending = zip(streams.shuffled(using: &random), marks).map { ($0, $1) }
        while !pending.isEmpty {
            try await writer.catchUp()
            let batch = writer.batch(pending.map { [$0.0] }, marks: pending.map(\.1))
            // What others write now is what conflicts.
            await Task.yield()
            let receipt = try await writer.append(batch)
            let accepted = pending.count - receipt.conflicts.count
            if accepted > 0 { commits.append(Placed(first: Int(receipt.previous.position) + 1, count: accepted)) }
            pending = receipt.conflicts.sorted().map { pending[Int($0)] }
        }
        return commits
    }
}
