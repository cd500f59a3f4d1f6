import CommandHandling
import Domain
import EventLog
import EventLoop
import Projections
import SeededRandom
import Testing

@testable import Application
@testable import Serving

/// Checkouts with claims, and orders that give back what they took, on servers that are killed between any two steps.
@Suite(.timeLimit(.minutes(1))) struct ProcessRunnerTests {
    init() { LoopActor.startInBackground() }

    /// A server, of which only what runs processes can be killed.
    @LoopActor
    private final class Place {
        let rooms: Rooms
        private(set) var runner: ProcessRunner?
        /// What becomes of the next questions to a supply: nil for an answer.
        var fate: @LoopActor () -> Fate? = { nil }

        enum Fate { case notAsked, answerLost }

        init(_ rooms: Rooms) {
            self.rooms = rooms
            for worker in rooms.partitions.workers { worker.start() }
        }

        func start(_ pace: ProcessRunner.Pace = .init(retryInterval: 1, longestRetryInterval: 1, longestWait: 1)) {
            let runner = ProcessRunner(rooms.partitions, rooms.changes, pace)
            runner.ask = { [rooms, weak self] command, words in
                let fate = self?.fate()
                if fate == .notAsked { return .failure(.unavailable("away")) }
                let response = Place.run(command, words, rooms)
                return fate == .answerLost ? response.map { _ in .null } : response
            }
            for worker in rooms.partitions.workers {
                let partition = worker.readModel.partition
                worker.audience.onProcesses = { [weak runner] in runner?.follow(partition) }
            }
            runner.start()
            self.runner = runner
        }

        func kill() {
            runner?.stop()
            runner = nil
        }

        private static func run(_ command: Command, _ words: [[UInt8]], _ rooms: Rooms) -> Response {
            let words = words.map { String(decoding: $0, as: UTF8.self) }
            let (outlet, order) = (Identifier(words[1])!, Identifier(words[2])!)
            let claims = [Claim(.item("item-0"), Int64(words[3].filter(\.isNumber).dropFirst())!)]
            return command === Command.hold
                ? rooms.writes.hold(claims, for: order, at: outlet, .none)
                : rooms.writes.takeBack(claims, of: order, at: outlet, .none)
        }

        /// Checks a cart out, as `CART.CHECKOUT` does.
        func checkOut(_ cart: Identifier) async -> CommandOutcome {
            await withCheckedContinuation { continuation in
                let partitions = rooms.partitions
                let request = CommandRequest(stream: .cart(cart)) { state, version in
                    LoopActor.assumeIsolated {
                        guard case .cart(let state) = state else { preconditionFailure("a cart") }
                        let total = (try? state.contents?.total()) ?? Amount.zero
                        return .cart(
                            .checkOut(
                                Cart.CheckOut(
                                    order: partitions.partitioning.orderID(cart: cart, version: version),
                                    agreement: .total(total), of: state, offers: partitions.offers(for:of:),
                                    claims: partitions.claims(of:at:), details: { partitions.details(of: $0.outlet) },
                                    now: partitions.clock())))
                    }
                }
                partitions[.cart(cart)].handle(request) { continuation.resume(returning: $0) }
                partitions.startWork()
            }
        }

        /// What a client is answered that checks a cart out.
        func answer(to cart: Identifier) async -> Result<Answer, Failure> {
            let outcome = await checkOut(cart)
            guard case .accepted(.checkingOut(let order)) = outcome, let runner else {
                return .failure(.unavailable("\(outcome)"))
            }
            return await withCheckedContinuation { continuation in
                runner.concluded(.failure(.checkingOut(order))).whenKnown { continuation.resume(returning: $0) }
            }
        }
    }

    /// Lets servers on one log take turns until something is so, while time goes on.
    @LoopActor
    private func turns(_ places: [Place], until condition: () -> Bool) async {
        while !condition(), !Task.isCancelled {
            places[0].rooms.clock.milliseconds += 1
            for place in places {
                for worker in place.rooms.partitions.workers { worker.poll() }
                place.rooms.endTurn()
            }
            await LoopTimer.pause(milliseconds: 0)
        }
    }

    @LoopActor
    private func stock(_ count: Int64, _ rooms: Rooms) async {
        await rooms.open("o")
        await rooms.send(StreamName(.supply, "o"), .supply(.stock(.item("item-0"), .left(count))))
    }

    /// Every event of a log.
    private func events(of log: InMemoryEventLog) async throws -> [DecodedEvent] {
        var events: [DecodedEvent] = []
        for partition in 0..<log.partitionCount {
            events += try await log.read(partition: partition, after: 0, limit: .max).map { try $0.decoded() }
        }
        return events
    }

    @Test(arguments: SeededGenerator.seeds) @LoopActor
    func `whatever is killed in between, every checkout ends, and no more is sold than there was`(seed: UInt64)
        async throws
    {
        var random = SeededGenerator(seed: seed)
        let (log, clock) = (InMemoryEventLog(partitionCount: 3), Rooms.Clock())
        let (carts, left) = (8, Int64(random.number(1...9)))
        try await Rooms.with(on: log, clock: clock) { first in
            await stock(left, first)
            try await Rooms.with(on: log, clock: clock) { second in
                let places = [Place(first), Place(second)]
                for place in places {
                    place.fate = { random.chance(30) ? random.pick([.notAsked, .answerLost]) : nil }
                    place.start()
                }
                for number in 0..<carts {
                    let (cart, place) = (Identifier("c-\(number)")!, random.pick(places))
                    await first.add(random.number(1...2), to: cart, at: "o")
                    await turns(places) { second.partitions.eventCount == first.partitions.eventCount }
                    _ = await place.checkOut(cart)
                    if random.chance(40) {
                        let victim = random.pick(places)
                        victim.kill()
                        for _ in 0..<random.number(0...9) { await turns(places) { true } }
                        victim.start()
                    }
                    clock.milliseconds += Int64(random.number(0...900))
                }
                for place in places { place.fate = { nil } }
                clock.milliseconds += 10_000
                @LoopActor func isOver() -> Bool { places.allSatisfy { $0.runner?.open.count == 0 } }
                await turns(places, until: { isOver() })
                // What was not cooked comes back.
                for number in 0..<carts where random.chance(50) {
                    let state = await withCheckedContinuation { continuation in
                        first.partitions[.cart(Identifier("c-\(number)")!)].read(.cart(Identifier("c-\(number)")!)) {
                            continuation.resume(returning: try? $0.get().state)
                        }
                        first.partitions.startWork()
                    }
                    guard case .cart(.checkedOut(_, let order))? = state else { continue }
                    await first.send(.order(order), .order(.cancel(by: .customer, .customer, text: nil)))
                }
                clock.milliseconds += 10_000
                await turns(places, until: { isOver() })
                for place in places { place.kill() }
            }
        }
        try check(await events(of: log), left, carts)
    }

    /// Judges a log by its events alone.
    private func check(_ events: [DecodedEvent], _ stocked: Int64, _ carts: Int) throws {
        var (held, returned, placed, ended):
            ([Identifier: Int64], [Identifier: Int64], Set<Identifier>, Set<Identifier>) =
                ([:], [:], [], [])
        var (refused, left, begun) = (0, stocked, 0)
        var isSoldOut = false
        for event in events {
            switch event.event {
            case .supply(.held(let claims, let order, _)):
                #expect(held.updateValue(claims[0].count, forKey: order) == nil)
                left -= claims[0].count
            case .supply(.returned(let claims, let order)):
                #expect(returned.updateValue(claims[0].count, forKey: order) == nil)
                left += claims[0].count
            case .cart(.checkoutBegun): begun += 1
            case .cart(.checkoutRefused): refused += 1
            case .order(.placed(let placement)):
                #expect(placed.insert(event.stream.id).inserted)
                #expect(placement.claims.map(\.key) == [.item("item-0")])
            case .order(.cancelled): ended.insert(event.stream.id)
            case .menu(.itemSuspended(_, _, .stock)): isSoldOut = true
            case .menu(.itemResumed(_, .stock)): isSoldOut = false
            default: break
            }
            #expect(left >= 0)
        }
        #expect(Set(held.keys) == placed && Set(returned.keys) == ended)
        #expect(begun <= carts && placed.count + refused == begun)
        #expect(isSoldOut == (left == 0))
    }

    /// What a client is answered, while a server takes turns.
    @LoopActor
    private func answer(to cart: Identifier, of place: Place) async -> Result<Answer, Failure> {
        var answer: Result<Answer, Failure>?
        LoopActor.task { answer = await place.answer(to: cart) }
        await turns([place]) { answer != nil }
        return answer ?? .failure(.unavailable("the test was given up"))
    }

    @Test @LoopActor func `a client is told how its checkout ended, or to ask again`() async throws {
        try await Rooms.with(on: InMemoryEventLog(partitionCount: 2)) { rooms in
            await stock(1, rooms)
            let place = Place(rooms)
            place.start(.init(retryInterval: 1, longestRetryInterval: 1, longestWait: 1, patience: 30))
            for cart in ["c-1", "c-2", "c-3"] as [Identifier] { await rooms.add(1, to: cart, at: "o") }
            place.fate = { .notAsked }
            #expect(await answer(to: "c-1", of: place).code == .unknown)
            // It goes on all the same.
            place.fate = { nil }
            await turns([place]) { place.runner?.open.count == 0 }
            #expect(rooms.partitions.workers.reduce(0) { $0 + $1.readModel.orders.rowCount } == 1)
            place.kill()
            place.start()
            // What is sold out cannot even begin to be checked out.
            #expect(rooms.partitions.offer(of: "item-0", with: [], at: "o") == .soldOut(until: nil))
            await rooms.send(StreamName(.supply, "o"), .supply(.stock(.item("item-0"), .left(1))))
            await rooms.add(1, to: "c-2", at: "o")
            #expect(await answer(to: "c-2", of: place).code == .rejected(.soldOut))
            guard case .success(.text) = await answer(to: "c-3", of: place) else {
                Issue.record("the last one was not sold")
                return
            }
            place.kill()
        }
    }

    @Test @LoopActor func `what nobody counts is checked out at once, in one transaction`() async throws {
        let log = InMemoryEventLog(partitionCount: 2)
        try await Rooms.with(on: log) { rooms in
            await rooms.open("o", items: 2)
            await rooms.send(StreamName(.supply, "o"), .supply(.stock(.item("item-1"), .left(1))))
            await rooms.add(1, to: "c", at: "o")
            let place = Place(rooms)
            guard case .accepted(.order) = await place.checkOut("c") else {
                Issue.record("it waits for something")
                return
            }
        }
        #expect(
            !(try await events(of: log)).contains { if case .cart(.checkoutBegun) = $0.event { true } else { false } })
    }

    @Test @LoopActor func `an item that comes after its count is sold out`() async throws {
        try await Rooms.with { rooms in
            await stock(0, rooms)
            let place = Place(rooms)
            place.start()
            await rooms.send(.menu("o"), .menu(.removeItem("item-0")))
            await rooms.send(.menu("o"), .menu(.put(.items(1))))
            await turns([place]) {
                rooms.partitions.offer(of: "item-0", with: [], at: "o") == .soldOut(until: nil)
            }
            await rooms.send(StreamName(.supply, "o"), .supply(.stock(.item("item-0"), .uncounted)))
            guard case .available = rooms.partitions.offer(of: "item-0", with: [], at: "o") else {
                Issue.record("still sold out")
                return
            }
            place.kill()
        }
    }
}

extension Result<Answer, Failure> {
    fileprivate var code: Failure.Code? { if case .failure(let failure) = self { failure.code } else { nil } }
}
