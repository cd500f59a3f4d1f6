import CommandHandling
import Domain
import EventLog
import EventLoop
import SeededRandom
import Testing

@testable import Application
@testable import Serving

@Suite(.timeLimit(.minutes(1))) struct KitchensTests {
    init() { LoopActor.startInBackground() }

    @LoopActor
    private static func shown(_ kitchens: Kitchens, _ outlet: Identifier) async throws -> String {
        let result = await withCheckedContinuation { continuation in
            kitchens.document(of: outlet, for: .server) { continuation.resume(returning: $0) }
        }
        return String(decoding: try result.get(), as: UTF8.self)
    }

    @Test(arguments: SeededGenerator.seeds) @LoopActor
    func `a document that is kept says what a new one would, and whoever watches hears when it changes`(
        seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: seed)
        let outlets: [Identifier] = ["o", "p"]
        try await Rooms.with(on: InMemoryEventLog(partitionCount: 2)) { rooms in
            for outlet in outlets { await rooms.open(outlet) }
            var known: [Identifier: String] = [:]
            var heard: Set<Identifier> = []
            rooms.kitchens.onChange = { heard.insert($0) }
            for step in 0..<60 {
                let order = Identifier("order-\(random.below(12))")!
                let now = rooms.clock.now
                let promise = now.adding(seconds: random.number(1...600))
                switch random.below(9) {
                case 0, 1:
                    await rooms.place(
                        order, at: random.pick(outlets), Order.Terms(placedAt: now, promisedFor: promise))
                case 2: await rooms.send(.order(order), .order(.accept(readyBy: promise, now: now)))
                case 3: await rooms.send(.order(order), .order(.ready))
                case 4: await rooms.send(.order(order), .order(.complete))
                case 5: await rooms.send(.order(order), .order(.cancel(by: .merchant, .other, text: nil)))
                case 6:
                    var details = OutletDetails.named("O")
                    details.acceptWithin = random.maybe { $0.number(1...600) }
                    await rooms.send(.outlet(random.pick(outlets)), .outlet(.put(details)))
                default: rooms.clock.milliseconds += Int64(random.below(400_000))
                }
                rooms.kitchens.followTime()
                for outlet in outlets {
                    let document = try await Self.shown(rooms.kitchens, outlet)
                    let fresh = Kitchens(rooms.partitions, rooms.sealer, ChangeFeed())
                    let made = try await Self.shown(fresh, outlet)
                    #expect(document == made, "step \(step)")
                    if let before = known[outlet], before != document { #expect(heard.contains(outlet)) }
                    known[outlet] = document
                }
                heard = []
            }
        }
    }

    @Test @LoopActor func `an order is late as soon as its moment has passed, and that is said once`() async throws {
        try await Rooms.with { rooms in
            await rooms.open("o")
            let promise = Rooms.Clock.after(seconds: 60)
            await rooms.place("a", Order.Terms(placedAt: rooms.clock.now, promisedFor: promise))
            var heard: [Identifier] = []
            rooms.kitchens.onChange = { heard.append($0) }
            let early = try await Self.shown(rooms.kitchens, "o")
            #expect(early.contains(#""late":false"#))
            rooms.clock.milliseconds += 60_000
            rooms.kitchens.followTime()
            #expect(heard == [])
            rooms.clock.milliseconds += 1
            rooms.kitchens.followTime()
            #expect(heard == ["o"])
            let late = try await Self.shown(rooms.kitchens, "o")
            #expect(late.contains(#""late":true"#))
            rooms.clock.milliseconds += 3_600_000
            rooms.kitchens.followTime()
            #expect(heard == ["o"])
        }
    }

    @Test(arguments: [false, true]) @LoopActor
    func `whoever watches hears that an order is late, though others have asked or documents were dropped`(
        isDropped: Bool
    ) async throws {
        try await Rooms.with { rooms in
            await rooms.open("o")
            let promise = Rooms.Clock.after(seconds: 60)
            await rooms.place("a", Order.Terms(placedAt: rooms.clock.now, promisedFor: promise))
            _ = try await Self.shown(rooms.kitchens, "o")
            var heard: [Identifier] = []
            rooms.kitchens.onChange = { heard.append($0) }
            rooms.clock.milliseconds += 60_001
            if isDropped {
                rooms.kitchens.dropAll()
            } else {
                let late = try await Self.shown(rooms.kitchens, "o")
                #expect(late.contains(#""late":true"#))
            }
            rooms.kitchens.followTime()
            #expect(heard == ["o"])
        }
    }

    @Test @LoopActor func `a customer's texts are opened for each answer`() async throws {
        let keys = InMemoryCustomerKeys()
        try await Rooms.with(keys: keys) { rooms in
            await rooms.open("o")
            guard case .known(let key) = try await keys.makeKey(of: "asha", partition: 0) else {
                Issue.record("no key")
                return
            }
            let note = key.seal("no nuts", .note, of: TextOwner(customer: "asha", cart: "c"))
            await rooms.place("a", customer: "asha", note: note, Order.Terms(placedAt: rooms.clock.now))
            #expect(try await Self.shown(rooms.kitchens, "o").contains("no nuts"))
            _ = try await keys.forget(["asha"])
            // Nothing has happened to the order, so the document would still be there.
            #expect(try await Self.shown(rooms.kitchens, "o").contains("[erased]"))
        }
    }
}
