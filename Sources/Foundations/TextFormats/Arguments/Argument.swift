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
        word.withUnsafeBytes { word in
            guard word.count == bytes.count else { return false }
            var index = 0
            // Most clients send capitals themselves.
            while index + 8 <= word.count,
                bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    == word.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            {
                index += 8
            }
            while index < word.count {
                guard bytes[index] == word[index] || bytes[index].uppercasedASCII == word[index] else { return false }
                index += 1
            }
            return true
        }
    }

    /// The bytes with ASCII letters as capitals.
    public var uppercased: [UInt8] { bytes.map(\.uppercasedASCII) }

    /// A hash that ignores the case of ASCII letters, for a table of command names: two arguments that
    /// differ only in case have the same. The same in every process; not fit for keys a peer may choose.
    public var caseInsensitiveHash: UInt64 {
        // Of a long name, the ends and the length: that tells names of commands apart.
        var hash = UInt64(bytes.count)
        let width = MemoryLayout<UInt64>.size
        if bytes.count >= width {
            let first = bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
            let last = bytes.loadUnaligned(fromByteOffset: bytes.count - width, as: UInt64.self)
            hash = Argument.mix(hash, UInt64(littleEndian: first))
            return Argument.mix(hash, UInt64(littleEndian: last))
        }
        return Argument.mix(hash, bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        // Without the bit in which the cases of a letter differ.
        let product = (hash ^ (word & 0xDFDF_DFDF_DFDF_DFDF)).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }
}
