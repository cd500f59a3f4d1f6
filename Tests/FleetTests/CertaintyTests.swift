import Fleet
import Testing

@Suite struct CertaintyTests {
    private let me = ServerID.random()
    private let other = ServerID.random()
    private var ownership: Ownership
    private var certainty = Certainty()
    private static let second: UInt64 = 1_000_000_000

    init() { ownership = Ownership(of: me, partitionCount: 2) }

    /// Renews at a second; the first partition is this server's.
    private mutating func renew(at time: UInt64, others: Bool) {
        let servers = (others ? [me, other] : [me]).map { FleetServer(id: $0, address: "\($0)", secret: []) }
        let leases = [(0, me), (1, other)].map { Lease(partition: $0, holder: $1, term: 1) }
        certainty.renewed(at: time * Self.second)
        _ = ownership.renewed(FleetView(servers: servers, leases: leases))
        learn(at: time)
    }

    private mutating func learn(at time: UInt64) {
        certainty.learned(ownership, partitions: 2, at: time * Self.second)
    }

    private func isAlone(at time: UInt64) -> Bool { certainty.isAlone(at: time * Self.second) }

    private func isSettled(_ partition: Int, at time: UInt64) -> Bool {
        certainty.isSettled(partition, at: time * Self.second)
    }

    @Test mutating func `A server that is alone knows everything, and goes on knowing it without the database`() {
        renew(at: 10, others: false)
        #expect(isAlone(at: 11) && isSettled(0, at: 11) && isSettled(1, at: 11))
        certainty.failed()
        #expect(isAlone(at: 100) && isSettled(1, at: 100))
    }

    @Test mutating func `One of several knows a partition two seconds after it was given its lease`() {
        for time in UInt64(10)...13 { renew(at: time, others: true) }
        #expect(isSettled(0, at: 14) && !isSettled(1, at: 14))
        #expect(!isAlone(at: 14))
    }

    @Test mutating func `Nobody who has not renewed lately knows anything`() {
        for time in UInt64(10)...13 { renew(at: time, others: true) }
        #expect(!isSettled(0, at: 16))
    }

    @Test mutating func `Whoever stood still knows its partitions two seconds after it goes on`() {
        for time in UInt64(10)...13 { renew(at: time, others: true) }
        renew(at: 17, others: true)
        #expect(!isSettled(0, at: 17) && !isSettled(0, at: 18))
        for time in UInt64(18)...20 { renew(at: time, others: true) }
        #expect(isSettled(0, at: 20))
    }

    @Test mutating func `A server that has lost the others is alone once they have been silent for a while`() {
        renew(at: 10, others: true)
        for time in UInt64(11)...12 { renew(at: time, others: false) }
        #expect(!isAlone(at: 12))
        for time in UInt64(13)...14 { renew(at: time, others: false) }
        #expect(isAlone(at: 15))
    }

    @Test mutating func `A server that is cut off from the database and the others does not take itself for alone`() {
        for time in UInt64(10)...13 { renew(at: time, others: true) }
        ownership.lost(other)
        certainty.failed()
        learn(at: 14)
        for time in UInt64(14)...60 { #expect(!isAlone(at: time) && !isSettled(0, at: time + 2)) }
    }
}
