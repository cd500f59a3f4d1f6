import Domain
import EventLog
import Testing

@testable import CommandHandling

/// A server that reads the log notices that another one has taken its place.
@Suite struct ForkWhileReadingTests {
    @Test func `a fork between two looks at the end of a growing log is noticed`() async throws {
        let log = ForkingLog(
            first: try await Self.log("a", batches: 1), grown: try await Self.log("a", batches: 2),
            other: try await Self.log("b", batches: 3))
        var read: [String] = []
        let follower = LogFollower(partition: 0, after: .start, miss: { _ in }) { events in
            read += events.compactMap { try? $0.get().stream.description }
        }
        await #expect {
            try await follower.readToEnd(of: log) { _ in }
        } throws: { error in
            if case EventLogError.forked = error { true } else { false }
        }
        #expect(read.allSatisfy { $0.hasPrefix("cart-a") }, "events of two logs, one after the other: \(read)")
    }

    @Test func `where the log ends is known as far as it was read`() async throws {
        let log = try await Self.log("a", batches: 3)
        let follower = LogFollower(partition: 0, after: .start, miss: { _ in }) { _ in }
        try await follower.readToEnd(of: log) { _ in }
        let end = follower.position
        #expect(end > 0 && follower.head == end)
        // Positions without an event are passed as well.
        follower.pass([], upTo: LogPoint(position: end + 2, digest: nil))
        #expect(follower.head == end + 2)
    }

    @Test func `a stream is not loaded from another log than the one that is followed`() async throws {
        let log = InMemoryEventLog()
        try await Self.write(["c", "x", "c"], to: log)
        let process = TestProcess(log)
        try await process.readToEnd()
        try await Self.write(["c"], to: log)
        // What follows is asked of the first log, and heard of when the stream was asked of the other one.
        await process.catchUp {
            await log.lose(batches: 2)
            try? await Self.write(["y", "y"], to: log)
            process.send("c", .add(1))
            await process.load()
        }
        let outcomes = await process.settle()
        #expect(outcomes.map(\.isUnavailable) == [true], "\(outcomes)")
        guard case .failure(.unavailable) = process.read(.cart("c")) else {
            Issue.record("a server that has left the log still answers")
            return
        }
    }

    /// Adds to each of these carts, with a batch for each.
    private static func write(_ carts: [Identifier], to log: InMemoryEventLog) async throws {
        let writer = TestProcess(log)
        try await writer.readToEnd()
        for cart in carts {
            writer.send(cart, .add(1))
            #expect(await writer.settle().count == 1)
        }
    }

    /// A log of batches of two events each, of carts whose ids begin with `name`.
    private static func log(_ name: String, batches: Int) async throws -> InMemoryEventLog {
        let log = InMemoryEventLog()
        var seen = LogPoint.start
        for number in 0..<batches {
            let events = (0..<2).map { event in
                NewEvent(
                    stream: .cart(Identifier("\(name)\(number)-\(event)")!), version: 1,
                    kind: EventKind(name: "cart.cleared", schemaVersion: 1), payload: Array("{}".utf8),
                    metadata: Array("{}".utf8))
            }
            let batch = EventBatch(
                partition: 0, events: events, groups: [0, 1], recordedAt: Timestamp(millisecondsSinceEpoch: 1))
            seen = try await log.append(batch, seen: seen).end
        }
        return log
    }
}

/// A log that grows once somebody has asked where it ends, and has another in its place when that is asked again.
private actor ForkingLog: EventLog {
    nonisolated let partitioning = Partitioning(count: 1)
    private let first: InMemoryEventLog
    private let grown: InMemoryEventLog
    private let other: InMemoryEventLog
    private var looks = 0

    init(first: InMemoryEventLog, grown: InMemoryEventLog, other: InMemoryEventLog) {
        (self.first, self.grown, self.other) = (first, grown, other)
    }

    private var now: InMemoryEventLog { looks < 2 ? grown : other }

    func heads() async throws(EventLogError) -> [LogHead] {
        looks += 1
        return try await looks == 1 ? first.heads() : other.heads()
    }

    func follow(partition: Int, after point: LogPoint, limit: Int) async throws(EventLogError) -> FollowingEvents {
        try await now.follow(partition: partition, after: point, limit: limit)
    }

    func read(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [RecordedEvent] {
        try await now.read(partition: partition, after: position, limit: limit)
    }

    func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int, seen: LogPoint
    ) throws(EventLogError) -> [RecordedEvent] { throw .unavailable("not asked for here") }

    func append(_ batch: EventBatch, seen: LogPoint) throws(EventLogError) -> AppendReceipt {
        throw .unavailable("not asked for here")
    }

    func appendNext(_ batch: EventBatch, after point: LogPoint) throws(EventLogError) -> LogPoint? {
        throw .unavailable("not asked for here")
    }

    func outcome(of batch: EventBatch, since seen: LogPoint) throws(EventLogError) -> AppendReceipt? {
        throw .unavailable("not asked for here")
    }

    func commits(partition: Int, after position: Int64, limit: Int) throws(EventLogError) -> [Commit] {
        throw .unavailable("not asked for here")
    }
}
