import CommandHandling
import Domain
import EventLog
import Testing

@Suite("Loading streams")
struct LoadingTests {
    private let log = FaultyLog()

    /// A process that knows that a cart with a tea in it exists, and has not loaded it.
    private func processBeforeLoad(capacity: Int = 100) async throws -> TestProcess {
        let writer = TestProcess(log)
        writer.send("c", .add(1), id: "first")
        _ = await writer.settle()
        var limits = CommandProcessor.Limits()
        limits.streams = capacity
        let process = TestProcess(log, limits: limits)
        await process.catchUp()
        return process
    }

    @Test func `commands and questions wait for the load in their order`() async throws {
        let process = try await processBeforeLoad()
        process.send("c", .add(2))
        process.send("c", .set(line: "tea", quantity: 9))
        var answer: Result<CommittedState, ReadFailure>?
        process.processor.read(.cart("c")) { answer = $0 }
        process.send("c", .add(1))
        #expect(!process.processor.hasBatch)
        #expect(process.takeOutcomes().isEmpty)
        #expect(process.processor.takeLoads() == [.cart("c")])
        #expect(process.processor.takeLoads().isEmpty, "once is enough")
        let events = try await log.inner.events()
        process.processor.loaded(.cart("c"), events.map(Result.success), isComplete: true)
        #expect(try answer?.get().version == 1)
        #expect(await process.settle() == [.count(3), .count(9), .count(10)])
    }

    @Test func `a new stream is not looked for in the log`() async throws {
        let process = try await processBeforeLoad()
        process.send("new", .add(2))
        #expect(process.processor.takeLoads().isEmpty)
        #expect(process.processor.hasBatch)
    }

    @Test func `if the read model denies a stream that the log has, the log decides`() async throws {
        let writer = TestProcess(log)
        for _ in 0..<2 { writer.send("c", .add(1), id: "first") }
        _ = await writer.settle()
        var limits = CommandProcessor.Limits()
        limits.conflicts = 1
        let process = TestProcess(log, limits: limits, isForgetful: true)
        await process.catchUp()
        process.send("c", .add(2), id: "second")
        process.send("innocent", .add(3))
        process.send("c", .add(1), id: "first")
        let outcomes = await process.settle()
        #expect(outcomes.unordered == [CommandOutcome.count(3), .count(3), .count(1)].unordered)
        #expect(try await log.inner.history().sorted() == ["cart-c@1", "cart-c@2", "cart-innocent@1"])
    }

    @Test func `a stream that cannot be loaded is unavailable, and the next request tries again`() async throws {
        let process = try await processBeforeLoad()
        await log.fail(streamReads: 2)
        for _ in 0..<2 {
            process.send("c", .add(2))
            var answer: Result<CommittedState, ReadFailure>?
            process.processor.read(.cart("c")) { answer = $0 }
            await process.load()
            #expect(process.takeOutcomes().map(\.isUnavailable) == [true])
            guard case .failure(.unavailable) = answer else {
                Issue.record("\(String(describing: answer))")
                return
            }
        }
        process.send("c", .add(2))
        #expect(await process.settle() == [.count(3)])
    }

    @Test func `a failed load in the middle is begun again`() async throws {
        let process = try await processBeforeLoad()
        let events = try await log.inner.read(stream: .cart("c"), partition: 0, afterVersion: 0, limit: 1)
        process.send("c", .add(2))
        _ = process.processor.takeLoads()
        process.processor.loaded(.cart("c"), try events.map { .success(try $0.decoded()) }, isComplete: false)
        process.processor.loadFailed(.cart("c"), "lost")
        #expect(process.takeOutcomes().map(\.isUnavailable) == [true])
        process.send("c", .add(2))
        #expect(await process.settle() == [.count(3)])
    }

    @Test func `a load that an event has overtaken is repeated`() async throws {
        let process = try await processBeforeLoad()
        process.send("c", .add(2))
        #expect(process.processor.takeLoads() == [.cart("c")])
        let outdated = try await log.inner.events().map(Result<DecodedEvent, CorruptEvent>.success)
        let rival = TestProcess(log)
        await rival.catchUp()
        rival.send("c", .add(10))
        _ = await rival.settle()
        await process.catchUp()
        process.processor.loaded(.cart("c"), outdated, isComplete: true)
        #expect(!process.processor.hasBatch)
        #expect(await process.settle() == [.count(13)])
        #expect(try await log.inner.history() == ["cart-c@1", "cart-c@2", "cart-c@3"])
    }

    @Test func `a long stream comes in pages`() async throws {
        let writer = TestProcess(log)
        writer.send(.menu("o")) { _, _ in .menu(.put(.items(Menu.maximumItems))) }
        _ = await writer.settle()
        writer.send(.menu("o")) { _, _ in .menu(.reprice("item-7", 7)) }
        #expect(await writer.settle() == [.version(Int64(Menu.maximumItems) + 2)])
        let reader = TestProcess(log)
        await reader.catchUp()
        reader.send(.menu("o")) { _, _ in .menu(.reprice("item-7", 7)) }
        #expect(await reader.settle() == [.version(Int64(Menu.maximumItems) + 2)])
    }

    @Test func `evicted streams come back as they were`() async throws {
        let process = try await processBeforeLoad(capacity: 2)
        let carts = (0..<20).map { Identifier("cart\($0)")! }
        for round in 1...3 {
            for cart in carts { process.send(cart, .add(1), id: "round-\(round)") }
            #expect(await process.settle() == carts.map { _ in .count(round) })
            for cart in carts {
                process.send(cart, .add(1), id: "round-\(round)")
                #expect(await process.settle() == [.count(round)], "a repetition")
            }
        }
        #expect(try await log.inner.history().count == 61)
    }

    @Test func `a stream with something in flight is not evicted`() async throws {
        let process = try await processBeforeLoad(capacity: 1)
        for cart: Identifier in ["a", "b", "c"] { process.send(cart, .add(1)) }
        for cart: Identifier in ["b", "c", "a"] { process.send(cart, .add(1)) }
        #expect(await process.settle().count == 6)
        process.send("a", .add(1))
        process.send("b", .add(1))
        #expect(await process.settle() == [.count(3), .count(3)])
    }
}
