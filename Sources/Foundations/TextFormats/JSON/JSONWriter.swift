// JSON as bytes: a writer with keys in the order they are written, and a reader that pulls values out without
// building a tree, because a fold reads hundreds of thousands of payloads a second. `JSONValue` is the tree, for
// shapes that are not known beforehand and for what clients send. Both readers are strict, bound the nesting, and
// never trap.

/// Writes one JSON value as UTF-8 bytes. It places the commas; the caller balances the brackets.
public struct JSONWriter: Sendable {
    /// Room for what is written, of which the first ``count`` bytes are: appending to an array byte by byte takes far
    /// longer.
    private var room: [UInt8]
    /// How many bytes have been written.
    public private(set) var count = 0
    private var needsComma = false

    /// A writer with nothing written.
    public init(reservingCapacity capacity: Int = 0) {
        room = [UInt8](repeating: 0, count: capacity)
    }

    /// What has been written.
    public var bytes: [UInt8] {
        room.withUnsafeBufferPointer { Array(UnsafeBufferPointer(rebasing: $0[..<count])) }
    }

    /// Removes what has been written and keeps the capacity.
    public mutating func removeAll() {
        count = 0
        needsComma = false
    }

    /// Has `write` write this many bytes, after a comma if one is due.
    @inline(__always)
    private mutating func value(_ length: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Void) {
        if room.count &- count <= length { grow(by: length + 1) }
        let (start, comma) = (count, needsComma ? 1 : 0)
        room.withUnsafeMutableBufferPointer { room in
            // A comma that is not due is written over.
            room[start] = UInt8(ascii: ",")
            write(room.baseAddress! + start + comma)
        }
        count = start &+ comma &+ length
    }

    private mutating func grow(by length: Int) {
        let capacity = max(count + length, 2 * room.count, 64)
        // An array is appended as one piece, even where nothing is optimized.
        room += [UInt8](repeating: 0, count: capacity - room.count)
    }

    // MARK: Structure

    /// Begins an object.
    public mutating func beginObject() { open(UInt8(ascii: "{")) }
    /// Ends an object.
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    /// Begins an array.
    public mutating func beginArray() { open(UInt8(ascii: "[")) }
    /// Ends an array.
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Writes a key that needs no escapes; its value must follow.
    public mutating func key(_ key: StaticString) {
        let length = key.utf8CodeUnitCount
        value(length + 3) { next in
            next[0] = UInt8(ascii: "\"")
            (next + 1).update(from: key.utf8Start, count: length)
            next[length + 1] = UInt8(ascii: "\"")
            next[length + 2] = UInt8(ascii: ":")
        }
        needsComma = false
    }

    /// Writes a key that is not known beforehand; its value must follow.
    public mutating func key(dynamic key: String) {
        string(key)
        append(UInt8(ascii: ":"))
    }

    // MARK: Values

    /// Writes a string.
    public mutating func string(_ text: String) {
        if text.utf8.withContiguousStorageIfAvailable({ string($0) }) == nil {
            var text = text
            text.withUTF8 { string($0) }
        }
    }

    private mutating func string(_ text: UnsafeBufferPointer<UInt8>) {
        guard !JSONWriter.needsEscapes(text) else { return escaped(text) }
        value(text.count + 2) { next in
            next[0] = UInt8(ascii: "\"")
            if let start = text.baseAddress { (next + 1).update(from: start, count: text.count) }
            next[text.count + 1] = UInt8(ascii: "\"")
        }
        needsComma = true
    }

    /// Writes an integer.
    public mutating func integer(_ value: some FixedWidthInteger) {
        digits(Int64(value))
        needsComma = true
    }

    /// Writes `value / 10^digits` in its shortest decimal form: 440 with two digits is `4.4`.
    public mutating func decimal(_ value: Int, digits: Int) {
        precondition(value >= 0 && digits > 0)
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        self.digits(Int64(value / scale))
        var rest = value % scale
        if rest > 0 { append(UInt8(ascii: ".")) }
        while rest > 0 {
            scale /= 10
            append(UInt8(ascii: "0") + UInt8(rest / scale))
            rest %= scale
        }
        needsComma = true
    }

