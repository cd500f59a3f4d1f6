internal import Domain
internal import EventLog
import SeededRandom
internal import Testing

extension Clause {
    static let appending = [
        Clause("An empty log ends at 0, with a digest of zeros", partitions: 3) { log in
            let heads = try await log.heads()
            #expect(heads == (0..<3).map { LogHead(partition: $0, position: 0, digest: .zero) })
            #expect(log.partitionCount == 3)
            let events = try await log.read(partition: 1, after: 0, limit: 10)
            #expect(events.isEmpty)
        },

        Clause("Positions are dense from 1, and every batch extends the chain by its content") { log in
            var random = SeededGenerator(seed: 1)
            var writer = LogWriter(log)
            var auditor = Auditor(log)
            for number in 0..<20 {
                let groups = (0..<Int.random(in: 1...9, using: &random)).map { group in
                    Array(repeating: StreamName.cart("c\(group)"), count: Int.random(in: 1...3, using: &random))
                }
                let batch = writer.batch(groups, marks: groups.indices.map { number * 10 + $0 })
                try await auditor.check(try await writer.append(batch), of: batch, seen: writer.seen)
                try await writer.catchUp()
            }
        },

        Clause("The largest batch is appended whole") { log in
            let writer = LogWriter(log)
            let batch = writer.batch([Array(repeating: .cart("c"), count: EventBatch.maximumEvents)])
            var auditor = Auditor(log)
            try await auditor.check(try await writer.append(batch), of: batch, seen: .start)
        },

        Clause("Payloads and metadata come back byte for byte") { log in
            let texts = [
                "{}", #"{"a":"é तं 🍱 \u0000 \"quoted\" \\ {a,b} NULL null '' $1"}"#, "e\u{301} \u{e9}", "",
                "\r\u{B}\u{1F} ",
                #"{"long":"\#(String(repeating: "x\\\"🍱", count: 20_000))"}"#,
            ]
            let events = texts.enumerated().map { offset, text in
                NewEvent(
                    stream: .cart("c"), version: Int64(offset) + 1,
                    kind: EventKind(name: "cart.ünknown", schemaVersion: offset + 1), payload: Array(text.utf8),
                    metadata: Array(text.utf8.reversed().filter { $0 < 0x80 }))
            }
            let batch = EventBatch(
                partition: 0, events: events, groups: Array(repeating: 7, count: events.count),
                recordedAt: Timestamp(millisecondsSinceEpoch: 0))
            var auditor = Auditor(log)
            try await auditor.check(try await log.append(batch, seen: .start), of: batch, seen: .start)
        },

        Clause("The time of a batch is kept to the millisecond") { log in
            var auditor = Auditor(log)
            let times: [Int64] = [-62_135_596_800_000, -1, 0, 1, 1_700_000_000_999, 253_402_300_799_999]
            for (offset, time) in times.enumerated() {
                let event = NewEvent(
                    stream: .cart("c"), version: Int64(offset) + 1,
                    kind: EventKind(name: "cart.cleared", schemaVersion: 1), payload: [], metadata: [])
                let batch = EventBatch(
                    partition: 0, events: [event], groups: [0], recordedAt: Timestamp(millisecondsSinceEpoch: time))
                let seen = auditor.end
                try await auditor.check(try await log.append(batch, seen: seen), of: batch, seen: seen)
            }
        },

        Clause("Partitions are independent", partitions: 2) { log in
            var writers = [LogWriter(log, partition: 0), LogWriter(log, partition: 1)]
            var auditors = [Auditor(log, partition: 0), Auditor(log, partition: 1)]
            for turn in [0, 1, 1, 0, 0, 1] {
                let batch = writers[turn].batch([[.cart("c"), .cart("c")]])
                try await auditors[turn].check(
                    try await writers[turn].append(batch), of: batch, seen: writers[turn].seen)
                try await writers[turn].catchUp()
            }
            for partition in 0..<2 {
                let events = try await log.read(
                    stream: .cart("c"), partition: partition, afterVersion: 0, limit: 100)
                #expect(events.map(\.version) == Array(1...6))
                #expect(events.allSatisfy { $0.partition == partition })
            }
        },
    ]
}
