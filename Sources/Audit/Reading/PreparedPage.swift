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

/// Reads a partition page by page: while one is worked on, the next is prepared and those after that are read.
struct PageReader: Sendable {
    /// Positions of a page.
    private static let positions: Int64 = 5_000
    /// Pages that are asked for at once, so that the database has always one to work on.
    private static let ahead = 3

    let source: any AuditSource
    let partition: Int
    let hashes: Bool

    /// Gives every event behind `position` up to `end` to the body, in pages.
    func read(after position: Int64, upTo end: Int64, _ body: (PreparedPage) async throws -> Void) async throws {
        var next = position
        var reading: [Task<[RecordedEvent], any Error>] = []
        defer { for task in reading { task.cancel() } }
        var preparing: Task<PreparedPage, Never>?
        while true {
            while reading.count < PageReader.ahead, next < end {
                let last = min(next + PageReader.positions, end)
                reading.append(page(next + 1, last))
                next = last
            }
            let previous = preparing
            preparing = nil
            if !reading.isEmpty {
                let events = try await reading.removeFirst().value
                preparing = Task { [hashes] in await PreparedPage.prepare(events, hashes: hashes) }
            }
            if let previous { try await body(await previous.value) }
            guard preparing != nil else { return }
        }
    }

    /// What there is at these positions: where some are missing, others would come in their place.
    private func page(_ first: Int64, _ last: Int64) -> Task<[RecordedEvent], any Error> {
        Task { [source, partition] in
            try await source.events(partition: partition, after: first - 1, limit: Int(PageReader.positions))
                .filter { $0.position <= last }
        }
    }
}
