internal import EventLog

/// The streams held in memory, up to a number; menus, which are large and seldom written, up to a smaller one.
final class StreamCache {
    private var menus: ClockCache
    private var others: ClockCache

    init(capacity: Int, menus: Int) {
        self.menus = ClockCache(capacity: menus)
        others = ClockCache(capacity: capacity)
    }

    /// The stream, if it is held.
    subscript(name: StreamName) -> StreamEntry? {
        name.category == .menu ? menus[name] : others[name]
    }

    /// Every stream that is held.
    var entries: [StreamEntry] { menus.held + others.held }

    /// Takes in a stream. The capacity is exceeded only while every stream has something in flight.
    func insert(_ entry: StreamEntry) {
        if entry.name.category == .menu { menus.insert(entry) } else { others.insert(entry) }
    }
}

/// Streams up to a number. It evicts a stream that was not used since the hand last passed (the clock algorithm: as
/// good as least-recently-used here, and a use only sets a flag).
private struct ClockCache {
    private let capacity: Int
    private var entries: [StreamName: StreamEntry] = [:]
    private var ring: [StreamEntry] = []
    private var hand = 0

    var held: [StreamEntry] { ring }

    init(capacity: Int) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    subscript(name: StreamName) -> StreamEntry? {
        guard let entry = entries[name] else { return nil }
        entry.isReferenced = true
        return entry
    }

    mutating func insert(_ entry: StreamEntry) {
        entries[entry.name] = entry
        guard ring.count >= capacity, let index = victim() else { return ring.append(entry) }
        entries[ring[index].name] = nil
        ring[index] = entry
    }

    private mutating func victim() -> Int? {
        for _ in 0..<2 * ring.count {
            hand = (hand + 1) % ring.count
            let entry = ring[hand]
            if !entry.isReferenced, entry.isIdle { return hand }
            entry.isReferenced = false
        }
        return nil
    }
}
