import SeededRandom
import Testing

@testable import PostgresStorage

/// What leaves together, without a database.
@Suite struct AppendScheduleTests {
    private typealias Schedule = AppendSchedule<Int>

    private func append(_ call: Int, to partition: Int, bytes: Int = 100) -> Schedule.Append {
        Schedule.Append(partition: partition, bytes: bytes, call: call)
    }

    @Test func `What waits leaves as one transaction in the order of partitions, each in the order of its calls`() {
        var schedule = Schedule(partitions: 8, others: 2)
        for (call, partition) in [5, 2, 7, 2, 0, 5].enumerated() { schedule.add(append(call, to: partition)) }
        #expect(schedule.next(on: 0)?.appends.map(\.call) == [4, 1, 3, 0, 5, 2])
        #expect(schedule.next(on: 0)?.appends.count == nil)
    }

    @Test func `With one partition every append leaves at once and alone`() {
        var schedule = Schedule(partitions: 1, others: 0)
        schedule.found(0, isContended: true)
        for call in 0..<5 {
            schedule.add(append(call, to: 0), isAlone: call == 3)
            #expect(schedule.next(on: 0)?.appends.map(\.call) == [call])
        }
    }

    @Test func `A transaction has a limit of appends and of bytes`() throws {
        var schedule = Schedule(partitions: 256, others: 2)
        for call in 0..<(Schedule.together + 1) { schedule.add(append(call, to: call)) }
        let full = schedule.next(on: 0)
        #expect(full?.appends.count == Schedule.together)
        schedule.ended(try #require(full))
        schedule.add(append(100, to: 100, bytes: Schedule.bytesTogether))
        let last = schedule.next(on: 0)
        #expect(last?.appends.map(\.call) == [Schedule.together])
        schedule.ended(try #require(last))
        // The one that was left has all the bytes that there may be, and one without any still fits beside it.
        schedule.add(append(101, to: 101, bytes: 0))
        #expect(schedule.next(on: 0)?.appends.map(\.call) == [100, 101])
    }

    @Test func `While transactions are under way the others gather`() throws {
        var schedule = Schedule(partitions: 8, others: 2)
        var sent: [Schedule.Transaction] = []
        for call in 0..<Schedule.underWay {
            schedule.add(append(call, to: call))
            let transaction = schedule.next(on: 0)
            sent.append(try #require(transaction))
        }
        for call in 3..<6 { schedule.add(append(call, to: call)) }
        #expect(schedule.next(on: 0)?.appends.count == nil)
        schedule.ended(sent[0])
        #expect(schedule.next(on: 0)?.appends.map(\.call) == [3, 4, 5])
    }

    @Test func `If a transaction is undone, each of its appends leaves again alone, and only the guilty one fails`()
        throws
    {
        var schedule = Schedule(partitions: 8, others: 2)
        for call in 0..<3 { schedule.add(append(call, to: call)) }
        let first = schedule.next(on: 0)
        let together = try #require(first)
        schedule.add(append(9, to: 7))
        #expect(schedule.undone(together, by: 1, isLocked: false)?.call == nil)
        for call in 0..<3 {
            let next = schedule.next(on: 0)
            let alone = try #require(next)
            #expect(alone.appends.map(\.call) == [call])
            if call == 1 {
                #expect(schedule.undone(alone, by: 0, isLocked: false)?.call == 1)
            } else {
                schedule.ended(alone)
            }
        }
        #expect(schedule.next(on: 0)?.appends.map(\.call) == [9])
    }

    @Test func `A partition whose head is held leaves alone on another connection until it is not contended`() throws {
        var schedule = Schedule(partitions: 8, others: 2)
        for call in 0..<3 { schedule.add(append(call, to: call)) }
        let together = schedule.next(on: 0)
        let failed = schedule.undone(try #require(together), by: 1, isLocked: true)
        #expect(failed?.call == nil)
        let alone = [1, 2].compactMap { schedule.next(on: $0) }.first
        let others = [schedule.next(on: 0), schedule.next(on: 0)]
        #expect(others.map { $0?.appends.map(\.call) } == [[0], [2]])
        let held = try #require(alone)
        #expect(held.appends.map(\.call) == [1])
        schedule.add(append(3, to: 1))
        #expect(schedule.next(on: held.connection)?.appends.map(\.call) == [3])
        // Held there, too, it has failed.
        #expect(schedule.undone(held, by: 0, isLocked: true)?.call == 1)
        schedule.found(1, isContended: false)
        #expect(!schedule.isWaiting)
        schedule.add(append(4, to: 1))
        #expect(schedule.isWaiting(on: 0))
    }

    /// A database that answers, fails, holds heads and goes away as chance has it.
    @Test(arguments: SeededGenerator.seeds.prefix(32))
    func `Every append ends once, whatever the database does`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let partitions = [1, 2, 8, 100].randomElement(using: &random) ?? 1
        let others = partitions == 1 ? 0 : 2
        var schedule = Schedule(partitions: partitions, others: others)
        var partitionOf: [Int] = []
        var ended: Set<Int> = []
        var sent: [Schedule.Transaction] = []
        func end(_ appends: [Schedule.Append]) {
            for append in appends { #expect(ended.insert(append.call).inserted, "call \(append.call) ends again") }
        }
        var steps = 0
        while steps < 2_000 || ended.count < partitionOf.count {
            steps += 1
            try #require(steps < 20_000, "\(partitionOf.count - ended.count) appends never end")
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3 where steps < 2_000:
                let partition = Int.random(in: 0..<partitions, using: &random)
                let isAlone = Int.random(in: 0..<10, using: &random) == 0
                schedule.add(
                    append(partitionOf.count, to: partition, bytes: Int.random(in: 0..<200_000, using: &random)),
                    isAlone: isAlone)
                partitionOf.append(partition)
            case 3..<7:
                let connection = Int.random(in: 0...others, using: &random)
                while let transaction = schedule.next(on: connection) {
                    check(transaction, isSingle: partitions == 1)
                    #expect(transaction.appends.allSatisfy { !ended.contains($0.call) })
                    let onTheWay = Set(sent.flatMap(\.appends).map(\.call))
                    #expect(transaction.appends.allSatisfy { !onTheWay.contains($0.call) })
                    sent.append(transaction)
                }
            case 7..<9:
                // Answers of a connection come in the order in which it was sent.
                guard let first = sent.randomElement(using: &random),
                    let index = sent.firstIndex(where: { $0.connection == first.connection })
                else { continue }
                let transaction = sent.remove(at: index)
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<2:
                    let count = transaction.appends.count
                    let guilty = Int.random(in: 0...count, using: &random)
                    let failed = schedule.undone(
                        transaction, by: guilty < count ? guilty : nil,
                        isLocked: Bool.random(using: &random) && guilty < count)
                    if let failed {
                        #expect(count == 1)
                        end([failed])
                    }
                default:
                    schedule.ended(transaction)
                    end(transaction.appends)
                    for append in transaction.appends {
                        schedule.found(append.partition, isContended: Int.random(in: 0..<20, using: &random) == 0)
                    }
                }
            default:
                guard Int.random(in: 0..<20, using: &random) == 0 else { continue }
                let connection = Int.random(in: 0...others, using: &random)
                end(schedule.remove(on: connection) { $0 % 3 == 0 })
            }
        }
        #expect(!schedule.isWaiting && sent.isEmpty)
    }

    private func check(_ transaction: Schedule.Transaction, isSingle: Bool) {
        let appends = transaction.appends
        #expect(!appends.isEmpty && appends.count <= Schedule.together)
        #expect(appends.count == 1 || appends.reduce(0) { $0 + $1.bytes } <= Schedule.bytesTogether)
        #expect(appends.count == 1 || transaction.connection == Schedule.shared && !isSingle)
        #expect(zip(appends, appends.dropFirst()).allSatisfy { $0.partition <= $1.partition })
        for (_, own) in Dictionary(grouping: appends, by: \.partition) {
            #expect(own.map(\.call) == own.map(\.call).sorted())
        }
    }
}
