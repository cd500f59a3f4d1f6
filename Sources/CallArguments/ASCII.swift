extension UInt8 {
    package static let carriageReturn = UInt8(ascii: "\r")
    package static let lineFeed = UInt8(ascii: "\n")
    package static let asterisk = UInt8(ascii: "*")
    package static let dollar = UInt8(ascii: "$")
    package static let minus = UInt8(ascii: "-")
    package static let space = UInt8(ascii: " ")
    package static let backslash = UInt8(ascii: "\\")
    package static let doubleQuote = UInt8(ascii: "\"")
    package static let singleQuote = UInt8(ascii: "'")
    package static let zero = UInt8(ascii: "0")

    /// C's `isspace` in the C locale: blank, `\t`, `\n`, `\v`, `\f` and `\r`.
    package var isASCIISpace: Bool { self == .space || (9...13).contains(self) }

    package var isASCIIDigit: Bool { (UInt8.zero...UInt8(ascii: "9")).contains(self) }

    package var uppercasedASCII: UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) ? self & 0xDF : self
    }

    /// The value of a hexadecimal digit of either case.
    package var hexadecimalDigit: UInt8? {
        if isASCIIDigit { return self - .zero }
        let letter = uppercasedASCII
        guard (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(letter) else { return nil }
        return letter - UInt8(ascii: "A") + 10
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes of `range`, counted from zero again.
    package func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[range])
    }
}
