public import Domain
public import EventLog

/// The projection `outlet_home`: for every outlet what it says of itself, its menu, and the home document made
/// of both.
public struct OutletHome: Sendable {
    /// The name it has in the database.
    public static let name = "outlet_home"
    /// Rises when its rows mean something else: they are then folded anew.
    public static let version = 1

    /// Outlets and menus that are shown to nobody.
    public internal(set) var quarantine = Quarantine()

    private var outlets: [Identifier: OutletRecord] = [:]
    /// Outlets that changed since rows were last taken for saving.
    private var changed: Set<Identifier> = []

    private let notesChanges: Bool

    /// No outlets.
    ///
    /// - Parameter notesChanges: whether they are to be saved.
    public init(notesChanges: Bool = false) {
        self.notesChanges = notesChanges
    }

    /// What a history of outlets and menus leads to; its events are in the order of their positions.
    public init(folding history: [Result<DecodedEvent, CorruptEvent>]) {
        self.init(notesChanges: false)
        for event in history {
            switch event {
            case .success(let event):
                do throws(ImpossibleEvent) {
                    try apply(event)
                } catch {
                    quarantine.insert(CorruptEvent(event, reason: error.description))
                }
            case .failure(let corruption):
                quarantine.insert(corruption)
            }
        }
    }

    /// The outlet with its menu, if it is registered.
    public subscript(outlet: Identifier) -> OutletRecord? {
        guard let record = outlets[outlet], record.details != nil else { return nil }
        return record
    }

    /// Why the outlet is shown to nobody, if so.
    public func corruption(of outlet: Identifier) -> CorruptEvent? {
        quarantine[StreamName(.outlet, outlet)] ?? quarantine[StreamName(.menu, outlet)]
    }

    /// Every outlet that is shown.
    public var shown: [OutletRecord] {
        outlets.values.filter { $0.details != nil && corruption(of: $0.id) == nil }
    }

    /// Every outlet, also those that are not registered and those whose history is damaged.
    public var all: some Collection<OutletRecord> { outlets.values }

    /// The number of outlets.
    public var outletCount: Int { outlets.count }

    /// The outlets that are shown otherwise here than there.
    public func difference(from other: OutletHome) -> Set<Identifier> {
        Set(outlets.keys).union(other.outlets.keys).filter { id in
            corruption(of: id) != other.corruption(of: id)
                || outlets[id].map(OutletHomeRow.init) != other.outlets[id].map(OutletHomeRow.init)
        }
    }

    func knows(_ stream: StreamName) -> Bool {
        if quarantine[stream] != nil { return true }
        guard let record = outlets[stream.id] else { return false }
        return stream.category == .outlet ? record.outletVersion > 0 : record.menuVersion > 0
    }

    mutating func apply(_ event: DecodedEvent) throws(ImpossibleEvent) {
        let id = event.stream.id
        guard quarantine[event.stream] == nil else { return }
        do throws(ImpossibleEvent) {
            try outlets[id, default: OutletRecord(id: id)].apply(event)
        } catch {
            // Of whom nothing could be folded there is no row.
            if outlets[id]?.revision == 0 { outlets[id] = nil }
            throw error
        }
        if notesChanges { changed.insert(id) }
    }

    #if DEBUG
        /// Takes note that an event came, and nothing of what it says.
        mutating func skip(_ event: DecodedEvent) {
            outlets[event.stream.id]?.skip(event)
            changed.insert(event.stream.id)
        }
    #endif

    // MARK: Offers

    /// What an outlet's menu says of an item at this moment.
    public func offer(of item: Identifier, at outlet: Identifier, now: Timestamp) -> Offer {
        guard let record = outlets[outlet], let (details, status) = record.details else { return .noOutlet }
        guard status.takesOrders(at: now) else { return .outletClosed(status) }
        guard let entry = record.menu.entries[item] else { return .noItem }
        guard let price = entry.price else { return .notForSale }
        if let suspension = entry.suspension, suspension.holds(at: now) { return .soldOut(until: suspension.until) }
        return .available(
            Offer.Item(
                name: entry.name, unitPrice: price, currency: details.currency,
                maxQuantity: entry.maxQuantity ?? MenuItem.quantityLimit))
    }

    // MARK: Saving

    /// Restores a saved row, or says what is wrong with it.
    public mutating func restore(_ row: OutletHomeRow) throws(CorruptSnapshot) {
        outlets[row.outlet] = try OutletRecord(row)
    }

    mutating func takeChanges() -> [OutletRecord] {
        defer { changed = [] }
        return changed.compactMap { outlets[$0] }
    }

    /// Changes that were taken and could not be saved are due again.
    mutating func putBack(_ taken: [OutletRecord]) { changed.formUnion(taken.map(\.id)) }

    /// Remembers what was saved, so that the next digest can take it out again.
    mutating func saved(_ outlet: Identifier, digest: Digest) { outlets[outlet]?.savedDigest = digest }
}

/// An outlet with its menu.
public struct OutletRecord: Sendable {
    /// The outlet's id.
    public let id: Identifier
    /// What it says of itself and whether it is open.
    public private(set) var outlet = Outlet.initial
    /// Its menu.
    public private(set) var menu = Menu.initial
    /// The version of the outlet's stream.
    public private(set) var outletVersion: Int64 = 0
    /// The version of the menu's stream; 0 where it has none.
    public private(set) var menuVersion: Int64 = 0
    /// The position of the last event of either.
    public private(set) var revision: Int64 = 0
    /// The digest of the row as it was last saved.
    var savedDigest: Digest?

    init(id: Identifier) {
        self.id = id
    }

    init(
        id: Identifier, outlet: Outlet.State, menu: MenuState, outletVersion: Int64, menuVersion: Int64,
        revision: Int64
    ) {
        self.id = id
        self.outlet = outlet
        self.menu = menu
        self.outletVersion = outletVersion
        self.menuVersion = menuVersion
        self.revision = revision
    }

    /// What the outlet says of itself, and its status; nil before it is registered.
    public var details: (details: OutletDetails, status: Outlet.Status)? {
        switch outlet {
        case .unregistered: nil
        case .registered(let details, let status): (details, status)
        }
    }

    mutating func apply(_ event: DecodedEvent) throws(ImpossibleEvent) {
        switch event.event {
        case .outlet(let change):
            try OutletRecord.check(event.version, after: outletVersion)
            try Outlet.evolve(&outlet, change)
            outletVersion = event.version
        case .menu(let change):
            try OutletRecord.check(event.version, after: menuVersion)
            try Menu.evolve(&menu, change)
            menuVersion = event.version
        case .cart, .order:
            preconditionFailure("an event of another projection")
        }
        revision = event.position
    }

    #if DEBUG
        mutating func skip(_ event: DecodedEvent) {
            switch event.stream.category {
            case .outlet: outletVersion = event.version
            case .menu: menuVersion = event.version
            case .cart, .order: preconditionFailure("an event of another projection")
            }
            revision = event.position
        }
    #endif

    private static func check(_ version: Int64, after last: Int64) throws(ImpossibleEvent) {
        guard version == last + 1 else { throw ImpossibleEvent("version \(version) after \(last)") }
    }
}
