internal import Domain
internal import EventLog
import SeededRandom
internal import Testing

extension Clause {
    static let conflicts =
        [
            Clause("A conflict refuses its group and no other") { log in
                var auditor = Auditor(log)
                let late = LogWriter(log)
                let first = LogWriter(log).batch([[.cart("b")]])
                try await auditor.check(try await log.append(first, seen: .start), of: first, seen: .start)

                let batch = late.batch([[.cart("a")], [.cart("b")], [.cart("c"), .cart("c")]], marks: [1, 2, 3])
                try await auditor.check(try await late.append(batch), of: batch, seen: .start, conflicts: [1])
            },

            Clause("The streams of a group are appended or refused together") { log in
                var auditor = Auditor(log)
                let late = LogWriter(log)
                let first = LogWriter(log).batch([[.cart("b")]])
                try await auditor.check(try await log.append(first, seen: .start), of: first, seen: .start)

                let batch = late.batch(
                    [[.cart("a"), .cart("b"), .cart("a")], [.cart("c"), .cart("d")]], marks: [1, 2])
                try await auditor.check(try await late.append(batch), of: batch, seen: .start, conflicts: [0])
            },

            Clause("A group that rests on a stream is refused if that was written since, and no other group") { log in
                var auditor = Auditor(log)
                let late = LogWriter(log)
                let first = LogWriter(log).batch([[.cart("menu")]])
                try await auditor.check(try await log.append(first, seen: .start), of: first, seen: .start)

                let batch = late.batch(
                    [[.cart("a")], [.cart("b"), .cart("c")], [.cart("d")]],
                    readings: [
                        EventBatch.Reading(.cart("other-menu"), by: 0), EventBatch.Reading(.cart("other-menu"), by: 1),
                        EventBatch.Reading(.cart("menu"), by: 1),
                    ], marks: [1, 2, 3])
                try await auditor.check(try await late.append(batch), of: batch, seen: .start, conflicts: [1])
            },

            Clause(
                "A writer that has missed nothing and takes a stream for new is told, and nothing is appended"
            ) {
                log in
                var writer = LogWriter(log)
                _ = try await writer.append([[.cart("a")], [.cart("a")], [.cart("b")]], marks: [1, 2, 3])
                try await writer.catchUp()
                try await log.indexStreams(of: 0)
                func batch(_ streams: [(String, Int64)]) -> EventBatch {
                    EventBatch(
                        partition: 0,
                        events: streams.map { name, version in
                            NewEvent(
                                stream: .cart(name), version: version,
                                kind: EventKind(name: "cart.cleared", schemaVersion: 1), payload: [], metadata: [])
                        },
                        groups: (0..<Int32(streams.count)).map { $0 }, recordedAt: Timestamp(millisecondsSinceEpoch: 9))
                }
                let wrong = batch([("new", 1), ("a", 1), ("b", 2)])
                let receipt = try await writer.append(wrong)
                #expect(
                    receipt
                        == AppendReceipt(
                            previous: writer.seen, conflicts: [0, 1, 2], stale: [.cart("a")], end: writer.seen))
                #expect(try await log.heads()[0].position == 3)
                let right = batch([("new", 1), ("a", 3), ("b", 2)])
                let end = LogPoint(position: 6, digest: writer.seen.digest?.chained(to: right.contentDigest))
                #expect(try await writer.append(right) == AppendReceipt(previous: writer.seen, conflicts: [], end: end))
            },

            Clause("Only streams written since conflict") { log in
                var auditor = Auditor(log)
                var writer = LogWriter(log)
                let first = writer.batch([[.cart("a"), .cart("b")]])
                try await auditor.check(try await writer.append(first), of: first, seen: .start)
                try await writer.catchUp()

                let foreign = writer.batch([[.cart("b")]], marks: [1])
                try await auditor.check(
                    try await log.append(foreign, seen: writer.seen), of: foreign, seen: writer.seen)
                let batch = writer.batch([[.cart("a")]], marks: [2])
                try await auditor.check(try await writer.append(batch), of: batch, seen: writer.seen)
            },

            Clause("A batch refused whole leaves no trace, and is accepted once its writer has caught up") { log in
                var auditor = Auditor(log)
                var late = LogWriter(log)
                let first = LogWriter(log).batch([[.cart("a")], [.cart("b")]])
                try await auditor.check(try await log.append(first, seen: .start), of: first, seen: .start)

                let refused = late.batch([[.cart("a")], [.cart("b")]], marks: [1, 2])
                try await auditor.check(try await late.append(refused), of: refused, seen: .start, conflicts: [0, 1])
                try await late.catchUp()
                let again = late.batch([[.cart("a")], [.cart("b")]], marks: [1, 2])
                try await auditor.check(try await late.append(again), of: again, seen: late.seen)
            },
        ] + SeededGenerator.seeds.prefix(5).map(interleaved)

    /// Two writers in turn, one of which knows only a part of what the other wrote.
    private static func interleaved(seed: UInt64) -> Clause {
        Clause("Exactly the groups that write or rest on a stream written since are refused (seed \(seed))") { log in
            var random = SeededGenerator(seed: seed)
            let streams = (0..<8).map { StreamName.cart("c\($0)") }
            var writers = [LogWriter(log), LogWriter(log)]
            var auditor = Auditor(log)
            for number in 0..<25 {
                let turn = Int.random(in: 0...1, using: &random)
                if Int.random(in: 0...2, using: &random) == 0 { try await writers[turn].catchUp() }
                // Groups share no stream: events of one stream belong together.
                var free = streams.shuffled(using: &random)
                let groups = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    (0..<Int.random(in: 1...2, using: &random)).map { _ in free.removeLast() }
                }
                let readings = groups.indices.map {
                    EventBatch.Reading(streams.randomElement(using: &random)!, by: Int32($0))
                }
                let writer = writers[turn]
                let written = Set(
                    try await log.read(partition: 0, after: writer.seen.position, limit: .max).map(\.stream))
                let conflicts = groups.indices.filter { group in
                    (groups[group] + [readings[group].stream]).contains { written.contains($0.description) }
                }
                let batch = writer.batch(
                    groups, readings: readings, marks: groups.indices.map { number * 10 + $0 })
                try await auditor.check(
                    try await writer.append(batch), of: batch, seen: writer.seen,
                    conflicts: Set(conflicts.map(Int32.init)))
            }
        }
    }
}
