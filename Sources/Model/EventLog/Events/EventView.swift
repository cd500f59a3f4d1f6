public import Domain

/// An event of the log, its texts in the memory that they were read into: for code that goes through many and keeps
/// few.
///
/// Whatever gives a view says how long it is valid.
public struct EventView {
    /// The partition of the log.
    public var partition: Int
    /// Its number in the partition, from 1 without gaps.
    public var position: Int64
    /// The name of its stream.
    public var stream: UnsafeRawBufferPointer
    /// Its number in the stream, from 1 without gaps.
    public var version: Int64
    /// The name of its kind.
    public var kind: UnsafeRawBufferPointer
    /// The version of its payload's schema.
    public var schemaVersion: Int
    /// What happened, as JSON text.
    public var payload: UnsafeRawBufferPointer
    /// ``EventMetadata`` as JSON text.
    public var metadata: UnsafeRawBufferPointer
    /// When its batch was written, by the writer's clock.
    public var recordedAt: Timestamp

    /// An event of the log.
    public init(
        partition: Int, position: Int64, stream: UnsafeRawBufferPointer, version: Int64, kind: UnsafeRawBufferPointer,
        schemaVersion: Int, payload: UnsafeRawBufferPointer, metadata: UnsafeRawBufferPointer, recordedAt: Timestamp
    ) {
        self.partition = partition
        self.position = position
        self.stream = stream
        self.version = version
        self.kind = kind
        self.schemaVersion = schemaVersion
        self.payload = payload
        self.metadata = metadata
        self.recordedAt = recordedAt
    }

    /// The decoded event, upcast from an older schema if necessary.
    public func decoded() throws(CorruptEvent) -> DecodedEvent {
        var payloads = DecodedPayloads(remembering: 0)
        return try decoded(&payloads)
    }

    /// The decoded event. Its payload is decoded only if it is not remembered.
    func decoded(_ payloads: inout DecodedPayloads) throws(CorruptEvent) -> DecodedEvent {
        guard (1...LogHead.maximumPosition).contains(position) else { throw corrupt("no event can have this position") }
        guard EventView.possibleTimes.contains(recordedAt.millisecondsSinceEpoch) else {
            throw corrupt("recorded outside the years 1 to 9999")
        }
        guard let name = StreamName(utf8: stream) else { throw corrupt("no such kind of stream") }
        let event: DecodedEvent
        do {
            event = DecodedEvent(
                partition: partition, position: position, stream: name, version: version,
                event: try payloads.event(kind, schemaVersion, payload),
                metadata: try EventMetadata(decoding: metadata), recordedAt: recordedAt)
        } catch {
            throw corrupt("\(error)")
        }
        guard event.event.category == name.category else { throw corrupt("an event of another kind of stream") }
        return event
    }

    /// The times that can be written in RFC 3339, in milliseconds since the Unix epoch.
    private static let possibleTimes: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    private func corrupt(_ reason: String) -> CorruptEvent {
        CorruptEvent(
            partition: partition, position: position, stream: String(decoding: stream, as: UTF8.self), reason: reason)
    }

    /// The event with its own copies of the texts.
    public var recorded: RecordedEvent {
        RecordedEvent(
            partition: partition, position: position, stream: String(decoding: stream, as: UTF8.self),
            version: version,
            kind: EventKind(name: String(decoding: kind, as: UTF8.self), schemaVersion: schemaVersion),
            payload: Array(payload), metadata: EventMetadata.shared(metadata), recordedAt: recordedAt)
    }
}

extension RecordedEvent {
    /// Gives the event to the body as a view, which is valid inside it.
    public func withView<Result, Failure: Error>(
        _ body: (EventView) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Strings may be stored in another form than UTF-8; the copies make sure of it.
        let (stream, kind) = (Array(stream.utf8), Array(kind.name.utf8))
        return try stream.withBytes { stream throws(Failure) in
            try kind.withBytes { kind throws(Failure) in
                try payload.withBytes { payload throws(Failure) in
                    try metadata.withBytes { metadata throws(Failure) in
                        try body(
                            EventView(
                                partition: partition, position: position, stream: stream, version: version,
                                kind: kind, schemaVersion: self.kind.schemaVersion, payload: payload,
                                metadata: metadata, recordedAt: recordedAt))
                    }
                }
            }
        }
    }

    /// The decoded event, upcast from an older schema if necessary.
    public func decoded() throws(CorruptEvent) -> DecodedEvent {
        try withView { view throws(CorruptEvent) in try view.decoded() }
    }
}

extension [UInt8] {
    fileprivate func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBufferPointer { bytes throws(Failure) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}
