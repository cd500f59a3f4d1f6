import EventLoop
import Fleet
import SeededRandom
import Serving

/// Servers and leases as the database has them: what docs/fleet.md and migrations/functions/fleet.sql say, once more.
@LoopActor
final class SimulatedFleet {
    /// How long the row of a silent server is kept when another joins, in nanoseconds.
    private static let keeping: UInt64 = 60_000_000_000

    private unowned let world: World
    private var rows: [(server: FleetServer, seenAt: UInt64)] = []
    private(set) var leases = [Lease(partition: 0, holder: nil, term: 0)]

    init(_ world: World) { self.world = world }

    /// A server is there. One that joins ends whoever had its address.
    func renew(_ server: FleetServer, joins: Bool) -> FleetView {
        let now = world.now
        if let index = rows.firstIndex(where: { $0.server.id == server.id }) {
            rows[index] = (server, now)
        } else {
            if joins {
                rows.removeAll { $0.server.address == server.address || now - $0.seenAt > SimulatedFleet.keeping }
            }
            rows.append((server, now))
        }
        let servers = rows.map { row in
            var server = row.server
            server.silence = (now - row.seenAt) / 1_000_000
            return server
        }
        return FleetView(servers: servers, leases: leases)
    }

    /// Gives leases that have these terms other holders; returns them as they are then.
    func change(_ changes: [LeaseChange]) -> [Lease] {
        changes.map { change in
            if leases[change.partition].term == change.term {
                leases[change.partition].holder = change.holder
                leases[change.partition].term += 1
                world.note("\(change.holder.text.prefix(4)) gets the lease, term \(change.term + 1)")
            }
            return leases[change.partition]
        }
    }

    /// A server ends, and frees its leases.
    func leave(_ id: ServerID) {
        for index in leases.indices where leases[index].holder == id {
            leases[index].holder = nil
            leases[index].term += 1
        }
        rows.removeAll { $0.server.id == id }
        world.note("\(id.text.prefix(4)) has left")
    }
}

/// The fleet as one server process reaches it: over a network that fails.
@LoopActor
final class ServerFleet: FleetStore {
    struct Failed: Error {}

    private let world: World
    private var isCut = false
    private var hasJoined = false
    /// Until when the database cannot be reached from here.
    private var awayUntil: UInt64 = 0
    /// When the last request arrives: they do not overtake each other.
    private var lastArrival: UInt64 = 0

    init(_ world: World) { self.world = world }

    /// Nothing that the process does from now on arrives.
    func cut() { isCut = true }

    /// Has everything fail for a while, in nanoseconds.
    func fail(for time: UInt64) { awayUntil = max(awayUntil, world.now + time) }

    func renew(_ server: FleetServer) async throws -> FleetView {
        let joins = !hasJoined
        let view = try await ask { $0.renew(server, joins: joins) }
        hasJoined = true
        return view
    }

    func change(_ changes: [LeaseChange]) async throws -> [Lease] { try await ask { $0.change(changes) } }

    func leave(_ server: ServerID) async throws { try await ask { $0.leave(server) } }

    private func ask<Answer: Sendable>(_ body: @LoopActor (SimulatedFleet) -> Answer) async throws -> Answer {
        lastArrival = max(lastArrival + 1, world.now + world.latency())
        await world.pause(lastArrival - world.now)
        if isCut { throw Failed() }
        let isAway = world.now < awayUntil && !world.isCalm
        if isAway || world.strikes(.unrenewed, 2) {
            if !isAway { world.met(.unrenewed) }
            // The request is lost, or only the reply: then it is done.
            if world.chance.chance(isAway ? 10 : 50) { _ = body(world.fleet) }
            // Either the connection ends, or nothing comes until the server's patience ends.
            if world.chance.chance(50) { await world.pause(2_000_000_000) }
            throw Failed()
        }
        let answer = body(world.fleet)
        await world.pause(world.latency())
        if isCut { throw Failed() }
        return answer
    }
}
