import EventLog
import EventLoop
import SeededRandom
import SimulatedPostgres

/// PostgreSQL as the servers reach it: its tables, the network before it, and what goes wrong in both.
@LoopActor
final class PostgresHost {
    private static let lockTimeout = DatabaseError("55P03", "canceling statement due to lock timeout")
    /// What PostgreSQL may refuse a statement with. Nothing of it has an effect then.
    private static let refusals = [
        DatabaseError("40001", "could not serialize access due to concurrent update"),
        DatabaseError("40P01", "deadlock detected"),
        DatabaseError("53100", "could not extend file: No space left on device"),
        DatabaseError("53200", "out of memory"),
        lockTimeout,
        DatabaseError("57014", "canceling statement due to statement timeout"),
        DatabaseError("25006", "cannot execute UPDATE in a read-only transaction"),
        DatabaseError("57P01", "terminating connection due to administrator command", endsSession: true),
    ]
    /// What it may say to somebody who connects.
    private static let closedDoors = [
        "connection to server failed: FATAL:  53300: sorry, too many clients already\n",
        "connection to server failed: FATAL:  57P03: the database system is starting up\n",
        "connection to server failed: Connection refused\n",
    ]

    /// A connection on its way through the network.
    private final class Path {
        /// Until when something is on its way, in each direction: nothing overtakes.
        var (sentUntil, answeredUntil): (UInt64, UInt64) = (0, 0)
        /// Whether nothing gets through any more.
        var isBroken = false
        /// Whether PostgreSQL has ended the session, and said so.
        var hasEnded = false
        /// What has arrived, and is carried out in its order.
        var arrived: [Messages] = []
        /// Whether the first of it waits for a lock.
        var isWaiting = false
    }

    private unowned let world: World
    private var database = Database(partitions: 1)
    /// The database before each of the latest appends, the latest last.
    private var copies: [Database] = []
    private var connections: [(session: Session, path: Path)] = []
    /// The processes that are gone.
    private var dead: Set<String> = []
    /// How often PostgreSQL was started, here or elsewhere. What was under way in an earlier one is gone.
    private var generation = 0
    /// Until when nobody gets the lock of the head, and until when nobody can connect.
    private var (lockedUntil, downUntil): (UInt64, UInt64) = (0, 0)
    /// Until when processes cannot renew their leases.
    private var fleetAwayUntil: [String: UInt64] = [:]

    init(_ world: World) { self.world = world }

    /// From now on, what connects reaches this database.
    func begin() { Session.network = Door(self) }

    /// What a session is told of: it may come from anywhere on the loop's thread.
    private final class Door: DatabaseNetwork, Sendable {
        private unowned let host: PostgresHost

        init(_ host: PostgresHost) { self.host = host }

        func connect(_ session: Session) {
            nonisolated(unsafe) let session = session
            LoopActor.assumeIsolated { host.connect(session) }
        }

        func send(_ messages: Messages, on session: Session) {
            nonisolated(unsafe) let (messages, session) = (messages, session)
            LoopActor.assumeIsolated { host.send(messages, on: session) }
        }

        func closed(_ session: Session) {
            let number = session.number
            LoopActor.assumeIsolated { host.connections.removeAll { $0.session.number == number } }
        }
    }

    /// The log.
    var partition: Partition { database.partitions[0] }
    /// The events of the log, in order.
    var events: [RecordedEvent] { partition.events(of: 0) }

    // MARK: Connections

    private func connect(_ session: Session) {
        let path = Path()
        connections.append((session, path))
        if isFleetAway(session) || world.strikes(.unconnected, 2) {
            world.met(.unconnected)
            // Either somebody says so, or nobody says anything.
            if world.chance.chance(15) { return world.isSilent(for: 2_000) }
            let words = world.chance.pick(PostgresHost.closedDoors)
            return world.after(world.latency()) { session.refuse(words) }
        }
        world.after(world.latency()) { [self] in
            if dead.contains(session.address) || world.now < downUntil {
                session.refuse(PostgresHost.closedDoors[2])
            } else if !path.isBroken {
                session.accept()
            }
        }
    }

    private func send(_ messages: Messages, on session: Session) {
        guard let path = connections.first(where: { $0.session === session })?.path, !path.isBroken else { return }
        path.sentUntil = max(path.sentUntil + 1, world.now + world.latency())
        let generation = generation
        world.after(path.sentUntil - world.now) { [self] in
            guard !path.isBroken, self.generation == generation else { return }
            path.arrived.append(messages)
            carryOut(on: session, path)
        }
    }

