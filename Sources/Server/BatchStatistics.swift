/// How batches went.
struct BatchStatistics {
    private(set) var count: Int64 = 0
    private(set) var events: Int64 = 0
    private(set) var largest = 0
    private(set) var nanoseconds: UInt64 = 0

    mutating func add(events: Int, nanoseconds: UInt64) {
        count += 1
        self.events += Int64(events)
        largest = max(largest, events)
        self.nanoseconds += nanoseconds
    }
}
