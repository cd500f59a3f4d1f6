/// One argument of a call: a view of bytes, valid as long as its `Arguments`.
public struct Argument {
    /// The bytes as the client meant them, quotes and escapes resolved.
    public let bytes: UnsafeRawBufferPointer

    /// A view of `bytes`.
    @inlinable public init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// How many bytes the argument has.
    @inlinable public var count: Int { bytes.count }

    /// The argument as text; nil when it is not valid UTF-8.
    public var string: String? {
        String(validating: bytes, as: UTF8.self)
    }

    /// The argument as a 64-bit integer; nil unless spelt canonically (`0`, `-7`, not `+1`, `01`, `-0`).
    public var integer: Int64? {
        Int64(canonicalDecimal: bytes)
    }

    /// Whether the argument is `word`, the case of ASCII letters ignored.
    @inlinable public func equals(caseInsensitive word: StaticString) -> Bool {
        word.withUTF8Buffer { word in
            word.count == bytes.count
                && word.indices.allSatisfy { word[$0].uppercasedASCII == bytes[$0].uppercasedASCII }
        }
    }

    /// Whether the argument spells this word of capital letters, the case of its own ASCII letters ignored.
    @inlinable public func equals(capitals word: [UInt8]) -> Bool {
        guard word.count == bytes.count else { return false }
        for index in word.indices where bytes[index].uppercasedASCII != word[index] { return false }
        return true
    }

    /// The bytes with ASCII letters as capitals.
    public var uppercased: [UInt8] { bytes.map(\.uppercasedASCII) }

    /// A hash that ignores the case of ASCII letters, for a table of command names: two arguments that
    /// differ only in case have the same. The same in every process; not fit for keys a peer may choose.
    @inlinable public var caseInsensitiveHash: UInt64 {
        Argument.caseInsensitiveHash(of: bytes)
    }

    /// What `caseInsensitiveHash` is for an argument of these bytes, for building such a table (FNV-1a).
    @inlinable public static func caseInsensitiveHash(of bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1.uppercasedASCII)) &* 0x100_0000_01B3 }
    }
}
