public import EventLog

extension ReadModel {
    /// Folds the events of a log from ``position`` up to and including `end`, in the background. While one page is
    /// folded, the next ones are read. Positions without an event are skipped.
    ///
    /// - Parameter progress: receives the position after every page.
    /// - Throws: if the log cannot be read, and when the task is cancelled. What was folded until then stays.
    @concurrent
    public mutating func fold(
        _ log: any EventLog, upTo end: Int64, progress: @Sendable (Int64) -> Void = { _ in }
    ) async throws {
        guard position < end else { return }
        // One thread is enough: servers need the other cores.
        let pages = ReadAhead<EventPage, any Error> { [partition] position, limit in
            try await log.page(partition: partition, after: position, limit: limit)
        } prepare: {
            $0
        }
        try await pages.forEachPage(after: position, upTo: end) { page in
            try Task.checkCancellation()
            fold(page)
            progress(position)
        }
        try Task.checkCancellation()
        // No later event shows that the last ones are missing.
        if position < end { pass(missing: position + 1...end) }
        progress(position)
    }

    private mutating func fold(_ page: EventPage) {
        page.forEachDecoded { event, decoded in
            if event.position > position + 1 { pass(missing: position + 1...event.position - 1) }
            apply(decoded)
        }
    }
}
