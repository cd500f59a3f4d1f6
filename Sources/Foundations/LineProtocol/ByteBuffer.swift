internal import TextFormats

/// A growable queue of bytes: appended at the end, consumed from the front.
///
/// It owns its memory, never shrinks it unless told, and moves bytes only when it would otherwise have
/// to grow, so appending is amortised constant. It sets no bound of its own: code that fills it from a
/// peer compares `count` with a limit.
public struct ByteBuffer: ~Copyable {
    private static let smallestAllocation = 256
    /// The digits and the sign of `Int64.min`.
    private static let longestDecimal = 20

    private var storage: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0

    /// An empty buffer with room for `capacity` bytes; nothing is allocated for zero.
    public init(capacity: Int = 0) {
        storage = ByteBuffer.allocate(capacity)
    }

    deinit { storage.deallocate() }

    private static func allocate(_ capacity: Int) -> UnsafeMutableRawBufferPointer {
        capacity == 0 ? .init(start: nil, count: 0) : .allocate(byteCount: capacity, alignment: 16)
    }

    /// How many bytes wait in the buffer.
    public var count: Int { end - start }

    /// Whether the buffer is empty.
    public var isEmpty: Bool { end == start }

    /// How many bytes the allocated memory can hold.
    public var capacity: Int { storage.count }

    /// The waiting bytes; valid until the buffer is changed or goes away.
    public var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: storage[start..<end])
    }

    /// Drops the first `count` bytes, which must be there.
    public mutating func consume(_ count: Int) {
        precondition(count >= 0 && count <= self.count, "consumed more bytes than there are")
        start += count
        if start == end {
            start = 0
            end = 0
        }
    }

    /// Drops everything, and the memory too unless it is to be kept.
    public mutating func removeAll(keepingCapacity: Bool) {
        start = 0
        end = 0
        guard !keepingCapacity else { return }
        storage.deallocate()
        storage = ByteBuffer.allocate(0)
    }

    /// Appends bytes.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        UnsafeMutableRawBufferPointer(rebasing: storage[end...]).copyMemory(from: bytes)
        end += bytes.count
    }

    /// Appends bytes.
    public mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    /// Appends the UTF-8 of `text`.
    public mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// Appends the UTF-8 of `text`.
    public mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { append(UnsafeRawBufferPointer($0)) }
    }

    /// Appends one byte.
    public mutating func append(_ byte: UInt8) {
        reserve(1)
        storage[end] = byte
        end += 1
    }

    /// Appends a byte, `value` in decimal digits, and the end of the line.
    public mutating func appendLine(_ byte: UInt8, decimal value: Int64) {
        reserve(ByteBuffer.longestDecimal + 3)
        storage[end] = byte
        end += 1
        if value >= 0, value < 10 {
            storage[end] = .zero &+ UInt8(truncatingIfNeeded: value)
            end += 1
        } else {
            appendDigits(of: value)
        }
        storage[end] = .carriageReturn
        storage[end + 1] = .lineFeed
        end += 2
    }

    /// Appends `value` in decimal digits.
    public mutating func append(decimal value: Int64) {
        reserve(ByteBuffer.longestDecimal)
        appendDigits(of: value)
    }

    /// There is room for them.
    private mutating func appendDigits(of value: Int64) {
        if value < 0 {
            storage[end] = .minus
            end += 1
        }
        var rest = value.magnitude
        var digits = 0
        repeat {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            storage[end + digits] = .zero &+ UInt8(truncatingIfNeeded: digit)
            rest = quotient
            digits += 1
        } while rest > 0
        storage[end..<(end + digits)].reverse()
        end += digits
    }

    /// Lets `fill` write into at least `space` bytes after the waiting ones, for reading from a socket. It returns
    /// how many bytes it has written.
    public mutating func fill<Failure: Error>(
        atLeast space: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        reserve(space)
        let room = UnsafeMutableRawBufferPointer(rebasing: storage[end...])
        let written = try fill(room)
        precondition(written >= 0 && written <= room.count, "filled more bytes than there is room for")
        end += written
    }

    /// Makes room for `additional` more bytes: by moving what waits to the front when at least half of
    /// the memory is spent, by at least doubling the memory otherwise.
    @inline(__always)
    private mutating func reserve(_ additional: Int) {
        if storage.count - end < additional { makeRoom(for: additional) }
    }

    private mutating func makeRoom(for additional: Int) {
        let waiting = bytes
        if start >= storage.count / 2, storage.count - waiting.count >= additional {
            storage.copyMemory(from: waiting)
        } else {
            let wider = ByteBuffer.allocate(
                max(waiting.count + additional, 2 * storage.count, ByteBuffer.smallestAllocation))
            wider.copyMemory(from: waiting)
            storage.deallocate()
            storage = wider
        }
        start = 0
        end = waiting.count
    }
}
