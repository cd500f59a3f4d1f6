internal import EventLog

/// The streams held in memory, up to a number and about so many bytes; menus, which are large and seldom written, up to a
/// smaller number.
final class StreamCache {
    private var menus: ClockCache
    private var others: ClockCache

    init(capacity: Int, menus: Int, bytes: Int) {
        self.menus = ClockCache(capacity: menus, bytes: bytes)
        others = ClockCache(capacity: capacity, bytes: bytes)
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

    /// A stream that is held may have become larger.
    func hasChanged(_ entry: StreamEntry) {
        if entry.name.category == .menu { menus.weigh(entry) } else { others.weigh(entry) }
    }

    /// Lets go of every stream that has nothing in flight.
    func empty() {
        menus.empty()
        others.empty()
    }
}

/// Streams up to a number. It evicts a stream that was not used since the hand last passed (the clock algorithm: as
/// good as least-recently-used here, and a use only sets a flag).
private struct ClockCache {
    private let capacity: Int
    private let maximumBytes: Int
    private var bytes = 0
    private var entries: [StreamName: StreamEntry] = [:]
    private var ring: [StreamEntry] = []
    private var hand = 0

    var held: [StreamEntry] { ring }

    init(capacity: Int, bytes: Int) {
        precondition(capacity > 0)
        self.capacity = capacity
        maximumBytes = bytes
    }

    subscript(name: StreamName) -> StreamEntry? {
        guard let entry = entries[name] else { return nil }
        entry.isReferenced = true
        return entry
    }

    mutating func insert(_ entry: StreamEntry) {
        if ring.count >= capacity { _ = evict(but: entry) }
        entries[entry.name] = entry
        ring.append(entry)
        weigh(entry)
    }

    mutating func weigh(_ entry: StreamEntry) {
        let size = entry.size
        bytes += size - entry.knownSize
        entry.knownSize = size
        while bytes > maximumBytes, evict(but: entry) {}
    }

    mutating func empty() {
        ring.removeAll { entry in
            guard entry.isIdle else { return false }
            entries[entry.name] = nil
            bytes -= entry.knownSize
            return true
        }
        hand = 0
    }

    /// Lets go of another stream, if there is one that has nothing in flight.
    private mutating func evict(but kept: StreamEntry) -> Bool {
        guard let index = victim(but: kept) else { return false }
        ring.swapAt(index, ring.count - 1)
        let evicted = ring.removeLast()
        entries[evicted.name] = nil
        bytes -= evicted.knownSize
        return true
    }

    private mutating func victim(but kept: StreamEntry) -> Int? {
        for _ in 0..<2 * ring.count {
            hand = (hand + 1) % ring.count
            let entry = ring[hand]
            if !entry.isReferenced, entry.isIdle, entry !== kept { return hand }
            entry.isReferenced = false
        }
        return nil
    }
}
