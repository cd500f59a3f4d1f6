import Domain
import EventLog
import EventLoop
import Glibc
import LoadOracle
import SeededRandom
import SimulatedLoop
import SimulatedPostgres

/// One run: servers, clients and the log between them, on one clock. What happens next, and when, follows from the seed.
@LoopActor
final class World {
    /// The one that the loop asks what happens next.
    static var current: World!
    private static let millisecond: UInt64 = 1_000_000
    /// What the servers' clocks show at the start.
    private static let epochMilliseconds: Int64 = 1_700_000_000_000
    /// The day of that in the outlets' time zone, between the days beside it.
    static let days = ["2023-11-14", "2023-11-15", "2023-11-16"]
    /// How far they are set forward in the end: an order that nobody hands over counts as completed a day after its
    /// promise.
    private static let leapMilliseconds: Int64 = 26 * 3_600_000

    let plan: Plan
    private(set) lazy var postgres = PostgresHost(self)
    let keys = InMemoryCustomerKeys()
    /// Whether the servers have leases, and forward calls to each other: in two thirds of the seeds.
    let hasFleet: Bool
    /// Until when servers cannot connect to each other.
    private var splitUntil: UInt64 = 0
    /// When a server wanted to know all of the log, went on without it, and got to know it.
    private var blindness: [(from: UInt64, to: UInt64)] = []
    /// What is wrong unless a server was blind then.
    private(set) var suspicions: [(from: UInt64, to: UInt64, text: String)] = []
    /// When customers were forgotten.
    private(set) var forgotten: [String: UInt64] = [:]
    /// Draws what the network and the log do.
    var chance: SeededGenerator
    private(set) var servers: [Server] = []
    private(set) var clients: [Client] = []
    private(set) var reader: Reader?
    var users = Users()
    /// Whether nothing fails any more.
    private(set) var isCalm = false
    private(set) var faults: [Fault: Int] = [:]
    /// A log, and when its batches were committed.
    struct Record {
        var events: [RecordedEvent]
        var commits: [Commit]
    }

    /// How often an older copy has taken the place of the log, and what the log was each time.
    private(set) var lostLogs: [Record] = []
    /// Up to where events have been committed.
    private(set) var head: Int64 = 0
    /// Up to where the servers themselves filled the log.
    private(set) var filled: Int64 = 0
    /// Each batch: where it ended, and when it was committed.
    private(set) var commits: [Commit] = []
    /// When something last went wrong that may keep a server from its work, in order.
    private(set) var troubles: [UInt64] = []
    /// When the servers' clocks were set forward, and how far, in milliseconds.
    private(set) var leap: (time: UInt64, by: Int64)?
    /// The longest time between two things that a client does, in milliseconds. In a third of the seeds, more time passes,
    /// so that more orders become due meanwhile.
    let pace: Int
    /// What each outlet's orders wait for.
    let terms: [String: OrderTerms]
    /// What outlets take off at first.
    let deals: [String: Deal]
    /// How many of the item outlets have at first.
    let counts: [String: Int64]
    /// The orders that clients know of.
    private(set) var orders: [KnownOrder] = []
    /// What clients were shown of orders: the lines, and the digest of what is proposed.
    var shown: [String: (lines: [(id: String, quantity: Int)], digest: String?)] = [:]
    /// What carts were said to cost, with the digest of the quote.
    var agreements: [(cart: String, agreed: (total: Int64, quote: String?))] = []
    /// How many carts of a name are checked out.
    private var retired: [String: Int] = [:]
    private var actions: Int
    private var digest: UInt64 = 0xcbf2_9ce4_8422_2325
    private var violations: [String] = []

    struct Commit {
        var end: Int64
        var time: UInt64
    }

    private struct Delivery {
        var time: UInt64
        var order: Int
        var body: @LoopActor () -> Void
    }
    /// The next one last.
    private var deliveries: [Delivery] = []
    private var deliveryCount = 0

