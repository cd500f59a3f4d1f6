/// What one server knows of who decides what, and what it does about it.
///
/// It is told what each renewal found, and says which leases to try to change: it claims those that nobody holds who is
/// there, and hands over those of its own that another server should have. Everybody has the same wish, but only the
/// database makes an owner. What it knows may be old: then servers get in each other's way, and the log decides.
public struct Ownership: Sendable {
    /// How long a server counts as there after it renewed, in milliseconds, by the database's clock.
    public static let leaseMilliseconds: UInt64 = 3_000
    /// With how little silence a server that was lost counts as one that renews, in milliseconds.
    private static let freshMilliseconds: UInt64 = 1_000
    /// In how many views in a row a server must have renewed to count again after it was lost. A server that ended is
    /// silent for longer than ``freshMilliseconds`` in the last of them: renewals are half a second apart.
    private static let viewsToReturn = 4
    /// The most views, for a server that was lost often.
    private static let mostViewsToReturn = 64

    /// A server that could not be reached from here, though perhaps it renews.
    private struct Loss {
        /// In how many views it must be fresh before it counts again; 0 if it does.
        var viewsLeft: Int
        /// In how many views in all. That doubles when it is lost again: where two servers reach the database and not
        /// each other, their partitions would move at every attempt.
        var views: Int
    }

    private let me: ServerID
    private let partitionCount: Int
    /// The lease of each partition; nil for one that the database did not name, which cannot be claimed either.
    private var known: [Lease?]
    /// The servers that are there, this one included.
    private var present: [ServerID: FleetServer] = [:]
    private var losses: [ServerID: Loss] = [:]
    /// Not while a server is lost here that the others may count: they wish something else, and would hand it back.
    private var mayHandOver = true
    /// Whether the last renewal found another server that is there, even one that was lost here.
    public private(set) var knowsOthers = false
    private var ranks = Wish.Ranks()
    /// The wish for the servers that were there last.
    private var wish: (servers: Set<ServerID>, wish: Wish)?

    /// Knows nobody, and decides everything here.
    public init(of me: ServerID, partitionCount: Int) {
        self.me = me
        self.partitionCount = max(0, partitionCount)
        known = Array(repeating: nil, count: self.partitionCount)
    }

    /// Takes what a renewal found; returns the changes to try.
    public mutating func renewed(_ view: FleetView) -> [LeaseChange] {
        take(view.servers)
        // Also terms that have fallen: the database may be a copy of an earlier one.
        known = Array(repeating: nil, count: partitionCount)
        changed(view.leases)
        return changes()
    }

    /// Takes leases as they are after changes were tried.
    public mutating func changed(_ leases: [Lease]) {
        for lease in leases where known.indices.contains(lease.partition) && lease.term >= 0 {
            if let before = known[lease.partition], before.term > lease.term { continue }
            known[lease.partition] = lease
        }
    }

    /// A connection to that server could not be made, or ended: its partitions are decided here until it renews again,
    /// and are claimed at the next renewal, though its lease may hold.
    ///
    /// It counts again once it is ``reached(_:)``, or after four views in a row in which it has just renewed, or twice as
    /// many as the last time.
    public mutating func lost(_ server: ServerID) {
        guard server != me else { return }
        let views: Int
        switch losses[server] {
        case nil: views = Ownership.viewsToReturn
        // Several connections to it end at once.
        case .some(let loss) where loss.viewsLeft > 0: views = loss.views
        case .some(let loss): views = min(2 * loss.views, Ownership.mostViewsToReturn)
        }
        losses[server] = Loss(viewsLeft: views, views: views)
        present[server] = nil
    }

    /// Servers that were lost, and renew: they may be there for the others, who must not decide what they decide.
    public private(set) var lostButThere: [FleetServer] = []

    /// There is a connection to a server again that was lost: it counts at once.
    public mutating func reached(_ server: FleetServer) {
        guard var loss = losses[server.id], loss.viewsLeft > 0 else { return }
        loss.viewsLeft = 0
        losses[server.id] = loss
        present[server.id] = server
        lostButThere.removeAll { $0.id == server.id }
    }

    /// Who decides a partition; nil where this server does: it holds the lease, nobody holds it, or its holder is not
    /// there. Nil for a partition that there is not, too.
    public func owner(of partition: Int) -> FleetServer? {
        guard known.indices.contains(partition), let holder = known[partition]?.holder, holder != me else { return nil }
        return present[holder]
    }

    /// Whether this server holds the lease.
    public func isMine(_ partition: Int) -> Bool {
        known.indices.contains(partition) && known[partition]?.holder == me
    }

    /// Whether another server is there that can be reached.
    public var hasOthers: Bool { present.contains { $0.key != me } }

    /// Whether nobody holds the lease, or the database did not name it.
    public func isFree(_ partition: Int) -> Bool {
        !known.indices.contains(partition) || known[partition]?.holder == nil
    }

    /// All leases, by partition, for people and clients that choose a server. One that the database did not name is
    /// held by nobody.
    public var leases: [Lease] {
        known.enumerated().map { $1 ?? Lease(partition: $0, holder: nil, term: 0) }
    }

    /// The servers that are there, in the order of their ids. This one is among them from its first renewal on.
    public var servers: [FleetServer] { present.values.sorted { $0.id < $1.id } }

    // MARK: Renewals

    private mutating func take(_ servers: [FleetServer]) {
        // This server is there, whatever the database says of it.
        present = present.filter { $0.key == me }
        var named: [ServerID: FleetServer] = [:]
        for server in servers {
            if let before = named[server.id], before.silence <= server.silence { continue }
            named[server.id] = server
        }
        losses = losses.filter { named[$0.key] != nil }
        knowsOthers = named.contains { $0.key != me && $0.value.silence < Ownership.leaseMilliseconds }
        mayHandOver = true
        lostButThere = []
        for (id, server) in named {
            if var loss = losses[id], loss.viewsLeft > 0 {
                loss.viewsLeft = server.silence < Ownership.freshMilliseconds ? loss.viewsLeft - 1 : loss.views
                losses[id] = loss
                guard loss.viewsLeft == 0 else {
                    if server.silence < Ownership.freshMilliseconds { lostButThere.append(server) }
                    if server.silence < Ownership.leaseMilliseconds { mayHandOver = false }
                    continue
                }
            }
            if id == me || server.silence < Ownership.leaseMilliseconds { present[id] = server }
        }
    }

    private mutating func changes() -> [LeaseChange] {
        let wish = currentWish()
        var handovers = mayHandOver ? max(1, partitionCount / 16) : 0
        var changes: [LeaseChange] = []
        for lease in known.lazy.compactMap(\.self) {
            guard let wanted = wish[lease.partition], wanted != lease.holder else { continue }
            if lease.holder == me {
                guard handovers > 0 else { continue }
                handovers -= 1
            } else {
                let isFree = lease.holder.map { present[$0] == nil } ?? true
                guard wanted == me, isFree else { continue }
            }
            changes.append(LeaseChange(partition: lease.partition, term: lease.term, holder: wanted))
        }
        return changes
    }

    private mutating func currentWish() -> Wish {
        let servers = Set(present.keys).union([me])
        if let wish, wish.servers == servers { return wish.wish }
        let new = Wish(servers: servers, partitionCount: partitionCount, ranks: &ranks)
        wish = (servers, new)
        return new
    }
}
