/// JSON that is malformed, or not of the shape that was asked for.
public struct JSONReadingError: Error, Equatable, CustomStringConvertible {
    /// What was expected.
    public let expected: String
    /// The line in which something else stands, from 1. A line feed ends a line.
    public let line: Int
    /// The place in that line, from 1, in characters: Unicode scalars, as most editors count.
    public let column: Int

    /// What was expected, and where.
    public var description: String { "expected \(expected) at line \(line), column \(column)" }
}

extension JSONReadingError {
    /// Something else stands at a byte of the text. Lines and columns are counted here alone, so that they cost
    /// nothing where all is well.
    init(expected: String, at offset: Int, in text: UnsafeRawBufferPointer) {
        let before = text[..<offset]
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        self.init(
            expected: expected,
            line: 1 + before[..<lineStart].count { $0 == UInt8(ascii: "\n") },
            // Each character has one byte that does not continue it.
            column: 1 + before[lineStart...].count { $0 & 0xC0 != 0x80 })
    }
}

/// Pulls values out of JSON text one after the other: the caller says what it expects.
///
/// Strict (RFC 8259), and bounded: nesting is at most ``maximumDepth`` deep.
public struct JSONReader {
    /// The deepest nesting that is read.
    public static let maximumDepth = 64

    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    private var depth = 0
    private var isFirst = true

    /// A reader of text that must outlive it.
    public init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Reads the one value that the text holds.
    public static func read<Value>(
        _ text: [UInt8], _ body: (inout JSONReader) throws(JSONReadingError) -> Value
    ) throws(JSONReadingError) -> Value {
        try text.withUnsafeBufferPointer { buffer throws(JSONReadingError) in
            try read(UnsafeRawBufferPointer(buffer), body)
        }
    }

    /// Reads the one value that the text holds.
    public static func read<Value>(
        _ text: UnsafeRawBufferPointer, _ body: (inout JSONReader) throws(JSONReadingError) -> Value
    ) throws(JSONReadingError) -> Value {
        var reader = JSONReader(text)
        let value = try body(&reader)
        try reader.end()
        return value
    }

    // MARK: Structure

    /// Enters an object; read its keys with ``nextKey()``.
    public mutating func beginObject() throws(JSONReadingError) { try enter(UInt8(ascii: "{"), "an object") }

    /// The next key of the object, or nil at its end. The key's value must be read before the next key.
    public mutating func nextKey() throws(JSONReadingError) -> JSONKey? {
        guard try advance(in: UInt8(ascii: "}")) else { return nil }
        let key = try scanKey()
        try expect(UInt8(ascii: ":"), "':'")
        return key
    }

    /// Enters an array; its elements are there while ``nextElement()`` says so.
    public mutating func beginArray() throws(JSONReadingError) { try enter(UInt8(ascii: "["), "an array") }

    /// Whether there is one more element to read; false at the end of the array.
    public mutating func nextElement() throws(JSONReadingError) -> Bool { try advance(in: UInt8(ascii: "]")) }

    /// Makes sure that nothing but white space follows.
    public mutating func end() throws(JSONReadingError) {
        skipWhitespace()
        guard offset == bytes.count else { throw failure("the end") }
    }

    // MARK: Values

    /// Reads a string.
    public mutating func string() throws(JSONReadingError) -> String { try scanString("a string") }

