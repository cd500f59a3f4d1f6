/// A number of an attribute, exact in millionths: `42.5`, `42.50` and `4.25e1` are one number.
///
/// It has at most 15 significant digits, so that a program that reads it as floating point writes the same number back.
public struct AttributeNumber: Hashable, Comparable, Sendable {
    /// The number times a million.
    public let millionths: Int64

    /// What a number must be, for people.
    public static let rule =
        "must be a number from -1000000000000 to 1000000000000, with at most 6 decimals and 15 digits"

    private static let maximumMillionths: UInt64 = 1_000_000_000_000_000_000
    private static let maximumDigits = 15
    private static let firstTooLong: UInt64 = 1_000_000_000_000_000
    /// Exponents beyond this are as good as this one.
    private static let largestExponent = 1_000_000

    /// A number of so many millionths, within the rule.
    init(millionths: Int64) { self.millionths = millionths }

    /// The greatest number that follows ``rule`` and is no greater than so many millionths; the least of all numbers
    /// where none is as small.
    public init(greatestUpTo millionths: Int64) {
        let limit = Int64(Self.maximumMillionths)
        var number = max(-limit, min(limit, millionths))
        // One digit more cannot be written.
        var unit: Int64 = 1
        while number.magnitude / UInt64(unit) >= Self.firstTooLong { unit *= 10 }
        let rest = number % unit
        if rest != 0 { number -= rest < 0 ? unit + rest : rest }
        self.millionths = number
    }

    /// The number that a text of JSON means; nil if it does not follow ``rule``.
    public init?(_ json: String) {
        var bytes = json.utf8.makeIterator()
        var next = bytes.next()
        let isNegative = next == UInt8(ascii: "-")
        if isNegative { next = bytes.next() }

        // The number read is `digits` with `zeros` zeros after it, of which `decimals` stand behind the point.
        var (digits, count, zeros, decimals): (UInt64, Int, Int, Int) = (0, 0, 0, 0)
        var isBehindPoint = false
        while let byte = next, byte != UInt8(ascii: "e"), byte != UInt8(ascii: "E") {
            next = bytes.next()
            if byte == UInt8(ascii: "."), !isBehindPoint {
                isBehindPoint = true
                continue
            }
            guard let digit = Self.digit(byte) else { return nil }
            if isBehindPoint { decimals += 1 }
            if digit == 0 {
                if digits > 0 { zeros += 1 }
                continue
            }
            count += zeros + 1
            guard count <= Self.maximumDigits else { return nil }
            for _ in 0...zeros { digits *= 10 }
            digits += digit
            zeros = 0
        }
        guard let exponent = Self.exponent(next, &bytes) else { return nil }
        guard digits > 0 else {
            millionths = 0
            return
        }
        // The last digit is none of the zeros: whatever would stand behind the sixth decimal is lost.
        let shift = exponent + zeros - decimals + 6
        guard (0...18).contains(shift) else { return nil }
        for _ in 0..<shift {
            digits *= 10
            guard digits <= Self.maximumMillionths else { return nil }
        }
        millionths = isNegative ? -Int64(digits) : Int64(digits)
    }

    /// What follows an `e`; 0 where there is none.
    private static func exponent(_ first: UInt8?, _ bytes: inout String.UTF8View.Iterator) -> Int? {
        guard first != nil else { return 0 }
        var next = bytes.next()
        let isNegative = next == UInt8(ascii: "-")
        if isNegative || next == UInt8(ascii: "+") { next = bytes.next() }
        var exponent = 0
        while let byte = next {
            guard let digit = digit(byte) else { return nil }
            exponent = min(exponent * 10 + Int(digit), largestExponent)
            next = bytes.next()
        }
        return isNegative ? -exponent : exponent
    }

    private static func digit(_ byte: UInt8) -> UInt64? {
        let value = byte &- UInt8(ascii: "0")
        return value < 10 ? UInt64(value) : nil
    }

    /// Whether one is smaller.
    public static func < (a: AttributeNumber, b: AttributeNumber) -> Bool { a.millionths < b.millionths }
}

extension AttributeNumber: CustomStringConvertible {
    /// The number as JSON writes it, without zeros that say nothing.
    public var description: String {
        let (whole, rest) = millionths.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        var text = "\(millionths < 0 ? "-" : "")\(whole)"
        guard rest > 0 else { return text }
        var decimals = String(1_000_000 + rest)
        while decimals.utf8.last == UInt8(ascii: "0") { decimals.removeLast() }
        text += "." + decimals.dropFirst()
        return text
    }
}

extension AttributeNumber: ExpressibleByIntegerLiteral {
    /// A whole number that stands in the program.
    public init(integerLiteral value: Int32) { self.init(millionths: Int64(value) * 1_000_000) }
}
