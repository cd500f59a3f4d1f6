internal import Domain
internal import Parallelism

/// Where the listings of an index are kept.
protocol ListingSource: AnyObject {
    func listing(at row: UInt32) -> Listing
    func id(at row: UInt32) -> ListingID
    func name(at row: UInt32) -> Text
    func precedes(_ a: UInt32, _ b: UInt32) -> Bool
}

/// The listings of one kind, items or outlets: under every filter, and in every order.
final class SearchIndex {
    let analyser: TextAnalyser
    unowned let source: any ListingSource
    private(set) var all = Bitmap()
    let filters: [any FilterIndex]
    /// Those filters whose results change with time.
    let availabilities: [AvailabilityIndex]
    /// For outlets, how to find them by their items, and their items by them.
    let items: Items?
    private var loadedNames = LoadedNames()
    private(set) var orders: [Order]
    /// Earlier versions of listings that have moved.
    private(set) var moves = MoveLog()

    typealias Items = (index: SearchIndex, outlets: (Bitmap) -> Bitmap, ofOutlets: (Bitmap) -> Bitmap)

    /// The listings in the order of one sort.
    struct Order {
        var keys = NumberColumn()
        var rows = SortedChunks<UInt32>()
    }

    init(_ analyser: TextAnalyser, _ source: any ListingSource, items: Items? = nil) {
        self.analyser = analyser
        self.source = source
        self.items = items
        // Each with an analyser of its own: they are loaded on several threads at once.
        let filters = Filter.all.map { $0.makeIndex(TextAnalyser()) }
        self.filters = filters
        availabilities = filters.compactMap { $0 as? AvailabilityIndex }
        orders = ListingOrder.allCases.map { _ in Order() }
    }

    /// The index that a filter was registered with.
    func index<Index: FilterIndex>(of filter: Int, as: Index.Type) -> Index {
        guard let index = filters[filter] as? Index else { preconditionFailure("a filter has another index") }
        return index
    }

    /// Whether a filter is answered by the items of these outlets.
    func asksItems(_ filter: Int) -> Bool { items != nil && Filter.all[filter].isOfItems }

    /// All rows that a filter keeps.
    func rows(_ narrowing: Narrowing, _ filter: Int) -> Bitmap {
        let rows: Bitmap
        if let items, asksItems(filter) {
            rows = items.outlets(narrowing.rows(items.index.filters[filter]))
        } else {
            rows = narrowing.rows(filters[filter])
        }
        return narrowing.isExclusion ? all.subtracting(rows) : rows
    }

    /// The words of a filter that the rows have which some narrowings keep.
    func words(of filter: Int, among narrowings: [(filter: Int, narrowing: Narrowing)]) -> [Text] {
        let rows = narrowings.reduce(all) { $0.intersection(self.rows($1.narrowing, $1.filter)) }
        return index(of: filter, as: WordIndex.self).words(of: rows)
    }

    // MARK: Loading many

    /// Adds listings after all others; ``finishLoading()`` puts them in order.
    func load(_ listings: [Listing], from row: UInt32) {
        all.insert(row..<row + UInt32(listings.count))
        forEachPart { part in
            if let index = part { return index.load(listings, from: row) }
            listings.forEach(from: row) { listing, row in
                setKeys(of: listing, loadedNames.fold(listing.name, analyser), at: row)
            }
        }
    }

    func finishLoading() {
        forEachPart { part in
            if let index = part { return index.finishLoading() }
            let (rows, ranks) = (all.rows, loadedNames.ranks)
            for order in ListingOrder.allCases {
                let keys = order.comparesNames ? ranks : orders[order.rawValue].keys
                // Equal keys keep the order of rows, which are loaded in the order of their ids.
                orders[order.rawValue].rows = SortedChunks(sorted: SortedRows(rows, by: keys).rows)
            }
            loadedNames = LoadedNames()
        }
    }

