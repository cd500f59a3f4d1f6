#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A text that equals another only if their bytes are equal. `String` also takes two spellings of one character for
/// equal, which a server must not do.
package struct Text: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    package let string: String

    package init(_ string: String) { self.string = string }
    package init(stringLiteral value: String) { string = value }

    package var description: String { string }

    package static func == (one: Text, other: Text) -> Bool { isSame(one.string, other.string) }
    package static func < (one: Text, other: Text) -> Bool {
        one.string.utf8.lexicographicallyPrecedes(other.string.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}

/// Whether two texts have the same bytes.
func isSame(_ one: String, _ other: String) -> Bool {
    guard one.utf8.count == other.utf8.count else { return false }
    var (one, other) = (one, other)
    return one.withUTF8 { mine in
        other.withUTF8 { theirs in
            guard let one = mine.baseAddress, let other = theirs.baseAddress else { return true }
            return memcmp(one, other, theirs.count) == 0
        }
    }
}

/// Whether two texts have the same bytes, or both are absent.
func isSame(_ one: String?, _ other: String?) -> Bool {
    switch (one, other) {
    case (let one?, let other?): isSame(one, other)
    case (nil, nil): true
    default: false
    }
}