    init(_ plan: Plan) {
        self.plan = plan
        actions = plan.actions
        hasFleet = plan.seed / 3 % 3 != 0
        pace = plan.seed % 3 == 1 ? 1_200 : 300
        chance = SeededGenerator(seed: plan.seed, of: 0)
        var drawn = SeededGenerator(seed: plan.seed, of: 1_000)
        var terms: [String: OrderTerms] = [:]
        for outlet in Model.outlets { terms[outlet] = .any(&drawn) }
        for outlet in Model.outlets { terms[outlet]?.charges = .any(&drawn) }
        self.terms = terms
        var deals: [String: Deal] = [:]
        for outlet in Model.outlets { deals[outlet] = .any(&drawn) }
        self.deals = deals
        var counts: [String: Int64] = [:]
        for outlet in Model.outlets where drawn.chance(40) { counts[outlet] = Int64(drawn.number(2..<15)) }
        self.counts = counts
    }

    var now: UInt64 { simulated_time() }
    /// The servers' clock, in milliseconds.
    var clock: Int64 { clock(at: now) }

    /// What the servers' clocks showed at a time.
    func clock(at time: UInt64) -> Int64 {
        World.epochMilliseconds + Int64(time / World.millisecond) + (leap.map { time >= $0.time ? $0.by : 0 } ?? 0)
    }

    /// When the servers' clocks showed a moment, or something later; nil if they have not.
    func time(of moment: Int64) -> UInt64? {
        guard moment <= clock else { return nil }
        let time = UInt64(max(0, moment - World.epochMilliseconds)) * World.millisecond
        guard let leap, time > leap.time else { return time }
        // Nobody saw what lies within the leap before its end.
        return max(leap.time + UInt64(leap.by) * World.millisecond, time) - UInt64(leap.by) * World.millisecond
    }

    // MARK: What happens when

    /// Has something happen after a time, in nanoseconds.
    func after(_ delay: UInt64, _ body: @escaping @LoopActor () -> Void) {
        deliveryCount += 1
        let delivery = Delivery(time: now + delay, order: deliveryCount, body: body)
        let place = deliveries.lastIndex { ($0.time, $0.order) > (delivery.time, delivery.order) }
        deliveries.insert(delivery, at: place.map { $0 + 1 } ?? 0)
    }

    func pause(_ delay: UInt64) async {
        await withCheckedContinuation { continuation in after(delay) { continuation.resume() } }
    }

    /// How long a message travels: mostly less than a few milliseconds, now and then long.
    func latency() -> UInt64 {
        let milliseconds = chance.chance(4) && !isCalm ? chance.number(50..<1_500) : chance.number(1..<6)
        return UInt64(milliseconds) * World.millisecond + UInt64(chance.below(1_000_000))
    }

    /// Lets one thing happen. It is called where a server would wait for the world.
    private func poll(mayWait: Bool) {
        var hasRun = false
        while let job = simulated_next_job() {
            hasRun = true
            unsafeBitCast(job, to: UnownedJob.self).runSynchronously(on: LoopActor.sharedUnownedExecutor)
        }
        if hasRun { return }
        for client in clients { client.look() }
        reader?.look()
        let timer = simulated_next_timer()
        guard let next = deliveries.last, next.time < timer else {
            guard timer <= now || mayWait else { return }
            guard timer < .max else { return finish("nothing can happen any more") }
            simulated_set_time(max(now, timer))
            return simulated_fire_timers()
        }
        guard next.time <= now || mayWait else { return }
        simulated_set_time(max(now, next.time))
        deliveries.removeLast().body()
    }

    /// Whether a fault happens here and now.
    func strikes(_ fault: Fault, _ percent: Int) -> Bool {
        guard chance.chance(percent), !isCalm, !plan.without.contains(fault) else { return false }
        return true
    }

    func met(_ fault: Fault) {
        faults[fault, default: 0] += 1
        note("fault \(fault)")
        switch fault {
        case .refused, .lostRequest, .lateRequest, .lostReply, .unread, .dark, .unconnected, .down, .locked, .fork,
            .crash, .stop, .unrenewed, .unlinked:
            troubles.append(now)
        case .cut, .end, .slow, .userChange, .wrongToken, .stranger, .again: break
        }
    }

