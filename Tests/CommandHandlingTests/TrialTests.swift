import CommandHandling
import Domain
import EventLog
import Testing

@Suite("A command that is only tried")
struct TrialTests {
    private let log = FaultyLog()

    private func attempt(_ command: Cart.Command, id: Text? = nil, version: Int64? = nil, in process: TestProcess)
        async -> CommandOutcome?
    {
        var request = CommandRequest(
            stream: .cart("c"), metadata: EventMetadata(commandID: id, fingerprint: id == nil ? nil : "same"),
            expectedVersion: version
        ) { _, _ in .cart(command) }
        request.isTrial = true
        var outcome: CommandOutcome?
        process.processor.handle(request) { outcome = $0 }
        _ = await process.settle()
        return outcome
    }

    @Test func `is refused like any other, or would be recorded, and never is`() async throws {
        let process = TestProcess(log)
        #expect(await attempt(.add(1), in: process) == .recordable)
        #expect(await attempt(.add(100), in: process)?.rejectionCode == .limit)
        #expect(await attempt(.add(1), version: 3, in: process)?.rejectionCode == .conflict)
        #expect(await attempt(.remove(line: "tea"), in: process)?.rejectionCode == .notFound)
        #expect(try await log.inner.history().isEmpty && !process.hasBatch)

        process.send("c", .add(2), id: "a")
        #expect(await attempt(.add(2), id: "a", in: process) == .count(2), "it has been accepted before")
        #expect(await attempt(.remove(line: "tea"), in: process) == .recordable)
        #expect(process.cart("c")?.version == 1)
        #expect(try await log.inner.history().count == 1)
    }

    @Test func `is decided on a stream that has to be loaded`() async throws {
        let first = TestProcess(log)
        first.send("c", .add(2))
        _ = await first.settle()
        let process = TestProcess(log)
        await process.catchUp()
        #expect(await attempt(.remove(line: "tea"), in: process) == .recordable)
        #expect(await attempt(.remove(line: "bun"), in: process)?.rejectionCode == .notFound)
        #expect(process.processor.waitingCommands == 0)
    }
}
