#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Decodes payloads, and remembers the last ones: events of one kind often say the same, such as that one of an item
/// was added.
///
/// The bytes of every payload must outlive it.
struct DecodedPayloads {
    private struct Entry {
        var kind: UnsafeRawBufferPointer
        var schemaVersion: Int
        var payload: UnsafeRawBufferPointer
        var event: DomainEvent
    }

    /// By the hash of the payload. Another payload with the same hash takes the place.
    private var entries: [Entry?]

    /// - Parameter count: the most payloads that are remembered; 0 or a power of two.
    init(remembering count: Int) {
        entries = Array(repeating: nil, count: count)
    }

    mutating func event(
        _ kind: UnsafeRawBufferPointer, _ schemaVersion: Int, _ payload: UnsafeRawBufferPointer
    ) throws(EventDecodingError) -> DomainEvent {
        guard !entries.isEmpty else { return try EventCodec.decode(EventName(kind), schemaVersion, payload) }
        let index = Int(truncatingIfNeeded: payload.hash & UInt64(entries.count - 1))
        if let entry = entries[index], entry.schemaVersion == schemaVersion, entry.payload.equals(payload),
            entry.kind.equals(kind)
        {
            return entry.event
        }
        let event = try EventCodec.decode(EventName(kind), schemaVersion, payload)
        entries[index] = Entry(kind: kind, schemaVersion: schemaVersion, payload: payload, event: event)
        return event
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func equals(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, count > 0 else { return count == other.count }
        return memcmp(baseAddress!, other.baseAddress!, count) == 0
    }

    /// A hash that is good enough to find a payload again; a collision costs its decoding.
    fileprivate var hash: UInt64 {
        var hash = UInt64(truncatingIfNeeded: count)
        var offset = 0
        while offset + 8 <= count {
            hash = (hash ^ loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
            offset += 8
        }
        while offset < count {
            hash = (hash ^ UInt64(self[offset])) &* 0x9E37_79B9_7F4A_7C15
            offset += 1
        }
        return hash &>> 32
    }
}
