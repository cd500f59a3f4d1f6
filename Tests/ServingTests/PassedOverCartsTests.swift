import CommandHandling
import Domain
import EventLog
import EventLoop
import Projections
import SeededRandom
import Testing

@testable import Application
@testable import Serving

/// Servers that do not decide a partition pass over what happens to its carts, until they have to.
@Suite(.timeLimit(.minutes(1))) struct PassedOverCartsTests {
    init() { LoopActor.startInBackground() }

    /// The loop's clock, which a test moves.
    private final class LoopTime: @unchecked Sendable {
        var nanoseconds: UInt64 = 1_000_000_000_000
        func pass(seconds: UInt64) { nanoseconds += seconds * 1_000_000_000 }
    }

    /// Two servers' rooms on one log, and the clock of both.
    @LoopActor
    private static func two(
        _ body: @LoopActor (Rooms, Rooms, LoopTime) async throws -> Void
    ) async throws {
        let (log, time) = (StagedLog(), LoopTime())
        try await Rooms.with(on: log, loopTime: { time.nanoseconds }) { one in
            try await Rooms.with(on: log, loopTime: { time.nanoseconds }) { other in
                for rooms in [one, other] { rooms.partitions[0].start() }
                try await body(one, other, time)
            }
        }
    }

    @LoopActor
    private static func catchUp(_ rooms: Rooms) async {
        await withCheckedContinuation { continuation in
            rooms.partitions[0].whenCaughtUp { _ in continuation.resume() }
        }
    }

    /// The sum of a cart's quantities, as the server answers it.
    @LoopActor
    private static func count(of cart: Identifier, in rooms: Rooms) async throws -> Int {
        try await withCheckedContinuation { continuation in
            rooms.partitions.count(of: cart) { continuation.resume(returning: $0) }
            rooms.partitions.startWork()
        }.get()
    }

    @Test @LoopActor func `outlets and orders are followed all the same, and carts are loaded`() async throws {
        try await Self.two { one, other, _ in
            let reader = other.partitions[0]
            reader.passOverCarts()
            #expect(!reader.readModel.knowsCarts)
            await one.open("o")
            for number in 1...5 { await one.add(number, to: "c", at: "o") }
            await one.place("order", at: "o", from: "d")
            await Self.catchUp(other)
            #expect(reader.position == one.partitions[0].position && reader.missingEvents == 0)
            #expect(other.partitions.details(of: "o") != nil && other.status(of: "order") != nil)
            let known = try other.partitions.knownCount(of: "c")
            let loaded = try await Self.count(of: "c", in: other)
            #expect(known == nil && loaded == 15)
        }
    }

    @Test @LoopActor func `nothing is passed over while somebody asks for carts`() async throws {
        try await Self.two { one, other, time in
            await one.open("o")
            await Self.catchUp(other)
            await other.add(1, to: "c", at: "o")
            other.partitions[0].passOverCarts()
            #expect(other.partitions[0].readModel.knowsCarts)
            time.pass(seconds: 3)
            other.partitions[0].passOverCarts()
            #expect(!other.partitions[0].readModel.knowsCarts)
        }
    }

    @Test(arguments: 0..<40) @LoopActor
    func `whoever decides, and whatever was passed over, every cart is as the log has it`(seed: UInt64) async throws {
        var chance = SeededGenerator(seed: seed)
        let carts: [Identifier] = ["a", "b", "c"]
        try await Self.two { one, other, time in
            await one.open("o")
            await Self.catchUp(other)
            var expected: [Identifier: Int] = [:]
            for _ in 0..<60 {
                let rooms = chance.chance(50) ? one : other
                switch chance.below(5) {
                case 0:
                    time.pass(seconds: 3)
                    rooms.partitions[0].passOverCarts()
                case 1: await Self.catchUp(rooms)
                default:
                    let (cart, quantity) = (chance.pick(carts), chance.number(1..<4))
                    guard case .accepted(.count(let count)) = await rooms.add(quantity, to: cart, at: "o") else {
                        Issue.record("an item was not added")
                        continue
                    }
                    expected[cart, default: 0] += quantity
                    #expect(count == expected[cart])
                }
            }
            for rooms in [one, other] {
                await Self.catchUp(rooms)
                for cart in carts {
                    let count = try await Self.count(of: cart, in: rooms)
                    #expect(count == expected[cart] ?? 0)
                }
                #expect(rooms.partitions[0].missingEvents == 0)
            }
            let told = [try one.lines.text(), try other.lines.text()]
            #expect(told == ["", ""])
        }
    }
}
