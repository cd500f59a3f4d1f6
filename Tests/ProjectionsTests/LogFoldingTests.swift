import Domain
import EventLog
import Projections
import SeededRandom
import Testing

@Suite("Folding a log")
struct LogFoldingTests {
    @Test(arguments: 0..<30 as Range<UInt64>)
    func `gives the same result as applying its events, wherever it begins and ends`(
        seed: UInt64
    ) async throws {
        var history = RandomHistory(seed: seed)
        for _ in 0..<60 { history.grow() }
        let log = FixedLog(history.events)
        var generator = SeededGenerator(seed: seed)
        let end = Int64(generator.number(0..<history.events.count + 1))
        let begin = Int64(generator.number(0..<Int(end) + 1))

        var applied = ReadModel(partition: 0)
        applied.apply(Array(history.events.prefix(Int(end))))
        var folded = ReadModel(partition: 0)
        folded.apply(Array(history.events.prefix(Int(begin))))
        try await folded.fold(log, upTo: end)

        #expect(folded.position == end)
        #expect(Tables(of: folded) == Tables(of: applied))
    }

    @Test(arguments: [[3 as Int64], [1], [12], [4, 5, 6, 7, 8, 9, 10, 11], [1, 2, 11, 12]])
    func `skips positions that have no event`(missing: [Int64]) async throws {
        let cart = StreamName(.cart, "c")
        let line = CartLine(id: "tea", item: "tea", name: "Tea", quantity: 1, unitPrice: 1)
        let events = (1...12 as ClosedRange<Int64>).map { position in
            DecodedEvent(
                partition: 0, position: position, stream: cart, version: position,
                event: .cart(.itemAdded(line, outlet: "o", currency: Currency("LKR")!)), metadata: .none,
                recordedAt: 0)
        }
        var model = ReadModel(partition: 0)
        try await model.fold(
            FixedLog(events.filter { !missing.contains($0.position) }.map { .success($0) }), upTo: 12)
        #expect(model.position == 12)
        // The first event with a version that does not follow puts the cart into quarantine, if there is one.
        let first = events.first { !missing.contains($0.position) }?.position ?? 1
        let behind = events.first {
            $0.position > first && missing.contains($0.position - 1) && !missing.contains($0.position)
        }
        let damaged = first > 1 ? first : behind?.position
        #expect(model.cartCounts.quarantine[cart]?.position == damaged)
    }

    @Test func `stops when its task is cancelled`() async throws {
        var history = RandomHistory(seed: 1)
        for _ in 0..<60 { history.grow() }
        let (log, end) = (FixedLog(history.events), Int64(history.events.count))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var model = ReadModel(partition: 0)
            try await model.fold(log, upTo: end)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

/// A log that holds these events, and returns seven of them at a time.
private struct FixedLog: EventLog {
    let partitioning = Partitioning(count: 1)
    private let events: [RecordedEvent]

    init(_ events: [Result<DecodedEvent, CorruptEvent>]) {
        self.events = events.compactMap { try? $0.get() }.map { event in
            let (kind, payload) = EventCodec.encode(event.event)
            return RecordedEvent(
                partition: 0, position: event.position, stream: event.stream.description, version: event.version,
                kind: kind, payload: payload, metadata: event.metadata.encoded(), recordedAt: event.recordedAt)
        }
    }

    func read(partition: Int, after position: Int64, limit: Int) throws(EventLogError) -> [RecordedEvent] {
        Array(events.lazy.filter { $0.position > position }.prefix(min(limit, 7)))
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

    func follow(partition: Int, after point: LogPoint, limit: Int) throws(EventLogError) -> FollowingEvents {
        throw .unavailable("not asked for here")
    }

    func commits(partition: Int, after position: Int64, limit: Int) throws(EventLogError) -> [Commit] {
        throw .unavailable("not asked for here")
    }

    func heads() throws(EventLogError) -> [LogHead] { throw .unavailable("not asked for here") }
}
