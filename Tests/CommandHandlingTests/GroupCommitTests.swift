import CommandHandling
import Domain
import EventLog
import Testing

@Suite("Group commit")
struct GroupCommitTests {
    private let log = InMemoryEventLog()

    @Test func `commands are decided against what is pending, and answered when it is durable`() async throws {
        let process = TestProcess(log)
        for quantity in 1...3 { process.send("c", .add(quantity)) }
        #expect(process.takeOutcomes().isEmpty)
        let batch = try #require(await process.appendBatch())
        #expect(batch.events.map(\.version) == [1, 2, 3])
        #expect(batch.groups == [0, 0, 0])
        #expect(process.takeOutcomes() == [.count(1), .count(3), .count(6)])
    }

    @Test func `nobody is answered when a batch is taken, and the next one fills meanwhile`() async throws {
        let process = TestProcess(log)
        process.send("c", .add(1))
        let batch = try #require(process.processor.takeBatch(now: Timestamp(millisecondsSinceEpoch: 0)))
        process.send("c", .add(2))
        #expect(process.takeOutcomes().isEmpty)

        let receipt = try await log.append(batch, seen: .start)
        var projected: [DecodedEvent] = []
        process.processor.committed(receipt, foreign: []) { projected = $0.compactMap { try? $0.get() } }
        #expect(projected.map(\.position) == [1])
        #expect(process.takeOutcomes() == [.count(1)])
        #expect(process.processor.hasBatch)
    }

    @Test func `the next batch is sent before the first is answered, once it is as large`() {
        func next(_ process: TestProcess) -> AppendPipeline.Action? {
            process.pipeline.next(now: Timestamp(millisecondsSinceEpoch: 0))
        }
        let process = TestProcess(log)
        for _ in 0..<3 { process.send("c", .add(1)) }
        guard case .append(_, let first, seen: .start) = next(process) else {
            Issue.record("no batch")
            return
        }
        #expect(first.events.count == 3)
        for _ in 0..<2 { process.send("c", .add(1)) }
        #expect(next(process) == nil)
        process.send("c", .add(1))
        guard case .appendNext(_, let second, after: _) = next(process) else {
            Issue.record("no second batch")
            return
        }
        #expect(second.events.map(\.version) == [4, 5, 6])
    }

    @Test func `the events are projected before anybody hears of them`() async {
        let process = TestProcess(log)
        var seen: Int?
        process.processor.handle(CommandRequest(stream: .cart("c")) { _, _ in .cart(.add(4)) }) { _ in
            seen = process.projectedCount(of: "c")
        }
        await process.appendBatch()
        #expect(seen == 4)
    }

    @Test func `answers that depend on pending events wait for them, rejections too`() async {
        let process = TestProcess(log)
        process.send("c", .remove(line: "tea"))
        process.send("other", .clear)
        #expect(process.takeOutcomes().isEmpty, "without an append, a look-up has to find out that a stream is new")
        #expect(await process.settle().map(\.rejectionCode) == [.notFound, nil])
        process.send("c", .remove(line: "tea"))
        #expect(process.takeOutcomes().map(\.rejectionCode) == [.notFound], "depends on nothing")
        process.send("c", .add(2))
        process.send("c", .remove(line: "coffee"))
        process.send("c", .set(line: "tea", quantity: 2))
        process.send("other", .clear)
        #expect(process.takeOutcomes() == [.count(0)], "changes nothing in another stream")
        await process.appendBatch()
        let outcomes = process.takeOutcomes()
        #expect(outcomes.map(\.rejectionCode) == [nil, .notFound, nil])
        #expect(outcomes.last == .count(2))
        process.send("c", .remove(line: "coffee"))
        #expect(process.takeOutcomes().map(\.rejectionCode) == [.notFound], "depends on durable events only")
    }

