import EventLog
import EventLogContract
import Testing

@Suite struct InMemoryCustomerKeysTests {
    @Test(arguments: KeyClause.all)
    func `keys in memory keep the contract`(_ clause: KeyClause) async throws {
        let keys = InMemoryCustomerKeys()
        try await clause.check(keys) { await keys.forget($0) }
    }
}