    /// Calls the body with the index of every filter, and with nil for names and orders, on several threads at once:
    /// none of them uses what another changes.
    private func forEachPart(_ body: ((any FilterIndex)?) -> Void) {
        (0..<filters.count + 1).concurrentForEach { body($0 == 0 ? nil : filters[$0 - 1]) }
    }

    private func setKeys(of listing: Listing, _ foldedName: Text, at row: UInt32) {
        for order in ListingOrder.allCases {
            orders[order.rawValue].keys[row] = order.key(listing, foldedName: foldedName)
        }
    }

    // MARK: Remembering moves

    /// Forgets the versions of listings before a revision.
    func beginMoves(at revision: Int64) { moves.begin(at: revision) }

    /// A listing has left its place in some order, or has gone.
    func record(_ old: Listing, revision: Int64) {
        moves.record(
            MoveLog.Move(revision: revision, listing: old.withoutAttributes, foldedName: analyser.fold(old.name)))
    }

    // MARK: Changing one

    /// A listing was added to the source.
    func insert(_ listing: Listing, at row: UInt32) {
        all.insert(row)
        for index in filters { index.insert(listing, at: row) }
        setKeys(of: listing, analyser.fold(listing.name), at: row)
        for order in ListingOrder.allCases { place(row, in: order) }
    }

    /// A listing is about to be removed from the source.
    func remove(_ listing: Listing, at row: UInt32) {
        all.remove(row)
        for index in filters { index.remove(listing, at: row) }
        for order in ListingOrder.allCases { displace(row, in: order) }
    }

    /// A listing changes at the source. Returns whether its place in some order has changed.
    func update(from old: Listing, to new: Listing, at row: UInt32, change: () -> Void) -> Bool {
        if new.isSame(as: old) {
            // Outlets open and close with all their items: then nothing else is checked.
            change()
            for index in availabilities { index.update(from: old, to: new, at: row) }
            return false
        }
        let oldName = analyser.fold(old.name)
        let newName = old.name == new.name ? oldName : analyser.fold(new.name)
        let moved = ListingOrder.allCases.filter { order in
            order.key(old, foldedName: oldName) != order.key(new, foldedName: newName)
                || order.comparesNames && oldName != newName
        }
        for order in moved { displace(row, in: order) }
        change()
        for index in filters { index.update(from: old, to: new, at: row) }
        for order in moved {
            orders[order.rawValue].keys[row] = order.key(new, foldedName: newName)
            place(row, in: order)
        }
        return !moved.isEmpty
    }

    private func place(_ row: UInt32, in order: ListingOrder) {
        let keys = orders[order.rawValue].keys
        orders[order.rawValue].rows.insert(row) { precedes($0, $1, keys, comparesNames: order.comparesNames) }
    }

    private func displace(_ row: UInt32, in order: ListingOrder) {
        let keys = orders[order.rawValue].keys
        let found = orders[order.rawValue].rows.remove(row) {
            precedes($0, $1, keys, comparesNames: order.comparesNames)
        }
        precondition(found, "a listing is not in its place")
    }

    func precedes(_ a: UInt32, _ b: UInt32, _ keys: NumberColumn, comparesNames: Bool) -> Bool {
        let (first, second) = (keys.key(a), keys.key(b))
        if first != second { return first < second }
        if comparesNames {
            let names = (source.name(at: a), source.name(at: b))
            if names.0 != names.1 {
                let folded = (analyser.fold(names.0), analyser.fold(names.1))
                if folded.0 != folded.1 { return folded.0 < folded.1 }
            }
        }
        return source.precedes(a, b)
    }

    // MARK: Keys

    /// - Parameter foldedName: the listing's, if it is already known.
    func key(
        of listing: Listing, in order: ListingOrder, tier: Int, foldedName: Text? = nil
    ) -> SortKey {
        let name = foldedName ?? analyser.fold(listing.name)
        return SortKey(
            tier: tier, number: order.key(listing, foldedName: name) ?? .max, name: order.comparesNames ? name : "",
            id: listing.id)
    }
}
