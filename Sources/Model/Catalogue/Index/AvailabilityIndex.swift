internal import Domain

/// Rows that can be ordered now. Callers advance the time: see ``advance(to:)``.
final class AvailabilityIndex: FilterIndex {
    private struct Return {
        var moment: Timestamp
        var row: UInt32

        static func precedes(_ a: Return, _ b: Return) -> Bool {
            a.moment == b.moment ? a.row < b.row : a.moment < b.moment
        }
    }

    /// The latest time that it was advanced to.
    private(set) var now = Timestamp(millisecondsSinceEpoch: 0)
    private(set) var available = Bitmap()
    /// Rows that become available on their own, the next one first.
    private var returning = SortedChunks<Return>()

    func insert(_ listing: Listing, at row: UInt32) { insert(listing.availability, at: row) }

    func remove(_ listing: Listing, at row: UInt32) { remove(listing.availability, at: row) }

    func update(from old: Listing, to new: Listing, at row: UInt32) {
        guard old.availability != new.availability else { return }
        remove(old.availability, at: row)
        insert(new.availability, at: row)
    }

    private func insert(_ availability: Availability, at row: UInt32) {
        if availability.holds(at: now) {
            available.insert(row)
        } else if case .from(let moment) = availability {
            returning.insert(Return(moment: moment, row: row), by: Return.precedes)
        }
    }

    private func remove(_ availability: Availability, at row: UInt32) {
        available.remove(row)
        if case .from(let moment) = availability {
            returning.remove(Return(moment: moment, row: row), by: Return.precedes)
        }
    }

    /// Makes rows available whose time has come, and returns them.
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
