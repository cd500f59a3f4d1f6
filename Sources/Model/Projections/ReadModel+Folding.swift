public import Domain
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
            try await fold(page, of: log)
            progress(position)
        }
        try Task.checkCancellation()
        // No later event shows that the last ones are missing.
        if position < end { pass(missing: position + 1...end) }
        progress(position)
    }

    private mutating func fold(_ page: EventPage, of log: any EventLog) async throws {
        guard !orders.holdsAll else { return page.forEachDecoded { apply($1, at: $0.position) } }
        var events: [(position: Int64, event: Result<DecodedEvent, CorruptEvent>)] = []
        page.forEachDecoded { events.append(($0.position, $1)) }
        try await holdOrders(before: events.lazy.map(\.event).streamVersions, from: log)
        for (position, event) in events { apply(event, at: position) }
    }

    private mutating func apply(_ event: Result<DecodedEvent, CorruptEvent>, at next: Int64) {
        if next > position + 1 { pass(missing: position + 1...next - 1) }
        apply(event)
    }

    /// Holds the orders that have to be held before these events are folded. Returns which these are, even those that the
    /// log does not have.
    @discardableResult
    public mutating func holdOrders(
        before events: some Sequence<StreamVersion>, from log: any EventLog
    ) async throws(EventLogError) -> Set<Identifier> {
        let missing = missingOrders(before: events)
        for (order, version) in missing {
            let stream = StreamName(.order, order)
            hold(
                order,
                try await log.history(
                    of: stream, partition: partition, upTo: version, seen: LogPoint(position: position, digest: nil)
                ).events)
        }
        return Set(missing.keys)
    }
}
