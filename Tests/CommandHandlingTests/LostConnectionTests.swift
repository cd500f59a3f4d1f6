import CommandHandling
import Domain
import EventLog
import Testing

@Suite("Lost connections")
struct LostConnectionTests {
    private let log = FaultyLog()

    @Test func `a batch that the log refuses is unavailable, with everything that depends on it`() async throws {
        var limits = CommandProcessor.Limits()
        limits.batchEvents = 1
        let process = TestProcess(log, limits: limits)
        await log.fail(appends: [.refused])
        process.send("c", .add(1))
        process.send("d", .add(2))
        process.send("c", .remove(line: "coffee"))
        process.send("c", .add(3))
        await process.appendBatch()
        let outcomes = process.takeOutcomes()
        #expect(outcomes.map(\.isUnavailable) == [true, true, true])
        #expect(await process.settle() == [.count(2)])
        process.send("c", .add(4))
        #expect(await process.settle() == [.count(4)])
        #expect(try await log.inner.history() == ["cart-d@1", "cart-c@1"])
    }

    @Test(
        arguments: [
            [.lostBefore], [.lostAfter], [.lostBefore, .lostBefore], [.lostBefore, .refused],
            [.lostBefore, .lostAfter],
        ] as [[FaultyLog.AppendFault]], [0, 1, 5])
    func `a batch in doubt is looked up before it is sent again`(
        faults: [FaultyLog.AppendFault], outcomes: Int
    ) async throws {
        let process = TestProcess(log)
        process.send("c", .add(1))
        process.send("d", .add(2))
        await log.fail(appends: faults, outcomes: outcomes)
        #expect(await process.settle() == [.count(1), .count(2)])
        #expect(try await log.inner.history() == ["cart-c@1", "cart-d@1"])
        #expect(process.position == 2)
    }

    @Test(arguments: [FaultyLog.AppendFault.lostBefore, .lostAfter])
    func `an outcome that cannot be found out is unknown, and the command can be sent again with its id`(
        fault: FaultyLog.AppendFault
    ) async throws {
        let process = TestProcess(log)
        process.send("c", .add(1))
        _ = await process.settle()
        await log.fail(appends: [fault], outcomes: AppendPipeline.outcomeAttempts)
        process.send("c", .add(2), id: "a")
        process.send("new", .add(3), id: "a")
        process.send("c", .remove(line: "coffee"))
        let outcomes = await process.settle()
        #expect(outcomes.map(\.isUnknown) == [true, true, true])

        process.send("c", .add(2), id: "a")
        process.send("new", .add(3), id: "a")
        #expect(await process.settle().unordered == [CommandOutcome.count(3), .count(3)].unordered)
        #expect(try await log.inner.history().sorted() == ["cart-c@1", "cart-c@2", "cart-new@1"])
        process.send("c", .add(1))
        process.send("new", .add(1))
        #expect(await process.settle() == [.count(4), .count(4)])
        #expect(process.projectedCount(of: "c") == 4)
    }

    @Test func `an append after an unknown one does not overtake it`() async throws {
        let process = TestProcess(log)
        await log.fail(appends: [.lostAfter], outcomes: AppendPipeline.outcomeAttempts)
        process.send("c", .add(1))
        #expect(await process.settle().map(\.isUnknown) == [true])
        process.send("d", .add(1))
        #expect(await process.settle() == [.count(1)])
        #expect(process.position == 2)
        #expect(process.projectedCount(of: "c") == 1)
        process.send("c", .add(1))
        #expect(await process.settle() == [.count(2)])
    }

    @Test func `other writers' events are fetched despite failures before a batch is answered`() async throws {
        let (process, rival) = (TestProcess(log), TestProcess(log))
        rival.send("c", .add(1))
        _ = await rival.settle()
        process.send("d", .add(1))
        await log.fail(reads: AppendPipeline.outcomeAttempts - 1)
        #expect(await process.settle() == [.count(1)])
        #expect(process.projectedCount(of: "c") == 1)
    }

    @Test(arguments: [0, 1])
    func `other writers' events that cannot be fetched are not forgotten`(pagesBefore: Int) async throws {
        let (process, rival) = (TestProcess(log), TestProcess(log))
        process.send("c", .add(1))
        _ = await process.settle()
        await rival.catchUp()
        rival.send("c", .add(10))
        _ = await rival.settle()
        for outlet in ["p", "q"] as [Identifier] {
            rival.send(StreamName(.menu, outlet)) { _, _ in .menu(.put(.items(Menu.maximumItems))) }
            _ = await rival.settle()
        }
        let menus = 2 * Int64(Menu.maximumItems + 1)

        process.send("d", .add(1), id: "a")
        await log.fail(reads: AppendPipeline.outcomeAttempts, afterReads: pagesBefore)
        #expect(await process.settle().map(\.isUnknown) == [true], "it is durable, and cannot be passed on in order")
        process.send("d", .add(1), id: "a")
        process.send("c", .add(1))
        #expect(await process.settle().unordered == [CommandOutcome.count(1), .count(12)].unordered)
        let history = try await log.inner.history().filter { $0.hasPrefix("cart") }
        #expect(history == ["cart-c@1", "cart-c@2", "cart-d@1", "cart-c@3"])
        #expect(process.position == 4 + menus)
    }
}
