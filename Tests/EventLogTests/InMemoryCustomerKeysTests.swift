import EventLog
import EventLogContract
import Testing

@Suite struct InMemoryCustomerKeysTests {
    @Test(arguments: KeyClause.all)
    func `keys in memory keep the contract`(_ clause: KeyClause) async throws {
        try await clause.check(InMemoryCustomerKeys())
    }
}
