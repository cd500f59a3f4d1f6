public import Domain

/// What a saved query is called.
///
/// A name that begins with `shared:` means the same to every client. Any other belongs to one connection, and ends with
/// it.
public struct SavedName: Hashable, Sendable {
    /// The name, as clients give it.
    public let name: Identifier
    /// The connection that it belongs to; nil where it is shared.
    public let client: Int64?

    /// What a connection means by a name.
    public init(_ name: Identifier, of client: Int64) {
        self.name = name
        self.client = name.rawValue.utf8.starts(with: "shared:".utf8) ? nil : client
    }
}

/// A query whose answer follows every change of a listing, instead of being asked again.
///
/// It knows how many listings match, and the keys of some of them in a row: those that are shown, and some before and
/// behind. Only when those that are shown are no longer among them is the query asked again.
final class SavedQuery {
    /// The most listings that are kept on each side of those that are shown.
    private static let maximumMargin = 100

    let name: SavedName
    let query: CatalogueQuery
    /// Whose share it is a part of.
    let owner: Int
    /// Rises with every change of the document.
    private(set) var revision: Int64
    /// What the document said when it was last made.
    private var contentHash: Int?
    /// Which of the matches are shown, counted from 0.
    private(set) var window: Range<Int>
    private var total = 0
    private var keys: [SortKey] = []
    /// How many matches come before the first key.
    private var first = 0
    /// Whether more has changed than is worth following.
    private var isStale = true

    init(_ name: SavedName, _ query: CatalogueQuery, owner: Int, revision: Int64) {
        self.name = name
        self.query = query
        self.owner = owner
        self.revision = revision
        window = query.window
    }

    private var margin: Int { min(window.count, Self.maximumMargin) }
    /// The matches that are shown, as there may be too few.
    private var shown: Range<Int> { min(window.lowerBound, total)..<min(window.upperBound, total) }
    private var reachesEnd: Bool { first + keys.count == total }

    /// Stops following: the query is asked again the next time its answer is needed.
    func forget() { isStale = true }

    /// Shows others of the matches.
    func move(to window: Range<Int>) {
        self.window = window
        askAgainIfNeeded()
    }

    /// The document says this now. Its revision rises if that is something else than before.
    ///
    /// - Parameter revision: the least revision that it may rise to.
    func revise(_ content: [UInt8], revision: Int64) {
        let hash = content.hashValue
        if let known = contentHash, known != hash { self.revision = max(self.revision + 1, revision) }
        contentHash = hash
    }

    // MARK: Following

    /// A listing has changed, has come (from nil) or has gone (to nil). Returns whether the answer looks different.
    func follow(from old: Listing?, to new: Listing?, in index: SearchIndex) -> Bool {
        guard !isStale else { return false }
        let before = old.flatMap { index.accepts($0, query) ? index.key(of: $0, query) : nil }
        let after = new.flatMap { index.accepts($0, query) ? index.key(of: $0, query) : nil }
        guard before != nil || after != nil else { return false }
        let left = before.map(remove)
        let came = after.map(insert)
        trim()
        askAgainIfNeeded()
        // What comes and goes changes the total. What moves changes the places between.
        guard !isStale, let left, let came else { return true }
        return min(left, came) < window.upperBound && max(left, came) >= window.lowerBound
    }

    /// Takes out a key. Returns how many matches came before it, or a number on the same side of ``window``.
    private func remove(_ key: SortKey) -> Int {
        let place = place(of: key)
        let rank = first + place
        if place < keys.count, keys[place] == key {
            keys.remove(at: place)
        } else if place == 0, first > 0 {
            first -= 1
        } else if place < keys.count || reachesEnd {
            isStale = true
        }
        total -= 1
        return rank
    }

    /// Takes in a key. Returns how many matches come before it, or a number on the same side of ``window``.
    private func insert(_ key: SortKey) -> Int {
        let place = place(of: key)
        let rank = first + place
        if place == 0, first > 0 {
            first += 1
        } else if place < keys.count || reachesEnd {
            keys.insert(key, at: place)
        }
        total += 1
        return rank
    }

    private func place(of key: SortKey) -> Int {
        keys.indices.partitionPoint { SortKey.precedes(keys[$0], key) }
    }

    /// Forgets keys that are far from those that are shown.
    private func trim() {
        let before = window.lowerBound - 2 * margin - first
        if before > 0, before < keys.count {
            keys.removeFirst(before)
            first += before
        }
        let behind = first + keys.count - window.upperBound - 2 * margin
        if behind > 0, behind < keys.count { keys.removeLast(behind) }
    }

    private func askAgainIfNeeded() {
        if first > shown.lowerBound || first + keys.count < shown.upperBound { isStale = true }
    }

    // MARK: Answering

    /// Asks again if necessary, and returns the listings that are shown.
    func answer(in index: SearchIndex) -> (total: Int, listings: [ListingID]) {
        if isStale {
            let matches = index.matches(query)
            total = matches.all.count
            first = max(shown.lowerBound - margin, 0)
            keys = index.rows(of: matches, query.sort.order, at: first..<min(shown.upperBound + margin, total))
                .map { index.key(of: index.source.listing(at: $0), query) }
            isStale = false
        }
        return (total, keys.dropFirst(shown.lowerBound - first).prefix(shown.count).map(\.id))
    }
}
