internal import Application
internal import Catalogue
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections
internal import Synchronization

/// The catalogue of all partitions, kept in step with their read models.
///
/// A large one is built on other threads while everything else is served. What changes meanwhile is taken in
/// afterwards.
@LoopActor
final class LiveCatalogue {
    /// An item takes 20 µs. So many of them are taken in at once, and then others have their turn.
    static let slice = 200
    /// How long others have it, in milliseconds.
    private static let pause: UInt64 = 5
    private enum State {
        case whole(Catalogue)
        case building(Building)
    }

    private var state = State.whole(Catalogue())
    private var catalogue: Catalogue? { if case .whole(let catalogue) = state { catalogue } else { nil } }
    private let clock: () -> Timestamp
    private let maximumLeft: Int
    private let builtAtOnce: Int
    /// The rest of the work of large changes. A question finishes all of it first, so it never sees a part.
    private var left: [Identifier: (record: OutletRecord, items: Set<Identifier>)] = [:]
    private var leftCount = 0
    /// The outlets that have changed while the catalogue is being built, as they are now.
    private var missed: [Identifier: OutletRecord?] = [:]
    /// The number of events folded in, of all partitions.
    private var revision: Int64 = 0 {
        didSet { catalogue?.revision = revision }
    }
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - maximumLeft: with more items than these left to do, nothing is put off.
    ///   - builtAtOnce: so many items are taken in before anything is served. The time is not noticed.
    init(maximumLeft: Int = 20_000, builtAtOnce: Int = 5_000, clock: @escaping () -> Timestamp) {
        self.maximumLeft = maximumLeft
        self.builtAtOnce = builtAtOnce
        self.clock = clock
    }

    /// The catalogue as of now; nil while it is being built.
    var whole: Catalogue? {
        guard let catalogue else { return nil }
        catalogue.advance(to: clock())
        for (outlet, rest) in left { catalogue.update(outlet, to: rest.record, items: rest.items) }
        (left, leftCount) = ([:], 0)
        return catalogue
    }

    /// The catalogue as of now.
    ///
    /// - Throws: `LOADING` while it is being built.
    var current: Catalogue {
        get throws(Failure) {
            if let whole { return whole }
            throw Failure(.loading, "searching begins when every item is indexed: \(loading ?? ""); try again")
        }
    }

    /// How far it is built, for people; nil once it is.
    var loading: String? {
        guard case .building(let building) = state else { return nil }
        return "\(building.done.load(ordering: .relaxed)) of \(building.total) items"
    }

    /// Takes in that time has passed.
    func followTime() { catalogue?.advance(to: clock()) }

    /// The saved questions whose answers may have changed since this was last asked.
    func takeTouched() -> Set<SavedName> { left.isEmpty ? catalogue?.takeTouched() ?? [] : [] }

    /// Forgets the saved queries of a connection.
    func dropQueries(of client: Int64) { catalogue?.dropAll(of: client) }

    /// How much is in it, for people.
    var size: String { "\(catalogue?.itemCount ?? 0) items and \(catalogue?.outletCount ?? 0) outlets" }

    // MARK: Building

    /// A catalogue that is being built.
    private final class Building: Sendable {
        let total: Int
        let done = Atomic(0)

        init(total: Int) { self.total = total }
    }

    /// Takes in what the read models hold, once they have been read to the end of the log: a little of it at once.
    ///
    /// - Parameter completion: called when all of it is taken in.
    func load(_ models: [ReadModel], completion: @escaping @LoopActor () -> Void = {}) {
        let records = models.flatMap { $0.outletHome.listed }
        revision = models.reduce(0) { $0 + $1.position }
        let total = records.reduce(0) { $0 + $1.menu.entries.count }
        guard total > builtAtOnce else {
            catalogue?.load(records, revision: revision)
            return completion()
        }
        let building = Building(total: total)
        state = .building(building)
        Task { @LoopActor [weak self, revision] in
            let built = await LiveCatalogue.built(of: records, revision: revision, building)
            self?.take(built)
            completion()
        }
    }

    @concurrent
    private static func built(
        of records: [OutletRecord], revision: Int64, _ building: Building
    ) async -> sending Catalogue {
        let catalogue = Catalogue()
        catalogue.load(records, revision: revision) { building.done.store($0, ordering: .relaxed) }
        return catalogue
    }

    /// Serves from a catalogue that was built, and follows what has happened meanwhile.
    private func take(_ built: Catalogue) {
        state = .whole(built)
        built.revision = revision
        let missed = missed
        self.missed = [:]
        for (outlet, record) in missed { update(outlet, record, items: nil) }
    }

