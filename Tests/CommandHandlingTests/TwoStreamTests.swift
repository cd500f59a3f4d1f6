import CommandHandling
import Domain
import EventLog
import Testing

@Suite("Commands that write two streams")
struct TwoStreamTests {
    private let log = FaultyLog()
    private let order = Partitioning(count: 1).orderID(cart: "c", version: 1)

    private func send(_ command: Order.Command, to process: TestProcess) {
        process.send(StreamName(.order, order)) { _, _ in .order(command) }
    }

    @Test func `the second stream can be written again before the first batch is durable`() async throws {
        let process = TestProcess(log)
        process.send("c", .add(1))
        process.send("d", .add(1))
        process.checkOut("c")
        send(.accept(readyBy: nil, now: Timestamp(millisecondsSinceEpoch: 0)), to: process)
        send(.prepare, to: process)
        let batch = try #require(await process.appendBatch())
        #expect(batch.groups == [0, 1, 0, 0, 0, 0], "whatever shares a stream shares a group")
        #expect(
            process.takeOutcomes().unordered
                == [.count(1), .count(1), .accepted(.order(order)), .accepted(.version(2)), .accepted(.version(3))]
                .unordered)
        #expect(
            try await log.inner.history()
                == ["cart-c@1", "cart-d@1", "order-\(order)@1", "cart-c@2", "order-\(order)@2", "order-\(order)@3"])
    }

    @Test(arguments: [false, true])
    func `what rests on a checkout that lost is decided again behind it`(isRivalInTime: Bool) async throws {
        let (process, rival) = (TestProcess(log), TestProcess(log))
        process.send("c", .add(1))
        _ = await process.settle()
        await rival.catchUp()
        rival.send("c", .add(1))
        _ = await rival.settle()
        let ask = {
            process.checkOut("c")
            send(.prepare, to: process)
        }
        if isRivalInTime { await process.catchUp { ask() } } else { ask() }
        let placed = Partitioning(count: 1).orderID(cart: "c", version: 2)
        let outcomes = await process.settle()
        #expect(outcomes.contains(.accepted(.order(placed))))
        #expect(outcomes.count == 2 && outcomes.contains { $0.rejectionCode == .notFound }, "it is another order now")
        #expect(try await log.inner.history() == ["cart-c@1", "cart-c@2", "order-\(placed)@1", "cart-c@3"])
        #expect(try process.read(StreamName(.order, placed))?.get().version == 1)
    }

    @Test func `a log that is away takes both streams back`() async throws {
        let process = TestProcess(log)
        process.send("c", .add(1))
        _ = await process.settle()
        await log.fail(appends: [.refused])
        process.checkOut("c")
        send(.prepare, to: process)
        #expect(await process.settle().map(\.isUnavailable) == [true, true])
        process.checkOut("c")
        send(.prepare, to: process)
        #expect(await process.settle() == [.accepted(.order(order)), .accepted(.version(2))])
    }
}
