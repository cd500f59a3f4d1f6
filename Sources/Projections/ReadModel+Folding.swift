public import EventLog

extension ReadModel {
    /// The most events that are read at once.
    private static let readLimit = 5_000

    /// Folds in what a log holds behind ``position``, up to and with `end`, beside whatever else goes on: while a page
    /// is folded, the next one is read. Positions without an event are passed over.
    ///
    /// - Parameter progress: is told the position after every page.
    /// - Throws: where the log cannot be read, and when the task is cancelled; what was folded until then stays.
    @concurrent
    public mutating func fold(
        _ log: any EventLog, upTo end: Int64, progress: @Sendable (Int64) -> Void = { _ in }
    ) async throws {
        guard position < end else { return }
        let (partition, limit) = (partition, ReadModel.readLimit)
        var page = try await log.page(partition: partition, after: position, limit: limit)
        while let last = page.lastPosition, last < end {
            async let following = log.page(partition: partition, after: last, limit: limit)
            try Task.checkCancellation()
            fold(page)
            progress(position)
            page = try await following
        }
        page.removeEvents(after: end)
        fold(page)
        // What was removed from the end shows by nothing that comes after it.
        if position < end { pass(missing: position + 1...end) }
        progress(position)
    }

    private mutating func fold(_ page: EventPage) {
        page.forEach { event in
            if event.position > position + 1 { pass(missing: position + 1...event.position - 1) }
            apply(Result { () throws(CorruptEvent) in try event.decoded() })
        }
    }
}
