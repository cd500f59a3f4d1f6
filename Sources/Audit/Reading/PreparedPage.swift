internal import Domain
internal import EventLog

/// Events with all that can be known of each by itself: that is worked out beside the fold, which needs them in turn.
struct PreparedPage: Sendable {
    struct Event: Sendable {
        var position: Int64
        var version: Int64
        var recordedAt: Timestamp
        var decoded: Result<DecodedEvent, CorruptEvent>
    }

    var events: [Event] = []
    /// For each event the leaf of its batch's Merkle tree; none where digests are not asked for.
    var leaves: [Digest] = []

    /// Understands the events, and hashes them if they are to be held against their digests.
    @concurrent
    static func prepare(_ page: EventPage, hashes: Bool) async -> PreparedPage {
        var prepared = PreparedPage()
        prepared.events.reserveCapacity(page.count)
        page.forEach { event in
            prepared.events.append(
                Event(
                    position: event.position, version: event.version, recordedAt: event.recordedAt,
                    decoded: Result { () throws(CorruptEvent) in try event.decoded() }))
        }
        guard hashes else { return prepared }
        var leaves = LeafMaker()
        prepared.leaves.reserveCapacity(page.count)
        page.forEach { prepared.leaves.append(leaves.leaf(of: $0)) }
        return prepared
    }
}

/// Reads a partition page by page: while one is worked on, the next ones are prepared and those after that are read.
struct PageReader: Sendable {
    /// Positions of a page: few enough that what is prepared on one core is still in the caches when it is folded.
    private static let positions: Int64 = 2_000
    /// Pages that are asked for at once, so that the database has always one to work on.
    private static let readAhead = 3
    /// Pages that are prepared at once.
    private static let preparedAhead = 2

    let source: any AuditSource
    let partition: Int
    let hashes: Bool

    /// Gives every event behind `position` up to `end` to the body, in pages.
    func read(after position: Int64, upTo end: Int64, _ body: (PreparedPage) async throws -> Void) async throws {
        var next = position
        var reading: [Task<EventPage, any Error>] = []
        var preparing: [Task<PreparedPage, Never>] = []
        defer { for task in reading { task.cancel() } }
        while true {
            while reading.count < PageReader.readAhead, next < end {
                let last = min(next + PageReader.positions, end)
                reading.append(page(next + 1, last))
                next = last
            }
            if !reading.isEmpty {
                let page = try await reading.removeFirst().value
                preparing.append(Task { [hashes] in await PreparedPage.prepare(page, hashes: hashes) })
                if preparing.count < PageReader.preparedAhead { continue }
            }
            guard !preparing.isEmpty else { return }
            try await body(await preparing.removeFirst().value)
        }
    }

    /// What there is at these positions: where some are missing, others would come in their place.
    private func page(_ first: Int64, _ last: Int64) -> Task<EventPage, any Error> {
        Task { [source, partition] in
            var page = try await source.page(
                partition: partition, after: first - 1, limit: Int(PageReader.positions))
            page.removeEvents(after: last)
            return page
        }
    }
}
