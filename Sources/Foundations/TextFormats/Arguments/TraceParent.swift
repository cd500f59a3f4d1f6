/// Where something belongs in a trace, as the field `traceparent` of W3C Trace Context says it: a version, the trace, what
/// in it the cause is, and flags, as in `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
public struct TraceParent: Hashable, Sendable, CustomStringConvertible {
    /// The field, in version 00.
    public let description: String

    /// Reads the field. What a later version has more than version 00 is left out.
    ///
    /// - Returns: nil if it is none, and then the trace is to be ignored.
    public init?(_ field: String) {
        var field = field
        let isField = field.withUTF8 { bytes in
            let isLonger = bytes.count > TraceParent.length
            guard bytes.count >= TraceParent.length,
                !isLonger || bytes[TraceParent.length] == UInt8(ascii: "-"),
                [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
                [0..<2, 3..<35, 36..<52, 53..<55].allSatisfy({ bytes[$0].allSatisfy(TraceParent.isDigit) })
            else { return false }
            // Neither version ff, nor zeros for the trace or the parent.
            return !bytes[..<2].elementsEqual("ff".utf8) && !(isLonger && bytes[..<2].elementsEqual("00".utf8))
                && [3..<35, 36..<52].allSatisfy { bytes[$0].contains { $0 != UInt8(ascii: "0") } }
        }
        guard isField else { return nil }
        description = "00" + field.dropFirst(2).prefix(TraceParent.length - 2)
    }

    /// The trace, in 32 hexadecimal digits.
    public var trace: Substring { part(from: 3, count: 32) }

    /// What in it is the cause, in 16 hexadecimal digits.
    public var parent: Substring { part(from: 36, count: 16) }

    /// Whether the caller keeps the trace.
    public var isSampled: Bool { description.last?.hexDigitValue?.isMultiple(of: 2) == false }

    private static let length = 55

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    private func part(from start: Int, count: Int) -> Substring { description.dropFirst(start).prefix(count) }
}
