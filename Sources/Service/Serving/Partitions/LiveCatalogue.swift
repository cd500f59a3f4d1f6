internal import Catalogue
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// The catalogue of all partitions, kept in step with their read models.
@LoopActor
final class LiveCatalogue {
    /// An item takes 20 µs. So many of them are taken in at once, and then others have their turn.
    static let slice = 200
    /// How long others have it, in milliseconds.
    private static let pause: UInt64 = 5

    private let catalogue = Catalogue()
    private let clock: () -> Timestamp
    private let maximumLeft: Int
    /// The rest of the work of large changes. A question finishes all of it first, so it never sees a part.
    private var left: [Identifier: (record: OutletRecord, items: Set<Identifier>)] = [:]
    private var leftCount = 0
    private var timer: LoopTimer?

    /// - Parameter maximumLeft: with more items than these left to do, nothing is put off.
    init(maximumLeft: Int = 20_000, clock: @escaping () -> Timestamp) {
        self.maximumLeft = maximumLeft
        self.clock = clock
    }

    /// The catalogue as of now.
    var current: Catalogue {
        catalogue.advance(to: clock())
        for (outlet, rest) in left { catalogue.update(outlet, to: rest.record, items: rest.items) }
        (left, leftCount) = ([:], 0)
        return catalogue
    }

    /// Takes in that time has passed.
    func followTime() { catalogue.advance(to: clock()) }

    /// The saved questions whose answers may have changed since this was last asked.
    func takeTouched() -> Set<SavedName> { left.isEmpty ? catalogue.takeTouched() : [] }

    /// Forgets the saved queries of a connection.
    func dropQueries(of client: Int64) { catalogue.dropAll(of: client) }

    /// How much is in it, for people.
    var size: String { "catalogue: \(catalogue.itemCount) items and \(catalogue.outletCount) outlets" }

    /// Takes in what the read models hold, once they have been read to the end of the log.
    func load(_ models: [ReadModel]) {
        catalogue.load(
            models.flatMap { $0.outletHome.listed }, revision: models.reduce(0) { $0 + $1.position })
    }

    /// Follows events that a read model has folded in.
    func follow(_ events: [Result<DecodedEvent, CorruptEvent>], _ model: borrowing ReadModel) {
        var touched: [Identifier: TouchedItems] = [:]
        for index in events.indices {
            // Carts change far more often than menus.
            guard let stream = events[index].stream, stream.category == .outlet || stream.category == .menu else {
                continue
            }
            switch events[index] {
            case .success(let event):
                let items: [Identifier]? = if case .menu(let change) = event.event { change.touchedItems } else { [] }
                touched[stream.id, default: .some([])].add(items)
            case .failure: touched[stream.id] = .all
            }
        }
        catalogue.revision += Int64(events.count)
        guard !touched.isEmpty else { return }
        catalogue.advance(to: clock())
        for (outlet, items) in touched { update(outlet, model, items: items.items) }
    }

    /// Takes in the outlets that differ in a new model, which has replaced the one that was followed.
    func update(_ outlets: Set<Identifier>, _ model: borrowing ReadModel) {
        guard !outlets.isEmpty else { return }
        catalogue.advance(to: clock())
        catalogue.revision += 1
        for outlet in outlets { update(outlet, model, items: nil) }
    }

    private func update(_ outlet: Identifier, _ model: borrowing ReadModel, items: Set<Identifier>?) {
        let record = model.outletHome.corruption(of: outlet) == nil ? model.outletHome[outlet] : nil
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
        guard let (outlet, rest) = left.first else { return }
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
        case .sectionAdded, .sectionChanged, .sectionMoved, .feedChecked: []
        case .sectionRemoved, .groupPut, .groupRemoved, .optionRepriced, .optionSuspended, .optionResumed: nil
        case .itemAdded(let item, _, _), .itemChanged(let item): [item.id]
        case .itemMoved(let id, _, _), .itemRemoved(let id), .itemRepriced(let id, _), .itemSuspended(let id, _, _),
            .itemResumed(let id, _):
            [id]
        }
    }
}