    /// Carries out what has arrived, up to something that has to wait.
    private func carryOut(on session: Session, _ path: Path) {
        while !path.isWaiting, !path.hasEnded, !path.isBroken, !path.arrived.isEmpty {
            let messages = path.arrived.removeFirst()
            let needsHead = ["append", "outcome"].contains(messages.statements.first)
            guard needsHead, world.now < lockedUntil, !world.isCalm else {
                carryOut(messages, on: session, path)
                continue
            }
            let limit = session.lockTimeout * 1_000_000
            let isTooLong = limit > 0 && world.now + limit < lockedUntil
            let generation = generation
            path.isWaiting = true
            world.after(isTooLong ? limit : lockedUntil - world.now) { [self] in
                path.isWaiting = false
                guard !path.isBroken, self.generation == generation else { return }
                if isTooLong {
                    answer(messages, on: session, path, refusing: PostgresHost.lockTimeout)
                } else {
                    carryOut(messages, on: session, path)
                }
                carryOut(on: session, path)
            }
        }
    }

    private func carryOut(_ messages: Messages, on session: Session, _ path: Path) {
        if isFleetAway(session) {
            // The request is lost, or only the reply.
            if world.chance.chance(10) { _ = execute(messages, on: session) }
            return breakOff(session, path)
        }
        let isAppend = messages.statements == ["append"]
        if isAppend ? world.strikes(.refused, 4) : world.strikes(.unread, 1) {
            world.met(isAppend ? .refused : .unread)
            return answer(messages, on: session, path, refusing: world.chance.pick(PostgresHost.refusals))
        }
        if isAppend ? world.strikes(.lostRequest, 4) : world.strikes(.unread, 1) {
            world.met(isAppend ? .lostRequest : .unread)
            return breakOff(session, path)
        }
        if messages.statements == ["outcome"], world.strikes(.dark, 20) {
            world.met(.dark)
            return breakOff(session, path)
        }
        if isAppend, world.strikes(.lateRequest, 4) {
            world.met(.lateRequest)
            // The process that serves the connection goes on with what it has.
            let generation = generation
            world.after(UInt64(world.chance.number(1..<4_000)) * 1_000_000) { [self] in
                if self.generation == generation { _ = execute(messages, on: session) }
            }
            return breakOff(session, path)
        }
        if world.strikes(.lostReply, isAppend ? 5 : 1) {
            world.met(.lostReply)
            _ = execute(messages, on: session)
            return breakOff(session, path)
        }
        answer(messages, on: session, path)
    }

    private func answer(
        _ messages: Messages, on session: Session, _ path: Path, refusing refusal: DatabaseError? = nil
    ) {
        nonisolated(unsafe) let results = execute(messages, on: session, refusing: refusal)
        path.answeredUntil = max(path.answeredUntil + 1, world.now + world.latency())
        // After an error that ends the session, nobody is there any more.
        if refusal?.endsSession == true { path.hasEnded = true }
        world.after(path.answeredUntil - world.now) { if !path.isBroken { session.deliver(results) } }
    }

    private func execute(_ messages: Messages, on session: Session, refusing refusal: DatabaseError? = nil) -> Results {
        let (before, end) = (database, partition.position)
        let results = database.answer(messages, on: session, at: world.now, refusing: refusal)
        if partition.position > end {
            copies = copies.suffix(2) + [before]
            world.committed(upTo: partition.position)
        }
        return results
    }

    /// Nothing gets through any more. Sometimes the client is told so; else it hears nothing, until it has no patience.
    private func breakOff(_ session: Session, _ path: Path) {
        path.isBroken = true
        if world.chance.chance(90) {
            world.after(world.latency()) { session.lose() }
        } else {
            world.isSilent(for: 3_600)
        }
    }

    // MARK: What befalls it

    /// A process is gone, and its connections with it. What it had sent arrives.
    func lost(_ process: String) {
        dead.insert(process)
        for (session, _) in connections where session.address == process { session.lose() }
    }

    /// Some transaction of somebody else's holds the head, for a time in nanoseconds.
    func lock(for time: UInt64) { lockedUntil = world.now + time }

    /// A process cannot renew its lease for a time, in nanoseconds.
    func cutFleet(of process: String, for time: UInt64) {
        fleetAwayUntil[process] = max(fleetAwayUntil[process] ?? 0, world.now + time)
    }

    private func isFleetAway(_ session: Session) -> Bool {
        session.name == "tiffin fleet" && world.now < fleetAwayUntil[session.address] ?? 0 && !world.isCalm
    }

    /// PostgreSQL ends, and is there again after a time in nanoseconds.
    func restart(after time: UInt64) {
        generation += 1
        downUntil = world.now + time
        for (session, path) in connections where !path.isBroken { breakOff(session, path) }
    }

    /// An older copy takes its place: one that lacks some of the latest batches. Returns false if there is none.
    func failOver(losing count: Int) -> Bool {
        guard count <= copies.count else { return false }
        restart(after: 0)
        database = copies[copies.count - count]
        copies.removeAll()
        return true
    }
}
