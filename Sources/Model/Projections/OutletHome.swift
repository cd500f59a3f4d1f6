public import Domain
public import EventLog
internal import Parallelism

/// The projection `outlet_home`: for every outlet its details, its menu, and the home document made from both.
public struct OutletHome: Projection {
    public static let name = "outlet_home"
    public static let version = 3
    public static let table = "outlet_home_rows"

    @inlinable
    public static func follows(_ category: StreamName.Category) -> Bool {
        category == .outlet || category == .menu || category == .promotions
    }

    public static func streams(of key: Identifier) -> [StreamName] {
        [StreamName(.outlet, key), StreamName(.menu, key), StreamName(.promotions, key)]
    }

    /// Outlets and menus that are not shown.
    public var quarantine = Quarantine()

    private var outlets: [Identifier: OutletRecord] = [:]
    /// Outlets that changed since rows were last taken for saving.
    private var changed: Set<Identifier> = []

    private let notesChanges: Bool

    /// No outlets.
    ///
    /// - Parameter notesChanges: whether the outlets are to be saved.
    public init(notesChanges: Bool = false) {
        self.notesChanges = notesChanges
    }

    /// The outlet with its menu, if it is registered and was not removed.
    public subscript(outlet: Identifier) -> OutletRecord? {
        guard let record = outlets[outlet], record.sale != nil else { return nil }
        return record
    }

    /// What an outlet's menu says of an item with some options at this moment.
    ///
    /// - Parameters:
    ///   - chosen: in the order of the ids, each once.
    ///   - service: how the order is to be had, if that was chosen.
    ///   - ahead: the time that it is wanted for; nil for now.
    public func offer(
        of item: Identifier, with chosen: [ChosenOption], at outlet: Identifier, for service: ServiceKind? = nil,
        ahead: TimeAhead? = nil, now: Timestamp
    ) -> Offer {
        outlets[outlet]?.offer(of: item, with: chosen, for: service, ahead: ahead, now: now) ?? .noOutlet
    }

    /// The same of the lines of a cart, in their order.
    public func offers(
        for lines: [CartLine], at outlet: Identifier, for service: ServiceKind? = nil, ahead: TimeAhead? = nil,
        now: Timestamp
    ) -> [Offer] {
        guard let record = outlets[outlet] else { return lines.map { _ in .noOutlet } }
        return lines.map { record.offer(of: $0.item, with: $0.chosen, for: service, ahead: ahead, now: now) }
    }

    /// The promotions of an outlet, in the order of their ids, and which lines each of them is about.
    public func candidates(for lines: [CartLine], at outlet: Identifier) -> [Promotion.Candidate] {
        outlets[outlet]?.candidates(for: lines) ?? []
    }

    /// The details of an outlet, even if it was removed; nil if it is damaged or never was.
    public func lastDetails(of outlet: Identifier) -> OutletDetails? {
        guard corruption(of: outlet) == nil else { return nil }
        return switch outlets[outlet]?.outlet {
        case nil, .unregistered: nil
        case .registered(let details, _, _), .removed(let details): details
        }
    }

    /// The position of the last event of an outlet or its menu, even if it was removed; 0 if there is none.
    public func revision(of outlet: Identifier) -> Int64 { outlets[outlet]?.revision ?? 0 }

    /// The version of an outlet's stream or its menu's; 0 if there is none.
    func version(of stream: StreamName) -> Int64 {
        outlets[stream.id]?.version(of: stream.category) ?? 0
    }

    /// Why the outlet is not shown, if so.
    public func corruption(of outlet: Identifier) -> CorruptEvent? {
        quarantine[StreamName(.outlet, outlet)] ?? quarantine[StreamName(.menu, outlet)]
            ?? quarantine[StreamName(.promotions, outlet)]
    }

    /// The outlets whose hours open and close them now, or their dayparts.
    public var followingTime: [Identifier] {
        outlets.values.filter(\.outlet.followsTime).map(\.id)
    }

    /// Every outlet that is shown to clients that ask for it.
    public var shown: [OutletRecord] {
        outlets.values.filter { $0.details != nil && corruption(of: $0.id) == nil }
    }

    /// Those of them that are in lists and searches, too.
    public var listed: [OutletRecord] { shown.filter { !$0.isHidden } }

    /// The outlets that look different in the other projection.
    public func difference(from other: OutletHome) -> Set<Identifier> {
        Set(outlets.keys).union(other.outlets.keys).filter { id in
            corruption(of: id) != other.corruption(of: id)
                || outlets[id].map(OutletHomeRow.init) != other.outlets[id].map(OutletHomeRow.init)
        }
    }

    // MARK: Folding

    public func mayExist(_ stream: StreamName) -> Bool {
        if quarantine[stream] != nil { return true }
        return version(of: stream) > 0
    }

