/// The name a client gives to an outlet, section, item, cart or order: 1–64 bytes of `A–Z a–z 0–9 . _ : - { }`.
public struct Identifier: Comparable, Sendable, CustomStringConvertible {
    /// The longest identifier, in bytes.
    public static let maximumLength = 64

    /// What an identifier consists of, in words for people.
    public static let characters = "A–Z a–z 0–9 . _ : - { }"

    /// The identifier as text.
    public let rawValue: String
    /// Another one in every process. Stored because identifiers are looked up far more often than they are made, and
    /// because comparing hashes first avoids most reads of the text, which lies elsewhere in memory.
    public let hash: UInt64

    /// An identifier, or nil where the text is not one.
    public init?(_ text: String) {
        var text = text
        guard let hash = text.withUTF8({ Identifier.hash(of: UnsafeRawBufferPointer($0)) }) else { return nil }
        rawValue = text
        self.hash = hash
    }

    /// An identifier from bytes, or nil where they are not one.
    public init?(utf8 bytes: UnsafeRawBufferPointer) {
        guard let hash = Identifier.hash(of: bytes) else { return nil }
        rawValue = String(unsafeUninitializedCapacity: bytes.count) { text in
            UnsafeMutableRawBufferPointer(text).copyMemory(from: bytes)
            return bytes.count
        }
        self.hash = hash
    }

    /// The identifier as text.
    public var description: String { rawValue }

    /// The identifier as what texts are compared with.
    var text: Text { Text(rawValue) }

    /// Lets the body read the identifier's bytes.
    @inlinable @inline(__always)
    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let result = rawValue.utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) else {
            preconditionFailure("an identifier is made from UTF-8")
        }
        return result
    }

    /// Orders by bytes.
    public static func < (a: Identifier, b: Identifier) -> Bool { a.rawValue < b.rawValue }
}

// Clients choose identifiers, and must not find out which of them have the same hash: so each process has its own key.
// Dictionaries are given the stored hash, mixed with their seed; the standard library's hasher would take most of the
// time of a look-up.
extension Identifier: Hashable {
    private static let key = (start: UInt64.random(in: 0 ... .max) | 1, factor: UInt64.random(in: 0 ... .max) | 1)

    /// The ``hash`` of the identifier with these bytes, or nil where they are not one. Reads eight bytes at once.
    public static func hash(of bytes: UnsafeRawBufferPointer) -> UInt64? {
        let count = bytes.count
        guard let start = bytes.baseAddress, count > 0, count <= maximumLength else { return nil }
        let key = key
        // Times the length: a client without the key cannot make up for another length with other bytes.
        var hash = key.start &* UInt64(truncatingIfNeeded: count)
        var index = 0
        while index &+ 8 < count {
            let word = start.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            guard isAllowed(word) else { return nil }
            hash = mixed(hash ^ word, key.factor)
            index &+= 8
        }
        let word = lastWord(start, count)
        guard isAllowed(word) else { return nil }
        return mixed(hash ^ word, key.factor)
    }

    /// The last eight bytes; of fewer, all of them, some twice.
    @inline(__always)
    private static func lastWord(_ start: UnsafeRawPointer, _ count: Int) -> UInt64 {
        if count >= 8 { return start.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self) }
        if count >= 4 {
            let first = start.loadUnaligned(as: UInt32.self)
            let last = start.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
            return UInt64(first) &<< 32 | UInt64(last)
        }
        var word: UInt64 = 0
        for index in 0..<8 { word = word &<< 8 | UInt64(start.load(fromByteOffset: index % count, as: UInt8.self)) }
        return word
    }

    /// Whether an identifier may have each of eight bytes.
    @inline(__always)
    private static func isAllowed(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        // The highest bit of each byte that is ASCII and in the range.
        func bytes(_ word: UInt64, from first: UInt8, through last: UInt8) -> UInt64 {
            (word &+ ones &* UInt64(0x80 - first)) & ~(word &+ ones &* UInt64(0x7F - last))
        }
        let letters = bytes(word | ones &* 0x20, from: UInt8(ascii: "a"), through: UInt8(ascii: "z"))
        let digitsAndColon = bytes(word, from: UInt8(ascii: "0"), through: UInt8(ascii: ":"))
        let hyphenAndDot = bytes(word, from: UInt8(ascii: "-"), through: UInt8(ascii: "."))
        let underscore = bytes(word, from: UInt8(ascii: "_"), through: UInt8(ascii: "_"))
        let braces =
            bytes(word, from: UInt8(ascii: "{"), through: UInt8(ascii: "{"))
            | bytes(word, from: UInt8(ascii: "}"), through: UInt8(ascii: "}"))
        let highest = ones &* 0x80
        return word & highest == 0
            && (letters | digitsAndColon | hyphenAndDot | underscore | braces) & highest == highest
    }

    @inline(__always)
    private static func mixed(_ word: UInt64, _ factor: UInt64) -> UInt64 {
        let product = word.multipliedFullWidth(by: factor)
        return product.high ^ product.low
    }

    /// Whether the texts are the same.
    public static func == (a: Identifier, b: Identifier) -> Bool { a.hash == b.hash && a.rawValue == b.rawValue }

    /// Feeds the stored hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    /// The stored hash, mixed with the seed of a dictionary or a set.
    public func _rawHashValue(seed: Int) -> Int {
        Int(bitPattern: UInt(Identifier.mixed(hash ^ UInt64(UInt(bitPattern: seed)), 0x9E37_79B9_7F4A_7C15)))
    }
}
