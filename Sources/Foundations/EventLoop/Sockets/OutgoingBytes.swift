/// Bytes that wait to be sent, in memory that stays in place while libuv reads it.
struct OutgoingBytes: ~Copyable {
    /// The capacity that an emptied queue keeps: a slow peer does not cause an allocation at every write, and a
    /// thousand connections do not each keep their peak.
    private static let keptCapacity = 64 * 1024

    private(set) var count = 0
    private var storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage[..<count]) }

    /// The caller bounds the total.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if storage.count - count < bytes.count {
            let grown = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(storage.count * 2, count + bytes.count), alignment: 16)
            grown.copyMemory(from: self.bytes)
            storage.deallocate()
            storage = grown
        }
        UnsafeMutableRawBufferPointer(rebasing: storage[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    mutating func removeAll() {
        count = 0
        if storage.count > Self.keptCapacity {
            storage.deallocate()
            storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        }
    }

    deinit { storage.deallocate() }
}
