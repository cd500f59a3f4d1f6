internal import Domain

/// Rows that can be ordered now. Time passes by being told: see ``advance(to:)``.
final class AvailabilityIndex: FilterIndex {
    private struct Return {
        var moment: Timestamp
        var row: UInt32

        static func precedes(_ a: Return, _ b: Return) -> Bool {
            a.moment == b.moment ? a.row < b.row : a.moment < b.moment
        }
    }

    /// The latest moment that was told.
    private(set) var now = Timestamp(millisecondsSinceEpoch: 0)
    private(set) var available = Bitmap()
    /// Rows that come back by themselves, the next one first.
    private var returning = SortedChunks<Return>()

    func insert(_ listing: Listing, at row: UInt32) {
        switch listing.availability {
        case let availability where availability.holds(at: now): available.insert(row)
        case .now: break
        case .from(let moment): returning.insert(Return(moment: moment, row: row), by: Return.precedes)
        case .never: break
        }
    }

    func remove(_ listing: Listing, at row: UInt32) {
        available.remove(row)
        if case .from(let moment) = listing.availability {
            returning.remove(Return(moment: moment, row: row), by: Return.precedes)
        }
    }

    func update(from old: Listing, to new: Listing, at row: UInt32) {
        guard old.availability != new.availability else { return }
        remove(old, at: row)
        insert(new, at: row)
    }

    /// Lets rows come back whose moment has come, and returns them.
    func advance(to now: Timestamp) -> [UInt32] {
        self.now = max(self.now, now)
        var back: [UInt32] = []
        while let next = returning.first, next.moment <= now {
            returning.remove(next, by: Return.precedes)
            available.insert(next.row)
            back.append(next.row)
        }
        return back
    }
}