    public mutating func apply(_ event: DecodedEvent) throws(ImpossibleEvent) {
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
        public mutating func skip(_ event: DecodedEvent) {
            outlets[event.stream.id]?.skip(event)
            changed.insert(event.stream.id)
        }
    #endif

    // MARK: Rows

    /// The number of outlets.
    public var rowCount: Int { outlets.count }

    /// Every outlet, including those that are not registered and those whose history is damaged.
    public var rows: some Sequence<OutletHomeRow> { outlets.values.lazy.map { OutletHomeRow($0) } }

    public func row(of key: Identifier) -> OutletHomeRow? { outlets[key].map { OutletHomeRow($0) } }

    public mutating func restore(_ stored: StoredRow) throws(UnreadableValue) -> Digest {
        try take(try OutletHome.read(stored))
    }

    private typealias Restored = (record: OutletRecord, digest: Digest)

    private static func read(_ stored: StoredRow) throws(UnreadableValue) -> Restored {
        let row = try OutletHomeRow(stored)
        let digest = row.digest
        return (try OutletRecord(row, digest), digest)
    }

    /// A menu of a thousand items takes milliseconds to read, and nothing to take: several are read at once.
    public mutating func restore(_ rows: any StoredRows, _ digest: inout SetDigest) throws(UnreadableStoredRow) {
        let results = (0..<rows.count).concurrentMap { row in
            Result { () throws(UnreadableValue) in try OutletHome.read(StoredRow(rows, row)) }
        }
        for (row, result) in results.enumerated() {
            do throws(UnreadableValue) {
                digest.insert(try take(try result.get()))
            } catch {
                throw UnreadableStoredRow(row: row, reason: error)
            }
        }
    }

    private mutating func take(_ restored: Restored) throws(UnreadableValue) -> Digest {
        guard outlets.updateValue(restored.record, forKey: restored.record.id) == nil else {
            throw UnreadableValue("there are two of it")
        }
        return restored.digest
    }

    // MARK: Checkpoints

    /// Outlets that have changed. Each row is made when it is asked for.
    public struct Changes: ProjectionChanges {
        fileprivate let outlets: [OutletRecord]
        /// The digests of the rows that have been made.
        fileprivate var digests: [Digest] = []

        public mutating func next() -> ChangedRow<OutletHomeRow>? {
            guard digests.count < outlets.count else { return nil }
            let record = outlets[digests.count]
            let change = ChangedRow(before: record.savedDigest, after: OutletHomeRow(record))
            digests.append(change.digest)
            return change
        }
    }

    public mutating func takeChanges() -> Changes {
        defer { changed = [] }
        return Changes(outlets: changed.compactMap { outlets[$0] })
    }

    public mutating func putBack(_ taken: Changes) { changed.formUnion(taken.outlets.map(\.id)) }

    /// Remembers what was saved, so that the next digest can remove it again.
    public mutating func saved(_ taken: Changes) {
        for (record, digest) in zip(taken.outlets, taken.digests) { outlets[record.id]?.savedDigest = digest }
    }
}

/// An outlet with its menu.
public struct OutletRecord: Sendable {
    /// The outlet's id.
    public let id: Identifier
    /// Its details, and whether it is open.
    public private(set) var outlet = Outlet.initial {
        didSet { sale = Sale(of: outlet) }
    }
    /// What every offer needs of the details; nil before it is registered, and once it is removed.
    private(set) var sale: Sale?
    /// Its menu.
    public private(set) var menu = Menu.initial
    /// The version of the outlet's stream.
    public private(set) var outletVersion: Int64 = 0
    /// The version of the menu's stream; 0 if it has none.
    public private(set) var menuVersion: Int64 = 0
    /// Its promotions.
    public private(set) var promotions = Promotions.initial
    /// The version of their stream; 0 if it has none.
    public private(set) var promotionsVersion: Int64 = 0
    /// The position of the last event of any of these.
    public private(set) var revision: Int64 = 0
    /// The digest of the row as it was last saved.
    var savedDigest: Digest?

    init(id: Identifier) {
        self.id = id
    }

    init(
        id: Identifier, outlet: Outlet.State, menu: MenuState, promotions: Promotions.State, outletVersion: Int64,
        menuVersion: Int64, promotionsVersion: Int64, revision: Int64
    ) {
        self.id = id
        self.outlet = outlet
        sale = Sale(of: outlet)
        self.menu = menu
        self.promotions = promotions
        self.promotionsVersion = promotionsVersion
        self.outletVersion = outletVersion
        self.menuVersion = menuVersion
        self.revision = revision
    }

    /// What every offer needs of the details. A class, as it is looked at for each item that comes into a cart.
    final class Sale: Sendable {
        let status: Outlet.Status
        let currency: Currency
        let taxes: [PricingTerms.Tax]
        let service: ServiceKind?
        let dayparts: DaypartTimes?

        init?(of outlet: Outlet.State) {
            guard case .registered(let details, let status, _) = outlet else { return nil }
            self.status = status
            currency = details.currency
            taxes = details.pricing.taxes
            service = details.services.kinds.first
            dayparts = details.daypartTimes.later.isEmpty ? nil : details.daypartTimes
        }
    }

