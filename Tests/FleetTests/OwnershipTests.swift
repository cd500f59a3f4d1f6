import Fleet
import SeededRandom
import Testing

@Suite struct OwnershipTests {
    private static func fleet(_ seed: UInt64, servers: ClosedRange<Int> = 1...6) -> SimulatedFleet {
        var random = SeededGenerator(seed: seed, of: 1)
        return SimulatedFleet(
            partitionCount: random.pick([1, 3, 16, 40, 256]), servers: random.number(servers), seed: seed)
    }

    /// Expects that leases are where the servers that are alive wish them, and that each knows it.
    private static func expectWish(_ fleet: inout SimulatedFleet) {
        let wish = Wish(servers: fleet.alive, partitionCount: fleet.partitionCount)
        let share = (fleet.partitionCount + fleet.alive.count - 1) / fleet.alive.count
        #expect(fleet.table.allSatisfy { $0.holder == wish[$0.partition] })
        for id in fleet.alive {
            let ownership = fleet.servers[id]!.ownership
            #expect(fleet.table.count { $0.holder == id } <= share)
            #expect(ownership.leases == fleet.table)
            #expect(ownership.servers.map(\.id) == fleet.alive)
            for lease in fleet.table {
                #expect(ownership.isMine(lease.partition) == (lease.holder == id))
                #expect(ownership.owner(of: lease.partition)?.id == (lease.holder == id ? nil : lease.holder))
            }
        }
    }

    @Test func `Before the first renewal, everything is decided here`() {
        let ownership = Ownership(of: .random(), partitionCount: 4)
        for partition in -1...4 {
            #expect(ownership.owner(of: partition) == nil)
            #expect(!ownership.isMine(partition))
        }
        #expect(ownership.servers.isEmpty)
        #expect(ownership.leases == (0..<4).map { Lease(partition: $0, holder: nil, term: 0) })
    }

