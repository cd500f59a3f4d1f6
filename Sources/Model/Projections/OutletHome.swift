package import Domain
package import EventLog

/// The projection `outlet_home`: for every outlet its details, its menu, and the home document made from both.
package struct OutletHome: Projection {
    package static let name = "outlet_home"
    package static let version = 3
    package static let table = "outlet_home_rows"

    @inlinable
    package static func follows(_ category: StreamName.Category) -> Bool { category == .outlet || category == .menu }

    package static func streams(of key: Identifier) -> [StreamName] {
        [StreamName(.outlet, key), StreamName(.menu, key)]
    }

    /// Outlets and menus that are shown to nobody.
    package var quarantine = Quarantine()

    private var outlets: [Identifier: OutletRecord] = [:]
    /// Outlets that changed since rows were last taken for saving.
    private var changed: Set<Identifier> = []

    private let notesChanges: Bool

    /// No outlets.
    ///
    /// - Parameter notesChanges: whether the outlets are to be saved.
    package init(notesChanges: Bool = false) {
        self.notesChanges = notesChanges
    }

    /// The outlet with its menu, if it is registered and was not removed.
    package subscript(outlet: Identifier) -> OutletRecord? {
        guard let record = outlets[outlet], record.sale != nil else { return nil }
        return record
    }

    /// What an outlet's menu says of an item with some options at this moment.
    ///
    /// - Parameter chosen: in the order of the ids, each once.
    package func offer(
        of item: Identifier, with chosen: [ChosenOption], at outlet: Identifier, now: Timestamp
    ) -> Offer {
        outlets[outlet]?.offer(of: item, with: chosen, now: now) ?? .noOutlet
    }

    /// The same of the lines of a cart, in their order.
    package func offers(for lines: [CartLine], at outlet: Identifier, now: Timestamp) -> [Offer] {
        guard let record = outlets[outlet] else { return lines.map { _ in .noOutlet } }
        return lines.map { record.offer(of: $0.item, with: $0.chosen, now: now) }
    }

    /// The position of the last event of an outlet or its menu, even if it was removed; 0 if there is none.
    package func revision(of outlet: Identifier) -> Int64 { outlets[outlet]?.revision ?? 0 }

    /// The version of an outlet's stream or its menu's; 0 if there is none.
    func version(of stream: StreamName) -> Int64 {
        guard let record = outlets[stream.id] else { return 0 }
        return stream.category == .outlet ? record.outletVersion : record.menuVersion
    }

    /// Why the outlet is shown to nobody, if so.
    package func corruption(of outlet: Identifier) -> CorruptEvent? {
        quarantine[StreamName(.outlet, outlet)] ?? quarantine[StreamName(.menu, outlet)]
    }

    /// Every outlet that is shown to whoever asks for it.
    package var shown: [OutletRecord] {
        outlets.values.filter { $0.details != nil && corruption(of: $0.id) == nil }
    }

    /// Those of them that are in lists and searches, too.
    package var listed: [OutletRecord] { shown.filter { !$0.isHidden } }

    /// The outlets that look different in the other projection.
    package func difference(from other: OutletHome) -> Set<Identifier> {
        Set(outlets.keys).union(other.outlets.keys).filter { id in
            corruption(of: id) != other.corruption(of: id)
                || outlets[id].map(OutletHomeRow.init) != other.outlets[id].map(OutletHomeRow.init)
        }
    }

    // MARK: Folding

    package func mayExist(_ stream: StreamName) -> Bool {
        if quarantine[stream] != nil { return true }
        guard let record = outlets[stream.id] else { return false }
        return stream.category == .outlet ? record.outletVersion > 0 : record.menuVersion > 0
    }

    package mutating func apply(_ event: DecodedEvent) throws(ImpossibleEvent) {
        let id = event.stream.id
        guard quarantine[event.stream] == nil else { return }
        do throws(ImpossibleEvent) {
            try outlets[id, default: OutletRecord(id: id)].apply(event)
        } catch {
            // If nothing of an outlet could be folded, it has no row.
            if outlets[id]?.revision == 0 { outlets[id] = nil }
            throw error
        }
        if notesChanges { changed.insert(id) }
    }

    #if DEBUG
        package mutating func skip(_ event: DecodedEvent) {
            outlets[event.stream.id]?.skip(event)
            changed.insert(event.stream.id)
        }
    #endif

    // MARK: Rows

    /// The number of outlets.
    package var rowCount: Int { outlets.count }

    /// Every outlet, including those that are not registered and those whose history is damaged.
    package var rows: some Sequence<OutletHomeRow> { outlets.values.lazy.map { OutletHomeRow($0) } }

    package func row(of key: Identifier) -> OutletHomeRow? { outlets[key].map { OutletHomeRow($0) } }

    package mutating func restore(_ stored: StoredRow) throws(UnreadableValue) -> Digest {
        let row = try OutletHomeRow(stored)
        let digest = row.digest
        guard outlets.updateValue(try OutletRecord(row, digest), forKey: row.outlet) == nil else {
            throw UnreadableValue("there are two of it")
        }
        return digest
    }

    // MARK: Checkpoints

    /// Outlets that have changed. Each row is made when it is asked for.
    package struct Changes: ProjectionChanges {
        fileprivate let outlets: [OutletRecord]
        /// The digests of the rows that have been made.
        fileprivate var digests: [Digest] = []

        package mutating func next() -> ChangedRow<OutletHomeRow>? {
            guard digests.count < outlets.count else { return nil }
            let record = outlets[digests.count]
            let change = ChangedRow(before: record.savedDigest, after: OutletHomeRow(record))
            digests.append(change.digest)
            return change
        }
    }

    package mutating func takeChanges() -> Changes {
        defer { changed = [] }
        return Changes(outlets: changed.compactMap { outlets[$0] })
    }

    package mutating func putBack(_ taken: Changes) { changed.formUnion(taken.outlets.map(\.id)) }

    /// Remembers what was saved, so that the next digest can remove it again.
    package mutating func saved(_ taken: Changes) {
        for (record, digest) in zip(taken.outlets, taken.digests) { outlets[record.id]?.savedDigest = digest }
    }
}

