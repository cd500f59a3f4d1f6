internal import Application
package import EventLoop
package import Fleet

/// This server among others that share its log: which partitions it decides, and who decides the others.
///
/// What it knows is a hint. The log takes a batch of any server that knows the partition's end, so a server that is
/// wrong about who decides costs time, and no event.
@LoopActor
package final class FleetMember {
    /// How often it says that it is there, in milliseconds.
    static let renewalMilliseconds: UInt64 = 500

    /// After so long, in milliseconds, the others know a server that has joined: by then they have renewed.
    static let knownMilliseconds = renewalMilliseconds * 3 / 2

    /// How long calls wait for a renewal, in milliseconds.
    private static let longestWaitMilliseconds: UInt64 = 1_000

    /// How long a stop waits for other servers' answers, in nanoseconds.
    private static let longestCall: UInt64 = 4_000_000_000

    /// How others know this server.
    package let server: FleetServer
    private let store: any FleetStore
    let links: any PeerLinks
    private let logger: Logger
    private let partitionCount: Int
    private var ownership: Ownership
    let certainty = Certainty()
    private var timer: LoopTimer?
    private var isRenewing = false
    /// Who waits for the next renewal.
    private var waiting: [@LoopActor () -> Void] = []
    private var isLeaving = false
    private var lastTrouble: String?
    /// Called when this server may decide other partitions than before.
    var onChange: @LoopActor () -> Void = {}
    /// The calls that were given to other servers, and those of other servers that were carried out here.
    package private(set) var forwardedCount: Int64 = 0
    /// Those that other servers have not answered yet.
    package private(set) var waitingCount = 0
    package internal(set) var receivedCount: Int64 = 0

    /// - Parameters:
    ///   - server: how others know this server.
    ///   - links: leads to them.
    package init(
        _ server: FleetServer, partitionCount: Int, store: any FleetStore, links: any PeerLinks, logger: Logger
    ) {
        self.server = server
        self.store = store
        self.links = links
        self.logger = logger
        self.partitionCount = partitionCount
        ownership = Ownership(of: server.id, partitionCount: partitionCount)
        links.onLost = { [weak self] in self?.lost($0) }
        links.onReached = { [weak self] in self?.reached($0) }
    }

    // MARK: Who decides

    /// Everybody who is there, this server included.
    package var servers: [FleetServer] { ownership.servers }

    /// Everybody else who is there.
    package var others: [FleetServer] { servers.filter { $0.id != server.id } }

    /// Tells them what was decided here that everybody has to know.
    private(set) lazy var announcements = Announcements(self)

    /// Whether there is anybody else.
    package var hasOthers: Bool { certainty.hasOthers }

    /// Who holds which lease.
    package var leases: [Lease] { ownership.leases }

    /// The server that decides a partition; nil where this one does.
    package func owner(of partition: Int) -> FleetServer? { ownership.owner(of: partition) }

    /// Whether this server does what has to be done once for a partition: it holds the lease, or nobody does.
    func keeps(_ partition: Int) -> Bool { ownership.isMine(partition) || ownership.isFree(partition) }

    /// Whether nobody else decides anything, and nobody has lately.
    var isAlone: Bool { certainty.isAlone(at: LoopActor.now) }

    /// Whether what is known here of a partition is everything: nobody else has written to it. Otherwise the log has to
    /// be read before something is decided or answered.
    func isSettled(_ partition: Int) -> Bool {
        // Others take over what a server leaves.
        !isLeaving && certainty.isSettled(partition, at: LoopActor.now)
    }

    /// Whether this server seems to have stood still. Then ``afterRenewal(_:)`` comes before anything else.
    var isBehind: Bool { certainty.isBehind(at: LoopActor.now) }

    /// Calls a body once this server has renewed, or could not, and after a second at the latest.
    func afterRenewal(_ body: @escaping @LoopActor () -> Void) {
        waiting.append(body)
        guard waiting.count == 1 else { return }
        let timer = LoopTimer(milliseconds: FleetMember.longestWaitMilliseconds) { [weak self] in self?.goOn() }
        LoopActor.task { [self] in
            // One that began before this server stood still says nothing of the time since.
            while isBehind, !isLeaving, !waiting.isEmpty {
                if isRenewing { await LoopTimer.pause(milliseconds: 1) } else { await renew() }
            }
            timer.cancel()
            goOn()
        }
    }

    /// Waits until the server that decides a partition knows it up to a position, to which this one has written, or for a
    /// second. What was decided here may be from before this server stood still, or was asked of it by one that did not
    /// know better: meanwhile another was given the lease, and answers from memory.
    func awaitOwner(of partition: Int, upTo position: Int64) async {
        if isBehind { await withCheckedContinuation { continuation in afterRenewal { continuation.resume() } } }
        // Whoever takes over what a server leaves is not known to it any more.
        guard isLeaving || owner(of: partition) != nil else { return }
        await withCheckedContinuation { continuation in
            announcements.announce(partition, at: position) { continuation.resume() }
        }
    }

    private func goOn() {
        let bodies = waiting
        waiting = []
        for body in bodies { body() }
    }

    // MARK: Taking part

    /// Says that this server is there, and takes over what nobody decides.
    func join() async {
        await renew()
        timer = LoopTimer(milliseconds: FleetMember.renewalMilliseconds, repeating: true) { [weak self] in
            LoopActor.task { await self?.renew() }
        }
    }

    /// Leaves its partitions to others.
    func leave() async {
        guard !isLeaving else { return }
        isLeaving = true
        timer?.cancel()
        timer = nil
        // A renewal that comes behind it would say that this server is there.
        while isRenewing { await LoopTimer.pause(milliseconds: 5) }
        do {
            try await store.leave(server.id)
        } catch {
            logger.debug("the leases could not be freed: \(error)")
        }
    }

    /// Waits until other servers have answered what they were given, as long as a call may take.
    func awaitAnswers() async {
        let end = LoopActor.now + FleetMember.longestCall
        while waitingCount > 0, LoopActor.now < end { await LoopTimer.pause(milliseconds: 5) }
    }

    private func renew() async {
        guard !isRenewing else { return }
        isRenewing = true
        defer { isRenewing = false }
        do {
            let began = LoopActor.now
            let view = try await store.renew(server)
            certainty.renewed(at: began)
            let changes = ownership.renewed(view)
            told()
            // Whoever leaves takes nothing over.
            if !changes.isEmpty, !isLeaving {
                ownership.changed(try await store.change(changes))
                told()
            }
            lastTrouble = nil
            links.reach(others + ownership.lostButThere)
        } catch {
            // Until it can, everybody goes on with what they have.
            let trouble = "\(error)"
            if trouble != lastTrouble { logger.error("the leases could not be renewed: \(trouble)") }
            lastTrouble = trouble
            certainty.failed()
        }
    }

    // MARK: Forwarding

    /// Gives a call to another server.
    func forward(
        _ call: ForwardedCall, to server: FleetServer, completion: @escaping @LoopActor (ForwardedOutcome) -> Void
    ) {
        forwardedCount += 1
        waitingCount += 1
        links.send(call, to: server) { [self] outcome in
            waitingCount -= 1
            completion(outcome)
        }
    }

    private func lost(_ server: FleetServer) {
        guard servers.contains(where: { $0.id == server.id }) else { return }
        if !isLeaving {
            logger.info("the server at \(server.address) cannot be reached: deciding its partitions until it is back")
        }
        ownership.lost(server.id)
        told()
    }

    private func reached(_ server: FleetServer) {
        ownership.reached(server)
        told()
    }

    private func told() {
        certainty.learned(ownership, partitions: partitionCount, at: LoopActor.now)
        onChange()
    }
}
