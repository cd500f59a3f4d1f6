extension UInt8 {
    static let carriageReturn = UInt8(ascii: "\r")
    static let lineFeed = UInt8(ascii: "\n")
    static let asterisk = UInt8(ascii: "*")
    static let dollar = UInt8(ascii: "$")
    static let minus = UInt8(ascii: "-")
    static let space = UInt8(ascii: " ")
    static let backslash = UInt8(ascii: "\\")
    static let doubleQuote = UInt8(ascii: "\"")
    static let singleQuote = UInt8(ascii: "'")
    static let zero = UInt8(ascii: "0")

    /// C's `isspace` in the C locale: blank, `\t`, `\n`, `\v`, `\f` and `\r`.
    var isASCIISpace: Bool { self == .space || (9...13).contains(self) }

    var isASCIIDigit: Bool { (UInt8.zero...UInt8(ascii: "9")).contains(self) }

    var uppercasedASCII: UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) ? self & 0xDF : self
    }

    /// The value of a hexadecimal digit of either case.
    var hexadecimalDigit: UInt8? {
        if isASCIIDigit { return self - .zero }
        let letter = uppercasedASCII
        guard (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(letter) else { return nil }
        return letter - UInt8(ascii: "A") + 10
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes of `range`, counted from zero again.
    func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[range])
    }
}
