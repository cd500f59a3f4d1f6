/// The index that a filter looks rows up in. It is updated with every listing, and keeps what it needs.
protocol FilterIndex: AnyObject {
    /// A listing was added.
    func insert(_ listing: Listing, at row: UInt32)
    /// A listing was removed.
    func remove(_ listing: Listing, at row: UInt32)
    /// A listing has changed.
    func update(from old: Listing, to new: Listing, at row: UInt32)
    /// Listings were added, in a row each from this one on. It comes behind all other rows, and until ``finishLoading()``
    /// nothing else is added. Called on any thread.
    func load(_ listings: [Listing], from row: UInt32)
    /// The initial load is complete.
    func finishLoading()
}

extension FilterIndex {
    func load(_ listings: [Listing], from row: UInt32) { listings.forEach(from: row) { insert($0, at: $1) } }

    func finishLoading() {}
}

extension [Listing] {
    /// Calls the body with each listing and its row.
    @inline(__always)
    func forEach(from row: UInt32, _ body: (Listing, UInt32) -> Void) {
        for index in indices { body(self[index], row + UInt32(index)) }
    }
}
