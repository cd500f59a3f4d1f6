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
    @inlinable
    public func hasTextPrefix(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count >= length else { return false }
        let other = UnsafeRawBufferPointer(start: text.utf8Start, count: length)
        var index = 0
        while index + 8 <= length {
            let mine = loadUnaligned(fromByteOffset: index, as: UInt64.self)
            guard mine == other.loadUnaligned(fromByteOffset: index, as: UInt64.self) else { return false }
            index += 8
        }
        while index < length {
            guard self[index] == other[index] else { return false }
            index += 1
        }
        return true
    }
}
