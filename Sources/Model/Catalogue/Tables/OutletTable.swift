internal import Domain

/// An outlet as the catalogue keeps it.
final class CatalogueOutlet {
    let id: Identifier
    var details: OutletDetails
    var status: Outlet.Status
    /// The rows of its items, in the order of the items' ids.
    var items: [UInt32] = []
    /// The kinds and tags of its items.
    var kinds = CountedWords()
    var tags = CountedWords()

    init(_ id: Identifier, _ details: OutletDetails, _ status: Outlet.Status) {
        self.id = id
        self.details = details
        self.status = status
    }

    var availability: Availability { Availability(status) }

    /// Until when an item cannot be had.
    func suspension(of entry: MenuState.Entry) -> MenuState.Suspension? {
        guard !details.daypartTimes.later.isEmpty else { return entry.suspension }
        return .both(entry.suspension, details.daypartTimes.suspension(of: entry.daypart))
    }

    /// Adds an item's kind and tags to the counts, or removes them.
    func count(_ item: Listing, _ change: Int) {
        for kind in item.kinds { kinds.count(kind, change) }
        for tag in item.tags { tags.count(tag, change) }
    }
}

/// The outlets of the catalogue, by row.
final class OutletTable: ListingSource {
    private(set) var outlets: [CatalogueOutlet?] = []
    private var rows: [Identifier: UInt32] = [:]
    private var free: [UInt32] = []

    subscript(row: UInt32) -> CatalogueOutlet {
        guard let outlet = outlets[Int(row)] else { preconditionFailure("no outlet in that row") }
        return outlet
    }

    func row(of id: Identifier) -> UInt32? { rows[id] }

    func add(_ outlet: CatalogueOutlet) -> UInt32 {
        let row = free.popLast() ?? UInt32(outlets.count)
        if Int(row) == outlets.count { outlets.append(outlet) } else { outlets[Int(row)] = outlet }
        rows[outlet.id] = row
        return row
    }

    func remove(_ row: UInt32) {
        rows[self[row].id] = nil
        outlets[Int(row)] = nil
        free.append(row)
    }

    /// The rows of the items of some outlets.
    func items(of outlets: Bitmap) -> Bitmap { Bitmap(outlets.rows.flatMap { self[$0].items }) }

    // MARK: Listings

    func listing(at row: UInt32) -> Listing {
        let outlet = self[row]
        return listing(of: outlet, outlet.details, outlet.status)
    }

    func listing(of outlet: CatalogueOutlet, _ details: OutletDetails, _ status: Outlet.Status) -> Listing {
        Listing(
            id: ListingID(outlet: outlet.id), name: details.name,
            texts: details.cuisines + [details.city, details.area].compactMap(\.self), cuisines: details.cuisines,
            city: details.city, area: details.area, kinds: outlet.kinds.words, tags: outlet.tags.words,
            attributes: ItemAttributes(), currency: details.currency, price: details.priceForTwo?.minorUnits,
            rating: details.rating.map { Int64($0.hundredths) },
            deliveryMinutes: details.deliveryMinutes.map(Int64.init), availability: Availability(status))
    }

    func id(at row: UInt32) -> ListingID { ListingID(outlet: self[row].id) }

    func name(at row: UInt32) -> Text { self[row].details.name }

    func precedes(_ a: UInt32, _ b: UInt32) -> Bool { self[a].id < self[b].id }
}