    @Test func `questions see committed state only`() async {
        let process = TestProcess(log)
        process.send("c", .add(2))
        #expect(process.cart("c")?.version == 0)
        await process.appendBatch()
        process.send("c", .add(3))
        #expect(process.cart("c")?.count == 2)
        await process.appendBatch()
        #expect(process.cart("c")?.count == 5)
    }

    @Test func `batches are bounded, and a command that makes more events goes alone`() async throws {
        var limits = CommandProcessor.Limits()
        limits.batchEvents = 3
        let process = TestProcess(log, limits: limits)
        for _ in 0..<7 { process.send("c", .add(1)) }
        process.send(.menu("o")) { _, _ in .menu(.put(.items(10))) }
        process.send("c", .add(1))
        var sizes: [Int] = []
        while process.hasBatch {
            sizes.append(try #require(await process.appendBatch()).events.count)
        }
        #expect(sizes == [3, 3, 1, 11, 1])
        #expect(process.takeOutcomes() == (1...7).map(CommandOutcome.count) + [.version(11), .count(8)])
    }

    @Test func `streams of a batch have groups of their own`() async throws {
        let process = TestProcess(log)
        for cart: Identifier in ["a", "b", "a", "c", "b"] { process.send(cart, .add(1)) }
        let batch = try #require(await process.appendBatch())
        #expect(batch.groups == [0, 1, 0, 2, 1])
    }

    @Test func `commands beyond the limit are busy, and change nothing`() async throws {
        var limits = CommandProcessor.Limits()
        limits.waitingCommands = 2
        let process = TestProcess(log, limits: limits)
        for _ in 0..<3 { process.send("c", .add(1)) }
        #expect(process.takeOutcomes() == [.busy])
        #expect(process.cart("c")?.version == 0, "a known stream can be read")
        await process.appendBatch()
        #expect(process.takeOutcomes() == [.count(1), .count(2)])
        process.send("c", .add(1))
        #expect(await process.settle() == [.count(3)])
        #expect(try await log.history().count == 3)
    }

    @Test func `questions that wait for a load are bounded with the commands`() async throws {
        var limits = CommandProcessor.Limits()
        limits.waitingCommands = 3
        let process = TestProcess(log, limits: limits)
        // Whether an order exists is never known in advance.
        for id: Identifier in ["x", "x", "y"] { #expect(process.read(StreamName(.order, id)) == nil) }
        #expect(process.read(StreamName(.order, "z")) == .failure(.busy))
        await process.load()
        #expect(process.read(StreamName(.order, "z")) == nil, "the others have their answers")
    }

    @Test func `a checkout and its order are written together`() async throws {
        let process = TestProcess(log)
        process.send("c", .add(2))
        process.checkOut("c")
        let batch = try #require(await process.appendBatch())
        #expect(batch.groups == [0, 0, 0])
        let order = Partitioning(count: 1).orderID(cart: "c", version: 1)
        #expect(process.takeOutcomes() == [.count(2), .accepted(.order(order))])
        #expect(try await log.history() == ["cart-c@1", "order-\(order)@1", "cart-c@2"])
        #expect(
            try await log.events()[1].event
                == .order(
                    .placed(
                        Order.Placement(
                            cart: "c", outlet: "o", currency: Currency("INR")!,
                            lines: [CartLine(id: "tea", item: "tea", name: "Tea", quantity: 2, unitPrice: 250)],
                            total: 500))))
    }

    @Test(arguments: [false, true])
    func `an order that was read before it was placed is found afterwards`(loadedBefore: Bool) async throws {
        let process = TestProcess(log)
        let order = StreamName(.order, Partitioning(count: 1).orderID(cart: "c", version: 1))
        #expect(process.read(order) == nil)
        if loadedBefore { await process.load() }
        process.send("c", .add(2))
        process.checkOut("c")
        // The order is placed once it is known that there is none.
        await process.appendBatch()
        await process.load()
        await process.appendBatch()
        let committed = try #require(try process.read(order)?.get())
        #expect(committed.version == 1)
    }
}
