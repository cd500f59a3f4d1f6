public import TextFormats

/// Reads the requests of one connection out of its input buffer, without copying.
///
/// The caller keeps the unconsumed bytes together and offers them from their first byte on:
///
///     loop: while true {
///         switch parser.next(input.bytes, within: limits, isAuthenticated: isAuthenticated) {
///         case .request(let arguments, let consumed):
///             handle(arguments)
///             input.consume(consumed)
///         case .incomplete(let consumed):
///             input.consume(consumed)
///             break loop
///         case .failure(let error):
///             reply.error("ERR", error.message)
///             close()
///             break loop
///         }
///     }
///
/// While a request is incomplete the parser remembers how far it got, so the bytes already offered must
/// be offered again, unchanged, in front of the new ones. They may have moved in memory.
public struct RequestParser: ~Copyable {
    /// What the bytes turned out to be.
    public enum Outcome {
        /// A request; the next one starts `consumed` bytes further on.
        case request(Arguments, consumed: Int)
        /// No whole request yet. The first `consumed` bytes asked for nothing (empty lines, empty
        /// arrays) and are not to be offered again.
        case incomplete(consumed: Int)
        /// No request, and no way to find the next one.
        case failure(ProtocolError)
    }

    private static let smallestTable = 8
    private static let mostShortDigits = 6

    /// The arguments found so far, and memory for more; grows to `RequestLimits.argumentCount` at most.
    private var table: UnsafeMutableBufferPointer<Arguments.Slice>
    private(set) var argumentCount = 0
    /// An inline request with its quotes resolved, until the next request is asked for.
    var unquoted: UnsafeMutableRawBufferPointer?

    // Where an incomplete request is to be resumed; offsets count from its first byte.

    /// The first byte not understood yet: the start of a line, or of a bulk string's bytes.
    private(set) var position = 0
    /// Up to here no line end was found after `position`.
    private(set) var scanned = 0
    /// Bulk strings still to come; zero until the array's header is read.
    private var awaitedBulks = 0
    /// The length of the bulk string whose header has been read.
    private var awaitedLength: Int?
    /// Whether the client may send the argument that may be longer than others.
    private var mayBeLong = false

    /// A parser for a new connection.
    public init() {
        table = .allocate(capacity: RequestParser.smallestTable)
    }

    deinit {
        table.deallocate()
        unquoted?.deallocate()
    }

    /// Reads the request that `bytes` start with, skipping empty ones before it as Redis does.
    ///
    /// After a failure, neither the connection nor its parser can be used any further.
    ///
    /// - Parameter mayBeLong: whether the client may send the argument that may be longer than others.
    public mutating func next(
        _ bytes: UnsafeRawBufferPointer, within limits: RequestLimits, isAuthenticated: Bool = true,
        mayBeLong: Bool = false
    ) -> Outcome {
        self.mayBeLong = mayBeLong && isAuthenticated
        unquoted?.deallocate()
        unquoted = nil
        var start = 0
        while true {
            let rest = bytes.part(start..<bytes.count)
            do throws(ProtocolError) {
                guard let length = try parse(rest, limits, isAuthenticated) else {
                    return .incomplete(consumed: start)
                }
                let arguments = Arguments(
                    of: UnsafeBufferPointer(rebasing: table[..<argumentCount]),
                    in: unquoted.map { UnsafeRawBufferPointer($0) } ?? rest)
                startOver()
                start += length
                if !arguments.isEmpty { return .request(arguments, consumed: start) }
            } catch {
                return .failure(error)
            }
        }
    }

    private mutating func startOver() {
        argumentCount = 0
        position = 0
        scanned = 0
        awaitedBulks = 0
        awaitedLength = nil
    }

    /// Puts the request's arguments into the table. Returns its length; nil if it is incomplete.
    private mutating func parse(
        _ bytes: UnsafeRawBufferPointer, _ limits: RequestLimits, _ isAuthenticated: Bool
    ) throws(ProtocolError) -> Int? {
        switch bytes.first {
        case nil: nil
        case .asterisk?: try parseArray(bytes, limits, isAuthenticated)
        default: try parseInline(bytes, limits, isAuthenticated)
        }
    }

    // MARK: Arrays of bulk strings

    private mutating func parseArray(
        _ bytes: UnsafeRawBufferPointer, _ limits: RequestLimits, _ isAuthenticated: Bool
    ) throws(ProtocolError) -> Int? {
        if awaitedBulks == 0 {
            if isAuthenticated, let length = parseWholeArray(bytes, limits) { return length }
            guard
                let count = try announcedLength(
                    bytes, limits, tooLong: .tooBigMultibulkCountString, invalid: .invalidMultibulkLength)
            else { return nil }
            guard count <= limits.argumentCount else { throw .invalidMultibulkLength }
            guard isAuthenticated || count <= limits.unauthenticatedArgumentCount else {
                throw .unauthenticatedMultibulkLength
            }
            if count <= 0 { return position }
            awaitedBulks = count
        }
        while awaitedBulks > 0 {
            guard try parseBulk(bytes, limits, isAuthenticated) else { return nil }
            awaitedBulks -= 1
        }
        return position
    }

