import CommandHandling
import Domain
import EventLog
import Testing

@Suite("Other writers")
struct ConflictTests {
    private let log = FaultyLog()

    @Test func `commands that lost are decided again, and their neighbours are not touched`() async throws {
        let (process, rival) = (TestProcess(log), TestProcess(log))
        rival.send("c", .add(10))
        rival.send("r", .add(1))
        _ = await rival.settle()

        process.send("c", .add(1))
        process.send("d", .add(2))
        process.send("c", .set(line: "tea", quantity: 20))
        await process.appendBatch()
        #expect(process.takeOutcomes() == [.count(2)], "only the neighbour's batch is durable")
        process.send("c", .add(1))
        #expect(await process.settle() == [.count(11), .count(20), .count(21)])
        #expect(
            try await log.inner.history()
                == ["cart-c@1", "cart-r@1", "cart-d@1", "cart-c@2", "cart-c@3", "cart-c@4"])
        #expect(process.position == 6)
        #expect(process.projectedCount(of: "r") == 1)
    }

    @Test func `commands of the next batch are decided again, too`() async throws {
        var limits = CommandProcessor.Limits()
        limits.batchEvents = 1
        let (process, rival) = (TestProcess(log, limits: limits), TestProcess(log))
        rival.send("c", .add(10))
        _ = await rival.settle()
        process.send("d", .add(1))
        process.send("c", .add(1))
        await process.appendBatch()
        #expect(process.takeOutcomes() == [.count(1)])
        #expect(await process.settle() == [.count(11)])
    }

    @Test func `other writers' events are taken in while commands wait`() async throws {
        let (process, rival) = (TestProcess(log), TestProcess(log))
        rival.send("c", .add(10))
        _ = await rival.settle()
        await process.catchUp { process.send("c", .add(1)) }
        #expect(process.takeOutcomes().isEmpty)
        #expect(await process.settle() == [.count(11)])
    }

    @Test func `a rejection is not given before the state it depends on is durable`() async throws {
        let (process, rival) = (TestProcess(log), TestProcess(log))
        process.send("c", .add(1))
        process.send("c", .remove(line: "coffee"))
        rival.send("c", .add(3, of: "coffee"))
        _ = await rival.settle()
        #expect(await process.settle() == [.count(4), .count(1)])
    }

    @Test func `a checkout that lost leaves no order behind`() async throws {
        let (process, rival) = (TestProcess(log), TestProcess(log))
        process.send("c", .add(1))
        _ = await process.settle()
        await rival.catchUp()
        rival.send("c", .add(1))
        _ = await rival.settle()
        process.checkOut("c")
        let order = Partitioning(count: 1).orderID(cart: "c", version: 2)
        #expect(await process.settle() == [.accepted(.order(order))])
        #expect(
            try await log.inner.history() == ["cart-c@1", "cart-c@2", "order-\(order)@1", "cart-c@3"])
    }

    @Test func `a command that loses again and again is given up`() async throws {
        var limits = CommandProcessor.Limits()
        limits.conflicts = 3
        let process = TestProcess(log, limits: limits)
        await log.setRival { _, inner in
            let rival = TestProcess(inner)
            await rival.catchUp()
            rival.send("c", .add(1))
            _ = await rival.settle()
        }
        process.send("c", .add(50), id: "mine")
        process.send("d", .add(1))
        var batches = 0
        while process.hasBatch {
            await process.appendBatch()
            batches += 1
        }
        #expect(batches == 4)
        #expect(process.takeOutcomes() == [.count(1), .busy])
        #expect(try await log.inner.events().allSatisfy { $0.metadata.commandID == nil })
    }

    @Test func `an event of a stream that is not in memory is ignored`() async throws {
        let (process, rival) = (TestProcess(log), TestProcess(log))
        rival.send("c", .add(10))
        _ = await rival.settle()
        await process.catchUp()
        #expect(process.processor.takeLoads().isEmpty)
        #expect(process.projectedCount(of: "c") == 10)
    }
}
