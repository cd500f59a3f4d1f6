import CommandHandling
import Domain
import EventLog
import Testing

@Suite("Idempotency and versions")
struct IdempotencyTests {
    private let log = FaultyLog()

    @Test func `the same command again gives the first reply, whatever happened since`() async throws {
        let process = TestProcess(log)
        process.send("c", .add(1), id: "a")
        process.send("c", .add(5), id: "b")
        process.send("c", .add(1), id: "a")
        #expect(process.takeOutcomes().isEmpty, "the first one is not durable yet")
        #expect(await process.settle() == [.count(1), .count(6), .count(1)])
        process.send("c", .add(1), id: "a")
        #expect(process.takeOutcomes() == [.count(1)], "it is durable now")

        let another = TestProcess(log)
        await another.catchUp()
        another.send("c", .add(1), id: "a")
        another.send("c", .add(5), id: "b", version: 77)
        #expect(
            await another.settle() == [.count(1), .count(6)], "as the log says, and before the version is looked at")
        #expect(try await log.inner.history().count == 2)
    }

    @Test func `an id belongs to one stream`() async {
        let process = TestProcess(log)
        process.send("c", .add(1), id: "a")
        process.send("d", .add(2), id: "a")
        #expect(await process.settle() == [.count(1), .count(2)])
    }

    @Test func `other arguments under the same id are a mismatch`() async throws {
        let process = TestProcess(log)
        process.send("c", .add(1), id: "a", arguments: "one")
        process.send("c", .add(2), id: "a", arguments: "two")
        #expect(process.takeOutcomes().isEmpty, "depends on pending events")
        #expect(await process.settle().map(\.rejectionCode) == [nil, .idMismatch])
        process.send("c", .add(2), id: "a", arguments: "two")
        #expect(process.takeOutcomes().map(\.rejectionCode) == [.idMismatch])
        #expect(try await log.inner.history().count == 1)
    }

    @Test func `a checkout again gives the same order`() async throws {
        let process = TestProcess(log)
        process.send("c", .add(1))
        process.checkOut("c", id: "pay")
        process.checkOut("c", id: "pay")
        process.checkOut("c", id: "again")
        let outcomes = await process.settle()
        let order = CommandOutcome.accepted(.order(Partitioning(count: 1).orderID(cart: "c", version: 1)))
        #expect(outcomes[1...2] == [order, order])
        #expect(outcomes[3].rejectionCode == .state)

        let another = TestProcess(log)
        await another.catchUp()
        another.checkOut("c", id: "pay")
        #expect(await another.settle() == [order])
        #expect(try await log.inner.history().count == 3)
    }

    @Test func `a command of several events is remembered as one`() async throws {
        let process = TestProcess(log)
        let put: (AggregateState, Int64) -> DomainCommand = { _, _ in .menu(.put(.items(4))) }
        process.send(.menu("o"), id: "a", put)
        #expect(await process.settle() == [.version(5)])
        let another = TestProcess(log)
        await another.catchUp()
        another.send(.menu("o"), id: "a", put)
        #expect(await another.settle() == [.version(5)])
    }

    @Test func `replies are remembered until too many others with ids came`() async {
        let process = TestProcess(log)
        process.send("c", .add(1), id: "first")
        for number in 1..<1_024 { process.send("c", .set(line: "tea", quantity: number % 2 + 2), id: "\(number)") }
        process.send("c", .add(1), id: "first")
        #expect(await process.settle().last == .count(1))
        process.send("c", .set(line: "tea", quantity: 9), id: "one more")
        process.send("c", .add(1), id: "first")
        #expect(await process.settle() == [.count(9), .count(10)])
    }

    @Test(arguments: [[FaultyLog.AppendFault.refused], []])
    func `a command stays remembered when events that were pending at its repetition are lost`(
        faults: [FaultyLog.AppendFault]
    ) async throws {
        let process = TestProcess(log)
        process.send("c", .add(1), id: "a", arguments: "one")
        _ = await process.settle()

        process.send("c", .add(2))
        process.send("c", .add(1), id: "a", arguments: "one")
        process.send("c", .add(5), id: "a", arguments: "two")
        if faults.isEmpty {
            // Lost to another writer instead of the connection.
            let rival = TestProcess(log)
            await rival.catchUp()
            rival.send("c", .add(10))
            #expect(await rival.settle() == [.count(11)])
            #expect(await process.settle().map(\.rejectionCode) == [nil, nil, .idMismatch])
        } else {
            await log.fail(appends: faults)
            #expect(await process.settle().map(\.isUnavailable) == [true, true, true])
        }
        process.send("c", .add(1), id: "a", arguments: "one")
        process.send("c", .add(5), id: "a", arguments: "two")
        let outcomes = await process.settle()
        #expect(outcomes.first == .count(1))
        #expect(outcomes.last?.rejectionCode == .idMismatch)
        #expect(try await log.inner.events().count { $0.metadata.commandID == "a" } == 1)
    }

    @Test func `a command that was never accepted is not remembered`() async throws {
        let process = TestProcess(log)
        await log.fail(appends: [.refused])
        process.send("c", .add(1), id: "a", arguments: "one")
        #expect(await process.settle().map(\.isUnavailable) == [true])
        process.send("c", .add(2), id: "a", arguments: "two")
        #expect(await process.settle() == [.count(2)])
    }

    // MARK: Versions

    @Test func `the version is that of the stream after everything before the command`() async {
        let process = TestProcess(log)
        process.send("c", .add(1), version: 0)
        process.send("c", .add(1), version: 0)
        process.send("c", .add(1), version: 1)
        let outcomes = await process.settle()
        #expect(outcomes.map(\.rejectionCode) == [nil, .conflict, nil])
        guard case .rejected(let rejection) = outcomes[1] else { return }
        #expect(rejection.message == "the version is 1, not 0")
    }

    @Test func `a version that another writer has overtaken is a conflict`() async throws {
        let (process, rival) = (TestProcess(log), TestProcess(log))
        process.send("c", .add(1), version: 0)
        rival.send("c", .add(1), version: 0)
        #expect(await rival.settle() == [.count(1)])
        #expect(await process.settle().map(\.rejectionCode) == [.conflict])
    }
}
