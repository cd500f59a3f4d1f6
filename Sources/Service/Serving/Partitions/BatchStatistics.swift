internal import Measurement

/// How the batches of a partition went, since the start or the last `CONFIG RESETSTAT`.
struct BatchStatistics {
    /// The events that each batch added to the log.
    private(set) var events = Histogram()
    /// Nanoseconds from where a batch was sent until the log answered for it.
    private(set) var commit = Histogram()
    /// Batches of which nothing was added, or that is unknown.
    private(set) var failed: Int64 = 0

    mutating func appended(events: Int, nanoseconds: UInt64) {
        self.events.record(UInt64(events))
        commit.record(nanoseconds)
    }

    mutating func hasFailed() { failed += 1 }
}