    func committed(upTo position: Int64) {
        note("committed up to \(position): \(postgres.partition.batches.last!.events.map(\.stream))")
        head = position
        commits.append(Commit(end: position, time: now))
    }

    /// When something last went wrong after a time, with no more than the servers' patience between one thing and the
    /// next; the time itself if nothing did. Then they have nothing that keeps them from their work.
    func lastTrouble(after time: UInt64, before end: UInt64 = .max, patience: UInt64 = Judge.patience) -> UInt64 {
        var last = time
        for trouble in troubles where trouble > last && trouble < end {
            guard trouble - last <= patience else { break }
            last = trouble
        }
        return last
    }

    /// Something says nothing for a time, in milliseconds, and only then it is noticed.
    func isSilent(for time: UInt64) { after(time * World.millisecond) { [self] in troubles.append(now) } }

    // MARK: Several servers

    /// Whether servers cannot connect to each other.
    var isSplit: Bool { now < splitUntil && !isCalm }

    /// How long it takes until an end of a connection notices that it is lost, in nanoseconds; nil where it is told
    /// nothing.
    func delayOfNotice() -> UInt64? {
        switch chance.below(4) {
        case 0: isCalm ? 0 : nil
        case 1: UInt64(chance.number(1..<1_500)) * World.millisecond
        default: UInt64(chance.number(0..<4)) * World.millisecond
        }
    }

    /// A server goes on without having read all of the log. Returns the number of that.
    func beginsBlindness(at time: UInt64) -> Int {
        blindness.append((time, .max))
        return blindness.count - 1
    }

    /// It has read so far now.
    func endsBlindness(_ number: Int) { blindness[number].to = now + 20 * World.millisecond }

    /// Whether what was asked and answered within that time may be older than it should be.
    func mayBeBlind(from start: UInt64, to end: UInt64) -> Bool {
        hasFleet && blindness.contains { $0.from <= end && $0.to >= start }
    }

    func suspect(_ text: String, since time: UInt64) { suspicions.append((time, now, text)) }

    private func disturbFleet() async {
        if strikes(.unlinked, 4) {
            met(.unlinked)
            if chance.chance(30) { splitUntil = now + UInt64(chance.number(100..<9_000)) * World.millisecond }
            for server in servers where isSplit || chance.chance(50) { server.loseLinks() }
        }
        if strikes(.unrenewed, 4) {
            met(.unrenewed)
            let time = UInt64(chance.number(300..<9_000)) * World.millisecond
            for server in chance.chance(25) ? servers : [chance.pick(servers)] { server.cannotRenew(for: time) }
            after(time) { [self] in troubles.append(now) }
        }
        if strikes(.stop, 1) {
            met(.stop)
            let server = chance.pick(servers)
            await server.stop()
            await pause(UInt64(chance.number(10..<500)) * World.millisecond)
            await server.restart()
        }
    }

    // MARK: What clients know

    /// The cart of a name that still takes something.
    func cart(_ name: String) -> String { retired[name].map { "\(name)-\($0)" } ?? name }

    func retire(_ cart: String) {
        for name in Model.carts where self.cart(name) == cart { retired[name, default: 0] += 1 }
        agreements.removeAll { $0.cart == cart }
    }

    func learn(_ order: KnownOrder) {
        if !orders.contains(where: { $0.id == order.id }) { orders.append(order) }
    }

    // MARK: The run

    /// Runs a plan on this thread, and ends the process. The result goes to a descriptor.
    nonisolated static func run(_ plan: Plan, result: Int32) -> Never {
        simulated_set_random(plan.seed)
        simulated_set_work(50 + plan.seed % 5 * 2_000)
        simulated_set_poll { mayWait in LoopActor.assumeIsolated { World.current.poll(mayWait: mayWait != 0) } }
        LoopActor.task {
            let world = World(plan)
            World.current = world
            world.output = result
            await world.run()
        }
        // The first turn is that of the task.
        LoopActor.run()
        fatalError("the loop has ended")
    }

    private var output: Int32 = 1
    /// What the final log has.
    private var tallies: [String: Int] = [:]

