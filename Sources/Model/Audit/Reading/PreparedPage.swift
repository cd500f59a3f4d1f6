internal import Domain
internal import EventLog

/// Events with everything that can be computed for each by itself, on another thread than the folds that take them in
/// order.
struct PreparedPage: Sendable {
    struct Event: Sendable {
        var position: Int64
        var version: Int64
        var recordedAt: Timestamp
        var decoded: Result<DecodedEvent, CorruptEvent>
    }

    var events: [Event] = []
    /// For each event its leaf in the Merkle tree of its batch; empty if no digests are needed.
    var leaves: [Digest] = []

    /// Decodes the events that are wanted, and hashes all if their digests are to be checked.
    @concurrent
    static func prepare(_ page: EventPage, hashes: Bool, where isWanted: (EventView) -> Bool) async -> PreparedPage {
        var prepared = PreparedPage()
        prepared.events.reserveCapacity(page.count)
        page.forEachDecoded(where: isWanted) { event, decoded in
            prepared.events.append(
                Event(
                    position: event.position, version: event.version, recordedAt: event.recordedAt, decoded: decoded))
        }
        guard hashes else { return prepared }
        var leaves = LeafMaker()
        prepared.leaves.reserveCapacity(page.count)
        page.forEach { prepared.leaves.append(leaves.leaf(of: $0)) }
        return prepared
    }
}

extension PreparedPage {
    /// Reads a partition in prepared pages.
    static func readAhead(
        of partition: Int, from source: any AuditSource, hashes: Bool,
        where isWanted: @escaping @Sendable (EventView) -> Bool = { _ in true }
    ) -> ReadAhead<PreparedPage, any Error> {
        ReadAhead { position, limit in
            try await source.page(partition: partition, after: position, limit: limit)
        } prepare: { page in
            await prepare(page, hashes: hashes, where: isWanted)
        }
    }
}
