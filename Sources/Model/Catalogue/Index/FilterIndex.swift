/// The index that a filter looks rows up in. It is updated with every listing, and keeps what it needs.
protocol FilterIndex: AnyObject {
    /// A listing was added.
    func insert(_ listing: Listing, at row: UInt32)
    /// A listing was removed.
    func remove(_ listing: Listing, at row: UInt32)
    /// A listing has changed.
    func update(from old: Listing, to new: Listing, at row: UInt32)
    /// The initial load is complete.
    func finishLoading()
}

extension FilterIndex {
    func finishLoading() {}
}