    private func run() async {
        isCalm = true
        postgres.begin()
        for number in 0..<2 { servers.append(Server(number, self)) }
        await servers[0].start()
        await servers[0].fill()
        filled = head
        await servers[1].start()
        isCalm = false
        for number in 0..<Client.count { clients.append(Client(number, self)) }
        for client in clients { client.start() }
        reader = Reader(self)
        reader?.start()
        while actions > 0 { await disturb() }
        isCalm = true
        note("calm")
        users.calm(at: now)
        publishUsers()
        for server in servers where !server.isUp { await server.restart() }
        await pause(6_000 * World.millisecond)
        for _ in 0..<3 {
            for client in clients { client.settle() }
            await pause(6_000 * World.millisecond)
        }
        for client in clients { client.finish() }
        await pause(3_000 * World.millisecond)
        for client in clients { client.judge() }
        note("a day later")
        leap = (now, World.leapMilliseconds)
        await pause(6_000 * World.millisecond)
        do {
            let judge = try Judge(self, Record(events: postgres.events, commits: commits), lostLogs)
            judge.judge()
            tallies = judge.tallies
        } catch {
            violation("the log cannot be read: \(error)")
        }
        finish(nil)
    }

    /// Counts what a client does. Returns whether it may.
    func act() -> Bool {
        guard actions > 0 else { return false }
        actions -= 1
        return true
    }

    /// What befalls servers, users and the log.
    private func disturb() async {
        await pause(UInt64(chance.number(20..<200)) * World.millisecond)
        if strikes(.crash, 3) {
            met(.crash)
            let server = chance.pick(servers.filter(\.isUp))
            server.crash()
            await pause(UInt64(chance.number(10..<500)) * World.millisecond)
            await server.restart()
        }
        if hasFleet { await disturbFleet() }
        if strikes(.userChange, 10) {
            met(.userChange)
            users.change(&chance, at: now)
            publishUsers()
        }
        if plan.seed % 5 == 2, !isCalm, chance.chance(2) {
            let customer = chance.pick(Model.customers)
            note("\(customer) is forgotten")
            _ = try? await keys.forget([Identifier(customer)!])
            forgotten[customer] = forgotten[customer] ?? now
        }
        if strikes(.locked, 2) {
            met(.locked)
            let time = UInt64(chance.number(10..<2_500)) * World.millisecond
            postgres.lock(for: time)
            after(time) { [self] in troubles.append(now) }
        }
        if strikes(.down, 1) {
            met(.down)
            let time = UInt64(chance.number(10..<2_500)) * World.millisecond
            postgres.restart(after: time)
            after(time) { [self] in troubles.append(now) }
        }
        if plan.seed % 4 == 3, strikes(.fork, 3) {
            let events = postgres.events
            // What the servers filled the log with at the start stays.
            let lost = min(chance.number(1..<4), postgres.partition.batches.count - Server.fillCount(self))
            guard lost > 0, postgres.failOver(losing: lost) else { return }
            met(.fork)
            lostLogs.append(Record(events: events, commits: commits))
            head = postgres.partition.position
            commits.removeAll { $0.end > head }
        }
    }

    private func publishUsers() {
        let users = users.now
        for server in servers where server.isUp { after(latency()) { server.apply(users) } }
    }

    // MARK: The result

    func note(_ text: @autoclosure () -> String) {
        let line = "\(now / 1_000) \(text())"
        for byte in line.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        if plan.isTold { tell("| \(line)") }
    }

    func violation(_ text: String) {
        note("VIOLATION \(text)")
        violations.append(text)
    }

    func finish(_ failure: String?) {
        if let failure { violation(failure) }
        for text in violations.prefix(5) { tell("violation \(text.replacing("\n", with: " "))") }
        for (fault, count) in faults { tell("fault \(fault.rawValue) \(count)") }
        let replies = clients.reduce(0) { $0 + $1.replies }
        for (what, count) in tallies { tell("tally \(count) \(what)") }
        tell("done \(digest) \(now) \(replies) \(head)")
        _exit(0)
    }

    private func tell(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
            guard count > 0 else { _exit(3) }
            sent += count
        }
    }
}