    /// The outlet's details and its status; nil before it is registered, and once it is removed.
    public var details: (details: OutletDetails, status: Outlet.Status)? {
        switch outlet {
        case .unregistered, .removed: nil
        case .registered(let details, let status, _): (details, status)
        }
    }

    /// What it says of itself at a moment: where it is slow, it promises more.
    public func details(at now: Timestamp) -> OutletDetails? {
        guard let (details, status) = details else { return nil }
        let delay = status.delay(at: now)
        return delay > 0 ? details.slowed(by: delay) : details
    }

    /// Until when an item cannot be had as its part of the day is not on; nil if it is.
    public func suspension(ofDaypartOf entry: MenuState.Entry) -> MenuState.Suspension? {
        sale?.dayparts?.suspension(of: entry.daypart)
    }

    /// Until when an item cannot be had, as it is sold out, or its part of the day is not on.
    func suspension(of entry: MenuState.Entry) -> MenuState.Suspension? {
        .both(entry.suspension, suspension(ofDaypartOf: entry))
    }

    /// Whether it is kept out of lists and searches.
    public var isHidden: Bool { if case .registered(_, _, isHidden: true) = outlet { true } else { false } }

    /// What the menu says of an item with some options at this moment.
    ///
    /// - Parameters:
    ///   - service: how the order is to be had, if that was chosen.
    ///   - ahead: the time that it is wanted for; nil for now.
    func offer(
        of item: Identifier, with chosen: [ChosenOption], for service: ServiceKind?, ahead: TimeAhead? = nil,
        now: Timestamp
    ) -> Offer {
        guard let sale else { return .noOutlet }
        guard ahead.map({ sale.status.takesOrders(ahead: $0.time) }) ?? sale.status.takesOrders(at: now) else {
            return .outletClosed(sale.status)
        }
        let offer = menu.offer(
            of: item, with: chosen, for: service ?? sale.service, in: sale.currency, now: ahead?.time ?? now,
            dayparts: ahead.map { $0.dayparts } ?? sale.dayparts)
        if case .available(let item) = offer, let gone = item.tax(besides: sale.taxes) { return .taxGone(gone) }
        return offer
    }

    /// The taxes that the menu names, each with the first item or option that does, as words such as `item 'pie'`.
    public var menuTaxes: [Identifier: Text] {
        var named: [Identifier: Text] = [:]
        func note(_ tax: Identifier?, _ words: @autoclosure () -> Text) {
            if let tax, named[tax] == nil { named[tax] = words() }
        }
        for item in menu.sections.lazy.flatMap(\.items) { note(menu.entries[item]?.tax, Text("item '\(item)'")) }
        for option in menu.groups.list.lazy.flatMap(\.options) { note(option.tax, Text("option '\(option.id)'")) }
        return named
    }

    /// The dayparts that the menu names, each with the first section or item that does.
    public var menuDayparts: [Identifier: Text] {
        var named: [Identifier: Text] = [:]
        for section in menu.sections {
            if let daypart = section.header.daypart, named[daypart] == nil {
                named[daypart] = Text("section '\(section.header.id)'")
            }
            for item in section.items {
                guard let daypart = menu.entries[item]?.daypart, named[daypart] == nil else { continue }
                named[daypart] = Text("item '\(item)'")
            }
        }
        return named
    }

    /// The version of one of its streams; 0 if it has none.
    fileprivate func version(of category: StreamName.Category) -> Int64 {
        switch category {
        case .outlet: outletVersion
        case .menu: menuVersion
        case .promotions: promotionsVersion
        case .cart, .order, .supply, .customer, .user, .relay: 0
        }
    }

    /// Its promotions, and which lines each of them is about. Where it has none, that is found at once.
    public func candidates(for lines: [CartLine]) -> [Promotion.Candidate] {
        promotions.list.isEmpty ? [] : menu.candidates(promotions, for: lines)
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
        case .promotions(let change):
            try OutletRecord.check(event.version, after: promotionsVersion)
            try Promotions.evolve(&promotions, change)
            promotionsVersion = event.version
        case .cart, .order, .supply, .deed:
            preconditionFailure("an event of another projection")
        }
        revision = event.position
    }

    #if DEBUG
        mutating func skip(_ event: DecodedEvent) {
            switch event.stream.category {
            case .outlet: outletVersion = event.version
            case .menu: menuVersion = event.version
            case .promotions: promotionsVersion = event.version
            case .cart, .order, .supply, .customer, .user, .relay: preconditionFailure("an event of another projection")
            }
            revision = event.position
        }
    #endif

    private static func check(_ version: Int64, after last: Int64) throws(ImpossibleEvent) {
        guard version == last + 1 else { throw ImpossibleEvent("version \(version) after \(last)") }
    }
}
