import Catalogue
import CommandHandling
import Domain
import EventLog
import EventLoop
import Foundation
import SeededRandom
import Testing

@testable import Application
@testable import Serving

@Suite(.timeLimit(.minutes(1))) struct DeadlinesTests {
    init() { LoopActor.startInBackground() }

    /// Looks at the clock all the time, so that a test need not wait for it.
    private static let hurried = Deadlines.Pace(rest: 0, longestWait: 1, retryInterval: 1)

    /// Those of an order that has to be accepted within so many seconds.
    private static func terms(acceptWithin seconds: Int64) -> Order.Terms {
        Order.Terms(
            placedAt: Rooms.Clock.after(seconds: 0), acceptBy: Rooms.Clock.after(seconds: seconds),
            acceptWithin: Int(seconds))
    }

    @Test(arguments: SeededGenerator.seeds) @LoopActor
    func `what is due happens to orders, and nothing that is not`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await Rooms.with(on: InMemoryEventLog(partitionCount: 2)) { rooms in
            var waits: [Identifier: Int64] = [:]
            for number in 0..<20 {
                let order = Identifier("order-\(number)")!
                waits[order] = Int64(random.number(1...60))
                await rooms.place(order, Self.terms(acceptWithin: waits[order]!))
            }
            let accepted: Identifier = "order-0"
            await rooms.send(.order(accepted), .order(.accept(readyBy: nil, now: rooms.clock.now)))
            let deadlines = Deadlines(rooms.partitions, rooms.changes, Self.hurried)
            deadlines.start()
            var now: Int64 = 0
            while now < 62 {
                now += Int64(random.number(1...10))
                rooms.clock.milliseconds = Rooms.Clock.beginning + 1_000 * now
                // Each waits a little longer, by chance, but not for a whole second.
                let due = waits.filter { $0.value < now && $0.key != accepted }.keys
                await rooms.turns { due.allSatisfy { rooms.status(of: $0) == .cancelled } }
                for (order, wait) in waits where wait > now || order == accepted {
                    #expect(rooms.status(of: order) == (order == accepted ? .accepted : .placed))
                }
            }
            deadlines.stop()
        }
    }

    @Test @LoopActor func `what is overdue at the start happens at once`() async throws {
        try await Rooms.with { rooms in
            await rooms.place("late", Self.terms(acceptWithin: 60))
            await rooms.place("later", Self.terms(acceptWithin: 7_200))
            rooms.clock.milliseconds += 3_600_000
            let deadlines = Deadlines(rooms.partitions, rooms.changes, Self.hurried)
            deadlines.start()
            await rooms.turns { rooms.status(of: "late") == .cancelled }
            #expect(rooms.status(of: "later") == .placed)
            let event = try #require(try await rooms.log.read(partition: 0, after: 0, limit: 10).last)
            // It says why it happened.
            #expect(try event.decoded().metadata.cause == "order-late@1")
            deadlines.stop()
        }
    }

    @Test @LoopActor func `an order that comes later, or waits for something else later, is not forgotten`()
        async throws
    {
        try await Rooms.with { rooms in
            let deadlines = Deadlines(rooms.partitions, rooms.changes, Self.hurried)
            deadlines.start()
            await rooms.place("new", Self.terms(acceptWithin: 60))
            let readyBy = Rooms.Clock.after(seconds: 600)
            await rooms.send(.order("new"), .order(.accept(readyBy: readyBy, now: rooms.clock.now)))
            rooms.clock.milliseconds += 86_400_000
            await rooms.place("newer", Self.terms(acceptWithin: 86_460))
            rooms.clock.milliseconds += 62_000
            await rooms.turns { rooms.status(of: "newer") == .cancelled }
            #expect(rooms.status(of: "new") == .accepted)
            // A day after the promise it counts as handed over.
            rooms.clock.milliseconds += 600_000
            await rooms.turns { rooms.status(of: "new") == .completed }
            deadlines.stop()
        }
    }

    @Test @LoopActor func `only so many commands wait for their outcome, and the rest come after them`() async throws {
        try await Rooms.with { rooms in
            for number in 0..<30 { await rooms.place(Identifier("order-\(number)")!, Self.terms(acceptWithin: 1)) }
            rooms.clock.milliseconds += 10_000
            var pace = Self.hurried
            (pace.commandsPerTurn, pace.commandsAtOnce) = (3, 8)
            let deadlines = Deadlines(rooms.partitions, rooms.changes, pace)
            deadlines.start()
            let worker = rooms.partitions[0]
            // Nothing is sent to the log yet, so none of them has an outcome.
            await turns { worker.waitingCommands >= 8 }
            for _ in 0..<10 { await LoopTimer.pause(milliseconds: 0) }
            #expect(worker.waitingCommands == 8)
            var most = 0
            await rooms.turns {
                most = max(most, worker.waitingCommands)
                return (0..<30).allSatisfy { rooms.status(of: Identifier("order-\($0)")!) == .cancelled }
            }
            #expect(most <= 8)
            deadlines.stop()
        }
    }

    @Test @LoopActor func `a command that was not accepted is given again, after a pause`() async throws {
        let log = StagedLog()
        try await Rooms.with(on: log) { rooms in
            await rooms.place("o-1", Self.terms(acceptWithin: 1))
            let before = log.calls.count { $0 == .append }
            log.failures[.append] = [.unavailable("away"), .unavailable("away")]
            rooms.clock.milliseconds += 10_000
            var pace = Self.hurried
            pace.retryInterval = 1_000
            let deadlines = Deadlines(rooms.partitions, rooms.changes, pace)
            deadlines.start()
            await rooms.turns { log.calls.count { $0 == .append } == before + 1 }
            rooms.clock.milliseconds += 900
            for _ in 0..<10 { await LoopTimer.pause(milliseconds: 0) }
            rooms.endTurn()
            #expect(log.calls.count { $0 == .append } == before + 1)
            await rooms.turns {
                rooms.clock.milliseconds += 100
                return rooms.status(of: "o-1") == .cancelled
            }
            #expect(log.calls.count { $0 == .append } == before + 3)
            deadlines.stop()
        }
    }

    @Test @LoopActor func `entries that orders do not wait for any more are dropped once there are many`() async throws
    {
        try await Rooms.with { rooms in
            var pace = Self.hurried
            pace.outdatedEntries = 5
            let deadlines = Deadlines(rooms.partitions, rooms.changes, pace)
            deadlines.start()
            await rooms.place("o-1", Self.terms(acceptWithin: 60))
            for minutes in 1...40 {
                let readyBy = Rooms.Clock.after(seconds: Int64(60 * minutes))
                await rooms.send(.order("o-1"), .order(.delay(readyBy: readyBy, now: rooms.clock.now)))
            }
            await rooms.turns { deadlines.count <= 7 }
            #expect(deadlines.count > 0)
            deadlines.stop()
        }
    }

    @Test @LoopActor func `an order for later is shown to its kitchen in time, and waits for it from then on`()
        async throws
    {
        try await Rooms.with { rooms in
            let deadlines = Deadlines(rooms.partitions, rooms.changes, Self.hurried)
            deadlines.start()
            await rooms.place(
                "later",
                Order.Terms(
                    placedAt: rooms.clock.now, promisedFor: Rooms.Clock.after(seconds: 7_200),
                    releaseAt: Rooms.Clock.after(seconds: 3_600), acceptWithin: 60))
            rooms.clock.milliseconds += 3_599_000
            await rooms.place("sooner", Self.terms(acceptWithin: 1))
            await rooms.turns { rooms.status(of: "sooner") == .cancelled }
            #expect(rooms.status(of: "later") == .scheduled)
            rooms.clock.milliseconds += 2_000
            await rooms.turns { rooms.status(of: "later") == .placed }
            rooms.clock.milliseconds += 62_000
            await rooms.turns { rooms.status(of: "later") == .cancelled }
            deadlines.stop()
        }
    }

    @Test @LoopActor func `dayparts begin and end by themselves, and what is had in them with them`() async throws {
        try await Rooms.with { rooms in
            // It is 22:13 on a Tuesday, and 3:43 on Wednesday in Kolkata.
            var details = OutletDetails.named("O")
            details.dayparts = [
                Daypart(
                    id: "breakfast", hours: [OpeningHours(day: .wednesday, opens: 7 * 60, closes: 660)!])
            ]
            let deadlines = Deadlines(rooms.partitions, rooms.changes, Self.hurried)
            deadlines.start()
            await rooms.open("o", items: 2, details)
            var item = MenuItem(id: "item-0", kind: "menuItem", name: "Egg", price: Amount(minorUnits: 1))
            item.daypart = "breakfast"
            await rooms.send(.menu("o"), .menu(.putItem(item, section: "all", before: nil)))
            @LoopActor func offer() -> Offer { rooms.partitions.offer(of: "item-0", with: [], at: "o") }
            @LoopActor func isAvailable() -> Bool { if case .available = offer() { true } else { false } }
            @LoopActor func openItems() -> Int {
                guard let catalogue = rooms.catalogue.whole,
                    let query = try? catalogue.query(["OPEN"], of: .items, options: [])
                else { return 0 }
                return String(decoding: catalogue.page(query).bytes, as: UTF8.self)
                    .components(separatedBy: #""item":"#).count - 1
            }
            let (seven, eleven) = (Rooms.Clock.after(seconds: 11_800), Rooms.Clock.after(seconds: 26_200))
            rooms.clock.milliseconds += 1_000
            await rooms.turns { offer() == .outOfDaypart("breakfast", begins: seven) }
            #expect(openItems() == 1)
            // Who wants it for later is not kept from it by what is now.
            guard case .available = rooms.partitions.offer(of: "item-0", with: [], at: "o", wanted: seven) else {
                Issue.record("nothing is had at breakfast")
                return
            }
            #expect(
                rooms.partitions.offer(of: "item-0", with: [], at: "o", wanted: eleven)
                    == .outOfDaypart("breakfast", begins: seven.adding(seconds: 7 * 86_400)))
            rooms.clock.milliseconds = seven.millisecondsSinceEpoch
            // It begins at once, even before that is recorded.
            #expect(openItems() == 2 && isAvailable())
            rooms.clock.milliseconds = eleven.millisecondsSinceEpoch + 1_000
            await rooms.turns { !isAvailable() }
            #expect(openItems() == 1)
            deadlines.stop()
        }
    }

    @Test @LoopActor func `a server that has stopped takes in nothing more`() async throws {
        try await Rooms.with { rooms in
            let deadlines = Deadlines(rooms.partitions, rooms.changes, Self.hurried)
            deadlines.start()
            await rooms.place("before", Self.terms(acceptWithin: 60))
            deadlines.stop()
            await rooms.place("after", Self.terms(acceptWithin: 60))
            #expect(deadlines.count == 1)
            deadlines.start()
            #expect(deadlines.count == 2)
            deadlines.stop()
        }
    }
}