    /// Does what ``parseArray(_:_:_:)`` does for nearly all requests: for complete ones whose numbers have only a few
    /// digits. It does not note after each part how far it got. Returns nil for any other.
    private mutating func parseWholeArray(_ bytes: UnsafeRawBufferPointer, _ limits: RequestLimits) -> Int? {
        guard position == 0, let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
        let length = min(bytes.count, limits.requestLength)
        var index = 1
        guard let count = RequestParser.shortNumber(start, length, &index), count <= limits.argumentCount else {
            return nil
        }
        var found = 0
        while found < count {
            guard index < length, start[index] == .dollar else { break }
            index &+= 1
            guard let size = RequestParser.shortNumber(start, length, &index), size <= limits.bulkLength else { break }
            let end = index &+ size
            guard end &+ 2 <= length, start[end] == .carriageReturn, start[end &+ 1] == .lineFeed else { break }
            add(Arguments.Slice(offset: UInt32(truncatingIfNeeded: index), count: UInt32(truncatingIfNeeded: size)))
            index = end &+ 2
            found &+= 1
        }
        if found == count { return index }
        argumentCount = 0
        return nil
    }

    /// A number from 1 on of a few digits, with the end of its line; moves `index` past both.
    @inline(__always)
    private static func shortNumber(
        _ bytes: UnsafePointer<UInt8>, _ length: Int, _ index: inout Int
    ) -> Int? {
        guard index &+ 2 < length else { return nil }
        // The first digit of a number from 1 on is not 0.
        let first = bytes[index] &- .zero
        guard first &- 1 < 9 else { return nil }
        var number = Int(first)
        var next = index &+ 1
        let end = min(length &- 2, index &+ mostShortDigits)
        while next < end {
            let digit = bytes[next] &- .zero
            guard digit < 10 else { break }
            number = 10 &* number &+ Int(digit)
            next &+= 1
        }
        guard bytes[next] == .carriageReturn, bytes[next &+ 1] == .lineFeed else { return nil }
        index = next &+ 2
        return number
    }

    /// Puts the next bulk string into the table. Returns false if it is incomplete.
    private mutating func parseBulk(
        _ bytes: UnsafeRawBufferPointer, _ limits: RequestLimits, _ isAuthenticated: Bool
    ) throws(ProtocolError) -> Bool {
        let length: Int
        if let awaitedLength {
            length = awaitedLength
        } else {
            guard position < bytes.count else { return false }
            guard bytes[position] == .dollar else { throw .expectedBulk(got: bytes[position]) }
            guard
                let announced = try announcedLength(
                    bytes, limits, tooLong: .tooBigBulkCountString, invalid: .invalidBulkLength)
            else { return false }
            let long = longArgument(bytes, limits)
            let most = argumentCount == long?.index ? max(long?.length ?? 0, limits.bulkLength) : limits.bulkLength
            guard announced >= 0, announced <= most else { throw .invalidBulkLength }
            guard isAuthenticated || announced <= limits.unauthenticatedBulkLength else {
                throw .unauthenticatedBulkLength
            }
            let room = limits.requestLength + (long?.length ?? 0) - position - 2
            guard announced <= room else { throw .tooBigRequest }
            awaitedLength = announced
            length = announced
        }
        let end = position + length
        guard end + 2 <= bytes.count else { return false }
        guard bytes[end] == .carriageReturn, bytes[end + 1] == .lineFeed else { throw .unterminatedBulk }
        add(position..<end)
        awaitedLength = nil
        position = end + 2
        scanned = position
        return true
    }

    /// The argument that may be longer than others, if the request has it and the client may send it.
    private func longArgument(_ bytes: UnsafeRawBufferPointer, _ limits: RequestLimits) -> RequestLimits.LongArgument? {
        guard mayBeLong, let long = limits.longArgument, argumentCount > 0 else { return nil }
        let name = bytes.part(Int(table[0].offset)..<Int(table[0].offset) + Int(table[0].count))
        return name.elementsEqual(long.command.utf8, by: { $0 & ~0x20 == $1 & ~0x20 }) ? long : nil
    }

    /// The number in the line at `position`, after its first byte. Moves `position` past the line. Returns nil if the
    /// line is incomplete.
    private mutating func announcedLength(
        _ bytes: UnsafeRawBufferPointer, _ limits: RequestLimits, tooLong: ProtocolError,
        invalid: ProtocolError
    ) throws(ProtocolError) -> Int? {
        guard let end = find(.carriageReturn, in: bytes) else {
            guard scanned - position <= limits.lineLength else { throw tooLong }
            return nil
        }
        guard end - position <= limits.lineLength else { throw tooLong }
        guard end + 1 < bytes.count else { return nil }
        guard bytes[end + 1] == .lineFeed,
            let value = Int64(canonicalDecimal: bytes.part((position + 1)..<end))
        else { throw invalid }
        position = end + 2
        scanned = position
        return Int(clamping: value)
    }

    /// Where `byte` is first found at or after `scanned`, which moves there, or to the end.
    mutating func find(_ byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
        var index = scanned
        while index < bytes.count, bytes[index] != byte { index += 1 }
        scanned = index
        return index < bytes.count ? index : nil
    }

    // MARK: Shared with inline requests

    /// Adds an argument; the range ends within a request of at most `RequestLimits.requestLength` bytes.
    mutating func add(_ range: Range<Int>) {
        add(Arguments.Slice(offset: UInt32(range.lowerBound), count: UInt32(range.count)))
    }

    @inline(__always) private mutating func add(_ slice: Arguments.Slice) {
        if argumentCount == table.count { widenTable() }
        table.initializeElement(at: argumentCount, to: slice)
        argumentCount &+= 1
    }

    private mutating func widenTable() {
        let wider = UnsafeMutableBufferPointer<Arguments.Slice>.allocate(capacity: 2 * table.count)
        _ = wider.moveInitialize(fromContentsOf: table)
        table.deallocate()
        table = wider
    }
}
