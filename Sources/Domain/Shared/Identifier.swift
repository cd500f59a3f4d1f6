/// The name a client gives to an outlet, section, item, cart or order: 1–64 bytes of `A–Z a–z 0–9 . _ : -`.
public struct Identifier: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The longest identifier, in bytes.
    public static let maximumLength = 64

    /// The identifier as text.
    public let rawValue: String
    /// Stored because identifiers are looked up far more often than they are made, and because comparing hashes first
    /// avoids most reads of the text, which lies elsewhere in memory. Its seed differs in every process.
    private let hash: Int

    /// An identifier, or nil where the text is not one.
    public init?(_ text: String) {
        var text = text
        guard text.withUTF8({ Identifier.isValid(UnsafeRawBufferPointer($0)) }) else { return nil }
        rawValue = text
        hash = text.hashValue
    }

    /// An identifier from bytes, or nil where they are not one.
    public init?(utf8 bytes: UnsafeRawBufferPointer) {
        guard Identifier.isValid(bytes) else { return nil }
        rawValue = String(decoding: bytes, as: UTF8.self)
        hash = rawValue.hashValue
    }

    private static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        (1...maximumLength).contains(bytes.count) && bytes.allSatisfy(isAllowed)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// The identifier as text.
    public var description: String { rawValue }

    /// Whether the texts are the same.
    public static func == (a: Identifier, b: Identifier) -> Bool { a.hash == b.hash && a.rawValue == b.rawValue }

    /// Feeds the stored hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    /// Orders by bytes.
    public static func < (a: Identifier, b: Identifier) -> Bool { a.rawValue < b.rawValue }
}
