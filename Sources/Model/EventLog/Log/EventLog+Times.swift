public import Domain

extension EventLog {
    /// The last position of a partition that was recorded at a time or before it; 0 if nothing was.
    ///
    /// If times do not rise with positions, because the clocks of two servers disagree, this is a position that was
    /// recorded by then, before one that was not. It stays the same whatever is appended later, as long as that is
    /// recorded after the time.
    ///
    /// - Complexity: one event read for each bit of the length of the log: 20 for a million events.
    public func lastPosition(of partition: Int, recordedBy time: Timestamp) async throws(EventLogError) -> Int64 {
        let end = try await head(of: partition).position
        var position: Int64 = 0
        // Bit by bit from the highest: so the positions examined do not depend on the length of the log, and a longer
        // log gives the same result.
        var step = end > 0 ? Int64(1) << Int64(Int64.bitWidth - 1 - end.leadingZeroBitCount) : 0
        while step > 0 {
            let next = position + step
            if next <= end, try await wasRecorded(next, of: partition, by: time) { position = next }
            step /= 2
        }
        return position
    }

    /// Whether the event at a position was recorded by then. For an event missing from a damaged log, the next one
    /// decides.
    private func wasRecorded(
        _ position: Int64, of partition: Int, by time: Timestamp
    ) async throws(EventLogError) -> Bool {
        guard let event = try await read(partition: partition, after: position - 1, limit: 1).first else {
            return false
        }
        return event.recordedAt <= time
    }
}
