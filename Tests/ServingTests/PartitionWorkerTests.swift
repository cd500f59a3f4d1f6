import CommandHandling
import Domain
import EventLog
import EventLoop
import Projections
import Testing

@testable import Application
@testable import Serving

@Suite(.timeLimit(.minutes(1))) struct PartitionWorkerTests {
    init() { LoopActor.startInBackground() }

    /// The loop's clock, which a test moves.
    private final class LoopTime {
        var nanoseconds: UInt64 = 1_000_000_000_000
        func pass(milliseconds: UInt64) { nanoseconds += milliseconds * 1_000_000 }
    }

    /// The outcome of a command that is not waited for.
    private final class Outcome {
        var value: CommandOutcome?
    }

    @LoopActor
    private static func begin(_ stream: StreamName, _ command: DomainCommand, in rooms: Rooms) -> Outcome {
        let outcome = Outcome()
        rooms.partitions[stream].handle(CommandRequest(stream: stream) { _, _ in command }) {
            outcome.value = $0
        }
        rooms.partitions.startWork()
        return outcome
    }

    @LoopActor
    private static func version(of stream: StreamName, in rooms: Rooms) async -> Int64? {
        let result = await withCheckedContinuation { continuation in
            rooms.partitions[stream].read(stream) { continuation.resume(returning: $0) }
            rooms.partitions.startWork()
        }
        return try? result.get().version
    }

    // MARK: Failures

    @Test @LoopActor func `the commands of a batch that fails are told so, and the next ones are done`() async throws {
        let log = StagedLog()
        try await Rooms.with(on: log) { rooms in
            let worker = rooms.partitions[0]
            log.failures[.append] = [.unavailable("away")]
            let outcome = await rooms.send(.outlet("o"), .outlet(.put(.named("O"))))
            #expect(outcome == .unavailable("away"))
            #expect(worker.trouble == "away" && worker.batches.failed == 1)
            #expect(await rooms.send(.outlet("o"), .outlet(.put(.named("O")))) == .accepted(.version(1)))
            #expect(worker.trouble == nil && worker.batches.failed == 1 && worker.position == 1)
            worker.batches = BatchStatistics()
            #expect(worker.batches.failed == 0)
            let told = try rooms.lines.text()
            #expect(told == "tiffin: error: partition 0: a batch could not be appended: away\n")
        }
    }

    @Test @LoopActor func `a batch in doubt is looked up, and applied once`() async throws {
        let log = StagedLog()
        try await Rooms.with(on: log) { rooms in
            await rooms.open("o")
            for _ in 0..<2 {
                log.failures[.append] = [.outcomeUnknown("lost")]
                log.failures[.lookUp] = [.unavailable("away")]
                await rooms.add(1, to: "c", at: "o")
            }
            let count = try rooms.partitions.knownCount(of: "c")
            #expect(count == 2)
            #expect(log.calls.count { $0 == .lookUp } == 4)
        }
    }

    // MARK: Waiting

    @Test @LoopActor func `after a loop was held up, an answer that is there is read before it is given up`()
        async throws
    {
        let (log, time) = (StagedLog(), LoopTime())
        try await Rooms.with(on: log, loopTime: { time.nanoseconds }) { rooms in
            let worker = rooms.partitions[0]
            worker.giveUpQuestions()
            log.held = [.append]
            let outcome = Self.begin(.outlet("o"), .outlet(.put(.named("O"))), in: rooms)
            await turns { log.waitingCount == 1 }
            time.pass(milliseconds: 4_000)
            worker.giveUpQuestions()
            log.release()
            await turns { outcome.value != nil }
            #expect(outcome.value == .accepted(.version(1)))
        }
    }

    @Test @LoopActor func `what does not answer in time is given up, and an answer that is late changes nothing`()
        async throws
    {
        let (log, time) = (StagedLog(), LoopTime())
        try await Rooms.with(on: log, loopTime: { time.nanoseconds }) { rooms in
            let worker = rooms.partitions[0]
            worker.giveUpQuestions()
            log.held = [.append]
            let outcome = Self.begin(.outlet("o"), .outlet(.put(.named("O"))), in: rooms)
            await turns { log.waitingCount == 1 }
            for _ in 0..<10 {
                time.pass(milliseconds: 300)
                worker.giveUpQuestions()
            }
            await turns { log.waitingCount == 1 }
            #expect(outcome.value == nil)
            time.pass(milliseconds: 1)
            worker.giveUpQuestions()
            await turns { outcome.value != nil }
            let isUnknown = if case .unknown = outcome.value { true } else { false }
            #expect(isUnknown)
            // The batch is in the log after all. Whoever comes next finds it there.
            log.release()
            #expect(await rooms.send(.outlet("o"), .outlet(.put(.named("P")))) == .accepted(.version(2)))
            #expect(worker.position == 2 && worker.readModel.outletHome.rowCount == 1)
        }
    }

    @Test @LoopActor func `a batch does not wait for what others wrote for longer than a second`() async throws {
        let (log, time) = (StagedLog(), LoopTime())
        var configuration = Configuration()
        configuration.pollMilliseconds = 1
        try await Rooms.with(on: log, configuration, loopTime: { time.nanoseconds }) { rooms in
            let worker = rooms.partitions[0]
            worker.start()
            let watch = LogWatch(log, rooms.partitions)
            watch.start()
            defer { watch.stop() }
            log.held = [.follow]
            await rooms.turns { log.waitingCount == 1 }
            let outcome = Self.begin(.outlet("o"), .outlet(.put(.named("O"))), in: rooms)
            for _ in 0..<1_000 {
                time.pass(milliseconds: 1)
                worker.giveUpQuestions()
            }
            #expect(!log.calls.contains(.append))
            time.pass(milliseconds: 1)
            await turns { outcome.value != nil }
            #expect(outcome.value == .accepted(.version(1)))
            log.release()
        }
    }

    @Test @LoopActor func `a worker that stops waits for what is on its way`() async throws {
        let log = StagedLog()
        try await Rooms.with(on: log) { rooms in
            log.held = [.append]
            let outcome = Self.begin(.outlet("o"), .outlet(.put(.named("O"))), in: rooms)
            await turns { log.waitingCount == 1 }
            var hasStopped = false
            LoopActor.task {
                await rooms.partitions[0].stop()
                hasStopped = true
            }
            for _ in 0..<20 { await LoopTimer.pause(milliseconds: 0) }
            #expect(!hasStopped)
            log.release()
            await turns { hasStopped }
            #expect(outcome.value == .accepted(.version(1)))
        }
    }

    // MARK: Loading

    @Test(arguments: [[1] as Set<Int64>, [2], [4], [1, 2, 3, 4], [2, 3]]) @LoopActor
    func `a stream whose index lacks rows is found once they are made again`(lacking: Set<Int64>) async throws {
        let log = StagedLog()
        try await Rooms.with(on: log) { rooms in
            await rooms.open("o")
            for _ in 0..<4 { await rooms.add(1, to: "c", at: "o") }
            rooms.partitions.emptyCaches()
            log.unindexed[.cart("c")] = lacking
            #expect(await Self.version(of: .cart("c"), in: rooms) == 4)
            #expect(await rooms.add(1, to: "c", at: "o") == .accepted(.count(5)))
            #expect(log.calls.count { $0 == .mend } == 1)
            let told = try rooms.lines.text()
            #expect(told.contains("lacked \(lacking.count) rows of stream 'cart-c'"))
        }
    }

    @Test @LoopActor func `a stream that is all there is not looked for in the index`() async throws {
        let log = StagedLog()
        try await Rooms.with(on: log) { rooms in
            await rooms.open("o")
            await rooms.add(1, to: "c", at: "o")
            rooms.partitions.emptyCaches()
            #expect(await Self.version(of: .cart("c"), in: rooms) == 1)
            #expect(log.calls.contains(.load) && !log.calls.contains(.mend))
        }
    }

    // MARK: Damage

    @Test @LoopActor func `holes in the log are told one by one as long as somebody may read that`() throws {
        let lines = LoggedLines()
        let damage = LogDamage(lines.logger)
        for number in 0..<Int64(LogDamage.maximumTold + 10) {
            damage.take(MissingEvents(partition: 0, positions: 10 * number...10 * number + 1))
        }
        #expect(damage.events == 2 * Int64(LogDamage.maximumTold + 10))
        let told = try lines.text().split(separator: "\n")
        #expect(told.count == LogDamage.maximumTold + 1)
        #expect(told.last?.contains("more events are missing") ?? false)
    }
}
