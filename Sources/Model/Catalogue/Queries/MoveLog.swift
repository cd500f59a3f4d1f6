internal import Domain

/// Earlier versions of listings that have changed their place in some order, so that a reader who is turning pages
/// finds each listing where it was at the beginning.
struct MoveLog {
    /// The most moves that are remembered.
    static let maximumMoves = 4_000

    /// A listing as it was.
    struct Move {
        var revision: Int64
        var listing: Listing
        /// Folded once, not for every page that is turned.
        var foldedName: Text
    }

    private var moves: [Move] = []
    /// Every move after this revision is remembered.
    private(set) var completeSince: Int64 = 0

    /// Forgets everything before a revision.
    mutating func begin(at revision: Int64) {
        moves = []
        completeSince = revision
    }

    mutating func record(_ move: Move) {
        moves.append(move)
        guard moves.count > Self.maximumMoves else { return }
        // Half of them at once, so that not every move costs as much as all of them.
        let dropped = Self.maximumMoves / 2
        completeSince = moves[dropped - 1].revision
        moves.removeFirst(dropped)
    }

    /// For each listing that has moved since, its version at that revision; nil if that is no longer known.
    func listings(at revision: Int64) -> [ListingID: Move]? {
        guard revision >= completeSince else { return nil }
        let first = moves.indices.partitionPoint { moves[$0].revision <= revision }
        return Dictionary(moves[first...].lazy.map { ($0.listing.id, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
