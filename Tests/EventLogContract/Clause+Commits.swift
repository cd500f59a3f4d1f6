internal import Domain
internal import EventLog
import SeededRandom
internal import Testing

extension Clause {
    static let commits = [
        Clause("Every appended batch is a commit, with its content and the chain up to it") { log in
            var random = SeededGenerator(seed: 3)
            var writer = LogWriter(log)
            #expect(try await log.commits(partition: 0, after: 0, limit: 10) == [])
            var expected: [Commit] = []
            var chain = Digest.zero
            for number in 0..<25 {
                let groups = (0..<Int.random(in: 1...9, using: &random)).map { [StreamName.cart("c\($0)")] }
                let batch = writer.batch(groups, marks: groups.indices.map { number * 10 + $0 })
                _ = try await writer.append(batch)
                let events = try await writer.catchUp()
                chain = referenceChain(chain, events)
                expected.append(
                    Commit(
                        partition: 0, firstPosition: events[0].position, lastPosition: events.last!.position,
                        contentDigest: referenceRoot(events.map(referenceBytes)[...]), chainDigest: chain,
                        recordedAt: batch.recordedAt))
            }
            #expect(try await log.commits(partition: 0, after: 0, limit: .max) == expected)
            #expect(try await log.heads()[0].digest == chain)
            for after in 0...(writer.seen.position + 1) {
                let behind = expected.filter { $0.lastPosition > after }
                for limit in [0, 1, 2, 25, 26] {
                    let commits = try await log.commits(partition: 0, after: after, limit: limit)
                    #expect(commits == Array(behind.prefix(limit)), "after \(after)")
                }
            }
            #expect(try await log.commits(partition: 0, after: .max, limit: 1) == [])
        },

        Clause("A batch refused in part is a commit of the rest, and one refused whole is no commit") { log in
            let late = LogWriter(log)
            _ = try await LogWriter(log).append([[.cart("b")]], marks: [1])
            _ = try await late.append([[.cart("a")], [.cart("b")], [.cart("c")]], marks: [2, 3, 4])
            _ = try await late.append([[.cart("b")]], marks: [5])
            let events = try await log.read(partition: 0, after: 1, limit: 10)
            #expect(events.map(\.stream) == ["cart-a", "cart-c"])
            let commits = try await log.commits(partition: 0, after: 1, limit: 10)
            #expect(commits.map(\.firstPosition) == [2])
            #expect(commits.map(\.lastPosition) == [3])
            #expect(commits.map(\.contentDigest) == [referenceRoot(events.map(referenceBytes)[...])])
        },

        Clause("The commits of a partition are its own", partitions: 2) { log in
            for partition in [0, 1, 1] {
                var writer = LogWriter(log, partition: partition)
                try await writer.catchUp()
                _ = try await writer.append([[.cart("c")]], marks: [partition])
            }
            for partition in 0..<2 {
                let commits = try await log.commits(partition: partition, after: 0, limit: 10)
                #expect(commits.map(\.partition) == Array(repeating: partition, count: partition + 1))
                #expect(commits.last?.chainDigest == (try await log.heads()[partition].digest))
            }
        },
    ]
}
