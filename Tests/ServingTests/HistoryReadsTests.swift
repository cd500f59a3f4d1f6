import CommandHandling
import Domain
import EventLog
import EventLoop
import Projections
import Testing

@testable import Application
@testable import Serving

@Suite(.timeLimit(.minutes(1))) struct HistoryReadsTests {
    init() { LoopActor.startInBackground() }

    /// An answer that may not be there yet.
    @LoopActor
    private final class Pending {
        var result: Result<Answer, Failure>?
        init(_ response: Response) { response.whenKnown { [self] in result = $0 } }

        /// The number that it is, or the failure's code.
        var shown: String? {
            switch result {
            case .success(.integer(let number))?: "\(number)"
            case .success(.document(let document))?: String(decoding: document, as: UTF8.self)
            case .success?: "something else"
            case .failure(let failure)?: failure.code.word
            case nil: nil
            }
        }
    }

    /// Asks for the position that a partition ends at.
    @LoopActor
    private static func end(
        of rooms: Rooms, waitingFor position: Int64? = nil, milliseconds: Int64 = 20_000, for caller: Caller = .server
    ) throws -> Pending {
        let event = position.map { AwaitedEvent(partition: 0, position: $0, milliseconds: milliseconds) }
        return Pending(
            try rooms.history.reading(for: caller, waitingFor: event) { log async throws(EventLogError) in
                .integer(try await log.head(of: 0).position)
            })
    }

    @Test @LoopActor func `a read waits for its event, and not for one that is there`() async throws {
        try await Rooms.with { rooms in
            await rooms.send(.outlet("o"), .outlet(.put(.named("O"))))
            let (past, next) = (try Self.end(of: rooms, waitingFor: 1), try Self.end(of: rooms, waitingFor: 2))
            await turns { past.shown != nil }
            #expect(past.shown == "1")
            for _ in 0..<10 { await LoopTimer.pause(milliseconds: 0) }
            #expect(next.shown == nil)
            await rooms.send(.outlet("o"), .outlet(.open))
            await rooms.turns { next.shown != nil }
            #expect(next.shown == "2")
        }
    }

    @Test @LoopActor func `a read whose time is over says what there is`() async throws {
        try await Rooms.with { rooms in
            let read = try Self.end(of: rooms, waitingFor: 1, milliseconds: 1)
            await rooms.turns { read.shown != nil }
            #expect(read.shown == "0")
        }
    }

    @Test @LoopActor func `a read that waits is told when the server stops, and one that fails why`() async throws {
        let log = StagedLog()
        try await Rooms.with(on: log) { rooms in
            log.failures[.heads] = [.unavailable("away")]
            let (waiting, failing) = (try Self.end(of: rooms, waitingFor: 1), try Self.end(of: rooms))
            rooms.waits.stop()
            await rooms.turns { failing.shown != nil }
            for read in [waiting, failing] { #expect(read.shown == "UNAVAILABLE") }
        }
    }

    @Test @LoopActor func `where too much waits, a read is refused when its event is there`() async throws {
        let log = StagedLog()
        try await Rooms.with(on: log) { rooms in
            let waiting = try Self.end(of: rooms, waitingFor: 1)
            // As many as the caller may have under way, and wait for.
            for _ in 0..<rooms.queue.limits.atOnceOfCaller + rooms.queue.limits.waitingOfCaller {
                _ = try Self.end(of: rooms)
            }
            rooms.waits.wake { _ in 1 }
            #expect(waiting.shown == "BUSY")
            let other = try Self.end(of: rooms, for: Caller(user: "other"))
            await rooms.turns { other.shown != nil }
            #expect(other.shown == "0")
        }
    }

    @Test @LoopActor func `a page of the past waits until this server knows what another has written`() async throws {
        let log = InMemoryEventLog()
        let clock = Rooms.Clock()
        try await Rooms.with(on: log, clock: clock) { rooms in
            let (question, now) = (OrderQuestion(filter: OrderFilter(), count: 10), Moment.time(clock.now))
            try await Rooms.with(on: log, clock: clock) { other in
                await other.place("theirs")
            }
            let page = Pending(try rooms.history.orders(question, at: now, for: .server))
            for _ in 0..<10 { await LoopTimer.pause(milliseconds: 0) }
            #expect(page.shown == nil)
            try await rooms.partitions[0].catchUp { _ in }
            await rooms.turns { page.shown != nil }
            #expect(page.shown?.contains(#""order":"theirs""#) ?? false)
        }
    }

    @Test @LoopActor func `a page of the past is refused where this server does not know enough in time`() async throws
    {
        let log = InMemoryEventLog()
        try await Rooms.with(on: log) { rooms in
            try await Rooms.with(on: log) { await $0.place("theirs") }
            let question = OrderQuestion(filter: OrderFilter(), count: 10)
            let page = Pending(try rooms.history.orders(question, at: .time(rooms.clock.now), for: .server))
            await rooms.turns { page.shown != nil }
            #expect(page.shown == "UNAVAILABLE")
        }
    }
}
