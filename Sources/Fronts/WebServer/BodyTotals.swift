/// The bytes of bodies that are on their way, of all clients together.
struct BodyTotals {
    /// A body of more bytes is a long one.
    let shortBytes: Int
    private(set) var bytes = 0
    private(set) var longBytes = 0

    init(shortBytes: Int) { self.shortBytes = shortBytes }

    mutating func add(_ count: Int) {
        bytes += count
        if count > shortBytes { longBytes += count }
    }

    mutating func remove(_ count: Int) {
        bytes -= count
        if count > shortBytes { longBytes -= count }
    }

    /// Whether they may all come. Long ones have half of the room.
    func isWithin(_ limit: Int) -> Bool { bytes <= limit && longBytes <= limit / 2 }
}