    @Test func `A server that was lost counts again as soon as it is reached`() {
        let (me, other) = (ServerID.random(), FleetServer(id: .random(), address: "other", secret: []))
        let view = FleetView(
            servers: [FleetServer(id: me, address: "me", secret: []), other],
            leases: [Lease(partition: 0, holder: other.id, term: 1)])
        var ownership = Ownership(of: me, partitionCount: 1)
        _ = ownership.renewed(view)
        #expect(ownership.owner(of: 0) == other && ownership.lostButThere.isEmpty)
        ownership.lost(other.id)
        _ = ownership.renewed(view)
        #expect(ownership.owner(of: 0) == nil && ownership.lostButThere == [other])
        ownership.reached(other)
        #expect(ownership.owner(of: 0) == other && ownership.lostButThere.isEmpty)
        _ = ownership.renewed(view)
        #expect(ownership.owner(of: 0) == other)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Servers come to an even spread that all of them wish`(_ seed: UInt64) {
        var fleet = Self.fleet(seed)
        fleet.settle()
        Self.expectWish(&fleet)
        let changes = fleet.changes
        for _ in 0..<3 { fleet.round() }
        #expect(fleet.changes == changes)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Whatever comes and goes, terms rise and no two servers hold a lease`(_ seed: UInt64) {
        var fleet = Self.fleet(seed, servers: 2...5)
        var random = SeededGenerator(seed: seed, of: 2)
        for _ in 0..<60 {
            let before = fleet.table
            switch random.below(10) {
            case 0 where fleet.alive.count < 8: _ = fleet.join()
            case 1 where fleet.alive.count > 1: fleet.servers[random.pick(fleet.alive)]!.isAlive = false
            case 2: fleet.servers[random.pick(fleet.alive)]!.ownership.lost(random.pick(fleet.alive))
            case 3: fleet.now += UInt64(random.below(4_000))
            default: break
            }
            fleet.round()
            for (old, new) in zip(before, fleet.table) {
                #expect(new.term >= old.term)
                if new.holder != old.holder { #expect(new.term > old.term) }
            }
            fleet.look()
            for partition in 0..<fleet.partitionCount {
                let holders = fleet.alive.filter { fleet.servers[$0]!.ownership.isMine(partition) }
                #expect(holders.count <= 1)
                #expect(holders.allSatisfy { $0 == fleet.table[partition].holder })
            }
        }
        // Nobody is lost for longer than half a minute after that.
        for _ in 0..<70 { fleet.round() }
        fleet.settle()
        Self.expectWish(&fleet)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `The partitions of a server that was killed are claimed when its lease is over`(_ seed: UInt64) {
        var fleet = Self.fleet(seed, servers: 2...6)
        fleet.settle()
        let killed = fleet.random.pick(fleet.alive)
        let before = fleet.table
        fleet.servers[killed]!.isAlive = false
        let end = fleet.servers[killed]!.seenAt + Ownership.leaseMilliseconds
        while fleet.now + 500 < end {
            fleet.round()
            #expect(fleet.table == before)
        }
        // A round in which it ends, and one in which all know.
        for _ in 0..<2 { fleet.round() }
        #expect(fleet.table.allSatisfy { $0.holder != killed && $0.holder != nil })
        fleet.settle()
        Self.expectWish(&fleet)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `A server that joins gets its share, and little else moves`(_ seed: UInt64) {
        var fleet = Self.fleet(seed)
        fleet.settle()
        let before = fleet.table
        _ = fleet.join()
        fleet.settle()
        Self.expectWish(&fleet)
        let wish = Wish(servers: fleet.alive, partitionCount: fleet.partitionCount)
        // Nothing moves that need not, and nothing twice.
        for (old, new) in zip(before, fleet.table) {
            #expect(new.term - old.term == (old.holder == wish[old.partition] ? 0 : 1))
        }
    }

    @Test func `What a server holds is handed over a few at a time`() {
        let (me, other) = (ServerID.random(), ServerID.random())
        for (count, bound) in [(1, 1), (8, 1), (32, 2), (256, 16)] {
            var ownership = Ownership(of: me, partitionCount: count)
            let leases = (0..<count).map { Lease(partition: $0, holder: me, term: 7) }
            let view = FleetView(servers: [me, other].map { SimulatedFleet.server($0) }, leases: leases)
            let wish = Wish(servers: [me, other], partitionCount: count)
            let unwanted = leases.filter { wish[$0.partition] == other }
            let expected = unwanted.prefix(bound).map { LeaseChange(partition: $0.partition, term: 7, holder: other) }
            #expect(ownership.renewed(view) == expected)
        }
    }

    @Test func `A server is there for as long as its lease holds`() {
        let (me, other) = (ServerID.random(), ServerID.random())
        for (silence, isThere) in [(0, true), (2_999, true), (3_000, false), (UInt64.max, false)] {
            var ownership = Ownership(of: me, partitionCount: 1)
            let lease = Lease(partition: 0, holder: other, term: 3)
            // This server is there whatever is said of it.
            let servers = [SimulatedFleet.server(me, silence: .max), SimulatedFleet.server(other, silence: silence)]
            let changes = ownership.renewed(FleetView(servers: servers, leases: [lease]))
            #expect(changes == (isThere ? [] : [LeaseChange(partition: 0, term: 3, holder: me)]))
            #expect((ownership.owner(of: 0) != nil) == isThere)
            #expect(Set(ownership.servers.map(\.id)) == (isThere ? [me, other] : [me]))
        }
    }

    // MARK: Lost servers

    /// Two servers of which the other holds everything, and what this one wants at a renewal.
    private struct Pair {
        let me = ServerID.random()
        let other = ServerID.random()
        var ownership: Ownership

        init() { ownership = Ownership(of: me, partitionCount: 4) }

        mutating func renew(silence: UInt64) -> [LeaseChange] {
            ownership.renewed(
                FleetView(
                    servers: [SimulatedFleet.server(me), SimulatedFleet.server(other, silence: silence)],
                    leases: (0..<4).map { Lease(partition: $0, holder: other, term: 1) }))
        }

        /// How many views with a server that renews it takes until it counts.
        mutating func viewsToReturn() -> Int? {
            (1...100).first { _ in
                _ = renew(silence: 250)
                return ownership.owner(of: 0) != nil
            }
        }
    }

    @Test func `A lost server's partitions are decided here at once, and claimed at the next renewal`() {
        var pair = Pair()
        #expect(pair.renew(silence: 0).isEmpty)
        #expect(pair.ownership.owner(of: 0)?.id == pair.other)
        pair.ownership.lost(pair.other)
        for partition in 0..<4 { #expect(pair.ownership.owner(of: partition) == nil) }
        #expect(pair.ownership.servers.map(\.id) == [pair.me])
        let claims = (0..<4).map { LeaseChange(partition: $0, term: 1, holder: pair.me) }
        #expect(pair.renew(silence: 499) == claims)
    }

    @Test func `A lost server counts again when it has renewed for a while, and each time later`() {
        var pair = Pair()
        _ = pair.renew(silence: 0)
        for views in [4, 8, 16, 32, 64, 64] {
            pair.ownership.lost(pair.other)
            // Another connection that ends at the same time is no further loss.
            pair.ownership.lost(pair.other)
            #expect(pair.viewsToReturn() == views)
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `A server that ended does not count again, whenever it was lost`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var pair = Pair()
        var silence = UInt64(random.below(500))
        _ = pair.renew(silence: silence)
        pair.ownership.lost(pair.other)
        // It may have renewed once more just before it ended.
        silence = UInt64(random.below(500))
        for _ in 0..<10 {
            _ = pair.renew(silence: silence)
            #expect(pair.ownership.owner(of: 0) == nil)
            silence += 500
        }
    }

    @Test func `While a server is lost, nothing is handed over`() {
        let (me, lost, other) = (ServerID.random(), ServerID.random(), ServerID.random())
        var ownership = Ownership(of: me, partitionCount: 16)
        let leases = (0..<16).map { Lease(partition: $0, holder: me, term: 1) }
        func view(silence: UInt64) -> FleetView {
            FleetView(
                servers: [me, other].map { SimulatedFleet.server($0) } + [
                    SimulatedFleet.server(lost, silence: silence)
                ],
                leases: leases)
        }
        #expect(!ownership.renewed(view(silence: 0)).isEmpty)
        ownership.lost(lost)
        #expect(ownership.renewed(view(silence: 100)).isEmpty)
        // When nobody counts it, all wish the same again.
        #expect(!ownership.renewed(view(silence: 3_000)).isEmpty)
    }

    @Test func `A server does not lose itself, and nobody loses strangers`() {
        var pair = Pair()
        _ = pair.renew(silence: 0)
        let before = pair.ownership.servers
        pair.ownership.lost(pair.me)
        pair.ownership.lost(.random())
        #expect(pair.ownership.servers == before)
        #expect(pair.ownership.owner(of: 0)?.id == pair.other)
    }

    // MARK: Views that make no sense

    @Test(arguments: SeededGenerator.seeds)
    func `Whatever the database says, it is only believed where it makes sense`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = random.pick([0, 1, 5, 20])
        let ids = (0..<4).map { _ in ServerID(by: &random) }
        let me = ids[0]
        var ownership = Ownership(of: me, partitionCount: count)
        func leases() -> [Lease] {
            (0..<random.below(40)).map { _ in
                Lease(
                    partition: random.pick([.min, -1, count, .max] + Array(0..<max(1, count))),
                    holder: random.maybe { $0.chance(20) ? ServerID(by: &$0) : $0.pick(ids) },
                    term: random.pick([.min, -1, 0, 1, 2, .max - 1, .max]))
            }
        }
        for _ in 0..<200 {
            switch random.below(4) {
            case 0: ownership.lost(random.pick(ids))
            case 1: ownership.changed(leases())
            default:
                let servers = (0..<random.below(8)).map { _ in
                    SimulatedFleet.server(random.pick(ids), silence: random.pick([0, 999, 2_999, 3_000, .max]))
                }
                let view = FleetView(servers: servers, leases: leases())
                for change in ownership.renewed(view) {
                    #expect((0..<count).contains(change.partition) && change.term >= 0)
                    #expect(view.leases.contains { $0.partition == change.partition && $0.term == change.term })
                    #expect(ids.contains(change.holder))
                }
            }
            #expect(ownership.leases.map(\.partition) == Array(0..<count))
            #expect(ownership.leases.allSatisfy { $0.term >= 0 })
            for partition in [.min, -1, count, .max] + Array(0..<count) {
                if ownership.isMine(partition) { #expect(ownership.owner(of: partition) == nil) }
                if let owner = ownership.owner(of: partition) { #expect(ownership.servers.contains(owner)) }
            }
        }
    }

    @Test func `Of two leases of a partition, the later one counts`() {
        let (me, other) = (ServerID.random(), ServerID.random())
        var ownership = Ownership(of: me, partitionCount: 1)
        let leases = [(other, 5), (me, 4)].map { Lease(partition: 0, holder: $0.0, term: $0.1) }
        for leases in [leases, leases.reversed()] {
            _ = ownership.renewed(FleetView(servers: [SimulatedFleet.server(other)], leases: leases))
            #expect(ownership.owner(of: 0)?.id == other)
        }
        // A copy of an earlier database has earlier terms.
        _ = ownership.renewed(FleetView(servers: [], leases: [Lease(partition: 0, holder: me, term: 1)]))
        #expect(ownership.isMine(0))
    }

    @Test func `A lease that the database lacks is not claimed`() {
        var ownership = Ownership(of: .random(), partitionCount: 2)
        let changes = ownership.renewed(
            FleetView(servers: [], leases: [Lease(partition: 1, holder: nil, term: 0)]))
        #expect(changes.map(\.partition) == [1])
    }
}