/// An outlet with its menu.
package struct OutletRecord: Sendable {
    /// The outlet's id.
    package let id: Identifier
    /// Its details, and whether it is open.
    package private(set) var outlet = Outlet.initial {
        didSet { sale = OutletRecord.sale(of: outlet) }
    }
    /// What every offer needs of the details; nil before it is registered, and once it is removed.
    private(set) var sale: (status: Outlet.Status, currency: Currency, taxes: [PricingTerms.Tax])?
    /// Its menu.
    package private(set) var menu = Menu.initial
    /// The version of the outlet's stream.
    package private(set) var outletVersion: Int64 = 0
    /// The version of the menu's stream; 0 if it has none.
    package private(set) var menuVersion: Int64 = 0
    /// The position of the last event of either.
    package private(set) var revision: Int64 = 0
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
        sale = OutletRecord.sale(of: outlet)
        self.menu = menu
        self.outletVersion = outletVersion
        self.menuVersion = menuVersion
        self.revision = revision
    }

    private static func sale(
        of outlet: Outlet.State
    ) -> (status: Outlet.Status, currency: Currency, taxes: [PricingTerms.Tax])? {
        switch outlet {
        case .unregistered, .removed: nil
        case .registered(let details, let status, _): (status, details.currency, details.pricing.taxes)
        }
    }

    /// The outlet's details and its status; nil before it is registered, and once it is removed.
    package var details: (details: OutletDetails, status: Outlet.Status)? {
        switch outlet {
        case .unregistered, .removed: nil
        case .registered(let details, let status, _): (details, status)
        }
    }

    /// Whether it is kept out of lists and searches.
    package var isHidden: Bool { if case .registered(_, _, isHidden: true) = outlet { true } else { false } }

    /// What the menu says of an item with some options at this moment.
    func offer(of item: Identifier, with chosen: [ChosenOption], now: Timestamp) -> Offer {
        guard let (status, currency, taxes) = sale else { return .noOutlet }
        guard status.takesOrders(at: now) else { return .outletClosed(status) }
        let offer = menu.offer(of: item, with: chosen, in: currency, now: now)
        if case .available(let item) = offer, let tax = item.tax, !taxes.contains(where: { $0.id == tax }) {
            return .taxGone(tax)
        }
        return offer
    }

    /// The taxes that items name, each with the first item of the menu that does.
    package var itemTaxes: [Identifier: Identifier] {
        var named: [Identifier: Identifier] = [:]
        for item in menu.sections.lazy.flatMap(\.items) {
            if let tax = menu.entries[item]?.tax, named[tax] == nil { named[tax] = item }
        }
        return named
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
        case .cart, .order, .deed:
            preconditionFailure("an event of another projection")
        }
        revision = event.position
    }

    #if DEBUG
        mutating func skip(_ event: DecodedEvent) {
            switch event.stream.category {
            case .outlet: outletVersion = event.version
            case .menu: menuVersion = event.version
            case .cart, .order, .customer, .user, .relay: preconditionFailure("an event of another projection")
            }
            revision = event.position
        }
    #endif

    private static func check(_ version: Int64, after last: Int64) throws(ImpossibleEvent) {
        guard version == last + 1 else { throw ImpossibleEvent("version \(version) after \(last)") }
    }
}
