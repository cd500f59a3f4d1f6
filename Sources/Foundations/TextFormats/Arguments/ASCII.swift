extension UInt8 {
    @inlinable public static var carriageReturn: UInt8 { UInt8(ascii: "\r") }
    @inlinable public static var lineFeed: UInt8 { UInt8(ascii: "\n") }
    @inlinable public static var asterisk: UInt8 { UInt8(ascii: "*") }
    @inlinable public static var dollar: UInt8 { UInt8(ascii: "$") }
    @inlinable public static var minus: UInt8 { UInt8(ascii: "-") }
    @inlinable public static var space: UInt8 { UInt8(ascii: " ") }
    @inlinable public static var backslash: UInt8 { UInt8(ascii: "\\") }
    @inlinable public static var doubleQuote: UInt8 { UInt8(ascii: "\"") }
    @inlinable public static var singleQuote: UInt8 { UInt8(ascii: "'") }
    @inlinable public static var zero: UInt8 { UInt8(ascii: "0") }

    /// C's `isspace` in the C locale: blank, `\t`, `\n`, `\v`, `\f` and `\r`.
    @inlinable public var isASCIISpace: Bool { self == .space || (9...13).contains(self) }

    @inlinable public var isASCIIDigit: Bool { (UInt8.zero...UInt8(ascii: "9")).contains(self) }

    @inlinable public var uppercasedASCII: UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) ? self & 0xDF : self
    }

    /// The value of a hexadecimal digit of either case.
    @inlinable public var hexadecimalDigit: UInt8? {
        if isASCIIDigit { return self - .zero }
        let letter = uppercasedASCII
        guard (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(letter) else { return nil }
        return letter - UInt8(ascii: "A") + 10
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes of `range`, counted from zero again.
    @inlinable public func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[range])
    }
}
