/// The key of an object's member, where it stands in the text: compared with literals byte by byte, so that a reader
/// who knows which keys to expect makes no `String` of any.
///
/// It is valid as long as the text that it was read from.
public struct JSONKey: CustomStringConvertible {
    /// What stands between the quotes.
    private let bytes: UnsafeRawBufferPointer
    /// Whether that is written with escapes: then it is compared as what it means.
    private let isEscaped: Bool

    init(_ bytes: UnsafeRawBufferPointer, isEscaped: Bool) {
        self.bytes = bytes
        self.isEscaped = isEscaped
    }

    /// The key as text.
    public var description: String { isEscaped ? JSONReader.unescaped(bytes) : String(decoding: bytes, as: UTF8.self) }

    /// Whether the key is this one.
    public static func == (key: JSONKey, text: StaticString) -> Bool {
        key.isEscaped
            ? key.description.utf8.elementsEqual(String(describing: text).utf8) : key.bytes.isText(text)
    }

    /// Whether the key is this one, for `switch`.
    public static func ~= (text: StaticString, key: JSONKey) -> Bool { key == text }
}

extension UnsafeRawBufferPointer {
    /// Whether these are the bytes of a text.
    public func isText(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && hasTextPrefix(text)
    }

    /// Whether these begin with the bytes of a text.
    public func hasTextPrefix(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count >= length else { return false }
        return text.withUTF8Buffer { text in
            (0..<length).allSatisfy { self[$0] == text[$0] }
        }
    }
}
