internal import Domain

/// The items of the catalogue, by row.
final class ItemTable: ListingSource {
    private unowned let outlets: OutletTable
    private var entries: [MenuState.Entry?] = []
    /// The row of each item's outlet.
    private var outletRows: [UInt32] = []
    private var free: [UInt32] = []

    init(_ outlets: OutletTable) { self.outlets = outlets }

    subscript(row: UInt32) -> MenuState.Entry {
        guard let entry = entries[Int(row)] else { preconditionFailure("no item in that row") }
        return entry
    }

    func outlet(at row: UInt32) -> CatalogueOutlet { outlets[outletRows[Int(row)]] }

    /// The rows of the outlets that have some of the items.
    func outlets(of items: Bitmap) -> Bitmap {
        var outlets: [UInt32] = []
        // Items of one outlet mostly follow each other.
        for row in items.rows where outlets.last != outletRows[Int(row)] { outlets.append(outletRows[Int(row)]) }
        return Bitmap(outlets)
    }

    /// The row of an item of an outlet.
    func row(of item: Identifier, at outlet: CatalogueOutlet) -> UInt32? {
        let index = place(of: item, at: outlet)
        guard index < outlet.items.count, self[outlet.items[index]].id == item else { return nil }
        return outlet.items[index]
    }

    private func place(of item: Identifier, at outlet: CatalogueOutlet) -> Int {
        // Items are loaded in their order: the next one comes last.
        guard let last = outlet.items.last, !(self[last].id < item) else { return outlet.items.count }
        return outlet.items.indices.partitionPoint { self[outlet.items[$0]].id < item }
    }

    func add(_ entry: MenuState.Entry, _ listing: Listing, at outletRow: UInt32) -> UInt32 {
        let row = free.popLast() ?? UInt32(entries.count)
        let outlet = outlets[outletRow]
        let place = place(of: entry.id, at: outlet)
        if Int(row) == entries.count {
            entries.append(entry)
            outletRows.append(outletRow)
        } else {
            entries[Int(row)] = entry
            outletRows[Int(row)] = outletRow
        }
        outlet.items.insert(row, at: place)
        outlet.count(listing, 1)
        return row
    }

    func replace(_ row: UInt32, _ old: Listing, with entry: MenuState.Entry, _ new: Listing) {
        let outlet = outlet(at: row)
        outlet.count(old, -1)
        outlet.count(new, 1)
        entries[Int(row)] = entry
    }

    func remove(_ row: UInt32, _ listing: Listing) {
        let outlet = outlet(at: row)
        outlet.items.remove(at: place(of: self[row].id, at: outlet))
        outlet.count(listing, -1)
        entries[Int(row)] = nil
        free.append(row)
    }

    // MARK: Listings

    func listing(at row: UInt32) -> Listing { listing(of: self[row], at: outlet(at: row)) }

    func listing(of entry: MenuState.Entry, at outlet: CatalogueOutlet) -> Listing {
        let item = entry.item
        let details = outlet.details
        let cuisines = item.cuisine.map { [$0] } ?? details.cuisines
        var texts = cuisines + item.tags
        if let description = item.description { texts.append(description) }
        return Listing(
            id: ListingID(outlet: outlet.id, item: item.id), name: item.name, texts: texts, cuisines: cuisines,
            city: details.city, area: details.area, kinds: [item.kind], tags: item.tags,
            attributes: item.attributes, currency: details.currency, price: entry.price?.minorUnits,
            rating: details.rating.map { Int64($0.hundredths) },
            deliveryMinutes: details.deliveryMinutes.map(Int64.init),
            availability: outlet.availability.and(Availability(outlet.suspension(of: entry))))
    }

    func id(at row: UInt32) -> ListingID { ListingID(outlet: outlet(at: row).id, item: self[row].id) }

    func name(at row: UInt32) -> Text { self[row].name }

    func precedes(_ a: UInt32, _ b: UInt32) -> Bool {
        let (first, second) = (outletRows[Int(a)], outletRows[Int(b)])
        if first != second { return outlets[first].id < outlets[second].id }
        return self[a].id < self[b].id
    }
}
