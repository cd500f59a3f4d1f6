import EventLog
import EventLogContract
import Testing

@Suite struct InMemoryEventLogTests {
    @Test(arguments: Clause.all)
    func `The log in memory keeps the contract`(_ clause: Clause) async throws {
        try await clause.check(InMemoryEventLog(partitionCount: clause.partitionCount))
    }
}