    /// Writes `true` or `false`.
    public mutating func bool(_ value: Bool) { literal(value ? "true" : "false") }

    /// Writes `null`.
    public mutating func null() { literal("null") }

    /// Writes a value that is JSON already.
    public mutating func raw(_ json: some Collection<UInt8>) {
        let length = json.count
        value(length) { next in
            _ = UnsafeMutableBufferPointer(start: next, count: length).update(fromContentsOf: json)
        }
        needsComma = true
    }

    // MARK: Parts

    private mutating func literal(_ text: StaticString) {
        text.withUTF8Buffer { text in value(text.count) { $0.update(from: text.baseAddress!, count: text.count) } }
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        value(1) { $0.pointee = bracket }
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        append(bracket)
        needsComma = true
    }

    /// Writes a byte of a value that has begun: no comma is due.
    private mutating func append(_ byte: UInt8) {
        needsComma = false
        value(1) { $0.pointee = byte }
    }

    private mutating func digits(_ number: Int64) {
        var rest = number.magnitude
        var length = number < 0 ? 2 : 1
        var power: UInt64 = 10
        while rest >= power {
            length += 1
            let (next, isBeyond) = power.multipliedReportingOverflow(by: 10)
            if isBeyond { break }
            power = next
        }
        value(length) { next in
            if number < 0 { next.pointee = UInt8(ascii: "-") }
            var end = length
            repeat {
                end -= 1
                next[end] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
        }
    }

    /// Whether a string with these bytes has quotes, backslashes or control characters.
    private static func needsEscapes(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let bytes = UnsafeRawBufferPointer(text)
        guard bytes.count >= 8 else { return bytes.contains(where: JSONWriter.needsEscape) }
        var index = 0
        while index &+ 8 < bytes.count {
            if JSONWriter.needsEscape(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) { return true }
            index &+= 8
        }
        return JSONWriter.needsEscape(bytes.loadUnaligned(fromByteOffset: bytes.count &- 8, as: UInt64.self))
    }

    /// Whether one of eight bytes has to be escaped: the highest bit of a byte is set where the byte was less than a
    /// blank, or became zero.
    private static func needsEscape(_ word: UInt64) -> Bool {
        let (ones, highest) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        let control = (word &- ones &* 0x20) & ~word
        let (quote, backslash) = (word ^ ones &* 0x22, word ^ ones &* 0x5C)
        return (control | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash) & highest != 0
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escaped(_ text: UnsafeBufferPointer<UInt8>) {
        let hex: StaticString = "0123456789abcdef"
        open(UInt8(ascii: "\""))
        for byte in text {
            guard JSONWriter.needsEscape(byte) else {
                append(byte)
                continue
            }
            append(UInt8(ascii: "\\"))
            switch byte {
            case UInt8(ascii: "\n"): append(UInt8(ascii: "n"))
            case UInt8(ascii: "\r"): append(UInt8(ascii: "r"))
            case UInt8(ascii: "\t"): append(UInt8(ascii: "t"))
            case 0..<0x20:
                for byte in "u00".utf8 { append(byte) }
                append(hex.utf8Start[Int(byte >> 4)])
                append(hex.utf8Start[Int(byte & 15)])
            default: append(byte)
            }
        }
        close(UInt8(ascii: "\""))
    }
}

extension JSONWriter {
    /// Writes a key and a string, or null.
    public mutating func field(_ key: StaticString, _ value: String?) {
        self.key(key)
        if let value { string(value) } else { null() }
    }

    /// Writes a key and an integer, or null.
    public mutating func field(_ key: StaticString, _ value: (some FixedWidthInteger)?) {
        self.key(key)
        if let value { integer(value) } else { null() }
    }

    /// Writes a key and a boolean.
    public mutating func field(_ key: StaticString, _ value: Bool) {
        self.key(key)
        bool(value)
    }

    /// Writes a key and an array of strings.
    public mutating func field(_ key: StaticString, _ values: some Sequence<String>) {
        self.key(key)
        beginArray()
        for value in values { string(value) }
        endArray()
    }
}
