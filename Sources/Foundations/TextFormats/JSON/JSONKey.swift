/// The key of an object's member, where it stands in the text: compared with literals byte by byte, so that a reader
/// who knows which keys to expect makes no `String` of any.
///
/// It is valid as long as the text that it was read from.
public struct JSONKey: CustomStringConvertible {
    /// What stands between the quotes.
    @usableFromInline let bytes: UnsafeRawBufferPointer
    /// Whether that is written with escapes: then it is compared as what it means.
    @usableFromInline let isEscaped: Bool

    init(_ bytes: UnsafeRawBufferPointer, isEscaped: Bool) {
        self.bytes = bytes
        self.isEscaped = isEscaped
    }

    /// The bytes of the key in the text that was read, valid as long as that; nil where it is written with escapes.
    public var plainBytes: UnsafeRawBufferPointer? { isEscaped ? nil : bytes }

    /// The key as text.
    public var description: String { isEscaped ? JSONReader.unescaped(bytes) : String(decoding: bytes, as: UTF8.self) }

    // Always in place: most comparisons end with the lengths, and these are known where the literal stands.

    /// Whether the key is this one.
    @inlinable @inline(__always)
    public static func == (key: JSONKey, text: StaticString) -> Bool {
        key.isEscaped ? key.means(text) : key.bytes.isText(text)
    }

    @usableFromInline func means(_ text: StaticString) -> Bool {
        description.utf8.elementsEqual(String(describing: text).utf8)
    }

    /// Whether the key is this one, for `switch`.
    @inlinable @inline(__always)
    public static func ~= (text: StaticString, key: JSONKey) -> Bool { key == text }
}

extension UnsafeRawBufferPointer {
    /// Whether these are the bytes of a text.
    @inlinable @inline(__always)
    public func isText(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && hasTextPrefix(text)
    }

    /// Whether these begin with the bytes of a text.
    ///
    /// Always in place: where the literal stands, its words are numbers to compare with.
    @inlinable @inline(__always)
    public func hasTextPrefix(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count >= length, length > 0, let mine = baseAddress else { return length == 0 }
        let other = UnsafeRawPointer(text.utf8Start)
        func differ<Word: FixedWidthInteger & BitwiseCopyable>(at offset: Int, _: Word.Type) -> Bool {
            mine.loadUnaligned(fromByteOffset: offset, as: Word.self)
                != other.loadUnaligned(fromByteOffset: offset, as: Word.self)
        }
        // The last word overlaps with the one before it.
        if length >= 8 {
            var offset = 0
            while offset + 8 < length {
                if differ(at: offset, UInt64.self) { return false }
                offset += 8
            }
            return !differ(at: length - 8, UInt64.self)
        }
        if length >= 4 { return !differ(at: 0, UInt32.self) && !differ(at: length - 4, UInt32.self) }
        if length >= 2 { return !differ(at: 0, UInt16.self) && !differ(at: length - 2, UInt16.self) }
        return !differ(at: 0, UInt8.self)
    }
}
