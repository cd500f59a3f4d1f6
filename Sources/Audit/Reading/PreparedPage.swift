internal import Domain
internal import EventLog

/// Events with all that can be known of each by itself: that is worked out beside the fold, which needs them in turn.
struct PreparedPage: Sendable {
    struct Event: Sendable {
        var position: Int64
        var version: Int64
        var recordedAt: Timestamp
        var decoded: Result<DecodedEvent, CorruptEvent>
        /// The leaf of its batch's Merkle tree; nil where digests are not asked for.
        var leaf: Digest?
    }

    var events: [Event]

    /// Understands the events, and hashes them if they are to be held against their digests.
    @concurrent
    static func prepare(_ events: [RecordedEvent], hashes: Bool) async -> PreparedPage {
        PreparedPage(
            events: events.map { event in
                Event(
                    position: event.position, version: event.version, recordedAt: event.recordedAt,
                    decoded: Result { () throws(CorruptEvent) in try event.decoded() },
                    leaf: hashes ? MerkleTree.leaf(event.canonicalBytes) : nil)
            })
    }
}

/// Reads a partition page by page: while one is worked on, the next is prepared and the one after that is read.
struct PageReader: Sendable {
    /// Events of a page.
    static let pageEvents = 5_000

    let source: any AuditSource
    let partition: Int
    let hashes: Bool

    /// Gives every event behind `position` up to `end` to the body, in pages.
    func read(
        after position: Int64, upTo end: Int64, _ body: (PreparedPage) async throws -> Void
    ) async throws {
        var next = position
        var reading = page(after: next)
        var preparing: Task<PreparedPage, Never>?
        while true {
            // A gap makes no difference to where the next page begins.
            let events = try await reading.value.filter { $0.position <= end }
            let previous = preparing
            preparing = nil
            if let last = events.last {
                next = last.position
                reading = page(after: next)
                preparing = Task { [hashes] in await PreparedPage.prepare(events, hashes: hashes) }
            }
            if let previous { try await body(await previous.value) }
            guard preparing != nil else {
                reading.cancel()
                return
            }
        }
    }

    private func page(after position: Int64) -> Task<[RecordedEvent], any Error> {
        Task { [source, partition] in
            try await source.events(partition: partition, after: position, limit: PageReader.pageEvents)
        }
    }
}
