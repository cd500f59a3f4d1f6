import Domain
import EventLog
import EventLoop
import Projections
import Testing

@testable import Serving

@Suite("What other servers wrote", .timeLimit(.minutes(1)))
struct LogWatchTests {
    init() { LoopActor.startInBackground() }

    private static func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.pollMilliseconds = 1
        return configuration
    }

    /// Another server registers an outlet.
    private static func append(to partition: Int, of log: StagedLog) async throws {
        var encoder = EventEncoder()
        let (kind, payload) = encoder.encode(.outlet(.registered(.named("O"))))
        let event = NewEvent(
            stream: StreamName(.outlet, "o"), version: 1, kind: kind, payload: payload, metadata: [])
        let batch = EventBatch(
            partition: partition, events: [event], groups: [0], recordedAt: Timestamp(millisecondsSinceEpoch: 0))
        _ = try await log.inner.append(batch, seen: .start)
    }

    @Test @LoopActor func `one question about all partitions leads to those in which something happened`() async throws
    {
        let log = StagedLog(InMemoryEventLog(partitionCount: 8))
        try await Rooms.with(on: log, Self.configuration()) { rooms in
            for worker in rooms.partitions.workers { worker.start() }
            let watch = LogWatch(log, rooms.partitions)
            watch.start()
            defer { watch.stop() }
            let before = log.calls.count
            await rooms.turns { log.calls[before...].count { $0 == .heads } >= 20 }
            // Besides, each is read in its turn.
            let calls = log.calls[before...]
            #expect(calls.count { $0 == .follow } <= calls.count { $0 == .heads } / LogWatch.looksOfTurn + 1)

            let stream = StreamName(.outlet, "o")
            let written = rooms.partitions[stream]
            try await Self.append(to: written.readModel.partition, of: log)
            await rooms.turns { written.position == 1 }
            #expect(rooms.partitions.eventCount == 1)
        }
    }

    @Test @LoopActor func `a head that says nothing has happened does not hide what did`() async throws {
        let log = StagedLog(InMemoryEventLog(partitionCount: 2))
        try await Rooms.with(on: log, Self.configuration()) { rooms in
            for worker in rooms.partitions.workers { worker.start() }
            let watch = LogWatch(log, rooms.partitions)
            watch.start()
            defer { watch.stop() }
            log.claimedHeads = try await log.inner.heads()
            let written = rooms.partitions[StreamName(.outlet, "o")]
            try await Self.append(to: written.readModel.partition, of: log)
            await rooms.turns { written.position == 1 }
        }
    }

    @Test @LoopActor func `a question that is not answered is not asked twice, and a refusal asks every partition`()
        async throws
    {
        let log = StagedLog(InMemoryEventLog(partitionCount: 3))
        try await Rooms.with(on: log, Self.configuration()) { rooms in
            for worker in rooms.partitions.workers { worker.start() }
            log.held = [.heads]
            let atStart = log.calls.count
            let watch = LogWatch(log, rooms.partitions)
            watch.start()
            defer { watch.stop() }
            await rooms.turns { log.calls[atStart...].count { $0 == .follow } >= 3 }
            #expect(log.calls[atStart...].count { $0 == .heads } == 1)
            log.failures[.heads] = Array(repeating: .unavailable("away"), count: 100)
            let before = log.calls.count { $0 == .follow }
            log.release()
            await rooms.turns { log.calls.count { $0 == .follow } >= before + 3 }
        }
    }
}
