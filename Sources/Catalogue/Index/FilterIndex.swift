/// What a filter looks rows up in. It is told of every listing, and keeps what it needs of it.
protocol FilterIndex: AnyObject {
    /// A listing is there that was not.
    func insert(_ listing: Listing, at row: UInt32)
    /// A listing is there no more.
    func remove(_ listing: Listing, at row: UInt32)
    /// A listing has changed.
    func update(from old: Listing, to new: Listing, at row: UInt32)
    /// Many listings have been inserted, and no more will come at once.
    func finishLoading()
}

extension FilterIndex {
    func finishLoading() {}
}