    /// Reads an integer without a fraction or exponent.
    public mutating func integer() throws(JSONReadingError) -> Int64 {
        skipWhitespace()
        let start = offset
        let negative = take(UInt8(ascii: "-"))
        let firstDigit = offset
        var value: Int64 = 0
        while let digit = peek().flatMap(JSONReader.digit) {
            let (product, overflowed) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflowedToo) = product.subtractingReportingOverflow(Int64(digit))
            guard !overflowed, !overflowedToo else { throw failure("a 64-bit integer", at: start) }
            value = sum  // negative, so that Int64.min can be read
            offset += 1
        }
        let length = offset - firstDigit
        guard length > 0, length == 1 || bytes[firstDigit] != UInt8(ascii: "0"), !isNumberPart(peek()) else {
            throw failure("an integer", at: start)
        }
        if negative { return value }
        guard value != .min else { throw failure("a 64-bit integer", at: start) }
        return -value
    }

    /// Reads `true` or `false`.
    public mutating func bool() throws(JSONReadingError) -> Bool {
        skipWhitespace()
        if takeLiteral("true") { return true }
        if takeLiteral("false") { return false }
        throw failure("true or false")
    }

    /// Reads a `null` if there is one.
    public mutating func takeNull() -> Bool {
        skipWhitespace()
        return takeLiteral("null")
    }

    /// Passes over the next value, whatever it is, and returns its text.
    public mutating func rawValue() throws(JSONReadingError) -> UnsafeRawBufferPointer {
        skipWhitespace()
        let start = offset
        switch peek() {
        case UInt8(ascii: "{"):
            try beginObject()
            while try nextKey() != nil { _ = try rawValue() }
        case UInt8(ascii: "["):
            try beginArray()
            while try nextElement() { _ = try rawValue() }
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try bool()
        case UInt8(ascii: "n"): guard takeNull() else { throw failure("null") }
        case UInt8(ascii: "-"), (UInt8(ascii: "0")...UInt8(ascii: "9"))?: try skipNumber()
        default: throw failure("a value")
        }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
    }

    /// Passes over the next value: much faster than ``rawValue()``, as it looks only for where strings, objects and
    /// arrays begin and end. What lies between is taken for what it should be.
    ///
    /// - Parameter known: an array in the text that need not be looked through.
    mutating func slice(_ known: KnownArray? = nil) throws(JSONReadingError) -> JSONSlice {
        skipWhitespace()
        let start = offset
        if let known, known.place.lowerBound == start, known.place.upperBound <= bytes.count {
            offset = known.place.upperBound
            return JSONSlice(UnsafeRawBufferPointer(rebasing: bytes[known.place]), commas: known.commas)
        }
        var commas: [Int]?
        switch peek() {
        case UInt8(ascii: "["):
            var places: [Int] = []
            try skipNested { places.append($0 - start) }
            commas = places
        case UInt8(ascii: "{"): try skipNested { _ in }
        case UInt8(ascii: "\""): offset = try endOfString(from: start + 1)
        default:
            while let byte = peek(), !JSONReader.endsLiteral(byte) { offset += 1 }
            guard offset > start else { throw failure("a value") }
        }
        return JSONSlice(UnsafeRawBufferPointer(rebasing: bytes[start..<offset]), commas: commas)
    }

    /// A failure at the place reached, for values that are of the right shape and still wrong.
    public func failure(_ expected: String) -> JSONReadingError { failure(expected, at: offset) }

    // MARK: Parts

    /// A failure at the quote before a key that was read.
    func failure(_ expected: String, at key: JSONKey) -> JSONReadingError {
        guard let text = bytes.baseAddress, let start = key.bytes.baseAddress else { return failure(expected) }
        return failure(expected, at: start - text - 1)
    }

    private func failure(_ expected: String, at offset: Int) -> JSONReadingError {
        JSONReadingError(expected: expected, at: offset, in: bytes)
    }

    /// The byte that the next value begins with; nil at the end.
    public mutating func nextByte() -> UInt8? {
        skipWhitespace()
        return peek()
    }

    @inline(__always)
    private func peek() -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

    @inline(__always)
    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        offset += 1
        return true
    }

    @inline(__always)
    private mutating func expect(_ byte: UInt8, _ what: String) throws(JSONReadingError) {
        skipWhitespace()
        guard take(byte) else { throw failure(what) }
    }

    @inline(__always)
    private mutating func skipWhitespace() {
        while let byte = peek(), JSONReader.isWhitespace(byte) { offset += 1 }
    }

    @inline(__always)
    static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    private mutating func enter(_ bracket: UInt8, _ what: String) throws(JSONReadingError) {
        try expect(bracket, what)
        guard depth < JSONReader.maximumDepth else {
            throw failure("at most \(JSONReader.maximumDepth) levels of nesting")
        }
        depth += 1
        isFirst = true
    }

    private mutating func advance(in closing: UInt8) throws(JSONReadingError) -> Bool {
        skipWhitespace()
        if take(closing) {
            depth -= 1
            isFirst = false
            return false
        }
        if !isFirst { try expect(UInt8(ascii: ","), "','") }
        isFirst = false
        skipWhitespace()
        return true
    }

    /// Passes over an object or array.
    ///
    /// - Parameter comma: is told where a comma stands between two of its own members or elements.
    @inline(__always)
    private mutating func skipNested(_ comma: (Int) -> Void) throws(JSONReadingError) {
        var (index, open) = (offset, 0)
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): index = try endOfString(from: index)
            case UInt8(ascii: ","): if open == 1 { comma(index - 1) }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                open += 1
                guard depth + open <= JSONReader.maximumDepth else {
                    throw failure("at most \(JSONReader.maximumDepth) levels of nesting", at: index - 1)
                }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                open -= 1
                guard open == 0 else { break }
                offset = index
                return
            default: break
            }
        }
        throw failure("the end of an object or array", at: bytes.count)
    }

    /// Where the string ends whose first byte within the quotes is at `start`.
    private func endOfString(from start: Int) throws(JSONReadingError) -> Int {
        var offset = start
        while offset < bytes.count {
            if offset + 8 <= bytes.count {
                let eight = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                let ends = JSONReader.notPlain(eight)
                guard ends != 0 else {
                    offset += 8
                    continue
                }
                offset += ends.trailingZeroBitCount / 8
            }
            switch bytes[offset] {
            case UInt8(ascii: "\""): return offset + 1
            case UInt8(ascii: "\\"): offset += 2
            default: offset += 1
            }
        }
        throw failure("the end of the string", at: bytes.count)
    }

    private static func endsLiteral(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") || isWhitespace(byte)
    }

    private mutating func takeLiteral(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard bytes.count - offset >= length else { return false }
        let matches = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length]).isText(text)
        if matches { offset += length }
        return matches
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        let value = byte &- UInt8(ascii: "0")
        return value < 10 ? value : nil
    }

    private func isNumberPart(_ byte: UInt8?) -> Bool {
        switch byte {
        case UInt8(ascii: ".")?, UInt8(ascii: "e")?, UInt8(ascii: "E")?: true
        default: byte.flatMap(JSONReader.digit) != nil
        }
    }

    private mutating func skipDigits() throws(JSONReadingError) {
        let start = offset
        while peek().flatMap(JSONReader.digit) != nil { offset += 1 }
        guard offset > start else { throw failure("a digit") }
    }

    private mutating func skipNumber() throws(JSONReadingError) {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try skipDigits() }
        if take(UInt8(ascii: ".")) { try skipDigits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try skipDigits()
        }
    }

    private mutating func scanString(_ what: String) throws(JSONReadingError) -> String {
        try expect(UInt8(ascii: "\""), what)
        let start = offset
        guard let plain = try scanPlainString() else { return try scanEscapedString(from: start) }
        return plain.isASCII ? String(ascii: plain.bytes) : try text(plain.bytes)
    }

    private mutating func skipString() throws(JSONReadingError) {
        try expect(UInt8(ascii: "\""), "a string")
        let start = offset
        if let plain = try scanPlainString() {
            if !plain.isASCII { _ = try text(plain.bytes) }
        } else {
            _ = try scanEscapedString(from: start)
        }
    }

    private mutating func scanKey() throws(JSONReadingError) -> JSONKey {
        try expect(UInt8(ascii: "\""), "a key")
        let start = offset
        if let plain = try scanPlainString() {
            if !plain.isASCII { _ = try text(plain.bytes) }
            return JSONKey(plain.bytes, isEscaped: false)
        }
        _ = try scanEscapedString(from: start)
        return JSONKey(UnsafeRawBufferPointer(rebasing: bytes[start..<offset - 1]), isEscaped: true)
    }

    /// What the escapes between the quotes of a string stand for.
    ///
    /// - Precondition: a reader has read the string before.
    static func unescaped(_ bytes: UnsafeRawBufferPointer) -> String {
        // The string was read to its closing quote, so that quote lies right behind these bytes.
        var reader = JSONReader(UnsafeRawBufferPointer(start: bytes.baseAddress, count: bytes.count + 1))
        do throws(JSONReadingError) {
            return try reader.scanEscapedString(from: 0)
        } catch {
            preconditionFailure("a string that was read once and cannot be read again: \(error)")
        }
    }

    /// A string from behind its opening quote, and past its end; nil where it has an escape, at `offset` then.
    private mutating func scanPlainString() throws(JSONReadingError) -> (bytes: UnsafeRawBufferPointer, isASCII: Bool)?
    {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
        // Most of a document is strings, so the loop works on local variables, eight bytes at a time until one of them
        // may end the string.
        var length = 0
        var all: UInt64 = 0
        while length + 8 <= rest.count {
            let eight = UInt64(littleEndian: rest.loadUnaligned(fromByteOffset: length, as: UInt64.self))
            let ends = JSONReader.notPlain(eight)
            if ends != 0 {
                let plain = ends.trailingZeroBitCount & ~7
                all |= eight & (1 << plain &- 1)
                length += plain / 8
                break
            }
            all |= eight
            length += 8
        }
        while length < rest.count {
            let byte = rest[length]
            if byte == UInt8(ascii: "\"") {
                offset += length + 1
                let isASCII = all & JSONReader.highBits == 0
                return (UnsafeRawBufferPointer(rebasing: rest[..<length]), isASCII)
            }
            if byte == UInt8(ascii: "\\") {
                offset += length
                return nil
            }
            guard byte >= 0x20 else { throw failure("no control character in a string", at: offset + length) }
            all |= UInt64(byte)
            length += 1
        }
        throw failure("the end of the string", at: bytes.count)
    }

    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// The lowest bit that is set lies in the first of eight bytes that is a quote, a backslash or a control
    /// character; zero if none is.
    @inline(__always)
    private static func notPlain(_ bytes: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = bytes ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslashes = bytes ^ (ones &* UInt64(UInt8(ascii: "\\")))
        // Subtracting more than a byte holds sets the byte's highest bit, unless it was set before. This may also set
        // the highest bit of the next byte, but never of one before.
        let less = (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
        return (less | (bytes &- ones &* 0x20) & ~bytes) & highBits
    }

    /// The rare case: a string with an escape at `offset`.
    private mutating func scanEscapedString(from start: Int) throws(JSONReadingError) -> String {
        var unescaped = Array(bytes[start..<offset])
        while let byte = peek() {
            offset += 1
            switch byte {
            case UInt8(ascii: "\""):
                return try unescaped.withUnsafeBufferPointer { buffer throws(JSONReadingError) in
                    try text(UnsafeRawBufferPointer(buffer))
                }
            case UInt8(ascii: "\\"): unescaped.append(contentsOf: String(try scanEscape()).utf8)
            case 0..<0x20: throw failure("no control character in a string", at: offset - 1)
            default: unescaped.append(byte)
            }
        }
        throw failure("the end of the string")
    }

    private mutating func scanEscape() throws(JSONReadingError) -> Unicode.Scalar {
        guard let byte = peek() else { throw failure("an escape") }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = UInt32(try scanHex())
            if let scalar = Unicode.Scalar(first) { return scalar }
            guard first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
                throw failure("a pair of surrogates")
            }
            let second = UInt32(try scanHex())
            guard (0xDC00...0xDFFF).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
            else { throw failure("a pair of surrogates") }
            return scalar
        default: throw failure("an escape", at: offset - 1)
        }
    }

    private mutating func scanHex() throws(JSONReadingError) -> UInt16 {
        guard bytes.count - offset >= 4 else { throw failure("four hexadecimal digits") }
        var value: UInt16 = 0
        for byte in bytes[offset..<offset + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw failure("four hexadecimal digits")
            }
            value = value << 4 | UInt16(digit)
        }
        offset += 4
        return value
    }

    private func text(_ bytes: UnsafeRawBufferPointer) throws(JSONReadingError) -> String {
        // ASCII needs no validation, and the one of the standard library costs several times the string itself.
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(ascii: bytes) }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw failure("UTF-8") }
        return text
    }
}

extension String {
    /// Text of ASCII alone.
    fileprivate init(ascii bytes: UnsafeRawBufferPointer) {
        // A short one lies in the `String` itself, which this way is made without going through a decoder.
        self.init(unsafeUninitializedCapacity: bytes.count) { text in
            UnsafeMutableRawBufferPointer(text).copyMemory(from: bytes)
            return bytes.count
        }
    }
}
