public import Domain

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The events of a batch as text: a line each, in the order of their positions.
///
/// A line has the fields stream, version, kind, schema version, payload and metadata, with a tab between them. JSON
/// escapes tabs and line breaks, and no name has any. An empty line stands for an event that was lost.
public enum EventLines {
    private static let lineBreak = UInt8(ascii: "\n")
    private static let tab = UInt8(ascii: "\t")

    // MARK: Writing

    /// The lines of events, written in one piece.
    ///
    /// - Precondition: none of the events' texts has a tab or a line break.
    static func lines(of events: [NewEvent]) -> [UInt8] {
        let room = events.indices.reduce(0) { $0 + longestLine(of: events[$1]) + 1 }
        return [UInt8](unsafeUninitializedCapacity: room) { room, count in
            var next = UnsafeMutableRawPointer(room.baseAddress!)
            for index in events.indices {
                if index > 0 { next.write(lineBreak) }
                write(events[index], to: &next)
            }
            count = next - UnsafeMutableRawPointer(room.baseAddress!)
        }
    }

    /// As many bytes as the event's line may have.
    private static func longestLine(of event: NewEvent) -> Int {
        event.stream.byteCount + event.kind.name.utf8.count + event.payload.count + event.metadata.count
            + 5 + 2 * longestNumber
    }

    private static func write(_ event: NewEvent, to next: inout UnsafeMutableRawPointer) {
        event.stream.write(to: &next)
        next.write(tab)
        write(event.version, to: &next)
        next.write(tab)
        event.kind.write(to: &next)
        next.write(tab)
        write(Int64(event.kind.schemaVersion), to: &next)
        next.write(tab)
        write(event.payload, to: &next)
        next.write(tab)
        write(event.metadata, to: &next)
    }

    private static func write(_ text: [UInt8], to next: inout UnsafeMutableRawPointer) {
        text.withUnsafeBytes { text in
            precondition(
                text.offset(of: lineBreak) == nil && text.offset(of: tab) == nil,
                "an event's text has a line break or a tab")
            next.write(text)
        }
    }

    /// The digits and the sign of `Int64.min`.
    private static let longestNumber = 20

    private static func write(_ number: Int64, to next: inout UnsafeMutableRawPointer) {
        guard !(0...9).contains(number) else { return next.write(UInt8(ascii: "0") + UInt8(number)) }
        var digits = String(number)
        digits.withUTF8 { next.write(UnsafeRawBufferPointer($0)) }
    }

    // MARK: Reading

    /// Gives every event of a batch's lines to the body, in order. A view is valid until the body returns.
    ///
    /// A line that no batch can have becomes an event that cannot be decoded. All bytes behind the last line that the
    /// batch may have belong to that line, and so spoil it.
    ///
    /// - Parameters:
    ///   - lines: what a log holds, so it may be anything.
    ///   - count: how many events the batch has.
    public static func forEach(
        in lines: UnsafeRawBufferPointer, _ count: Int64, partition: Int, firstPosition: Int64, recordedAt: Timestamp,
        _ body: (EventView) -> Void
    ) {
        var start = 0
        var number: Int64 = 0
        while number < count {
            let isLast = number == count - 1
            let end = isLast ? nil : lines.offset(of: lineBreak, from: start)
            let line = UnsafeRawBufferPointer(rebasing: lines[start..<(end ?? lines.count)])
            let (position, isBeyond) = firstPosition.addingReportingOverflow(number)
            guard !isBeyond else { return }
            if !line.isEmpty {
                body(event(line, partition: partition, position: position, recordedAt: recordedAt))
            }
            guard let end else { return }
            start = end + 1
            number += 1
        }
    }

    /// The event in a line, at a position; one that cannot be decoded if no batch can have such a line.
    public static func event(
        _ line: UnsafeRawBufferPointer, partition: Int, position: Int64, recordedAt: Timestamp
    ) -> EventView {
        var start = 0
        var isWhole = true
        func field() -> UnsafeRawBufferPointer {
            guard let end = line.offset(of: tab, from: start) else {
                isWhole = false
                return UnsafeRawBufferPointer(rebasing: line[start...])
            }
            defer { start = end + 1 }
            return UnsafeRawBufferPointer(rebasing: line[start..<end])
        }
        let (stream, version, kind, schemaVersion, payload) = (field(), field(), field(), field(), field())
        let metadata = UnsafeRawBufferPointer(rebasing: line[start...])
        if isWhole, metadata.offset(of: tab) == nil, let version = number(version),
            let schemaVersion = number(schemaVersion).flatMap(Int32.init(exactly:))
        {
            return EventView(
                partition: partition, position: position, stream: stream, version: version, kind: kind,
                schemaVersion: Int(schemaVersion), payload: payload, metadata: metadata, recordedAt: recordedAt)
        }
        let nothing = UnsafeRawBufferPointer(rebasing: line[..<0])
        return EventView(
            partition: partition, position: position, stream: stream, version: 0, kind: nothing, schemaVersion: 0,
            payload: nothing, metadata: nothing, recordedAt: recordedAt)
    }

    /// The number that a field writes in the one way in which a batch writes it; nil for anything else.
    private static func number(_ digits: UnsafeRawBufferPointer) -> Int64? {
        guard let first = digits.first, digits.count <= 20 else { return nil }
        let isNegative = first == UInt8(ascii: "-")
        let digits = isNegative ? digits.dropFirst() : digits[...]
        guard let first = digits.first, first != UInt8(ascii: "0") || (digits.count == 1 && !isNegative) else {
            return nil
        }
        var value: Int64 = 0
        for digit in digits {
            guard case UInt8(ascii: "0")...UInt8(ascii: "9") = digit else { return nil }
            let (tens, overflows) = value.multipliedReportingOverflow(by: 10)
            let unit = Int64(digit - UInt8(ascii: "0"))
            let (sum, overflowsToo) =
                isNegative ? tens.subtractingReportingOverflow(unit) : tens.addingReportingOverflow(unit)
            guard !overflows, !overflowsToo else { return nil }
            value = sum
        }
        return value
    }
}

extension UnsafeRawBufferPointer {
    /// Where a byte is first found from an offset on; nil if it is not.
    fileprivate func offset(of byte: UInt8, from start: Int = 0) -> Int? {
        guard start < count, let base = baseAddress else { return nil }
        guard let found = memchr(base + start, Int32(byte), count - start) else { return nil }
        return UnsafeRawPointer(found) - base
    }
}
