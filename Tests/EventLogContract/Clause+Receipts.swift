internal import Domain
internal import EventLog
import SeededRandom
internal import Testing

extension Clause {
    static let receipts = [
        Clause("Every event can be proven to be in the log, at every head since") { log in
            var random = SeededGenerator(seed: 5)
            var writer = LogWriter(log)
            for number in 0..<8 {
                let groups = (0..<Int.random(in: 1...7, using: &random)).map { [StreamName.cart("c\($0)")] }
                _ = try await writer.append(groups, marks: groups.indices.map { number * 10 + $0 })
                try await writer.catchUp()
            }
            let events = try await log.read(partition: 0, after: 0, limit: .max)
            let commits = try await log.commits(partition: 0, after: 0, limit: .max)
            for event in events {
                let stream = try #require(StreamName(event.stream))
                let receipt = try await Prover(log).receipt(for: stream, version: event.version, form: .links)
                #expect(receipt.event == event)
                #expect(receipt.head?.position == events.last?.position)
                #expect(try receipt.verified().chain.last == (try await log.heads()[0].digest))
                #expect(try Receipt(json: receipt.json) == receipt)

                for (index, commit) in commits.enumerated() where commit.lastPosition >= event.position {
                    let links = try await Prover(log).receipt(
                        for: stream, version: event.version, head: commit.lastPosition, form: .links)
                    #expect(try links.verified().chain.last == commit.chainDigest)
                    #expect(links.head?.position == commit.lastPosition)
                    let receipt = try await Prover(log).receipt(
                        for: stream, version: event.version, head: commit.lastPosition)
                    _ = try receipt.verified()
                    #expect(receipt.tree?.size == Int64(index + 1))
                    #expect(receipt.tree?.root == referenceRoot(commits.prefix(index + 1).map(referenceLeaf)[...]))
                    #expect(try Receipt(json: receipt.json) == receipt)
                }
            }
        },

        Clause("The largest batch has receipts, too") { log in
            let count = EventBatch.maximumEvents
            _ = try await LogWriter(log).append([Array(repeating: .cart("c"), count: count)])
            let head = try await log.heads()[0].digest
            for version in [1, 500, 501, count] {
                let receipt = try await Prover(log).receipt(for: .cart("c"), version: Int64(version))
                #expect(receipt.batch.index == version - 1)
                #expect(try receipt.verified().chain == [head])
            }
        },

        Clause("An event that is not in the log has no receipt") { log in
            _ = try await LogWriter(log).append([[.cart("a"), .cart("a")]])
            for (stream, version) in [("a", 0), ("a", 3), ("a", -1), ("b", 1), ("a", Int64.min), ("a", .max)] {
                await #expect(throws: Prover.Failure.noSuchEvent) {
                    try await Prover(log).receipt(for: .cart(stream), version: version)
                }
            }
        },

        Clause("A receipt is linked only to the end of a batch, the event's own or a later one") { log in
            for mark in 1...3 {
                var writer = LogWriter(log)
                try await writer.catchUp()
                _ = try await writer.append([[.cart("a"), .cart("a")]], marks: [mark])
            }
            let unsuitable: [(Int64, String)] = [
                (1, "the event is in the batch that ends at 4"), (2, "the event is in the batch that ends at 4"),
                (5, "no batch ends there; the next one ends at 6"), (7, "the log ends at 6"),
                (.max, "the log ends at 6"),
            ]
            for (position, reason) in unsuitable {
                await #expect(throws: Prover.Failure.unsuitableHead(reason)) {
                    try await Prover(log).receipt(for: .cart("a"), version: 3, head: position)
                }
            }
            for (position, links) in [(Int64(4), 0), (6, 1)] {
                let receipt = try await Prover(log).receipt(
                    for: .cart("a"), version: 3, head: position, form: .links)
                #expect(receipt.head?.links.count == links)
            }
        },
    ]
}
