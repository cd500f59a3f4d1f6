import Fleet
import SeededRandom
import Testing

extension ServerID {
    init(by random: inout SeededGenerator) {
        let digits = Array("0123456789abcdef")
        self.init(String((0..<40).map { _ in random.pick(digits) }))!
    }
}

/// Servers that share a table of leases, and a clock that stands still unless it is told to go on.
struct SimulatedFleet {
    struct Server {
        var ownership: Ownership
        var seenAt: UInt64
        var isAlive = true
    }

    let partitionCount: Int
    var now: UInt64 = 1_000_000
    var table: [Lease]
    var servers: [ServerID: Server] = [:]
    /// How many leases have changed hands.
    var changes = 0
    var random: SeededGenerator

    init(partitionCount: Int, servers count: Int, seed: UInt64) {
        self.partitionCount = partitionCount
        random = SeededGenerator(seed: seed)
        table = (0..<partitionCount).map { Lease(partition: $0, holder: nil, term: 0) }
        for _ in 0..<count { _ = join() }
    }

    mutating func join() -> ServerID {
        let id = ServerID(by: &random)
        // Before its first renewal, nobody knows it.
        servers[id] = Server(ownership: Ownership(of: id, partitionCount: partitionCount), seenAt: 0)
        return id
    }

    var alive: [ServerID] { servers.keys.filter { servers[$0]!.isAlive }.sorted() }

    static func server(_ id: ServerID, silence: UInt64 = 0) -> FleetServer {
        FleetServer(id: id, address: "\(id.text.prefix(4)):1", secret: Array(repeating: 7, count: 32), silence: silence)
    }

    var view: FleetView {
        let known = servers.filter { $0.value.seenAt > 0 }
        return FleetView(
            servers: known.map { Self.server($0.key, silence: now - $0.value.seenAt) }, leases: table)
    }

    /// Renews one server; returns what it wants to change.
    mutating func renew(_ id: ServerID) -> [LeaseChange] {
        servers[id]!.seenAt = now
        let changes = servers[id]!.ownership.renewed(view)
        let handovers = changes.count { $0.holder != id }
        #expect(handovers <= max(1, partitionCount / 16))
        #expect(Set(changes.map(\.partition)).count == changes.count)
        return changes
    }

    /// Tries changes, as the database does.
    mutating func apply(_ wanted: [LeaseChange], of id: ServerID) {
        for change in wanted where table[change.partition].term == change.term {
            table[change.partition].holder = change.holder
            table[change.partition].term += 1
            changes += 1
        }
        if !wanted.isEmpty { servers[id]!.ownership.changed(wanted.map { table[$0.partition] }) }
    }

    /// Renews all that are alive, in any order, over half a second. What they want to change may come late, after
    /// others have renewed.
    mutating func round() {
        var late: [(ServerID, [LeaseChange])] = []
        let order = alive.shuffled(using: &random)
        for id in order {
            now += 500 / UInt64(order.count)
            let changes = renew(id)
            if random.chance(30) { late.append((id, changes)) } else { apply(changes, of: id) }
        }
        for (id, changes) in late { apply(changes, of: id) }
    }

    /// Lets all that are alive see the table as it is.
    mutating func look() {
        for id in alive {
            servers[id]!.seenAt = now
            _ = servers[id]!.ownership.renewed(view)
        }
    }

    /// Renews until nobody changes anything; fails if that takes more than some rounds.
    mutating func settle() {
        for _ in 0..<200 {
            let before = changes
            // In the second, all know of one that renewed last in the first.
            for _ in 0..<2 { round() }
            if changes == before { return }
        }
        Issue.record("the leases did not settle")
    }
}
