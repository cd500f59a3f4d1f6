internal import Domain

/// Events of a partition in the order of their positions, in one block of memory.
public struct EventPage: Sendable {
    /// Where an event's texts end. Each begins where the previous one ends.
    private struct Entry {
        var position: Int64
        var version: Int64
        var schemaVersion: Int32
        var recordedAt: Timestamp
        var streamEnd: Int
        var kindEnd: Int
        var payloadEnd: Int
        var metadataEnd: Int
    }

    /// The partition.
    public let partition: Int
    private var entries: [Entry] = []
    private var texts: [UInt8] = []

    /// A page without events.
    ///
    /// - Parameters:
    ///   - events: how many there will be.
    ///   - bytes: about how long their texts will be together.
    public init(partition: Int, reservingCapacity events: Int = 0, bytes: Int = 0) {
        self.partition = partition
        entries.reserveCapacity(events)
        texts.reserveCapacity(bytes)
    }

    /// A page of recorded events.
    public init(partition: Int, _ events: [RecordedEvent]) {
        self.init(partition: partition, reservingCapacity: events.count)
        for event in events { event.withView { append($0) } }
    }

    /// The number of events.
    public var count: Int { entries.count }
    /// Whether there are none.
    public var isEmpty: Bool { entries.isEmpty }
    /// The position of the first event; nil if there is none.
    public var firstPosition: Int64? { entries.first?.position }
    /// The position of the last event; nil if there is none.
    public var lastPosition: Int64? { entries.last?.position }

    /// Adds an event at the end.
    public mutating func append(_ event: EventView) {
        texts.append(contentsOf: event.stream)
        let streamEnd = texts.count
        texts.append(contentsOf: event.kind)
        let kindEnd = texts.count
        texts.append(contentsOf: event.payload)
        let payloadEnd = texts.count
        texts.append(contentsOf: event.metadata)
        entries.append(
            Entry(
                position: event.position, version: event.version, schemaVersion: Int32(clamping: event.schemaVersion),
                recordedAt: event.recordedAt, streamEnd: streamEnd, kindEnd: kindEnd, payloadEnd: payloadEnd,
                metadataEnd: texts.count))
    }

    /// Removes the events after a position.
    public mutating func removeEvents(after position: Int64) {
        while let last = entries.last, last.position > position { entries.removeLast() }
    }

    /// The payloads that are remembered while a page is decoded; none in a shorter page.
    private static let rememberedPayloads = 256

    /// Gives every event that is wanted to the body, in order, as it lies here and decoded. A view is valid until the
    /// body returns.
    public func forEachDecoded(
        where isWanted: (EventView) -> Bool = { _ in true },
        _ body: (EventView, Result<DecodedEvent, CorruptEvent>) -> Void
    ) {
        let isLong = count >= EventPage.rememberedPayloads
        var payloads = DecodedPayloads(remembering: isLong ? EventPage.rememberedPayloads : 0)
        forEach { event in
            guard isWanted(event) else { return }
            body(event, Result { () throws(CorruptEvent) in try event.decoded(&payloads) })
        }
    }

    /// Gives every event to the body, in order. A view is valid until this returns.
    public func forEach(_ body: (EventView) -> Void) {
        texts.withUnsafeBytes { texts in
            var start = 0
            func text(upTo end: Int) -> UnsafeRawBufferPointer {
                defer { start = end }
                return UnsafeRawBufferPointer(rebasing: texts[start..<end])
            }
            for entry in entries {
                body(
                    EventView(
                        partition: partition, position: entry.position, stream: text(upTo: entry.streamEnd),
                        version: entry.version, kind: text(upTo: entry.kindEnd),
                        schemaVersion: Int(entry.schemaVersion), payload: text(upTo: entry.payloadEnd),
                        metadata: text(upTo: entry.metadataEnd), recordedAt: entry.recordedAt))
            }
        }
    }
}