    // MARK: Following

    /// Follows events that a read model has folded in.
    func follow(_ events: [Result<DecodedEvent, CorruptEvent>], _ model: borrowing ReadModel) {
        var touched: [Identifier: TouchedItems] = [:]
        for index in events.indices {
            // Carts change far more often than menus.
            guard let stream = events[index].stream, OutletHome.follows(stream.category) else {
                continue
            }
            switch events[index] {
            case .success(let event):
                let items: [Identifier]? = if case .menu(let change) = event.event { change.touchedItems } else { [] }
                touched[stream.id, default: .some([])].add(items)
            case .failure: touched[stream.id] = .all
            }
        }
        revision += Int64(events.count)
        guard !touched.isEmpty else { return }
        catalogue?.advance(to: clock())
        for (outlet, items) in touched { update(outlet, model, items: items.items) }
    }

    /// Takes in the outlets that differ in a new model, which has replaced the one that was followed.
    func update(_ outlets: Set<Identifier>, _ model: borrowing ReadModel) {
        guard !outlets.isEmpty else { return }
        catalogue?.advance(to: clock())
        revision += 1
        for outlet in outlets { update(outlet, model, items: nil) }
    }

    private func update(_ outlet: Identifier, _ model: borrowing ReadModel, items: Set<Identifier>?) {
        update(outlet, model.outletHome.corruption(of: outlet) == nil ? model.outletHome[outlet] : nil, items: items)
    }

    private func update(_ outlet: Identifier, _ record: OutletRecord?, items: Set<Identifier>?) {
        guard let catalogue else { return missed[outlet] = .some(record) }
        let touched = items.map { items in items.union(record?.menu.dependents(of: items) ?? []) }
        guard let record, !record.isHidden else {
            drop(outlet)
            return catalogue.update(outlet, to: nil, items: touched)
        }
        let count = touched?.count ?? record.menu.entries.count
        guard left[outlet] != nil || count > LiveCatalogue.slice, leftCount < maximumLeft,
            let known = catalogue.itemIDs(of: outlet)
        else {
            var rest = drop(outlet)
            if let touched { rest.formUnion(touched) }
            return catalogue.update(outlet, to: record, items: touched == nil ? nil : rest)
        }
        let more = touched ?? known.union(record.menu.entries.values.map(\.id))
        let items = drop(outlet).union(more)
        left[outlet] = (record, items)
        leftCount += items.count
        workSoon()
    }

    /// Puts nothing off for an outlet any more, and returns the items that were.
    @discardableResult
    private func drop(_ outlet: Identifier) -> Set<Identifier> {
        guard let rest = left.removeValue(forKey: outlet) else { return [] }
        leftCount -= rest.items.count
        return rest.items
    }

    private func workSoon() {
        guard timer == nil else { return }
        timer = LoopTimer(milliseconds: LiveCatalogue.pause) { [weak self] in
            self?.timer = nil
            self?.work()
        }
    }

    /// Takes in a few of the items that are left.
    func work() {
        guard let catalogue, let (outlet, rest) = left.first else { return }
        let some = Set(rest.items.prefix(LiveCatalogue.slice))
        drop(outlet)
        if some.count < rest.items.count {
            left[outlet] = (rest.record, rest.items.subtracting(some))
            leftCount += rest.items.count - some.count
        }
        catalogue.advance(to: clock())
        catalogue.update(outlet, to: rest.record, items: some)
        if !left.isEmpty { workSoon() }
    }
}

/// The items that events may have changed.
private enum TouchedItems {
    case some(Set<Identifier>)
    case all

    var items: Set<Identifier>? {
        switch self {
        case .some(let items): items
        case .all: nil
        }
    }

    mutating func add(_ more: [Identifier]?) {
        guard let more, case .some(var items) = self else { return self = .all }
        self = .all  // Lets go of the set, so that adding to it does not copy it.
        items.formUnion(more)
        self = .some(items)
    }
}

extension Menu.Event {
    /// The items that look different afterwards; nil where that takes the menu to know.
    fileprivate var touchedItems: [Identifier]? {
        switch self {
        case .sectionAdded, .sectionMoved, .feedChecked: []
        case .sectionChanged, .sectionRemoved, .groupPut, .groupRemoved, .optionRepriced, .optionSuspended,
            .optionResumed:
            nil
        case .itemAdded(let item, _, _), .itemChanged(let item): [item.id]
        case .itemMoved(let id, _, _), .itemRemoved(let id), .itemRepriced(let id, _), .itemSuspended(let id, _, _),
            .itemResumed(let id, _):
            [id]
        }
    }
}
