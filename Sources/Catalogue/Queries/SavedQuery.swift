internal import Domain

/// A query whose answer follows every change of a listing, instead of being asked again.
///
/// It knows how many listings match, and the first of them: a window twice as long as a page. A listing that leaves
/// makes the window shorter; only when it is shorter than the page is the query asked again.
final class SavedQuery {
    let name: Identifier
    let query: CatalogueQuery
    /// Whose share it is a part of.
    let owner: Int
    /// Rises with every change of the document.
    private(set) var revision: Int64
    private var total = 0
    private var window: [SortKey] = []
    /// Whether the window holds every match.
    private var isWhole = false
    /// Whether more has changed than is worth following.
    private var isStale = true

    init(_ name: Identifier, _ query: CatalogueQuery, owner: Int, revision: Int64) {
        self.name = name
        self.query = query
        self.owner = owner
        self.revision = revision
    }

    private var windowSize: Int { 2 * query.limit }

    /// The document may have changed.
    private func touch(_ revision: Int64) { self.revision = max(self.revision + 1, revision) }

    /// Stops following: the query is asked again the next time its answer is needed.
    func forget(revision: Int64) {
        isStale = true
        touch(revision)
    }

    // MARK: Following

    /// A listing has changed, has come (from nil) or has gone (to nil). Returns whether the answer looks different.
    func follow(from old: Listing?, to new: Listing?, in index: SearchIndex, revision: Int64) -> Bool {
        guard !isStale else { return false }
        let before = old.flatMap { index.accepts($0, query) ? index.key(of: $0, query) : nil }
        let after = new.flatMap { index.accepts($0, query) ? index.key(of: $0, query) : nil }
        guard before != nil || after != nil else { return false }
        // The page shows the total and its listings.
        var isSeen = (before == nil) != (after == nil)
        if let before {
            total -= 1
            let place = place(of: before)
            if place < window.count, window[place] == before {
                window.remove(at: place)
                isSeen = isSeen || place < query.limit
            }
        }
        if let after {
            total += 1
            let place = place(of: after)
            if place < window.count || isWhole { window.insert(after, at: place) }
            isSeen = isSeen || place < query.limit
        }
        if window.count > windowSize {
            window.removeLast(window.count - windowSize)
            isWhole = false
        }
        if window.count < query.limit, !isWhole { isStale = true }
        if isSeen { touch(revision) }
        return isSeen
    }

    private func place(of key: SortKey) -> Int {
        window.indices.partitionPoint { SortKey.precedes(window[$0], key) }
    }

    // MARK: Answering

    /// Asks again if necessary, and returns the listings of the page.
    func answer(in index: SearchIndex) -> (total: Int, listings: [ListingID]) {
        if isStale {
            let matches = index.matches(query)
            total = matches.all.count
            window = index.rows(of: matches, query.sort.order, after: nil, limit: windowSize, without: [:])
                .map { index.key(of: index.source.listing(at: $0), query) }
            isWhole = window.count == total
            isStale = false
        }
        return (total, window.prefix(query.limit).map(\.id))
    }
}
