public import Domain

/// The bytes that an event's digest covers, the same that `tiffin.canonical_bytes` makes in SQL: numbers are
/// big-endian, texts have their length in four bytes before them. Partition and position are not included: the log
/// assigns them after the digest has been made.
struct CanonicalBytes {
    fileprivate(set) var bytes: [UInt8] = []

    fileprivate mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    fileprivate mutating func append(_ text: some Collection<UInt8>) {
        append(Int32(text.count))
        bytes.append(contentsOf: text)
    }

    fileprivate mutating func append(_ event: EventView) {
        append(event.stream)
        append(event.version)
        append(event.kind)
        append(Int32(event.schemaVersion))
        append(event.payload)
        append(event.metadata)
        append(event.recordedAt.millisecondsSinceEpoch)
    }

    fileprivate mutating func append(_ event: NewEvent, _ recordedAt: Timestamp) {
        append(Int32(event.stream.byteCount))
        event.stream.write(to: &bytes)
        append(event.version)
        append(event.kind.name.utf8)
        append(Int32(event.kind.schemaVersion))
        append(event.payload)
        append(event.metadata)
        append(recordedAt.millisecondsSinceEpoch)
    }
}

extension NewEvent {
    /// The bytes that the event's digest covers.
    public func canonicalBytes(recordedAt: Timestamp) -> [UInt8] {
        var canonical = CanonicalBytes()
        canonical.append(self, recordedAt)
        return canonical.bytes
    }
}

extension RecordedEvent {
    /// The bytes that the event's digest covers.
    public var canonicalBytes: [UInt8] {
        var canonical = CanonicalBytes()
        withView { canonical.append($0) }
        return canonical.bytes
    }
}

/// Makes the leaves of events one after the other, in the same memory.
public struct LeafMaker: ~Copyable {
    private var digests = DigestMaker()
    private var canonical = CanonicalBytes()

    /// A maker that has made no leaf.
    public init() {}

    /// The leaf of an event of the log.
    public mutating func leaf(of event: EventView) -> Digest {
        begin()
        canonical.append(event)
        return finish()
    }

    /// The leaf of an event that is recorded at that time.
    mutating func leaf(of event: NewEvent, recordedAt: Timestamp) -> Digest {
        begin()
        canonical.append(event, recordedAt)
        return finish()
    }

    private mutating func begin() {
        canonical.bytes.removeAll(keepingCapacity: true)
        canonical.bytes.append(MerkleTree.leafPrefix)
    }

    private mutating func finish() -> Digest {
        canonical.bytes.withUnsafeBytes { digests.add($0) }
        return digests.finish()
    }
}
