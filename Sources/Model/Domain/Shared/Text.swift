/// Text whose identity is its bytes in UTF-8.
///
/// Swift's `==` takes two `String`s for equal that mean the same characters, such as `é` and `e` with a combining
/// accent. For a log that is wrong: those are two ids, two notes, and a name that changes from one to the other has
/// changed. So nothing that is recorded or looked up is a `String`.
public struct Text: Sendable {
    /// The text, to be written or shown. Not to be compared.
    public let string: String

    /// The text of a string.
    @inlinable
    public init(_ string: String) { self.string = string }

    /// The text's bytes.
    @inlinable public var utf8: String.UTF8View { string.utf8 }

    /// Whether there is nothing in it.
    @inlinable public var isEmpty: Bool { string.isEmpty }

    @inlinable
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let result = string.utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) {
            return result
        }
        var string = string
        return string.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}

extension Text: Hashable {
    /// Whether the bytes are the same.
    @inlinable
    public static func == (a: Text, b: Text) -> Bool {
        guard a.utf8.count == b.utf8.count else { return false }
        return a.withBytes { a in b.withBytes { b in Text.difference(a, b) == nil } }
    }

    /// Feeds the bytes.
    @inlinable
    public func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: $0) }
        // No byte of UTF-8, so that two texts that follow each other are not one.
        hasher.combine(0xFF as UInt8)
    }
}

extension Text: Comparable {
    /// Orders by bytes, which is also the order of the characters' code points.
    @inlinable
    public static func < (a: Text, b: Text) -> Bool {
        a.withBytes { a in
            b.withBytes { b in Text.difference(a, b).map { $0.0 < $0.1 } ?? (a.count < b.count) }
        }
    }

    /// The first difference within the length of the shorter one, as two numbers that compare as the bytes do.
    @inlinable
    static func difference(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> (UInt64, UInt64)? {
        let length = min(a.count, b.count)
        var index = 0
        while index + 8 <= length {
            let mine = UInt64(bigEndian: a.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let other = UInt64(bigEndian: b.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            if mine != other { return (mine, other) }
            index += 8
        }
        while index < length {
            if a[index] != b[index] { return (UInt64(a[index]), UInt64(b[index])) }
            index += 1
        }
        return nil
    }
}

extension Text: ExpressibleByStringInterpolation {
    /// A text that stands in the program.
    @inlinable
    public init(stringLiteral value: String) { self.init(value) }
}

extension Text: CustomStringConvertible {
    /// The text itself.
    public var description: String { string }
}
