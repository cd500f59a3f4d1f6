public import Domain

/// The bytes that an event's digest covers, the same that `tiffin.canonical_bytes` makes in SQL: numbers are
/// big-endian, texts have their length in four bytes before them. Partition and position are not included: the log
/// assigns them after the digest has been made.
struct CanonicalBytes {
    /// Room for the bytes, of which the first ``count`` are written. It is kept from one event to the next.
    private var room: [UInt8] = []
    private var count = 0

    /// What has been written.
    fileprivate var bytes: [UInt8] { Array(room[..<count]) }

    /// Removes what has been written and keeps the room.
    fileprivate mutating func removeAll() { count = 0 }

    fileprivate func withUnsafeBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
        room.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    fileprivate mutating func append(_ byte: UInt8) {
        extend(by: 1) { $0.write(byte) }
    }

    /// The length of an event's numbers, those of the lengths of its texts included.
    private static let numbersLength = 4 * 4 + 8 + 4 + 8

    fileprivate mutating func append(_ event: EventView) {
        let texts = event.stream.count + event.kind.count + event.payload.count + event.metadata.count
        extend(by: CanonicalBytes.numbersLength + texts) { rest in
            rest.write(text: event.stream)
            rest.write(event.version)
            rest.write(text: event.kind)
            rest.write(Int32(event.schemaVersion))
            rest.write(text: event.payload)
            rest.write(text: event.metadata)
            rest.write(event.recordedAt.millisecondsSinceEpoch)
        }
    }

    fileprivate mutating func append(_ event: NewEvent, _ recordedAt: Timestamp) {
        let (stream, kind) = (event.stream.byteCount, event.kind.name.utf8.count)
        let texts = stream + kind + event.payload.count + event.metadata.count
        extend(by: CanonicalBytes.numbersLength + texts) { rest in
            rest.write(Int32(stream))
            event.stream.write(to: &rest)
            rest.write(event.version)
            rest.write(Int32(kind))
            event.kind.write(to: &rest)
            rest.write(Int32(event.kind.schemaVersion))
            event.payload.withUnsafeBytes { rest.write(text: $0) }
            event.metadata.withUnsafeBytes { rest.write(text: $0) }
            rest.write(recordedAt.millisecondsSinceEpoch)
        }
    }

    /// Appends this many bytes, all of which the body writes.
    private mutating func extend(by length: Int, _ body: (inout UnsafeMutableRawPointer) -> Void) {
        let start = count
        count += length
        if room.count < count { room += [UInt8](repeating: 0, count: max(count - room.count, room.count)) }
        room.withUnsafeMutableBytes { room in
            var rest = room.baseAddress! + start
            body(&rest)
            precondition(rest == room.baseAddress! + count, "an event of another length")
        }
    }
}

/// Writing from here on, where there is room.
extension UnsafeMutableRawPointer {
    mutating func write(_ number: some FixedWidthInteger & BitwiseCopyable) {
        storeBytes(of: number.bigEndian, as: type(of: number))
        self += MemoryLayout.size(ofValue: number)
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        copyMemory(from: start, byteCount: bytes.count)
        self += bytes.count
    }

    fileprivate mutating func write(text: UnsafeRawBufferPointer) {
        write(Int32(text.count))
        write(text)
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
        canonical.removeAll()
        canonical.append(MerkleTree.leafPrefix)
    }

    private mutating func finish() -> Digest {
        canonical.withUnsafeBytes { digests.add($0) }
        return digests.finish()
    }
}
